//! A shop whose orders wait for an approval, for the examples `runs` and `approve_later`.

use plan_runtime::dynamic::Toolbox;
use plan_runtime::run::CallContext;
use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The application: it has a bank and a warehouse.
pub(crate) struct Shop;

#[derive(Serialize, Deserialize, Shape)]
pub(crate) struct Approval {
    pub(crate) granted: bool,
    pub(crate) by: String,
}

/// Charges a card. The bank makes a payment with the same key only once.
#[tool]
pub(crate) async fn charge(
    _shop: &Shop,
    #[context] context: CallContext,
    cents: u64,
) -> Result<String> {
    println!(
        "  charged {cents} cents, with the key {}",
        context.idempotency_key()
    );
    Ok(format!("payment of {cents} cents"))
}

/// Refunds the money.
#[tool]
pub(crate) async fn refund(_shop: &Shop, payment: String) -> Result<()> {
    println!("  gave back the {payment}");
    Ok(())
}

/// Ships an item.
#[tool]
pub(crate) async fn ship(_shop: &Shop, item: String, approved_by: String) -> Result<String> {
    println!("  shipped the {item}");
    Ok(format!("a parcel with a {item}, approved by {approved_by}"))
}

plan! {
    /// Sells an item after an approval.
    pub(crate) PlaceOrder(item: String, cents: u64) -> Option<String> {
        step payment = Charge { cents };
        #[undo(payment)]
        step refunded = Refund { payment };
        #[after(payment)]
        step approval: Approval = await;
        step parcel = if approval.granted { Ship { item, approved_by: approval.by } };
        parcel
    }
}

/// The plan with its tools, which run orders of earlier versions of the plan.
pub(crate) fn toolbox() -> Toolbox<Shop> {
    Toolbox::new()
        .with::<PlaceOrder>()
        .with::<Charge>()
        .with::<Refund>()
        .with::<Ship>()
}

/// Returns the path of the database: `RUNS_DB`, or a file in the folder for temporary files.
pub(crate) fn database() -> PathBuf {
    let given = std::env::var_os("RUNS_DB").map(PathBuf::from);
    given.unwrap_or_else(|| std::env::temp_dir().join("plan-examples.db"))
}
