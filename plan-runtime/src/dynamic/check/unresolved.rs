//! References that lead nowhere.

use super::known::KnownOutputs;
use super::path::{Unresolved, UnresolvedReason, follow, words};
use super::problem::Problem;
use super::{Checker, reference};
use crate::dynamic::dialects::reading::MOST_NAMES;
use crate::dynamic::dialects::references::{ReferenceTarget, Style};
use crate::dynamic::finding::Code;
use crate::dynamic::schema::{Form, Type};
use crate::plan::{Path, Reference, Segment, Selector, Source, Step};
use crate::resolve::describe::short;
use plan_graph::similar;

/// In how many fields the one is looked for that a reference names.
const MOST_TRIED: usize = 64;

impl<'a> Checker<'a, '_> {
    /// Says that a reference leads nowhere.
    pub(super) fn lost(
        &mut self,
        at: usize,
        reference: &'a Reference,
        whole: &Type<'a>,
        lost: &Unresolved<'_>,
    ) {
        let path = &reference.path;
        let Some(segment) = path.get(lost.segment) else {
            return;
        };
        let name = match &segment.selector {
            Selector::Key(key) => format!("`{}`", short(key)),
            Selector::Index(index) => format!("[{index}]"),
            Selector::Each => "[*]".to_owned(),
        };
        let whose = self.known.whose(reference.source);
        let inside = match words(path, lost.segment).as_str() {
            "" => whose,
            place => format!("`{}` in {whose}", short(place)),
        };
        let given = lost.inside.words();
        let (code, message) = match lost.why {
            UnresolvedReason::NoField => {
                (Code::UnknownField, format!("{inside} has no field {name}"))
            }
            UnresolvedReason::Scalar => (
                Code::UnknownField,
                format!("{inside} is {given}, which has no field {name}"),
            ),
            UnresolvedReason::NoElement(0) => (
                Code::UnknownField,
                format!("{inside} is an empty list, which has no element {name}"),
            ),
            UnresolvedReason::NoElement(length) => {
                let plural = if length == 1 { "" } else { "s" };
                (
                    Code::UnknownField,
                    format!("{inside} has {length} element{plural} at most, and so no {name}"),
                )
            }
            UnresolvedReason::NoList => (
                Code::ListOrElement,
                if segment.is_each() {
                    format!("{inside} is {given}, which has no elements")
                } else {
                    format!("{inside} is {given}, which has no element {name}")
                },
            ),
            UnresolvedReason::List => (
                Code::ListOrElement,
                format!("{inside} is {given}, which has no field {name}"),
            ),
        };
        let help = self.known.way_out(reference, whole, lost);
        let allowed = path.get(lost.segment).is_some_and(reference::stops);
        let problem = Problem::new(code, Some(at), message);
        self.problem(problem.help(help).warning(allowed));
    }
}

impl<'a> KnownOutputs<'a> {
    /// How other references to the same would be written.
    pub(super) fn style(&self, reference: &Reference) -> Style {
        let source = reference.source;
        let name = self.plan.name_of(source).unwrap_or("value");
        let to = match source {
            Source::Step(index) => Some(ReferenceTarget::Step(index, name)),
            Source::Input(_) => Some(ReferenceTarget::Input(name)),
            Source::Local(_) => None,
        };
        let rules = self.dialect.rules();
        let style = to.and_then(|to| (rules.style)(to, &reference.text()));
        style.unwrap_or_else(|| Style::rust(name))
    }

    /// What was probably meant by a reference that leads nowhere.
    fn way_out(
        &self,
        reference: &Reference,
        whole: &Type<'a>,
        lost: &Unresolved<'_>,
    ) -> Option<String> {
        let style = self.style(reference);
        let path = &reference.path;
        let leads = |segments: &[Segment]| {
            let path = Path {
                segments,
                ..reference.path()
            };
            matches!(follow(whole.clone(), path, &mut None, self.work), Ok(Ok(_)))
        };
        let key = |name: &str| Segment::new(Selector::Key(name.to_owned()));
        let mut fixed = path.clone();
        match (&path[lost.segment].selector, lost.why) {
            (Selector::Key(meant_as), UnresolvedReason::NoField) => {
                let forms = lost.inside.forms().iter();
                let names: Vec<&str> = forms.flat_map(Form::names).collect();
                if let Some(meant) = similar(meant_as, names.iter().copied()) {
                    fixed[lost.segment] = key(meant);
                    return Some(format!("did you mean `{}`?", style.write(&fixed)));
                }
                // The field of something that the output is wrapped in.
                let wrapped = names.iter().take(MOST_TRIED).find_map(|name| {
                    let mut fixed = path.clone();
                    fixed.insert(lost.segment, key(name));
                    (self.closed(whole, &fixed, lost.segment) && leads(&fixed)).then_some(fixed)
                });
                if let Some(fixed) = wrapped {
                    return Some(format!("did you mean `{}`?", style.write(&fixed)));
                }
                (!names.is_empty() && names.len() <= MOST_NAMES).then(|| {
                    format!(
                        "it has `{}`",
                        names
                            .iter()
                            .map(|name| short(name))
                            .collect::<Vec<_>>()
                            .join("`, `")
                    )
                })
            }
            (_, UnresolvedReason::List) => {
                fixed.insert(lost.segment, Segment::new(Selector::Index(0)));
                leads(&fixed)
                    .then(|| format!("did you mean the first element, `{}`?", style.write(&fixed)))
            }
            (_, UnresolvedReason::NoList) => {
                fixed.remove(lost.segment);
                leads(&fixed).then(|| format!("did you mean `{}`?", style.write(&fixed)))
            }
            _ => None,
        }
    }

    /// `the output of `find``.
    pub(super) fn whose(&self, source: Source) -> String {
        match source {
            Source::Step(index) => {
                let step = self.plan.steps.get(index);
                let tool = step.and_then(Step::action);
                match (tool.and_then(|action| action.tool.as_ref()), step) {
                    (Some(tool), _) => format!("the output of `{}`", short(&tool.name)),
                    (None, Some(step)) => format!("the output of step `{}`", short(&step.id)),
                    (None, None) => "the output".to_owned(),
                }
            }
            _ => {
                let name = self.plan.name_of(source).unwrap_or("value");
                format!("the input `{}`", short(name))
            }
        }
    }

    /// Whether the schema says of the segment after this one that it is there.
    fn closed(&self, whole: &Type<'_>, segments: &[Segment], at: usize) -> bool {
        let path = Path {
            optional: false,
            segments: &segments[..=at],
            otherwise: None,
        };
        let inner = follow(whole.clone(), path, &mut None, self.work);
        match (inner, segments.get(at + 1).map(|it| &it.selector)) {
            (Ok(Ok(ty)), Some(Selector::Key(key))) => ty.property(key).is_some(),
            _ => false,
        }
    }
}
