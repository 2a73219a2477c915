//! Until `resolve` has these.
use crate::plan::{Number, Segment, Template};
use crate::resolve::{Held, ResolveError, Scope};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

pub(super) fn resolve<T: DeserializeOwned>(
    template: &Template,
    scope: &Scope<'_>,
) -> Result<T, ResolveError> {
    T::deserialize(value(template, scope)?).map_err(|e| ResolveError::new(e.to_string()))
}

pub(super) fn held<T: Serialize + Send + 'static>(
    value: T,
    keep: bool,
) -> Result<Held, ResolveError> {
    Held::value(value, keep)
}

fn value(template: &Template, scope: &Scope<'_>) -> Result<Value, ResolveError> {
    Ok(match template {
        Template::Null => Value::Null,
        Template::Bool(b) => Value::Bool(*b),
        Template::Number(Number::Unsigned(n)) => Value::from(*n),
        Template::Number(Number::Signed(n)) => Value::from(*n),
        Template::Number(Number::Float(n)) => Value::from(*n),
        Template::String(s) => Value::from(&**s),
        Template::List(items) => items
            .iter()
            .map(|item| value(item, scope))
            .collect::<Result<_, _>>()?,
        Template::Object(entries) => {
            let mut map = serde_json::Map::new();
            for entry in entries.iter() {
                let crate::plan::Key::Name(name) = &entry.key else {
                    todo!()
                };
                map.insert(name.to_string(), value(&entry.value, scope)?);
            }
            Value::Object(map)
        }
        Template::Reference(reference) => {
            let missing = || ResolveError::new(format!("`{}` is not there", reference.written));
            let mut at = scope.json_of(reference.source).ok_or_else(missing)?;
            for segment in reference.path.iter() {
                at = match segment {
                    Segment::Key(key, _) => at.get(&**key),
                    Segment::Index(index, _) => at.get(index),
                    _ => todo!(),
                }
                .ok_or_else(missing)?;
            }
            at.clone()
        }
        Template::Computed(computed) => computed.compute.expect("compute").compute(scope)?,
        Template::Tagged(..) | Template::Text(_) => todo!(),
    })
}
