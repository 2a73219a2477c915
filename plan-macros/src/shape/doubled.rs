//! Attributes of serde that give two fields or two variants one name in JSON.

use crate::docs::text_of;
use crate::options::has_word;
use crate::report::Report;
use proc_macro2::Ident;
use quote::format_ident;
use serde_derive_internals::ast::{Container, Data, Field, Style};
use serde_derive_internals::attr::TagType;
use serde_derive_internals::name::Name;
use std::borrow::Cow;
use std::collections::HashMap;
use syn::{Attribute, Member};

/// A field or a variant, with its name in JSON.
struct Named<'a> {
    ident: Cow<'a, Ident>,
    json: Option<&'a Name>,
    attrs: &'a [Attribute],
}

/// Reports each attribute that doubles a name. The names that serde writes can differ from the names that serde reads.
pub(super) fn report(output: &Container<'_>, argument: &Container<'_>, report: &mut Report) {
    let before = report.len();
    for (container, writes) in [(output, true), (argument, false)] {
        match &container.data {
            Data::Struct(Style::Struct, all) => check(fields(all, writes), "field", report),
            Data::Struct(..) => {}
            Data::Enum(_) if matches!(container.attrs.tag(), TagType::None) => {}
            Data::Enum(variants) => {
                for variant in variants {
                    if let Style::Struct = variant.style {
                        check(fields(&variant.fields, writes), "field", report);
                    }
                }
                let named = variants.iter().map(|variant| {
                    let attrs = &variant.attrs;
                    let (skips, json) = if writes {
                        (attrs.skip_serializing(), attrs.name().serialize_name())
                    } else {
                        (attrs.skip_deserializing(), attrs.name().deserialize_name())
                    };
                    Named {
                        ident: Cow::Borrowed(&variant.original.ident),
                        json: (!skips && !attrs.untagged()).then_some(json),
                        attrs: &variant.original.attrs,
                    }
                });
                check(named, "variant", report);
            }
        }
    }
    report.keep_one_of_each(before);
}

fn fields<'a>(fields: &'a [Field<'a>], writes: bool) -> impl Iterator<Item = Named<'a>> {
    fields.iter().map(move |field| {
        let attrs = &field.attrs;
        let (skips, json) = if writes {
            (attrs.skip_serializing(), attrs.name().serialize_name())
        } else {
            (attrs.skip_deserializing(), attrs.name().deserialize_name())
        };
        let ident = match &field.member {
            Member::Named(ident) => Cow::Borrowed(ident),
            Member::Unnamed(index) => Cow::Owned(format_ident!("_{}", index.index)),
        };
        Named {
            ident,
            json: (!skips && !attrs.flatten()).then_some(json),
            attrs: &field.original.attrs,
        }
    })
}

fn check<'a>(all: impl Iterator<Item = Named<'a>>, kind: &str, report: &mut Report) {
    let mut first: HashMap<&str, Named<'_>> = HashMap::new();
    for named in all {
        let Some(json) = named.json else { continue };
        let Some(other) = first.get(&*json.value) else {
            first.insert(&json.value, named);
            continue;
        };
        let (one, two) = (text_of(&other.ident), text_of(&named.ident));
        let message = format!(
            "the {kind}s `{one}` and `{two}` have one name in JSON, `{}`\nhelp: give one of them another name",
            json.value
        );
        let mut attrs = named.attrs.iter().chain(other.attrs);
        match attrs.find(|attr| has_word(attr, "serde", "rename")) {
            Some(attr) => report.error(attr, message),
            // An attribute of the type renames all.
            None => report.error(&*named.ident, message),
        }
    }
}
