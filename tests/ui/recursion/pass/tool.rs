//! A plan that a tool of its own runs again, and names that are like the plan's.

use plan_runtime::{Result, plan, tool};

plan! {
    Countdown(from: u64) -> u64 {
        step rest = CountOn { from };
        rest + 1
    }
}

#[tool]
async fn count_on(from: u64) -> Result<u64> {
    match from {
        0 => Ok(0),
        _ => Ok(Box::pin(Countdown { from: from - 1 }.run(&())).await?),
    }
}

mod other {
    use plan_runtime::{Result, tool};

    /// A tool of the plan's name.
    #[tool(struct = Report, name = "write_report")]
    pub async fn write(pages: u64) -> Result<u64> {
        Ok(pages)
    }
}

plan! {
    Report(pages: u64) -> u64 {
        step written = other::Report { pages };
        written
    }
}

fn main() {
    let run = Countdown { from: 3 }.run(&());
    assert_eq!(smol::block_on(run).unwrap(), 4);
    assert_eq!(smol::block_on(Report { pages: 2 }.run(&())).unwrap(), 2);
}
