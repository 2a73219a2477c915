#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Undone(filters: Filters) -> Inbox {
        step first = FetchEmails { filters };
        step second = Log { entry: first.total };

        #[undo(first)]
        step undone = Log { entry: second };

        #[always]
        step told = Log { entry: first.total };

        #[after(undone)]
        step last = Log { entry: told };

        #[undo(Log { entry: 1 })]
        step more = Log { entry: 2 };

        #[undo(first)] #[catch]
        step again = Log { entry: 3 };

        #[always] #[after(first)]
        step late = Log { entry: 4 };

        #[always]
        step seen = Log { entry: undone.err()?.message };

        #[undo second]
        step unsaid = Log { entry: 5 };

        #[undo(second)] Log { entry: 6 };

        first
    }
}

fn main() {}
