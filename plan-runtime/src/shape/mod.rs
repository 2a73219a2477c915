//! Descriptions of the JSON of Rust types, with serde's names of their fields.
//!
//! `#[derive(Shape)]` reads the serde attributes of a type; [`plan!`](crate::plan!) uses the result at compile
//! time to turn `inbox.data[0].thread_id` into `/data/0/threadId`.

/// Calls a macro of this name to write the code for each tuple, with the name of each element's type and its index.
macro_rules! each_tuple {
    ($tuple:ident) => {
        $tuple!(A 0);
        $tuple!(A 0 B 1);
        $tuple!(A 0 B 1 C 2);
        $tuple!(A 0 B 1 C 2 D 3);
        $tuple!(A 0 B 1 C 2 D 3 E 4);
        $tuple!(A 0 B 1 C 2 D 3 E 4 F 5);
        $tuple!(A 0 B 1 C 2 D 3 E 4 F 5 G 6);
        $tuple!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7);
        $tuple!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8);
        $tuple!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9);
        $tuple!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10);
        $tuple!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11);
    };
}

pub(crate) mod inside;
mod parts;
pub(crate) mod probe;
mod search;
mod secrets;
mod standard;

pub(crate) use search::{secrets, secrets_inside};
pub(crate) use secrets::MASK;
pub use secrets::Secrets;
use serde_json::Value;

/// A type with a description of its JSON, so that references can read its fields.
///
/// `#[derive(Shape)]` reads the type's serde attributes, with or without serde's own derives. References to outputs use the names that
/// serde writes, and arguments use the names that serde reads:
///
/// ```
/// use plan_runtime::{Result, Shape, Tool, plan, tool};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, Shape)]
/// #[serde(rename_all = "camelCase")]
/// struct Email {
///     thread_id: String,
/// }
///
/// /// Fetches an email.
/// #[tool]
/// async fn fetch() -> Result<Email> {
///     Ok(Email { thread_id: "t-17".into() })
/// }
///
/// plan! {
///     Thread() -> String {
///         step email = Fetch {};
///         email.thread_id
///     }
/// }
///
/// let plan = serde_json::to_string(Thread::PLAN)?;
/// assert!(plan.contains("/threadId"));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// You cannot derive `Shape` for a type of another crate. A type needs a `Shape` only if a reference reads its fields, and not if a reference ends at the whole
/// value. To let references read the fields of another crate's type, declare the fields in a struct with `#[shape(remote = "other_crate::Issue")]`: see
/// [Types of other crates](crate::guide::recipes::foreign_types). Such a struct has no `Shape` itself. If a generic bound requires `Shape` for a type without accessible fields,
/// write `impl Shape for Mine {}`.
///
/// # Secrets
/// `#[shape(secret)]` marks a field with a confidential value, such as a password or a token. In reports, errors and events, `(secret)` replaces the value and
/// every value that a plan derives from it. The library finds secrets in any position of a type, including in the parameters of other types:
/// `Vec<Session>`, `Page<Option<Session>>`. [Untrusted plans](crate::guide::untrusted#secrets) describes the rules.
///
/// ```
/// use plan_runtime::{Result, Shape, plan, tool};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, Shape)]
/// struct Session {
///     user: String,
///     #[shape(secret)]
///     token: String,
/// }
///
/// /// Logs in.
/// #[tool]
/// async fn log_in(user: String, #[shape(secret)] password: String) -> Result<Session> {
///     Ok(Session { token: format!("token of {password}"), user })
/// }
///
/// let plan = plan! {
///     step session = LogIn { user: "sarah", password: "hunter2" };
///     step text: String = format!("{} has {}", session.user, session.token);
///     text
/// };
/// let run = plan.run(&()).capture_arguments(true).capture_outputs(true);
/// let (text, report) = smol::block_on(run.with_report());
/// assert_eq!(text?, "sarah has token of hunter2");
/// let session = report.step("session").unwrap();
/// assert_eq!(session.arguments().unwrap()["password"], "(secret)");
/// assert_eq!(session.output().unwrap()["token"], "(secret)");
/// assert_eq!(report.step("text").unwrap().output().unwrap(), "(secret)");
/// # Ok::<(), plan_runtime::RunError>(())
/// ```
///
/// # Values that are handed over
/// The derive also determines if JSON preserves the values of the type: serde must write and read all its fields, and JSON must preserve the fields'
/// types. Outputs of such types move [from tool to tool](crate::guide::tools#values-that-are-handed-over) as Rust values, and only other readers need
/// JSON. If you implement serde's traits yourself, make sure that JSON preserves the values, or implement `Shape` yourself as well.
///
/// # Other types
/// The derive adds no bounds to type parameters. References cannot read the fields of a type with `#[serde(into)]`, `from`, `try_from` or `remote`, and its secrets are the secrets
/// of the type that the attribute names. If your crate uses this crate through a re-export, write `#[shape(crate = path)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not implement `Shape`",
    label = "this refers to a field of `{Self}`",
    note = "add `#[derive(plan_runtime::Shape)]` to the declaration of `{Self}`"
)]
pub trait Shape {
    /// The parts of the type, under their Rust names and their names in JSON.
    #[doc(hidden)]
    const SHAPE: TypeShape = TypeShape::Opaque;
}

/// The description of a type from its [`Shape`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum TypeShape {
    /// A type whose content a reference cannot read.
    Opaque,
    /// A struct or a tuple.
    Struct(&'static [Field]),
    /// An enum. References cannot read its fields, but its literals can contain references.
    Enum(Tagging, &'static [Variant]),
}

/// A field of a struct, a tuple or an enum's variant.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Field {
    /// The Rust name without `r#`; the position (`"0"`) in tuples and tuple structs.
    pub ident: &'static str,
    /// The position of the field in the serialized type, which a reference reads.
    pub output: FieldPlace,
    /// The position of the field in the JSON for deserializing, which an argument writes.
    pub argument: FieldPlace,
    /// `true` if deserializing fails without the field.
    pub required: bool,
    /// The value that a reader takes if serializing left the field out.
    pub omitted: Omitted,
    /// `true` if a custom function (`with`, `serialize_with`) defines the value's JSON in an output, so that
    /// a reference cannot read a part of the value.
    pub opaque: bool,
    /// `true` if a custom function (`with`, `deserialize_with`) reads the value of an argument, so that a
    /// literal of its type may not fit the function.
    pub opaque_argument: bool,
    /// `true` with `#[shape(secret)]`.
    pub secret: bool,
    /// The declarations inside the type of the field, if it can have any.
    pub(crate) inside: Option<fn() -> inside::Inside>,
}

impl Field {
    /// Creates a field with this position in outputs and arguments, which arguments require.
    #[must_use]
    pub const fn new(ident: &'static str, place: FieldPlace) -> Self {
        Self {
            ident,
            output: place,
            argument: place,
            required: true,
            omitted: Omitted::Never,
            opaque: false,
            opaque_argument: false,
            secret: false,
            inside: None,
        }
    }

    setters! {
        /// Sets the position of the field for deserializing.
        argument: FieldPlace;
        /// Sets if deserializing fails without the field.
        required: bool;
        /// Sets the value for readers after serializing left the field out.
        omitted: Omitted;
        /// Marks a value that a custom function writes.
        opaque: bool;
        /// Marks a value that a custom function reads.
        opaque_argument: bool;
        /// Marks the value as secret.
        secret: bool;
    }

    /// Sets the declarations inside the field, for its secrets.
    #[doc(hidden)]
    #[must_use]
    pub const fn inside(mut self, inside: fn() -> inside::Inside) -> Self {
        self.inside = Some(inside);
        self
    }
}

/// The position of a field in the JSON of its type.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldPlace {
    /// A member of an object.
    Key(&'static str),
    /// An element of an array.
    Index(usize),
    /// The fields of this field are members of the parent's object (`#[serde(flatten)]`).
    Flattened,
    /// The field is the whole value (a newtype struct, `#[serde(transparent)]`).
    Inner,
    /// The JSON omits the field, because of this attribute, as written: `#[serde(skip)]`.
    LeftOut(&'static str),
}

/// The value of a field that `skip_serializing_if` left out.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Omitted {
    /// Serializing never omits the field, or the omitted value is unknown.
    Never,
    /// An `Option` that is `None`.
    Null,
    /// A field with `#[serde(default)]`, with the JSON of the default.
    Default(fn() -> Value),
    /// A missing value, without which deserializing the type fails.
    Required,
}

/// The representation of an enum's variants in JSON.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tagging {
    /// `{"Variant": content}`, serde's default.
    External,
    /// `{"tag": "Variant", …content}`.
    Internal(&'static str),
    /// `{"tag": "Variant", "content": content}`. One reference, so that a template is no larger than a reference to a value.
    Adjacent(&'static [&'static str; 2]),
    /// `content` alone.
    Untagged,
}

/// A variant of an enum, for deserializing.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Variant {
    /// The Rust name without `r#`.
    pub ident: &'static str,
    /// The name in JSON, or the attribute that prevents deserializing.
    pub argument: std::result::Result<&'static str, &'static str>,
    /// `true` for `#[serde(untagged)]` inside a tagged enum.
    pub untagged: bool,
    /// The fields: a newtype variant has one with [`FieldPlace::Inner`].
    pub fields: &'static [Field],
}

impl Variant {
    /// Creates a variant with these fields. `argument` is the name for deserializing, or the attribute that excludes the
    /// variant from deserializing.
    #[must_use]
    pub const fn new(
        ident: &'static str,
        argument: std::result::Result<&'static str, &'static str>,
        fields: &'static [Field],
    ) -> Self {
        Self {
            ident,
            argument,
            untagged: false,
            fields,
        }
    }

    setters! {
        /// Marks a variant that is `#[serde(untagged)]` inside a tagged enum.
        untagged: bool;
    }
}
