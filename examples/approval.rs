//! A plan is data before it runs: the example prints the plan, waits for approval, and only then runs it. A dangerous call needs another approval,
//! which shows its actual arguments.

use plan_runtime::run::{Decision, Gate, PendingCall};
use plan_runtime::{Plan, Result, Shape, Terminal, plan, tool};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};

#[derive(Serialize, Deserialize, Shape)]
struct Customer {
    name: String,
    email: String,
    /// The debt in cents.
    owed: u64,
}

/// Finds the customers who have not paid for this number of days.
#[tool(read_only)]
async fn find_debtors(days: u32) -> Result<Vec<Customer>> {
    let customer = |name: &str, owed| Customer {
        name: name.into(),
        email: format!("{}@example.org", name.to_lowercase()),
        owed: owed + u64::from(days),
    };
    Ok(vec![customer("Ada", 12_000), customer("Grace", 80_000)])
}

/// Sends an e-mail.
#[tool]
async fn send_email(to: String, text: String) -> Result<String> {
    Ok(format!("to {to}: {text}"))
}

/// Closes an account.
#[tool]
async fn close_account(email: String, reason: String) -> Result<String> {
    Ok(format!("closed the account of {email}: {reason}"))
}

plan! {
    /// Reminds customers with debts, and closes the accounts of customers with large debts.
    Dun(days: u32, limit: u64) -> Vec<Option<String>> {
        /// Who has not paid?
        step debtors = FindDebtors { days };

        /// Remind everyone, or close the account.
        #[optional(each)]
        step done = for customer in debtors {
            if customer.owed > limit {
                CloseAccount { email: customer.email, reason: format!("{days} days late") }
            } else {
                SendEmail { to: customer.email, text: format!("Dear {}, you owe us {} cents.", customer.name, customer.owed) }
            }
        };

        done
    }
}

/// Returns the tools that a plan may call, each with its description.
fn tools(plan: &Plan) -> Vec<(&str, &str)> {
    let actions = plan.steps.iter().flat_map(|step| step.actions());
    let tools = actions.filter_map(|action| action.tool.as_ref());
    let mut tools: Vec<_> = tools
        .map(|tool| (&*tool.name, &*tool.description))
        .collect();
    tools.sort_unstable();
    tools.dedup();
    tools
}

/// Asks a question on the terminal. Returns `None` without an answer.
fn ask(question: &str) -> io::Result<Option<bool>> {
    loop {
        print!("{question} [y/n] ");
        io::stdout().flush()?;
        let mut answer = String::new();
        if io::stdin().read_line(&mut answer)? == 0 {
            println!();
            return Ok(None);
        }
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(Some(true)),
            "n" | "no" => return Ok(Some(false)),
            _ => println!("Please say `y` or `n`."),
        }
    }
}

/// Asks a person about each account that is to be closed.
struct Person;

impl Gate for Person {
    async fn ask(&self, call: PendingCall) -> Decision {
        if call.is_read_only() || call.tool() == "send_email" {
            return Decision::AllowStep;
        }
        // In a program with other work, ask on another thread, and await the answer.
        match ask(&format!(
            "{call}\nIt {}. Shall I?",
            call.description().to_lowercase().trim_end_matches('.')
        )) {
            Ok(Some(true)) => Decision::Allow,
            Ok(Some(false)) => Decision::Refuse("you said no".into()),
            Ok(None) => Decision::Refuse("there is nobody to ask".into()),
            Err(error) => Decision::Refuse(error.to_string()),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let dun = Dun {
        days: 30,
        limit: 50_000,
    };

    let terminal = Terminal::stdout();
    println!("{}", terminal.plan(Dun::PLAN));
    println!("with the inputs {}\n", serde_json::to_string(&dun)?);
    println!("It may call:");
    for (name, description) in tools(Dun::PLAN) {
        println!("  {name:13}  {description}");
    }
    println!();

    match ask("Shall I run it?")? {
        Some(true) => {}
        Some(false) => {
            println!("Nothing was done.");
            return Ok(());
        }
        None => {
            println!("There is nobody to ask, so nothing was done.");
            return Ok(());
        }
    }
    let (done, report) = dun.run(&()).gate(Person).with_report().await;
    for line in done?.iter().flatten() {
        println!("{line}");
    }
    println!("\n{}", terminal.report(&report));
    Ok(())
}
