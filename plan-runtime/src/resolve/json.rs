//! The JSON of a node, copied without a visitor.

use super::error::{Location, ResolveError};
use super::members::are_named;
use super::meter::{MEMBER, Meter, PART, charge};
use super::node::{At, Node};
use crate::plan::{Entry, Key, Template};
use serde::Deserialize as _;
use serde_json::{Map, Value};

/// The most elements of a list that get memory before they are counted.
const AT_ONCE: usize = 1 << 15;

impl<'a> Node<'_, 'a> {
    /// Returns the JSON of the node. A reader of a `Value` gets equal JSON, counts and errors.
    pub(super) fn json(self) -> Result<Value, ResolveError> {
        if let Some(value) = self.plain() {
            let unlimited = Meter::unlimited();
            let meter = self.meter.unwrap_or(&unlimited);
            if meter.counts_parts(value, self.depth) {
                return Ok(value.clone());
            }
        }
        match self.at {
            At::Template(Template::Object(entries)) if are_named(entries) => self.object(entries),
            At::Template(Template::List(items)) => self.list(items),
            _ => Value::deserialize(self),
        }
    }

    fn object(&self, entries: &'a [Entry]) -> Result<Value, ResolveError> {
        let inside = self.deeper()?;
        let mut members = Map::with_capacity(entries.len());
        for Entry { key, value } in entries {
            let Key::Name(name) = key else { continue };
            charge(self.meter, MEMBER + name.len())?;
            let value = inside.part(At::Template(value)).json();
            let value = value.map_err(|e| e.inside(Location::Key(name.clone())))?;
            members.insert(name.clone(), value);
        }
        Ok(Value::Object(members))
    }

    fn list(&self, items: &'a [Template]) -> Result<Value, ResolveError> {
        let inside = self.deeper()?;
        let mut list = Vec::with_capacity(items.len().min(AT_ONCE));
        for (index, item) in items.iter().enumerate() {
            charge(self.meter, PART)?;
            let item = inside.part(At::Template(item)).json();
            list.push(item.map_err(|e| e.inside(Location::Index(index)))?);
        }
        Ok(Value::Array(list))
    }
}

#[cfg(test)]
mod tests {
    use crate::Plan;
    use crate::resolve::meter::{MemoryBudget, Meter};
    use crate::resolve::node::Node;
    use crate::resolve::{ResolveError, Scope, StoredValue};
    use serde::Deserialize as _;
    use serde_json::{Value, json};

    const ARGUMENTS: [&str; 7] = [
        r#"{"object": {"a": {"reference": {"input": "x", "pointer": ""}}, "b": {"object": {}}, "c": 5}}"#,
        r#"{"object": {"a": {"reference": {"input": "x", "pointer": "/list"}}, "b": "later"}}"#,
        r#"{"object": {"a": [true, "text", null, {"reference": {"input": "x", "pointer": "/list/1"}}]}}"#,
        r#"{"object": {"a": ["text", {"object": {"b": {"reference": {"input": "x", "pointer": "/no"}}}}]}}"#,
        r#"{"object": {"a": {"reference": {"input": "y", "pointer": ""}}}}"#,
        r#"{"reference": {"input": "x", "pointer": ""}}"#,
        r#"[1, [], {"text": ["n ", {"value": {"reference": {"input": "x", "pointer": "/n"}}}]}]"#,
    ];

    /// A copy has the JSON, the count and the error of a visitor, for each limit of bytes.
    #[test]
    fn a_copy_is_read_like_a_value() {
        let deep = (0..300).fold(json!(1), |inner, _| json!([inner]));
        let input =
            json!({"n": -5, "list": [1.5, {"text": "long", "none": null}, [], {}], "e": {}});
        let (mut copied, mut refused) = (0, 0);
        for arguments in ARGUMENTS {
            let text = format!(
                r#"{{"name": "p", "inputs": [{{"name": "x", "type": "T"}}, {{"name": "y", "type": "T"}}], "steps": [{{"id": "s", "tool": {{"name": "t"}}, "arguments": {arguments}}}]}}"#
            );
            let plan: Plan = serde_json::from_str(&text).unwrap();
            let template = &plan.steps[0].action().unwrap().args;
            let inputs = [input.clone(), deep.clone()].map(StoredValue::json);
            for room in (0..12_000).step_by(7) {
                let read = |copies: bool| {
                    let meter = Meter::new(MemoryBudget::of_bytes(room), None);
                    let scope = Scope::new(&plan, &inputs, &[]).metered(&meter);
                    let node = Node::template(template, &scope);
                    let made: Result<Value, ResolveError> = if copies {
                        node.json()
                    } else {
                        Value::deserialize(node)
                    };
                    (made.map_err(|error| error.to_string()), meter.spent())
                };
                let (made, expected) = (read(true), read(false));
                assert_eq!(made, expected, "{arguments} within {room}");
                match made.0 {
                    Ok(_) => copied += 1,
                    Err(_) => refused += 1,
                }
            }
        }
        assert!(copied > 1_000 && refused > 1_000, "{copied} {refused}");
    }
}
