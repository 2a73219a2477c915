//! Plans in JSON from a language model, a database or another system.
//!
//! A [`Reader`] converts JSON to a [`Plan`](crate::Plan), the type of every plan of `plan!`, and finds all errors of the JSON before a run. A
//! reader accepts four [`Dialect`]s: plan JSON, which is this library's own format, and three string dialects of other systems.
//!
//! A [`Toolbox`] contains the tools of an application by name, and runs plans from JSON. [`Run`](crate::run::Run), its options,
//! observers and [`Report`](crate::Report) work as for plans of `plan!`. A [`Contract`] describes a tool.
//!
//! | from | to | by |
//! |---|---|---|
//! | tools | a description for a model | [`Contracts::prompt`], or as data [`Contracts::to_json`] |
//! | tools | the JSON Schema of plans, for structured output | [`Contracts::schema`] |
//! | text, or bytes | a plan, its dialect, its warnings | [`Reader::read`], [`Reader::read_slice`], [`Toolbox::read`], [`Toolbox::read_slice`] |
//! | a document with errors | [`Findings`]: code, line, column, fix | the errors of these methods; `render` underlines the errors (feature `diagnostics`) |
//! | a plan and its inputs as JSON | a run | [`Toolbox::run`] |
//! | a plan | plan JSON | `serde_json::to_string` |
//! | a plan | a flat blueprint, or the list of unsupported parts | [`Plan::to_blueprint`](crate::Plan::to_blueprint), [`Unsupported`] |
//! | a plan | the source of a `plan!` | the crate `plan-rust` |
//!
//! ```
//! use plan_runtime::dynamic::Toolbox;
//! use plan_runtime::{Result, tool};
//! use serde_json::json;
//!
//! /// The application.
//! struct Shop { stock: u32 }
//!
//! /// Returns the number of items.
//! #[tool(read_only)]
//! async fn count(shop: &Shop, item: String) -> Result<u32> {
//!     Ok(shop.stock + item.len() as u32)
//! }
//!
//! /// Orders more.
//! #[tool]
//! async fn order(item: String, have: u32, note: String) -> Result<String> {
//!     Ok(format!("{item}, {} more: {note}", 10 - have))
//! }
//!
//! let toolbox = Toolbox::new().with::<Count>().with::<Order>();
//! let document = toolbox.read(r#"{"steps": [
//!     {"tool": "count", "params": {"item": "lamp"}},
//!     {"tool": "order", "params": {"item": "lamp", "have": "${step[0].data}", "note": "had ${step[0].data}"},
//!      "dependsOn": [0], "retryCount": 2, "timeout": 500}
//! ]}"#)?;
//! assert_eq!(document.plan().steps[1].policy.attempts, 3);
//!
//! let output = smol::block_on(toolbox.run(document.plan(), (), &Shop { stock: 1 }))?;
//! assert_eq!(output, json!({ "step0": 5, "step1": "lamp, 5 more: had 5" }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Checks before a run
//!
//! The reader finds all errors in one pass, and reports each as one finding. [`Code`] lists and describes the kinds.
//!
//! | information | checks |
//! |---|---|
//! | the document alone | JSON, limits, the members of plans and steps, IDs, references and malformed references, unknown and later steps, cycles with their full path |
//! | the names of tools ([`Contract::new`]) | unknown tools |
//! | Rust tools ([`Contract::of`]) | unknown and missing arguments |
//! | JSON Schemas of arguments | types, allowed values, bounds, lengths, nested objects and lists |
//! | JSON Schemas of outputs | every path of a reference, including paths from the variables of a `for`, of patterns and of a loop |
//! | | the type of the value at the end of a path: a list is not an element, and a required argument or a formatted string needs a value that is never absent |
//!
//! A value without a schema is a warning in a position that needs a type, and an error in the [typed profile](Profile::Typed). The reader
//! never reports a part that a schema expresses with an unsupported keyword (`pattern`, `not`, references to other documents).
//! Before each call of a closure over JSON, the run checks the resolved arguments against their schema. serde checks the arguments of Rust tools. With
//! the feature `jsonschema`, `Toolbox::with_validation` validates arguments and outputs of calls against all of JSON Schema.
//!
//! A `dependsOn`, a `retryCount`, a `timeout` and an `optional` become the [`Policy`](crate::plan::Policy) and the order of the step.
//! `parallel` is a hint without an effect, since independent steps run concurrently. If a document does not declare the plan's
//! output, the output is an object with the output of every step that is not an undo or always step.
//!
//! # Members of plan JSON in the other dialects
//!
//! A step of a string dialect calls a `tool`. Each step can also have the members of a step in plan JSON, instead of the tool or in addition to the tool.
//! Calls and references inside use the notation of the dialect.
//!
//! | | member of the step |
//! |---|---|
//! | branches | `"if": [{"condition": condition, "then": body}, …]`, or with `"pattern": "Some(x)", "value": value`, or with `"all": [condition, …]` |
//! | a condition | a reference, or a [test](crate::plan::Test): `{"compare": [a, "<", b]}`, `{"all": [condition, …]}`, `{"any"}`, `{"not"}`, `{"is_some"}`, … |
//! | a list | `"for": {"pattern": "x", "list": value, "body": body}` |
//! | steps in a step | `"block": {"inputs": {"x": value}, "steps": [step], "tail": body}`, or `"value": value` instead of `"tail"` |
//! | rounds | `"loop": {"last": "before", "steps": [step], "tail": body, "while": condition}`, with `"at_most"` in the `policy` |
//! | a value, a wait | `"value": value`, `"await": "Type"` |
//! | roles and order | `"undo": "id"`, `"always": true`, `"after": ["id"]` |
//! | failures and time | `"policy": {"attempts", "backoff", "max", "jitter", "timeout", "deadline", "optional", "catch", "fallback", "concurrency", "at_most", "every", "collect"}` |
//!
//! | | tool plan | blueprint | action plan |
//! |---|---|---|---|
//! | a body | `{"tool", "arguments"}` | `{"tool", "params"}` | `{"tool", "arguments"}` |
//! | a local value, an input of a block, `last` | `$ref:x.id` | `${x.data.id}` | `{{x.result.id}}` |
//! | a step in this block | `$ref:a.id` | `${step[0].data.id}`, counted from the start of the block | `{{a.result.id}}` |
//! | an outer step or value | by its name | a step by the block's `inputs`, other values by their names | by its name |
//! | the `tail` of a loop in its `while` | `$ref:_` | `${step[n].data}`, after the `n` steps of the block | `{{_.result}}` |
//! | the step that is undone | `"undo": "a"` | `"undo": 0`, the number of an earlier step | `"undo": "a"` |
//! | order | `"after": ["a"]` | `"dependsOn": [0]` | `"after": ["a"]` |
//! | `attempts`, `timeout`, `optional` | in the `policy` | `retryCount`, `timeout` and `optional` of the step, or in the `policy` | in the `policy` |
//! | an input in a `policy` | – | – | `"attempts": "{{PLACEHOLDER_n}}"` |
//! | unsupported | formatted strings, inputs | inputs, steps with later dependencies | paths into an input |
//!
//! In all string dialects, `last` is null in the first round. String dialects cannot express computed values, references that end at an absent
//! value (`a?.id`), formats of values in a string, and objects whose members only a run can determine.
//!
//! The dialects' original systems ignore these members. In the [compat profile](Profile::Compat), the reader reads such a member only in exactly this form. It ignores `value`,
//! `for` and `await` beside a `tool`, with a warning. Other spellings (`when`, `for_each`, `repeat`, …) are errors. In the strict profile,
//! other spellings of an order or a policy (`depends_on`, `retry`, `timeout_ms`, `on_error`, …) are errors as well.
//!
//! ```
//! use plan_runtime::dynamic::Reader;
//!
//! let document = Reader::new().read(r#"{"steps": [
//!     {"id": "mails", "tool": "find_mails", "arguments": {}},
//!     {"id": "sent", "for": {"pattern": "mail", "list": "$ref:mails", "body": {"if": [
//!         {"condition": "$ref:mail.urgent", "then": {"tool": "answer", "arguments": {"to": "$ref:mail.from"}}}
//!     ]}}, "policy": {"catch": "each"}}
//! ], "output_steps": ["sent"]}"#)?;
//! assert_eq!(document.plan().to_string(), "\
//! plan plan
//!
//!   step mails = find_mails
//!     // starts at once
//!
//!   #[catch(each)]
//!   step sent = for mail in mails {
//!     if mail.urgent {
//!       answer
//!         to: mail.from
//!     }
//!   }
//!     // needs mails
//!
//!   output { sent: sent }
//! ");
//! # Ok::<(), plan_runtime::dynamic::Findings>(())
//! ```

// The files of this folder:
//
// | files | contents |
// |---|---|
// | `reader.rs`, `dialects/` | the reader, and the part of it that each dialect has |
// | `json_node.rs`, `containers.rs`, `bytes.rs`, `invalid.rs` | JSON with positions, and its syntax errors |
// | `source.rs`, `spans/` | the position of each part of a plan in its document |
// | `contract.rs`, `schema/`, `check/` | tools, types from JSON Schemas, and the checks of a plan with these types |
// | `finding/`, `limits.rs` | findings; the limits of a document |
// | `toolbox/`, `validation/`, `before_run.rs`, `submitted.rs` | runs of plans: tools by name, validation of calls, errors before a run, submitted runs |
// | `prompt/`, `unsupported.rs` | the prompt for a model; parts of a plan that a format cannot express |

#[cfg(feature = "dynamic")]
mod before_run;
#[cfg(feature = "dynamic")]
mod bytes;
#[cfg(feature = "dynamic")]
mod check;
mod containers;
#[cfg(feature = "dynamic")]
mod contract;
mod dialects;
mod finding;
mod invalid;
mod json_node;
mod limits;
#[cfg(feature = "dynamic")]
mod prompt;
#[cfg(feature = "dynamic")]
mod reader;
#[cfg(feature = "dynamic")]
mod schema;
mod source;
mod spans;
#[cfg(feature = "dynamic")]
mod submitted;
#[cfg(feature = "dynamic")]
mod toolbox;
#[cfg(feature = "dynamic")]
mod unsupported;
#[cfg(feature = "jsonschema")]
mod validation;

#[cfg(feature = "dynamic")]
pub use contract::{Contract, Contracts};
pub use dialects::{Dialect, Profile};
pub use finding::{Code, Finding, Findings, Label, Severity};
pub use limits::DocumentLimits;
#[cfg(feature = "dynamic")]
pub use reader::{Document, Reader};
#[cfg(feature = "dynamic")]
pub use submitted::{Submitted, check_signal};
#[cfg(feature = "dynamic")]
pub use toolbox::Toolbox;
#[cfg(feature = "dynamic")]
pub use unsupported::{Unsupported, UnsupportedPart};
