//! Null for an optional argument, which is equivalent to a missing argument.

use super::checked_value::{CheckedValue, Shown, ValueKind, shown};
use crate::dynamic::Contract;
use crate::dynamic::schema::{Form, Presence, Property, Type, Types, Work, member_of};
use crate::plan::{Action, Entry, Key, Template};
use std::collections::HashMap;

/// Returns `true` for a reference whose value is null.
type IsNull<'f> = &'f dyn Fn(&Template) -> bool;

/// Returns the call without nulls for optional members whose types do not name null. Returns `None` for a call without null.
pub(in crate::dynamic) fn without_nulls(
    action: &Action,
    contract: &Contract,
    is_null: IsNull<'_>,
) -> Option<Action> {
    let schema = contract.arguments.as_ref()?;
    if !has_null(&action.args, is_null) {
        return None;
    }
    let work = Work::for_values(1);
    let args = kept(&action.args, &Type::of(schema, &work), &work, is_null);
    Some(Action {
        tool: action.tool.clone(),
        args,
    })
}

fn has_null(template: &Template, is_null: IsNull<'_>) -> bool {
    match template {
        Template::Null => true,
        Template::Reference(_) => is_null(template),
        Template::List(items) => items.iter().any(|item| has_null(item, is_null)),
        Template::Object(entries) => entries.iter().any(|it| has_null(&it.value, is_null)),
        _ => false,
    }
}

/// Returns the keys of the values that a call omits if they are null, in ascending order.
pub(super) fn left_out(arguments: CheckedValue<'_>, takes: &Type<'_>) -> Vec<usize> {
    let (mut all, work) = (Vec::new(), Work::for_values(1));
    add_left_out(arguments, takes, &work, &mut all);
    all.sort_unstable();
    all
}

fn add_left_out(item: CheckedValue<'_>, ty: &Type<'_>, work: &Work, all: &mut Vec<usize>) {
    if !item.has_parts() || !is_known(ty, work) {
        return;
    }
    if item.is_list() {
        let element = ty.element();
        return item
            .elements()
            .for_each(|it| add_left_out(it, &element, work, all));
    }
    let forms = objects(ty, work, || {
        let is_whole = matches!(item.kind(), ValueKind::Object { open: false });
        let members = item.members().map(|(name, it)| (name, it.shown()));
        is_whole.then(|| members.collect())
    });
    for (name, value) in item.members() {
        match member(&forms, name) {
            Some((_, true)) if value.may_be_null() => all.push(value.key()),
            Some((member, _)) => add_left_out(value, &member, work, all),
            None => {}
        }
    }
}

fn is_known(ty: &Type<'_>, work: &Work) -> bool {
    work.spend(1 + ty.cost()).is_ok() && ty.beyond().is_none()
}

/// Returns the forms of objects that may accept an object with exactly these members, or all forms of objects if none does.
fn objects<'t, 'a, 'm>(
    ty: &'t Type<'a>,
    work: &Work,
    members: impl FnOnce() -> Option<HashMap<&'m str, Shown>>,
) -> Vec<&'t Form<'a>> {
    let forms = ty.forms().iter();
    let forms: Vec<_> = forms
        .filter(|it| it.types().overlaps(Types::OBJECT))
        .collect();
    let members = (forms.len() > 1).then(members).flatten();
    let Some(members) = members.filter(|it| work.spend(forms.len() * it.len()).is_ok()) else {
        return forms;
    };
    let accepts = |form: &Form<'a>, name: &str, (types, value): &Shown| match form.property(name) {
        Property::Type(_) if *types == Types::NULL && form.presence(name) != Presence::Sure => true,
        Property::Type(ty) => ty.forms().iter().any(|it| {
            let is_listed = value
                .as_ref()
                .is_none_or(|value| value.is_null() || it.allows(value));
            is_listed && it.types().overlaps(*types)
        }),
        Property::Closed => false,
        Property::Open | Property::Unlisted => true,
    };
    let may_be = |form: &&Form<'a>| {
        let mut required = form.required().into_iter();
        required.all(|name| members.contains_key(name))
            && members
                .iter()
                .all(|(name, shown)| accepts(form, name, shown))
    };
    let meant: Vec<_> = forms.iter().copied().filter(may_be).collect();
    if meant.is_empty() { forms } else { meant }
}

/// Returns the type of a member in these forms. Returns `true` as well if null is equivalent to a missing member: no form requires the member or names null.
fn member<'a>(forms: &[&Form<'a>], name: &str) -> Option<(Type<'a>, bool)> {
    let all = member_of(forms.iter().copied(), name)?;
    let is_optional = forms
        .iter()
        .all(|form| form.presence(name) != Presence::Sure);
    let is_left_out = is_optional && !all.says_null();
    (!all.forms().is_empty()).then_some((all, is_left_out))
}

fn kept(template: &Template, ty: &Type<'_>, work: &Work, is_null: IsNull<'_>) -> Template {
    match template {
        Template::List(items) if is_known(ty, work) => {
            let element = ty.element();
            let items = items.iter().map(|item| kept(item, &element, work, is_null));
            Template::List(items.collect())
        }
        Template::Object(entries) if is_known(ty, work) => {
            let members = || entries.iter().map(named).collect();
            let forms = objects(ty, work, members);
            let entries = entries.iter();
            let entries = entries.filter_map(|it| entry_of(it, &forms, work, is_null));
            Template::Object(entries.collect())
        }
        other => other.clone(),
    }
}

fn named(entry: &Entry) -> Option<(&str, Shown)> {
    match &entry.key {
        Key::Name(name) => Some((name, shown(&entry.value))),
        Key::Flattened | Key::Inner => None,
    }
}

fn entry_of(entry: &Entry, forms: &[&Form<'_>], work: &Work, is_null: IsNull<'_>) -> Option<Entry> {
    let Key::Name(name) = &entry.key else {
        return Some(entry.clone());
    };
    let Some((member, is_left_out)) = member(forms, name) else {
        return Some(entry.clone());
    };
    let is_scalar = matches!(entry.value, Template::Null | Template::Reference(_));
    if is_left_out && is_scalar && has_null(&entry.value, is_null) {
        return None;
    }
    let value = kept(&entry.value, &member, work, is_null);
    Some(Entry::new(entry.key.clone(), value))
}
