//! Null for an optional argument, which is equivalent to a missing argument.

use crate::dynamic::Contracts;
use crate::dynamic::schema::{Presence, Type, Work};
use crate::plan::{Action, Entry, Key, Template};

/// Returns the call without nulls for optional members whose types do not name null. Returns `None` for a call without null.
pub(in crate::dynamic) fn without_nulls(action: &Action, contracts: &Contracts) -> Option<Action> {
    if !has_null(&action.args) {
        return None;
    }
    let tool = action.tool.clone()?;
    let schema = contracts.get(&tool.name)?.arguments.as_ref()?;
    let work = Work::for_values(1);
    let args = kept(&action.args, &Type::of(schema, &work), &work);
    Some(Action {
        tool: Some(tool),
        args,
    })
}

fn has_null(template: &Template) -> bool {
    match template {
        Template::Null => true,
        Template::List(items) => items.iter().any(has_null),
        Template::Object(entries) => entries.iter().any(|entry| has_null(&entry.value)),
        _ => false,
    }
}

fn kept(template: &Template, ty: &Type<'_>, work: &Work) -> Template {
    let is_known = work.spend(1 + ty.cost()).is_ok() && ty.beyond().is_none();
    match template {
        Template::List(items) if is_known => {
            let element = ty.element();
            let items = items.iter().map(|item| kept(item, &element, work));
            Template::List(items.collect())
        }
        Template::Object(entries) if is_known => {
            let entries = entries.iter().filter_map(|entry| entry_of(entry, ty, work));
            Template::Object(entries.collect())
        }
        other => other.clone(),
    }
}

fn entry_of(entry: &Entry, ty: &Type<'_>, work: &Work) -> Option<Entry> {
    let Key::Name(name) = &entry.key else {
        return Some(entry.clone());
    };
    let Some(member) = ty.property(name) else {
        return Some(entry.clone());
    };
    let mut forms = ty.forms().iter();
    let is_optional = forms.all(|form| form.presence(name) != Presence::Sure);
    if is_optional && matches!(entry.value, Template::Null) && !member.says_null() {
        return None;
    }
    let value = kept(&entry.value, &member, work);
    Some(Entry::new(entry.key.clone(), value))
}
