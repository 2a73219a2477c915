#![deny(deprecated)]
#![allow(unused_variables)]
#[path = "../shop.rs"]
mod shop;

use plan_runtime::plan;
use shop::*;

plan! {
    Checked(cents: u64) -> u64 {
        step ok = Check { cents };
        step paid = Pay { cents };
        paid
    }
}

plan! {
    Unused(cents: u64) {
        step ok = Look { cents };
        step paid = Pay { cents };
    }
}

plan! {
    ByItsTool(cents: u64) {
        step stock = Look { cents };
        step note = Note { cents };
    }
}

plan! {
    TwoChecks(cents: u64) -> u64 {
        step ok = Check { cents };
        step stock = Look { cents };
        step paid = Pay { cents };
        paid
    }
}

plan! {
    OneOfThem(cents: u64) {
        step noted = Pay { cents };
        step stock = Look { cents };
        step note = Note { cents };
    }
}

// The second payment waits for the first.
plan! {
    Once(cents: u64) -> u64 {
        step ok = Check { cents };
        step paid = Pay { cents };
        step again = Pay { cents: paid };
        again
    }
}

plan! {
    Bodies(cents: u64, all: Vec<u64>, go: bool) -> Vec<u64> {
        step checks = for cents in all { Look { cents } };
        #[after(checks)]
        step limited: u64 = cents.checked_sub(7).ok_or("too little")?;
        step answer: bool = await;
        step maybe = if go { Pay { cents } };
        step paid = for cents in all { Pay { cents } };
        step group = {
            step inner = Look { cents };
            Pay { cents }
        };
        paid
    }
}

fn main() {
    let unnamed = plan! {
        step ok = Check { cents: 1 };
        step paid = Pay { cents: 2 };
        paid
    };
    let _ = unnamed.run(&Shop);
}
