//! The macros of `plan-runtime`, which re-exports them: depend on that crate, not on this one.
//!
//! `plan!` has five stages, which `plan::plan` calls in order:
//!
//! | stage | input and result | checks |
//! |---|---|---|
//! | `syntax` | from tokens to parts, which keep each name and literal in order | none |
//! | `parse` | from parts to the `ast` | the syntax; `mistakes` recognizes wrong forms |
//! | `names` | from the `ast` to tables of resolved names | names |
//! | `graph` | from names to the dependencies of each step | cycles |
//! | `expand` | from all results to Rust code | types, by expressions that rustc checks |
//!
//! `parse`, `names` and `graph` add errors to a `report`. A stage calls `report.error(token, …)` for an error, and continues: a value with an
//! error becomes `Value::Broken`, which causes no second error. For editors, `ide` expands the parts in another way.
//!
//! The modules `tool` and `shape` contain the other macros. `options` reads the attributes of all macros, `host` describes the process
//! that expands the macro, `repeated` recognizes duplicate items, and `json` checks the types of arguments and outputs.

mod ast;
mod docs;
mod expand;
mod graph;
mod host;
mod ide;
mod json;
mod lossless;
mod mistakes;
mod names;
mod options;
mod parse;
mod plan;
mod repeated;
mod report;
mod shape;
mod syntax;
mod tool;
mod unparsed;

use proc_macro::TokenStream;

/// Declares a plan: a `static` description of steps that call tools, checked by rustc.
///
/// `plan_runtime` re-exports and documents this macro.
#[cfg_attr(
    rust_analyzer,
    doc = r#"
A step calls a tool, or computes a value. A step starts when all outputs that it mentions are available. Independent steps run concurrently.

```ignore
plan! {
    pub Answer(question: String) -> Receipt {
        step found = Search { text: question, limit: 3 };
        #[retry(3, backoff = "200ms")]
        step sent = Reply { to: found[0].from, body: format!("Re: {question}") };
        sent
    }
}
let receipt = Answer { question: "When?".into() }.run(&app).await?;
```
"#
)]
#[proc_macro]
pub fn plan(plan: TokenStream) -> TokenStream {
    plan::plan(plan.into()).into()
}

/// Returns the items unchanged, for the expansion of `ide::begun`.
#[doc(hidden)]
#[proc_macro]
pub fn items(items: TokenStream) -> TokenStream {
    items
}

/// Declares a tool from an `async fn`: the struct of its arguments, its contract and its implementation.
///
/// `plan_runtime` re-exports and documents this macro.
#[cfg_attr(
    rust_analyzer,
    doc = r#"
The struct is named like the function, in upper camel case. The first parameter is the application if it is a reference.

```ignore
/// Searches the mailbox.
#[tool]
pub async fn search(app: &App, text: String, #[serde(default)] limit: u32) -> Result<Vec<Email>> {
    app.mail.search(&text, limit).await.permanent()
}
```

In a plan: `step found = Search { text: "invoice", .. };`. Options: `#[tool(name = "mail.search", struct = Search, read_only)]`.
"#
)]
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    tool::attribute(options.into(), item.into()).into()
}

/// Describes the JSON of a type, from its serde attributes.
///
/// `plan_runtime` re-exports and documents this macro.
#[cfg_attr(
    rust_analyzer,
    doc = r#"
References in plans can lead into such a type: `found[0].from` is the pointer `/0/sender`.

```ignore
#[derive(Serialize, Deserialize, Shape)]
struct Email {
    #[serde(rename = "sender")]
    from: String,
    subject: Option<String>,
}
```
"#
)]
#[proc_macro_derive(Shape, attributes(serde, shape))]
pub fn derive_shape(item: TokenStream) -> TokenStream {
    shape::derive(item.into()).into()
}

/// Implements the contract of a tool for the struct of its arguments: `#[tool(output = Receipt)]`.
///
/// `plan_runtime` re-exports and documents this macro.
#[proc_macro_derive(Tool, attributes(tool))]
pub fn derive_tool(item: TokenStream) -> TokenStream {
    tool::derive(item.into()).into()
}
