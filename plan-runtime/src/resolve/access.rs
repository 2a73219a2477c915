//! Projections, names and variants, part by part.

use super::error::{Location, ResolveError};
use super::meter::{PART, charge};
use super::node::NodeDeserializer;
use super::value::all_read;
use super::walk::{TemplateNode, behind_each, to_list, tokens, walk};
use crate::plan::Path;
use serde::Deserialize as _;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde_json::Value;

/// The elements of a list, each led on from.
pub(super) struct EachItems<'a> {
    at: NodeDeserializer<'a>,
    items: std::slice::Iter<'a, Value>,
    index: usize,
    path: Path<'a>,
    rest: Path<'a>,
}

impl<'a> EachItems<'a> {
    pub(super) fn visit<V: Visitor<'a>>(
        at: &NodeDeserializer<'a>,
        items: &'a [Value],
        (path, rest): (Path<'a>, Path<'a>),
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        let mut access = Self {
            at: at.deeper()?,
            items: items.iter(),
            index: 0,
            path,
            rest,
        };
        let value = visitor
            .visit_seq(&mut access)
            .map_err(|e| access.complete(e))?;
        all_read(value, access.index, access.items.len(), "list")
    }

    /// Adds the position of the list to an error without the position of an element.
    #[cold]
    fn complete(&self, error: ResolveError) -> ResolveError {
        if error.is_placed() {
            return error;
        }
        error.behind(tokens(to_list(self.path, self.rest)).rev())
    }
}

impl<'a> SeqAccess<'a> for EachItems<'a> {
    type Error = ResolveError;

    fn next_element_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ResolveError> {
        let Some(item) = self.items.next() else {
            return Ok(None);
        };
        let index = self.index;
        self.index += 1;
        charge(self.at.scope.meter(), PART)?;
        let node =
            walk(item, self.rest).map_err(|e| behind_each(e, index, self.path, self.rest))?;
        let leads_on = !matches!(node, TemplateNode::Each { .. });
        seed.deserialize(self.at.part(node)).map(Some).map_err(|e| {
            let e = if leads_on {
                e.behind(tokens(self.rest.segments).rev())
            } else {
                e
            };
            behind_each(e, index, self.path, self.rest)
        })
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// The name of a member or a variant. As the key of a map, it becomes a number or a `bool` if the map's keys are.
#[derive(Clone)]
pub(super) enum KeyOrText<'a> {
    Borrowed(&'a str),
    Owned(String),
}

impl<'a, T: AsRef<str> + ?Sized> From<&'a T> for KeyOrText<'a> {
    fn from(text: &'a T) -> Self {
        Self::Borrowed(text.as_ref())
    }
}

impl KeyOrText<'_> {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Owned(text) => text,
        }
    }
}

impl<'a> IntoDeserializer<'a, ResolveError> for KeyOrText<'a> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
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

impl<'a> Deserializer<'a> for KeyOrText<'a> {
    type Error = ResolveError;

    #[inline]
    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ResolveError> {
        match self {
            Self::Borrowed(text) => visitor.visit_borrowed_str(text),
            Self::Owned(text) => visitor.visit_string(text),
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
pub(super) struct VariantContent<'a, D> {
    pub(super) name: KeyOrText<'a>,
    pub(super) content: Option<(D, Option<&'a str>)>,
}

impl<'a, D: Deserializer<'a, Error = ResolveError>> EnumAccess<'a> for VariantContent<'a, D> {
    type Error = ResolveError;
    type Variant = Content<'a, D>;

    fn variant_seed<S: DeserializeSeed<'a>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Content<'a, D>), ResolveError> {
        Ok((seed.deserialize(self.name)?, Content(self.content)))
    }
}

/// The content of a variant.
pub(super) struct Content<'a, D>(Option<(D, Option<&'a str>)>);

impl<D> Content<'_, D> {
    fn read<T>(
        self,
        expected: &'static str,
        read: impl FnOnce(D) -> Result<T, ResolveError>,
    ) -> Result<T, ResolveError> {
        match self.0 {
            None => Err(ResolveError::invalid_type(
                Unexpected::UnitVariant,
                &expected,
            )),
            Some((at, None)) => read(at),
            Some((at, Some(key))) => {
                read(at).map_err(|e| e.inside_value(Location::Key(key.to_owned())))
            }
        }
    }
}

impl<'a, D: Deserializer<'a, Error = ResolveError>> VariantAccess<'a> for Content<'a, D> {
    type Error = ResolveError;

    fn unit_variant(self) -> Result<(), ResolveError> {
        match self.0 {
            None => Ok(()),
            Some(_) => self.read("unit variant", <()>::deserialize),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'a>>(
        self,
        seed: S,
    ) -> Result<S::Value, ResolveError> {
        self.read("newtype variant", |at| seed.deserialize(at))
    }

    fn tuple_variant<V: Visitor<'a>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        self.read("tuple variant", |at| at.deserialize_tuple(length, visitor))
    }

    fn struct_variant<V: Visitor<'a>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ResolveError> {
        self.read("struct variant", |at| {
            at.deserialize_struct("", fields, visitor)
        })
    }
}
