//! Blanket traits in scope, whose methods the expansion could call instead of its own.

use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

macro_rules! blanket {
    ($($name:ident($receiver:ty): $($method:ident)*;)*) => {$(
        #[allow(dead_code, clippy::should_implement_trait, clippy::wrong_self_convention)]
        trait $name: Sized {
            $(fn $method(self: $receiver) {})*
        }
        impl<T> $name for T {}
    )*};
}

blanket! {
    OfValue(Self): it kind shown value owned to asked optional shape check enter key tag element rest names of with within show start call taken takable deref;
    OfReference(&Self): it kind shown value owned to asked optional shape check enter key tag element rest names of with within show start call taken takable deref;
}

#[derive(Serialize, Deserialize, Shape, Debug, Clone)]
pub struct Letter {
    pub text: String,
    pub size: u64,
    pub next: Option<Box<Letter>>,
    pub raw: Value,
    pub tags: Vec<String>,
}

/// Writes a letter.
#[tool]
async fn write(text: String, size: Option<u64>, note: Value) -> Result<Letter> {
    Ok(Letter {
        text,
        size: size.unwrap_or_default(),
        next: None,
        raw: note,
        tags: vec!["a".to_owned()],
    })
}

plan! {
    Blanket(name: String, letter: Letter) -> (Letter, String, Option<u64>, Vec<String>) {
        step first = Write { text: name, size: letter.next?.size, note: letter.raw["a"] };
        step second = if let Some(next) = &letter.next { Write { text: next.text, size: None, note: json!({ "a": first.tags[..] }) } };
        step third = for (index, tag) in first.tags.iter().enumerate() { Write { text: tag, size: Some(index as u64), note: second } };
        step fourth = for each in third { Write { text: format!("{} {name}", each.text), size: each.size, note: first.raw.pointer("/a")? } };
        step count: usize = fourth.len();
        step taken: String = letter.next.map(|next| next.text).unwrap_or(name);
        (fourth[0], format!("{count:>2} {} {taken}", fourth[0].size), second?.size, first.tags[..])
    }
}

#[test]
fn blanket() {
    let letter = Letter {
        text: "a".to_owned(),
        size: 1,
        next: None,
        raw: json!({ "a": { "a": 1 } }),
        tags: Vec::new(),
    };
    let name = "b".to_owned();
    let (last, text, size, tags) = smol::block_on(Blanket { name, letter }.run(&())).unwrap();
    assert_eq!((last.text.as_str(), text.as_str()), ("a b", " 1 0 b"));
    assert_eq!((size, tags), (None, vec!["a".to_owned()]));
    let unnamed = plan! {
        step only = Write { text: "a", size: 1, note: 2 };
        (only, only.next?.text, only.raw)
    };
    assert_eq!(smol::block_on(unnamed.run(&())).unwrap().2, json!(2));
}
