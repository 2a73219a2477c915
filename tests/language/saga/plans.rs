//! Plans that steps call.

use super::*;
use plan_runtime::plan;
use plan_runtime::run::{ManualTimer, OnFailure};
use std::time::Duration;

plan! {
    Trip(flight: String, hotel: String) -> String {
        step seat = Book { what: flight };
        #[undo(seat)]
        step seat_gone = Cancel { what: seat };
        #[after(seat)]
        step room = Book { what: hotel };
        #[undo(room)]
        step room_gone = Cancel { what: format!("{room} for {seat}") };
        #[always]
        step told = Cancel { what: format!("told {}", room.is_ok()) };
        room
    }
}

plan! {
    Journey(flight: String, hotel: String, last: String) -> String {
        step trip = Trip { flight, hotel };
        #[undo(trip)]
        step trip_gone = Cancel { what: format!("trip to {trip}") };
        #[after(trip)]
        step insured = Book { what: last };
        insured
    }
}

plan! {
    Order(item: String) -> String {
        step held = Book { what: format!("hold {item}") };
        #[undo(held)]
        step freed = Cancel { what: held };
        step paid = Book { what: item };
        #[undo(paid)]
        step refunded = Cancel { what: paid };
        paid
    }
}

plan! {
    Orders(items: Vec<String>) -> Vec<String> {
        step orders = for item in items { Order { item } };
        orders
    }
}

plan! {
    Caught(items: Vec<String>) -> Vec<Option<String>> {
        #[optional(each)]
        step orders = for item in items { Order { item } };
        orders
    }
}

plan! {
    Fixed(item: String) -> String {
        step held = Book { what: "fixed hold" };
        #[undo(held)]
        step freed = Cancel { what: held };
        step paid = Book { what: item };
        #[after(freed_not)]
        step never = Book { what: paid };
        step freed_not = Book { what: held };
        never
    }
}

plan! {
    Left(item: String) -> Option<String> {
        #[optional]
        step order = Fixed { item };
        order
    }
}

plan! {
    Slow(what: String) -> String {
        step held = Book { what: "hold" };
        #[undo(held)]
        step freed = Cancel { what: held };
        step paid = Book { what };
        #[undo(paid)]
        step never = Cancel { what: paid };
        #[after(held)]
        step other = Book { what: "slow other" };
        #[after(other)]
        step end = Book { what: paid };
        end
    }
}

plan! {
    Limited(what: String) -> Option<String> {
        #[timeout("3s")]
        #[optional]
        step order = Slow { what };
        order
    }
}

plan! {
    One(what: String) -> String {
        step one = Book { what };
        #[undo(one)]
        step gone = Cancel { what: one };
        one
    }
}

plan! {
    Deep() -> String {
        step deep = Book { what: "deep" };
        #[undo(deep)]
        step gone = Cancel { what: deep };
        deep
    }
}

plan! {
    All() -> String {
        step inner = Deep {};
        step more = for number in [1, 2] { One { what: format!("{inner} {number}") } };
        step end: String = more.concat();
        end
    }
}

plan! {
    Outermost(last: String) -> String {
        step all = All {};
        #[after(all)]
        step failed = Book { what: last };
        failed
    }
}

laws!();
