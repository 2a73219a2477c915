//! How serde writes a Rust type as JSON: the names that serde gives to its fields.
//!
//! `#[derive(Shape)]` reads the serde attributes of a type; [`plan!`](crate::plan!) uses the result at compile
//! time to turn `inbox.data[0].thread_id` into `/data/0/threadId`.

/// Has a macro of this name write the code for each tuple: with the name of each element's type, and its index.
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

/// A type that describes how serde writes it as JSON.
///
/// `#[derive(Shape)]` reads the type's serde attributes, with or without serde's own derives. Outputs have the names that
/// serde writes, and arguments have the names that it reads:
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
/// A type of another crate cannot derive it. It needs one only where a reference leads *into* it; one that ends at a value of
/// it does not ask. With `#[shape(remote = "other_crate::Issue")]`, a struct says the fields of that type, as in serde's own `remote`; its
/// documentation is in the guide, [Types of other crates](crate::guide::recipes::foreign_types). Such a struct has no `Shape` itself. Where a generic bound does ask, write `impl Shape for Mine {}`: references cannot lead into such a type.
///
/// # Secrets
/// `#[shape(secret)]` marks a field whose value nobody is to see: a password, a token. Reports, errors and events say `(secret)` in its place, and
/// in the place of all that reads it in a plan. They find it wherever the type is, also in the parameters of other types: `Vec<Session>`, `Page<Option<Session>>`.
/// [`Plans that you do not trust`](crate::guide) tells more.
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
/// The derive also finds out whether values of the type come back from JSON as they were: serde writes and reads all of its fields, whose types
/// are such types, too. Outputs of these types go [from tool to tool](crate::guide::tools#values-that-are-handed-over) as they are, and JSON is made of them only where
/// something needs it. If you implement serde's traits yourself, see to it that values come back, or implement `Shape` by hand, too.
///
/// # Other types
/// No type parameter needs a bound. A type with `#[serde(into)]`, `from`, `try_from` or `remote` is
/// opaque, and its secrets are those of the other type. Where this crate is reached only through another, say `#[shape(crate = path)]`.
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

/// What [`Shape`] says of a type.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum TypeShape {
    /// Nothing that a reference could name is known of the inside of the type.
    Opaque,
    /// A struct or a tuple.
    Struct(&'static [Field]),
    /// An enum. References cannot lead into it; literals of it can hold references.
    Enum(Tagging, &'static [Variant]),
}

/// A field of a struct, a tuple or an enum's variant.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Field {
    /// The Rust name without `r#`; the position (`"0"`) in tuples and tuple structs.
    pub ident: &'static str,
    /// Where the field is when the type is serialized. This is what a reference reads.
    pub output: FieldPlace,
    /// Where the field is when the type is deserialized. This is what an argument writes.
    pub argument: FieldPlace,
    /// Whether deserializing fails if the field is missing.
    pub required: bool,
    /// The value that a reader takes if serializing left the field out.
    pub omitted: Omitted,
    /// Whether a function of the author's own (`with`, `serialize_with`) decides how the value looks in an output, so that
    /// no path leads into it.
    pub opaque: bool,
    /// Whether a function of the author's own (`with`, `deserialize_with`) reads the value of an argument, so that a
    /// literal of its type may not be what the function expects.
    pub opaque_argument: bool,
    /// Whether it is marked with `#[shape(secret)]`.
    pub secret: bool,
    /// What the type of the field says of itself, where it may say something.
    pub(crate) inside: Option<fn() -> inside::Inside>,
}

impl Field {
    /// A field that is in this place of outputs and of arguments, and required in arguments.
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
        /// Puts the field into this place when the type is deserialized.
        argument: FieldPlace;
        /// Says whether deserializing fails if the field is missing.
        required: bool;
        /// Says what a reader takes if serializing left the field out.
        omitted: Omitted;
        /// Says whether a function of the author's own writes the value.
        opaque: bool;
        /// Says whether a function of the author's own reads the value.
        opaque_argument: bool;
        /// Says whether the value is secret.
        secret: bool;
    }

    /// Says what is in the field, for the secrets in it.
    #[doc(hidden)]
    #[must_use]
    pub const fn inside(mut self, inside: fn() -> inside::Inside) -> Self {
        self.inside = Some(inside);
        self
    }
}

/// The place of a field in the JSON of its type.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldPlace {
    /// A member of an object.
    Key(&'static str),
    /// An element of an array.
    Index(usize),
    /// Its own fields are among its parent's (`#[serde(flatten)]`).
    Flattened,
    /// It is the whole value (a newtype struct, `#[serde(transparent)]`).
    Inner,
    /// It is nowhere, because of this attribute, as written: `#[serde(skip)]`.
    LeftOut(&'static str),
}

/// The value of a field that `skip_serializing_if` left out.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Omitted {
    /// Serializing never leaves it out, or nothing is known of its value when left out.
    Never,
    /// It is an `Option`, and it was `None`.
    Null,
    /// It has a `#[serde(default)]`, and this is its JSON.
    Default(fn() -> Value),
    /// It has no value: reading the type fails where it was left out.
    Required,
}

/// How serde tells the variants of an enum apart.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tagging {
    /// `{"Variant": content}`, serde's default.
    External,
    /// `{"tag": "Variant", …content}`.
    Internal(&'static str),
    /// `{"tag": "Variant", "content": content}`.
    Adjacent(&'static str, &'static str),
    /// `content` alone.
    Untagged,
}

/// A variant of an enum, as it is deserialized.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Variant {
    /// The Rust name without `r#`.
    pub ident: &'static str,
    /// Its name in JSON, or the attribute because of which it cannot be deserialized.
    pub argument: std::result::Result<&'static str, &'static str>,
    /// Whether the variant is `#[serde(untagged)]` inside a tagged enum.
    pub untagged: bool,
    /// Its fields: a newtype variant has one with [`FieldPlace::Inner`].
    pub fields: &'static [Field],
}

impl Variant {
    /// A variant with these fields, which is deserialized under this name, or not at all because of this attribute.
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
        /// Says whether the variant is `#[serde(untagged)]` inside a tagged enum.
        untagged: bool;
    }
}
