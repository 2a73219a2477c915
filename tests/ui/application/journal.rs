//! A journal is opened before a run has it.
use plan_runtime::journal::{Journal, Memory};
use plan_runtime::{Result, plan, tool};
use std::sync::Arc;

#[tool]
async fn charge(cents: u64) -> Result<String> {
    Ok(format!("paid {cents}"))
}

plan! {
    Order(cents: u64) -> String {
        step receipt = Charge { cents };
        receipt
    }
}

fn main() {
    let _ = Order { cents: 1 }.run(&()).durable("runs.db", "order-1");
    let opened: Result<Memory> = Ok(Memory::new());
    let _ = Order { cents: 1 }.run(&()).durable(&opened, "order-1");
    let journal = Memory::new();
    let _ = Order { cents: 1 }.run(&()).durable(&journal, "order-1");
    let shared: Arc<dyn Journal> = Arc::new(journal);
    let _ = Order { cents: 1 }.run(&()).durable(&shared, "order-1");
}
