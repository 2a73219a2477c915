//! `if`, `if let` and `else`.

use super::{Item, List, Say};
use crate::support::{Same, done};
use plan_runtime::plan;
use serde_json::{Value, json};

plan! {
    pub Branches(count: u32, wanted: bool) -> Value {
        step all = List { count };
        step skipped = if wanted { Say { text: "wanted", number: 1 } };
        step of_reference = if wanted { Say { text: all.counts.len().to_string(), number: all.all.get(0)?.serial_number } } else { Say { text: "no", number: None } };
        step chain = if count > 2 {
            Say { text: all.all[2].name, number: all.all[2].size.1 }
        } else if all.all.is_empty() {
            Say { text: "empty", number: None }
        } else if wanted {
            Say { text: format!("{count} wanted"), number: count }
        } else {
            Say { text: "few", number: Some(all.all.len() as u32) }
        };
        step open_chain = if count > 2 { Same::<u32> { value: 1 } } else if wanted { Same::<u32> { value: 2 } };
        step nested = if wanted { if count > 2 { Same::<u32> { value: 1 } } else { Same::<u32> { value: 2 } } } else { Same::<u32> { value: 3 } };
        step nested_open = if wanted { if count > 2 { Same::<u32> { value: 1 } } };
        json!([skipped, chain.id, chain.number, open_chain, nested, nested_open, of_reference.id])
    }
}

#[test]
fn branches() {
    let run = |count, wanted| done(Branches { count, wanted }.run(&()));
    assert_eq!(
        run(3, true),
        json!([{"id": "wanted", "number": 1}, "n2", 20, 1, 1, 1, "2"])
    );
    assert_eq!(
        run(2, true),
        json!([{"id": "wanted", "number": 1}, "2 wanted", 2, 2, 2, null, "2"])
    );
    assert_eq!(run(2, false), json!([null, "few", 2, null, 3, null, "no"]));
    assert_eq!(
        run(0, true),
        json!([{"id": "wanted", "number": 1}, "empty", null, 2, 2, null, "2"])
    );
}

plan! {
    pub Lets(count: u32, limit: Option<u32>, pair: (u32, Option<String>)) -> Value {
        step all = List { count };
        step reference = if let Some(next) = &all.next { Say { text: next, number: Some(next.len() as u32) } };
        step copied = if let Some(limit) = limit { Same::<u32> { value: limit } };
        step several = if let (number, Some(text)) = &pair { Say { text, number } } else { Say { text: "none", number: None } };
        step chain = if let Some(next) = &all.next && next.len() > 3 && let Some(limit) = &limit && limit > 3 {
            Say { text: format!("{next} {limit}"), number: limit }
        } else if let [first, .., last] = &all.all[..] {
            Say { text: first.name, number: last.serial_number }
        } else {
            Say { text: "neither", number: None }
        };
        step name = if let Some(Item { name, size: (_, high), .. }) = all.all.last() { Say { text: name, number: high } };
        step whole = if let found @ Some(_) = &all.next { Same::<Option<String>> { value: found } };
        step slice = if let Some(text) = all.next.as_deref() { Say { text, number: None } };
        step nested = if let Some(a) = &limit { if let Some(b) = &all.next { Say { text: b, number: a } } else { Say { text: "b", number: a } } };
        json!([reference, copied, several, chain, name, whole, slice, nested])
    }
}

#[test]
fn lets() {
    let run = |count, limit, text: Option<&str>| {
        let pair = (7, text.map(str::to_owned));
        done(Lets { count, limit, pair }.run(&()))
    };
    assert_eq!(
        run(2, Some(4), Some("p")),
        json!([
            {"id": "next", "number": 4}, 4, {"id": "p", "number": 7}, {"id": "next 4", "number": 4},
            {"id": "n1", "number": 10}, "next", {"id": "next", "number": null}, {"id": "next", "number": 4}
        ])
    );
    assert_eq!(
        run(2, Some(3), None),
        json!([
            {"id": "next", "number": 4}, 3, {"id": "none", "number": null}, {"id": "n0", "number": 1},
            {"id": "n1", "number": 10}, "next", {"id": "next", "number": null}, {"id": "next", "number": 3}
        ])
    );
    assert_eq!(
        run(0, Some(5), None),
        json!([
            null, 5, {"id": "none", "number": null}, {"id": "neither", "number": null},
            null, null, null, {"id": "b", "number": 5}
        ])
    );
    assert_eq!(run(0, None, None)[1], Value::Null);
}
