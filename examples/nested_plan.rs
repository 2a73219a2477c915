//! A plan is a tool, so a plan can be a step of other plans. In this example, two steps call one plan. The example also runs
//! without tokio.

use plan_runtime::{Error, Result, Shape, Terminal, Tool, plan, tool};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The application: amounts in cents and rates by currency.
struct Bank {
    accounts: BTreeMap<&'static str, Account>,
    rates: BTreeMap<&'static str, f64>,
}

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Account {
    cents: i64,
    currency: String,
}

/// Looks an account up.
#[tool]
async fn find_account(bank: &Bank, owner: String) -> Result<Account> {
    let account = bank.accounts.get(owner.as_str()).cloned();
    account.ok_or_else(|| Error::permanent(format!("{owner} has no account")))
}

/// Returns the value of one unit of a currency in euros.
#[tool]
async fn rate(bank: &Bank, currency: String) -> Result<f64> {
    let rate = bank.rates.get(currency.as_str()).copied();
    rate.ok_or_else(|| Error::msg(format!("no rate for {currency} today")))
}

plan! {
    /// Convert a person's savings to euros.
    Balance(owner: String) -> f64 {
        step account = FindAccount { owner };
        step rate = Rate { currency: account.currency };
        account.cents as f64 / 100.0 * rate
    }
}

plan! {
    /// Compare the savings of two people.
    Compare(one: String, other: String) -> String {
        step first = Balance { owner: one };
        step second = Balance { owner: other };
        format!("{one} has {first:.2} EUR, {other} has {second:.2} EUR")
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let account = |cents, currency: &str| Account {
        cents,
        currency: currency.to_owned(),
    };
    let bank = Bank {
        accounts: BTreeMap::from([
            ("ada", account(120_000, "GBP")),
            ("bo", account(98_050, "EUR")),
            ("cy", account(500, "XTS")),
        ]),
        rates: BTreeMap::from([("EUR", 1.0), ("GBP", 1.17)]),
    };
    let compare = |one: &str, other: &str| Compare {
        one: one.into(),
        other: other.into(),
    };

    println!("{}", Terminal::stdout().plan(Compare::PLAN));
    let tool = format!("`{}` is a tool: {}", Balance::NAME, Balance::DESCRIPTION);
    println!("{}", Terminal::stdout().text(tool));

    // Run the plan alone, and as two concurrent steps.
    let alone = Balance { owner: "bo".into() }.run(&bank);
    println!("alone:  {:.2} EUR", alone.await?);
    println!("nested: {}", compare("ada", "bo").run(&bank).await?);

    // An error shows its origin, through every enclosing plan.
    for other in ["cy", "dee"] {
        if let Err(error) = compare("ada", other).run(&bank).await {
            let again = if error.is_transient() {
                "may"
            } else {
                "will not"
            };
            let message = format!("error:  {error}\n        (another try {again} help)");
            println!("{}", Terminal::stdout().text(message));
        }
    }
    Ok(())
}
