#![deny(warnings)]

#[path = "../../shop.rs"]
mod shop;

use plan_runtime::plan;
use shop::*;

plan! {
    Ordered(cents: u64) -> u64 {
        step ok = Check { cents };
        #[after(ok)]
        step paid = Pay { cents };
        paid
    }
}

plan! {
    BothAtOnce(cents: u64) -> u64 {
        step ok = Check { cents };
        step stock = Look { cents };
        #[after(ok, stock)]
        step paid = Pay { cents };
        paid
    }
}

// The payment waits for a step that waits for the check.
plan! {
    Indirectly(cents: u64) -> u64 {
        step ok = Check { cents };
        #[after(ok)]
        step price = Look { cents };
        step paid = Pay { cents: price };
        paid
    }
}

plan! {
    Harmless(cents: u64) -> u64 {
        #[optional]
        step maybe = Check { cents };
        #[catch]
        step caught = Look { cents };
        #[fallback(0)]
        step replaced = Look { cents };
        step paid = Pay { cents };
        paid
    }
}

plan! {
    OnlyReads(cents: u64) -> u64 {
        step ok = Check { cents };
        step price = Look { cents };
        price
    }
}

// Two messages do not depend on each other.
plan! {
    TwoMessages(cents: u64) {
        step one = Note { cents };
        step other = Note { cents };
    }
}

// A tool without `read_only` may be an effect itself.
plan! {
    NoteFirst(cents: u64) -> u64 {
        step note = Note { cents };
        step paid = Pay { cents };
        paid
    }
}

// An underscore marks an output that has no use on purpose.
plan! {
    OnPurpose(cents: u64) -> u64 {
        step _stock = Look { cents };
        step _limited: u64 = cents.checked_sub(7).ok_or("too little")?;
        step paid = Pay { cents };
        paid
    }
}

plan! {
    AfterThePayment(cents: u64) -> u64 {
        step paid = Pay { cents };
        step note = Note { cents };
        paid
    }
}

plan! {
    Roles(cents: u64) -> u64 {
        step paid = Pay { cents };
        step stock = Look { cents };
        #[undo(paid)]
        step refunded = Pay { cents };
        #[always]
        step noted = Note { cents };
        paid
    }
}

plan! {
    UndoneChecks(cents: u64) -> u64 {
        step held = Look { cents };
        #[undo(held)]
        step freed = Note { cents };
        step paid = Pay { cents };
        paid
    }
}

plan! {
    Blocks(cents: u64, go: bool) -> u64 {
        step ok = Check { cents };
        #[after(ok)]
        step group = {
            step stock = Look { cents };
            #[after(stock)]
            step paid = Pay { cents };
            paid
        };
        step either = if go {
            step unused = Look { cents };
            unused
        } else {
            Pay { cents }
        };
        group + either
    }
}

plan! {
    #[allow(deprecated)]
    Allowed(cents: u64) -> u64 {
        step ok = Check { cents };
        step paid = Pay { cents };
        paid
    }
}

fn main() {
    let _ = Ordered { cents: 1 }.run(&Shop);
}
