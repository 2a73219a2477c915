//! The names of members and variants, and the contents of variants.

use super::error::{Location, ResolveError};
use super::node::Node;
use serde::Deserialize as _;
use serde::de::Error as _;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, Unexpected, VariantAccess, Visitor,
};

/// The name of a member or a variant. As the key of a map, it becomes a number or a `bool` if the map's keys are.
#[derive(Clone, Copy)]
pub(super) enum Name<'n, 'a> {
    Borrowed(&'a str),
    /// A name in a value that was made.
    Lent(&'n str),
}

impl<'n, 'a: 'n> Name<'n, 'a> {
    pub(super) fn as_str(&self) -> &'n str {
        match self {
            Self::Borrowed(text) => text,
            Self::Lent(text) => text,
        }
    }
}

macro_rules! parsed {
    ($($method:ident $visit:ident $type:ty)*) => {$(
        fn $method<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
            // JSON has no numbers such as `+1`, `01`, `inf` and `NaN`.
            let text = self.as_str();
            let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
            let is_json = match digits {
                [b'0', second, ..] => !second.is_ascii_digit(),
                [first, ..] => first.is_ascii_digit() || text == "true" || text == "false",
                [] => false,
            };
            match text.parse::<$type>() {
                Ok(value) if is_json => visitor.$visit(value),
                _ => Err(ResolveError::invalid_type(Unexpected::Str(text), &visitor)),
            }
        }
    )*};
}

impl<'a> Deserializer<'a> for Name<'_, 'a> {
    type Error = ResolveError;

    #[inline]
    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        match self {
            Self::Borrowed(text) => visitor.visit_borrowed_str(text),
            Self::Lent(text) => visitor.visit_str(text),
        }
    }

    parsed! {
        deserialize_bool visit_bool bool
        deserialize_i8 visit_i8 i8
        deserialize_i16 visit_i16 i16
        deserialize_i32 visit_i32 i32
        deserialize_i64 visit_i64 i64
        deserialize_i128 visit_i128 i128
        deserialize_u8 visit_u8 u8
        deserialize_u16 visit_u16 u16
        deserialize_u32 visit_u32 u32
        deserialize_u64 visit_u64 u64
        deserialize_u128 visit_u128 u128
        deserialize_f32 visit_f32 f32
        deserialize_f64 visit_f64 f64
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        self.as_str()
            .into_deserializer()
            .deserialize_enum(name, variants, visitor)
    }

    serde::forward_to_deserialize_any! {
        <W: Visitor<'a>>
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// A variant of an enum, with its content and, if that is in an output, the content's key there.
pub(super) struct Variant<'n, 'a> {
    pub(super) name: Name<'n, 'a>,
    pub(super) content: Content<'n, 'a>,
}

/// The content of a variant.
pub(super) struct Content<'n, 'a>(pub(super) Option<(Node<'n, 'a>, Option<&'a str>)>);

impl<'n, 'a> Variant<'n, 'a> {
    pub(super) fn unit(name: Name<'n, 'a>) -> Self {
        let content = Content(None);
        Self { name, content }
    }
}

impl<'n, 'a> EnumAccess<'a> for Variant<'n, 'a> {
    type Error = ResolveError;
    type Variant = Content<'n, 'a>;

    fn variant_seed<S: DeserializeSeed<'a>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Content<'n, 'a>), ResolveError> {
        Ok((seed.deserialize(self.name)?, self.content))
    }
}

impl<'n, 'a> Content<'n, 'a> {
    fn node(&self, expected: &'static str) -> Result<Node<'n, 'a>, ResolveError> {
        match self.0 {
            Some((node, _)) => Ok(node),
            None => Err(ResolveError::invalid_type(
                Unexpected::UnitVariant,
                &expected,
            )),
        }
    }

    #[cold]
    fn inside(&self, error: ResolveError) -> ResolveError {
        match self.0 {
            Some((_, Some(name))) => error.inside_value(Location::Key(name.to_owned())),
            _ => error,
        }
    }
}

impl<'a> VariantAccess<'a> for Content<'_, 'a> {
    type Error = ResolveError;

    fn unit_variant(self) -> Result<(), ResolveError> {
        match self.0 {
            None => Ok(()),
            Some((node, _)) => <()>::deserialize(node).map_err(|e| self.inside(e)),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'a>>(
        self,
        seed: S,
    ) -> Result<S::Value, ResolveError> {
        let node = self.node("newtype variant")?;
        seed.deserialize(node).map_err(|e| self.inside(e))
    }

    fn tuple_variant<V: Visitor<'a>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        let node = self.node("tuple variant")?;
        let made = node.deserialize_tuple(length, visitor);
        made.map_err(|e| self.inside(e))
    }

    fn struct_variant<V: Visitor<'a>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        let node = self.node("struct variant")?;
        let made = node.deserialize_struct("", fields, visitor);
        made.map_err(|e| self.inside(e))
    }
}
