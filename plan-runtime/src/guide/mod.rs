#![doc = include_str!("links.md")]
#![doc = include_str!("index.md")]

#[doc = include_str!("links.md")]
#[doc = include_str!("first_plan.md")]
///
/// Next: [Tutorial](tutorial).
pub mod first_plan {}

#[doc = include_str!("links.md")]
#[doc = include_str!("tutorial.md")]
///
/// Next: [Migration from an async fn](migration).
pub mod tutorial {}

#[doc = include_str!("links.md")]
#[doc = include_str!("migration.md")]
///
/// Next: [Tools](tools).
pub mod migration {}

#[doc = include_str!("links.md")]
#[doc = include_str!("tools.md")]
///
/// ```no_run
#[doc = include_str!("mail.rs")]
/// ```
///
/// Next: [References and values](references).
pub mod tools {}

#[doc = include_str!("links.md")]
#[doc = include_str!("references.md")]
///
/// Next: [Absence](absence).
pub mod references {}

#[doc = include_str!("links.md")]
#[doc = include_str!("absence.md")]
///
/// Next: [Flow](flow).
pub mod absence {}

#[doc = include_str!("links.md")]
#[doc = include_str!("flow.md")]
///
/// Next: [Running](running).
pub mod flow {}

#[doc = include_str!("links.md")]
#[doc = include_str!("running.md")]
///
/// Next: [Testing](testing).
pub mod running {}

#[doc = include_str!("links.md")]
#[doc = include_str!("testing.md")]
///
/// Next: [Durable runs](durable).
pub mod testing {}

#[doc = include_str!("links.md")]
#[doc = include_str!("durable.md")]
///
/// Next: [Dynamic plans](dynamic_plans).
pub mod durable {}

#[doc = include_str!("links.md")]
#[doc = include_str!("dynamic_plans.md")]
///
/// Next: [Untrusted plans](untrusted).
pub mod dynamic_plans {}

#[doc = include_str!("links.md")]
#[doc = include_str!("untrusted.md")]
///
/// Next: [In a service](in_a_service).
pub mod untrusted {}

#[doc = include_str!("links.md")]
#[doc = include_str!("in_a_service.md")]
///
/// Next: [Approving](approving).
pub mod in_a_service {}

#[doc = include_str!("links.md")]
#[doc = include_str!("approving.md")]
///
/// Next: [Operations](operations).
pub mod approving {}

#[doc = include_str!("links.md")]
#[doc = include_str!("operations.md")]
///
/// Next: [Pictures](pictures).
pub mod operations {}

#[doc = include_str!("links.md")]
#[doc = include_str!("pictures.md")]
///
/// Next: [Editor](editor).
pub mod pictures {}

#[doc = include_str!("links.md")]
#[doc = include_str!("editor.md")]
///
/// Next: [Troubleshooting](troubleshooting).
pub mod editor {}

#[doc = include_str!("links.md")]
#[doc = include_str!("troubleshooting.md")]
///
/// Next: [Recipes](recipes).
pub mod troubleshooting {}

#[doc = include_str!("links.md")]
#[doc = include_str!("recipes/mod.md")]
///
/// Next: [Saga](recipes::saga).
pub mod recipes {
    #[doc = include_str!("links.md")]
    #[doc = include_str!("recipes/saga.md")]
    ///
    /// Next: [Pagination](pagination).
    pub mod saga {}

    #[doc = include_str!("links.md")]
    #[doc = include_str!("recipes/pagination.md")]
    ///
    /// Next: [Polling](polling).
    pub mod pagination {}

    #[doc = include_str!("links.md")]
    #[doc = include_str!("recipes/polling.md")]
    ///
    /// Next: [Pipeline](pipeline).
    pub mod polling {}

    #[doc = include_str!("links.md")]
    #[doc = include_str!("recipes/pipeline.md")]
    ///
    /// Next: [Providers](providers).
    pub mod pipeline {}

    #[doc = include_str!("links.md")]
    #[doc = include_str!("recipes/providers.md")]
    ///
    /// Next: [Agent](agent).
    pub mod providers {}

    #[doc = include_str!("links.md")]
    #[doc = include_str!("recipes/agent.md")]
    ///
    /// Next: [Service](service).
    pub mod agent {}

    #[doc = include_str!("links.md")]
    #[doc = include_str!("recipes/service.md")]
    ///
    /// Next: [CPU work](cpu).
    pub mod service {}

    #[doc = include_str!("links.md")]
    #[doc = include_str!("recipes/cpu.md")]
    ///
    /// Next: [Library](library).
    pub mod cpu {}

    #[doc = include_str!("links.md")]
    #[doc = include_str!("recipes/library.md")]
    ///
    /// Next: [Testing](testing).
    pub mod library {}

    #[doc = include_str!("links.md")]
    #[doc = include_str!("recipes/testing.md")]
    ///
    /// Next: [Types of other crates](foreign_types).
    pub mod testing {}

    #[doc = include_str!("links.md")]
    #[doc = include_str!("recipes/foreign_types.md")]
    ///
    /// Next: [Syntax reference](super::syntax).
    pub mod foreign_types {}
}

#[doc = include_str!("links.md")]
#[doc = include_str!("syntax.md")]
///
/// Next: [Checks](checks).
pub mod syntax {}

#[doc = include_str!("links.md")]
#[doc = include_str!("checks.md")]
///
/// Next: [Codes](codes).
pub mod checks {}

#[doc = include_str!("links.md")]
#[doc = include_str!("codes.md")]
///
/// Next: [Limits](limits).
pub mod codes {}

#[doc = include_str!("links.md")]
#[doc = include_str!("limits.md")]
///
/// Next: [Glossary](glossary).
pub mod limits {}

#[doc = include_str!("links.md")]
#[doc = include_str!("glossary.md")]
///
/// Next: [Where runs live](engines).
pub mod glossary {}

#[doc = include_str!("links.md")]
#[doc = include_str!("engines.md")]
///
/// Next: [Compared](compared).
pub mod engines {}

#[doc = include_str!("links.md")]
#[doc = include_str!("compared.md")]
pub mod compared {}
