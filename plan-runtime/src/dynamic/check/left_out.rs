//! Null for an optional argument, which is equivalent to a missing argument.

use crate::dynamic::Contract;
use crate::dynamic::schema::{Presence, Type, Work};
use crate::plan::{Action, Entry, Key, Template};

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

fn kept(template: &Template, ty: &Type<'_>, work: &Work, is_null: IsNull<'_>) -> Template {
    let is_known = work.spend(1 + ty.cost()).is_ok() && ty.beyond().is_none();
    match template {
        Template::List(items) if is_known => {
            let element = ty.element();
            let items = items.iter().map(|item| kept(item, &element, work, is_null));
            Template::List(items.collect())
        }
        Template::Object(entries) if is_known => {
            let entries = entries
                .iter()
                .filter_map(|entry| entry_of(entry, ty, work, is_null));
            Template::Object(entries.collect())
        }
        other => other.clone(),
    }
}

fn entry_of(entry: &Entry, ty: &Type<'_>, work: &Work, is_null: IsNull<'_>) -> Option<Entry> {
    let Key::Name(name) = &entry.key else {
        return Some(entry.clone());
    };
    let Some(member) = ty.property(name) else {
        return Some(entry.clone());
    };
    let mut forms = ty.forms().iter();
    let is_optional = forms.all(|form| form.presence(name) != Presence::Sure);
    let is_scalar = matches!(entry.value, Template::Null | Template::Reference(_));
    if is_optional && is_scalar && !member.says_null() && has_null(&entry.value, is_null) {
        return None;
    }
    let value = kept(&entry.value, &member, work, is_null);
    Some(Entry::new(entry.key.clone(), value))
}
