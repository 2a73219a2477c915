//! A plan that a language model wrote, checked and run: `cargo run --example llm_plan --features llm -- examples/plans/reply.json`
//!
//! With `--prompt` instead of a plan, the example prints the input of a model: a prompt, and a schema for its answer.
//! `examples/plans/faulty.json` shows the findings of a plan with errors.

use plan_runtime::dynamic::{Contract, Toolbox};
use plan_runtime::{Error, Result, Shape, Terminal, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The application: a mailbox.
struct Mail {
    owner: &'static str,
}

#[derive(Serialize, Deserialize, Shape, JsonSchema)]
struct Inbox {
    emails: Vec<Email>,
}

#[derive(Serialize, Deserialize, Shape, JsonSchema)]
struct Email {
    from: Person,
    subject: String,
    date: String,
}

#[derive(Serialize, Deserialize, Shape, JsonSchema)]
struct Person {
    name: String,
    address: String,
}

#[derive(Serialize, Deserialize, Shape, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Folder {
    Inbox,
    Archive,
}

/// Finds e-mails, the latest first.
#[tool(read_only)]
#[derive(JsonSchema)]
async fn find_emails(
    mail: &Mail,
    /// Whose they are, by a part of the name.
    sender: String,
    folder: Folder,
) -> Result<Inbox> {
    let from = Person {
        name: format!("Sarah, to {}", mail.owner),
        address: format!("{sender}@example.org"),
    };
    let subject = match folder {
        Folder::Inbox => "The \"final\" numbers",
        Folder::Archive => "Old numbers",
    };
    Ok(Inbox {
        emails: vec![Email {
            from,
            subject: subject.into(),
            date: "2026-11-20".into(),
        }],
    })
}

/// Sends an e-mail.
#[tool]
#[derive(JsonSchema)]
async fn send_email(
    to: String,
    subject: String,
    body: String,
    /// Times to choose from.
    slots: Vec<String>,
) -> Result<String> {
    Ok(format!(
        "to {to}: {subject}: {body} ({})",
        slots.join(" or ")
    ))
}

/// Returns the tools by name: two Rust tools, and a tool without a Rust type.
fn toolbox() -> Toolbox<Mail> {
    let free_slots = Contract::new("free_slots")
        .description("Says when a person has time today.")
        .read_only()
        .arguments(json!({
            "type": "object",
            "properties": { "person": { "type": "string" }, "minutes": { "type": "integer", "minimum": 5 } },
            "required": ["person", "minutes"],
            "additionalProperties": false
        }))
        .output(json!({
            "type": "array",
            "items": {
                "type": "object",
                "properties": { "start": { "type": "string" }, "end": { "type": "string" } },
                "required": ["start", "end"]
            }
        }));
    Toolbox::new()
        .with_schema::<FindEmails>()
        .with_schema::<SendEmail>()
        .with_fn(free_slots, |_: Value| async move {
            Ok(json!([{ "start": "10:00", "end": "10:30" }, { "start": "15:30", "end": "16:00" }]))
        })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let path = std::env::args().nth(1);
    let path = path.unwrap_or_else(|| "examples/plans/reply.json".into());
    let toolbox = toolbox();
    // The prompt describes the tools and the format of a plan, and the schema restricts the model's answer.
    let prompt = toolbox.prompt();
    let schema = toolbox.schema();
    if path == "--prompt" {
        println!("{prompt}\n{schema:#}");
        return Ok(());
    }
    println!(
        "{} tools, in a prompt of {} bytes, and a schema of {} bytes\n",
        toolbox.contracts().len(),
        prompt.len(),
        schema.to_string().len(),
    );

    // The model's answer.
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Error::new(error).context(format!("reading {path}")))?;
    let document = match toolbox.read(&text) {
        Ok(document) => document,
        Err(findings) => {
            // Every error, before anything runs. `findings.to_string()` is the text to send to a model, so that it can
            // correct its plan.
            eprint!("{}", Terminal::stderr().findings(&findings, &path));
            std::process::exit(1);
        }
    };
    let terminal = Terminal::stdout();
    print!("{}", terminal.findings(document.warnings(), &path));
    println!("{}", terminal.plan(document.plan()));

    let mail = Mail { owner: "Tom" };
    let (output, report) = toolbox.run(document.plan(), (), &mail).with_report().await;
    println!("{}", terminal.report(&report));
    let reply = &output?["reply"];
    println!("{}", terminal.text(reply.as_str().unwrap_or_default()));
    Ok(())
}
