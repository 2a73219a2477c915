//! The macros of `plan-runtime`, which re-exports them: depend on that crate, not on this one.
//!
//! `plan!` goes through five stages, which `expand::plan` calls one after the other:
//!
//! | stage | knows | its checks are about |
//! |---|---|---|
//! | `syntax` | tokens; cuts them into parts, and keeps them all | nothing |
//! | `parse` | the parts; makes the `ast` | the language's own syntax, with `mistakes` for wrong forms |
//! | `names` | which names there are, and what each value mentions | names |
//! | `graph` | what each step waits for | the order of steps |
//! | `expand` | all of it; writes the Rust | types: it emits an expression that rustc refuses exactly then |
//!
//! Each stage after `syntax` gets the same `report`, calls `report.error(token, …)`, and continues: a value with an error becomes
//! `Value::Broken`, about which nothing more is reported. Editors get another expansion of the same parts, in `ide`. The other
//! macros are `tool` and `shape`; `options` reads the attributes of all, `host` is about the process that expands, and `json` is about the types of arguments and outputs.

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
mod report;
mod shape;
mod syntax;
mod tool;
mod unparsed;

use proc_macro::TokenStream;

/// Makes a plan: a `static` description of steps that call tools, checked by rustc.
///
/// `plan_runtime` re-exports it, and documents it.
#[cfg_attr(
    rust_analyzer,
    doc = r#"
A step calls a tool, or computes a value. It starts when all that it mentions is there; the others run concurrently.

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
    expand::plan(plan.into()).into()
}

/// The same items: see `ide::begun`.
#[doc(hidden)]
#[proc_macro]
pub fn items(items: TokenStream) -> TokenStream {
    items
}

/// Makes a tool of an `async fn`: the struct of its arguments, its contract and its implementation.
///
/// `plan_runtime` re-exports it, and documents it.
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

/// Describes how serde writes a type as JSON, from its serde attributes.
///
/// `plan_runtime` re-exports it, and documents it.
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

/// Makes the contract of a tool from the struct of its arguments: `#[tool(output = Receipt)]`.
///
/// `plan_runtime` re-exports it, and documents it.
#[proc_macro_derive(Tool, attributes(tool))]
pub fn derive_tool(item: TokenStream) -> TokenStream {
    tool::derive(item.into()).into()
}
