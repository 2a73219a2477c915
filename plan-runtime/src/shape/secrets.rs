//! The secret parts of a value.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// The replacement for a secret value.
pub(crate) const MASK: &str = "(secret)";

/// Any element of a list, or any member of an object.
const ANY: &str = "*";

/// The largest number of secret parts, at any depth. With more parts, the whole value is secret: otherwise a plan could create any number of
/// parts, and each reference copies them.
const MOST: usize = 128;

/// The secret parts of a value: of the arguments or the output of a tool, or of an input of a plan.
///
/// `#[shape(secret)]` marks secret parts in Rust; see [`Shape`](crate::Shape). As data, secret parts are JSON Pointers, in which `*` is any element of a list or any
/// member of an object. Every part of a secret value is secret.
///
/// ```
/// use plan_runtime::plan::Secrets;
///
/// let secrets: Secrets = ["/token", "/keys/*/value"].into_iter().collect();
/// let shown = secrets.mask(serde_json::json!({
///     "user": "sarah",
///     "token": "hunter2",
///     "keys": [{"name": "a", "value": 1}],
/// }));
/// assert_eq!(shown["token"], "(secret)");
/// assert_eq!(shown["keys"], serde_json::json!([{"name": "a", "value": "(secret)"}]));
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    whole: bool,
    parts: BTreeMap<String, Secrets>,
}

impl Secrets {
    /// No secrets.
    pub(crate) const NONE: Self = Self {
        whole: false,
        parts: BTreeMap::new(),
    };

    /// Returns the secrets of a value that is secret as a whole.
    #[must_use]
    pub const fn whole() -> Self {
        Self {
            whole: true,
            parts: BTreeMap::new(),
        }
    }

    /// Returns `true` without secrets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.whole && self.parts.is_empty()
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Returns the secrets, or the whole value as secret if it has too many parts.
    pub(crate) fn bounded(self) -> Self {
        fn exceeds(secrets: &Secrets, left: &mut usize) -> bool {
            secrets.parts.values().any(|part| {
                *left = left.saturating_sub(1);
                *left == 0 || exceeds(part, left)
            })
        }
        if exceeds(&self, &mut { MOST }) {
            Self::whole()
        } else {
            self
        }
    }

    /// Returns the pointers to the secret parts, in ascending order.
    #[must_use]
    pub fn pointers(&self) -> Vec<String> {
        let mut pointers = Vec::new();
        self.collect(&mut String::new(), &mut pointers);
        pointers
    }

    fn collect(&self, path: &mut String, pointers: &mut Vec<String>) {
        if self.whole {
            pointers.push(path.clone());
            return;
        }
        let length = path.len();
        for (token, part) in &self.parts {
            path.push('/');
            path.push_str(&token.replace('~', "~0").replace('/', "~1"));
            part.collect(path, pointers);
            path.truncate(length);
        }
    }

    /// Replaces each secret part of the value by `"(secret)"`.
    #[must_use]
    pub fn mask(&self, mut value: Value) -> Value {
        self.mask_in(&mut value);
        value
    }

    pub(crate) fn mask_in(&self, value: &mut Value) {
        if self.whole {
            // Null has no secret.
            if !value.is_null() {
                *value = MASK.into();
            }
            return;
        }
        if self.parts.is_empty() {
            return;
        }
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.mask_part(&index.to_string(), item);
                }
            }
            Value::Object(members) => {
                for (key, member) in members {
                    self.mask_part(key, member);
                }
            }
            _ => {}
        }
    }

    fn mask_part(&self, token: &str, value: &mut Value) {
        for token in [token, ANY] {
            if let Some(part) = self.parts.get(token) {
                part.mask_in(value);
            }
        }
    }

    /// Returns the secrets of the part with this name.
    pub(crate) fn at(&self, token: &str) -> Self {
        if self.whole {
            return Self::whole();
        }
        let mut found = Self::NONE;
        for token in [token, ANY] {
            if let Some(part) = self.parts.get(token) {
                found.add(part.clone());
            }
        }
        found
    }

    /// Returns the secrets of any element of the list or member of the object.
    pub(crate) fn any(&self) -> Self {
        let mut found = Self::NONE;
        found.whole = self.whole;
        for part in self.parts.values() {
            found.add(part.clone());
        }
        found
    }

    /// Returns the secrets of an object with this value as a member.
    pub(crate) fn under(self, token: impl Into<String>) -> Self {
        let mut whole = Self::NONE;
        if !self.is_empty() {
            whole.parts.insert(token.into(), self);
        }
        whole
    }

    /// Returns the secrets of a list of such values.
    pub(crate) fn in_list(self) -> Self {
        self.under(ANY)
    }

    /// Returns the whole value as secret if a part is secret.
    pub(crate) fn as_one(&self) -> Self {
        if self.is_empty() {
            Self::NONE
        } else {
            Self::whole()
        }
    }

    /// Adds the secrets of the other value.
    pub(crate) fn add(&mut self, other: Self) {
        if self.whole {
            return;
        }
        if other.whole {
            *self = other;
            return;
        }
        for (token, part) in other.parts {
            self.parts.entry(token).or_default().add(part);
        }
    }
}

/// Reads JSON Pointers, with `*` for any element or member. A pointer without a leading `/` makes the whole value secret, and so do
/// more than 128 parts.
impl<P: AsRef<str>> FromIterator<P> for Secrets {
    fn from_iter<I: IntoIterator<Item = P>>(pointers: I) -> Self {
        let mut secrets = Self::NONE;
        for (count, pointer) in pointers.into_iter().enumerate() {
            if count.is_multiple_of(MOST) {
                secrets = secrets.bounded();
            }
            // Deeper parts make the part that contains them secret.
            let tokens: Vec<_> = pointer.as_ref().split('/').skip(1).take(MOST).collect();
            secrets.add(tokens.iter().rfold(Self::whole(), |part, token| {
                part.under(token.replace("~1", "/").replace("~0", "~"))
            }));
        }
        secrets.bounded()
    }
}

/// The pointers to the secret parts.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.pointers()).finish()
    }
}

impl Serialize for Secrets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.pointers().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Secrets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<String>::deserialize(deserializer).map(|pointers| pointers.iter().collect())
    }
}
