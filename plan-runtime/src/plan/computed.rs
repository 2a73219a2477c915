//! Expressions and placeholders with code from the compiler, each inseparable from its source string.

use super::{Plan, RustText, Source};
use crate::print::is_part_of_name;
use std::any::Any;
use std::collections::{BTreeSet, HashMap};
use std::fmt::{self, Display, Formatter};
use std::ops::Deref;
use std::sync::Arc;

/// A Rust expression over outputs and inputs: its source string, its sources and, in a `plan!`, its code.
///
/// All parts of a computed value are immutable, so that the string always describes the code. The code reads its inputs and steps by their
/// indices. If a plan has another input or step at such an index, or if a name in the string now means another input or step, the plan cannot run, and
/// [`Executable::mistake`](super::Executable::mistake) returns the reason. The plan also cannot run if the type of an input has changed, or
/// the variables of an enclosing `for` or `if let`.
///
/// ```
/// use plan_runtime::plan;
/// use plan_runtime::plan::{Computed, Executable, Source, Template};
///
/// plan! {
///     Pay(amount: u64, tip: u64) -> u64 { amount * 2 }
/// }
///
/// let Template::Computed(twice) = &Pay::PLAN.output.value else { panic!() };
/// assert_eq!((&**twice.written(), twice.reads()), ("amount * 2", &[Source::Input(0)][..]));
///
/// let mut swapped = Pay::PLAN.clone();
/// swapped.inputs.swap(0, 1);
/// assert_eq!(
///     Executable::new(&swapped).mistake(),
///     Some("the output computes `amount * 2`, which was compiled to read the input `amount`, but in its place is `tip` now; \
///         undo the change, or replace the computed value")
/// );
///
/// // Text alone can be printed and written, but not run.
/// let text = Computed::new("tip * 2", [Source::Input(1)]);
/// assert_eq!(text.written(), "tip * 2");
/// ```
#[derive(Clone, Debug)]
pub struct Computed {
    reads: Vec<Source>,
    written: RustText,
    compiled: Option<Box<Compiled>>,
}

/// The code of a computed value, and everything that its source string depended on at compile time.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(crate) code: &'static dyn Code<Computed>,
    pub(crate) form: Form<'static>,
    pub(crate) names: Arc<CompiledNames>,
    /// The enclosing local values, the outermost first.
    pub(crate) locals: Vec<LocalValue<'static>>,
}

/// The names of a plan at compile time.
#[derive(Debug, Default)]
pub(crate) struct CompiledNames {
    /// The inputs, with their types.
    pub(crate) inputs: Vec<(&'static str, &'static str)>,
    pub(crate) steps: Vec<&'static str>,
}

/// The role of a computed value in the plan. Code of one form does not fit another form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form<'p> {
    /// The value of the expression.
    Value,
    /// A formatted value, with this format.
    Formatted(&'p str),
    /// A list of the values that this pattern binds in each round.
    Each(&'p str),
    /// The variables of this pattern, or null.
    Let(&'p str),
}

/// A local value: the pattern that binds it, and `true` if the pattern destructures a computed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalValue<'p> {
    pub(crate) pattern: &'p str,
    pub(crate) is_computed: bool,
}

/// The format of a value in a string: the part after the colon in `{:>8}`, or empty for `{}`. It dereferences to a `str`.
///
/// A format from `plan!` contains the code that writes values in this format. Any other format has no code. Without code, only the empty format
/// works: it writes a string unchanged, and other values as JSON.
#[derive(Clone, Debug, Default)]
pub struct FormatSpec {
    text: Box<str>,
    code: Option<&'static dyn Code<FormatSpec>>,
}

/// Type-erased Rust code in a [`Computed`] or in a [`FormatSpec`]. A plan only stores the code, and `resolve` runs it. Hidden from users:
/// `plan!` generates the code.
#[doc(hidden)]
pub trait Code<In>: Sync {
    /// Stores the code in `slot`, an `Option<&'static T>`, if `T` is the trait that runs the code.
    fn offer(&'static self, slot: &mut dyn Any);
}

impl<In> fmt::Debug for dyn Code<In> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Code")
    }
}

impl Computed {
    /// Creates an expression without code, which cannot be computed. The order and the repetitions of its sources have no effect.
    pub fn new(written: impl Into<RustText>, reads: impl IntoIterator<Item = Source>) -> Self {
        Self {
            reads: BTreeSet::from_iter(reads).into_iter().collect(),
            written: written.into(),
            compiled: None,
        }
    }

    /// Adds the code.
    pub(crate) fn compiled(mut self, compiled: Compiled) -> Self {
        self.compiled = Some(compiled.into());
        self
    }

    /// Returns the sources that the expression mentions, in ascending order.
    pub fn reads(&self) -> &[Source] {
        &self.reads
    }

    /// Returns the expression in its author's notation.
    pub fn written(&self) -> &RustText {
        &self.written
    }

    /// Returns the code, or `None` without code.
    pub(crate) fn code(&self) -> Option<&'static dyn Code<Self>> {
        self.compiled.as_ref().map(|compiled| compiled.code)
    }

    /// Returns `true` if the code itself formats its value.
    pub(crate) fn is_formatted(&self) -> bool {
        let form = self.compiled.as_ref().map(|compiled| compiled.form);
        matches!(form, Some(Form::Formatted(_)))
    }

    /// Returns the reason why the source string and the code disagree in this position of a plan.
    pub(super) fn mistake(
        &self,
        form: Form<'_>,
        plan: &Plan,
        names: &HashMap<&str, Source>,
        locals: &[LocalValue<'_>],
    ) -> Option<String> {
        let compiled = self.compiled.as_ref()?;
        let changed = compiled
            .other_form(form)
            .or_else(|| {
                self.reads
                    .iter()
                    .find_map(|read| compiled.other_source(*read, plan))
            })
            .or_else(|| self.other_local(compiled, locals))
            .or_else(|| self.other_name(compiled, names));
        let written = crate::print::short(&self.written);
        changed.map(|changed| {
            format!("computes `{written}`, which was compiled {changed}; undo the change, or replace the computed value")
        })
    }

    /// Returns a local value whose binding has changed, if the source string mentions it.
    fn other_local(&self, compiled: &Compiled, locals: &[LocalValue<'_>]) -> Option<String> {
        let mentions = |pattern: &str| {
            let names = || words(pattern).map(|(name, _)| name);
            words(&self.written).any(|(word, _)| names().any(|name| name == word))
        };
        for (depth, local) in locals.iter().enumerate() {
            let before = compiled.locals.get(depth);
            if before == Some(local)
                || !(self.reads.contains(&Source::Local(depth)) || mentions(local.pattern))
            {
                continue;
            }
            let pattern = crate::print::short(local.pattern);
            return Some(match before {
                Some(before) if before.pattern == local.pattern => {
                    format!(
                        "for another kind of list or value than the pattern `{pattern}` takes apart now"
                    )
                }
                Some(before) => format!(
                    "inside of the pattern `{}`, which is `{pattern}` now",
                    crate::print::short(before.pattern)
                ),
                None => format!("outside of the pattern `{pattern}`"),
            });
        }
        None
    }

    /// Returns a word of the source string that has become a name.
    fn other_name(&self, compiled: &Compiled, names: &HashMap<&str, Source>) -> Option<String> {
        words(&self.written).find_map(|(word, is_field)| {
            let source = *names.get(word)?;
            (!is_field && compiled.names.name_of(source) != Some(word)).then(|| {
                let (kind, _) = kind_and_place(source);
                format!("when `{word}` did not mean this {kind}")
            })
        })
    }
}

impl Compiled {
    fn other_form(&self, form: Form<'_>) -> Option<String> {
        if self.form == form {
            return None;
        }
        // Without a format of its own, the format accepts any value.
        if let (Form::Value, Form::Formatted(_)) = (self.form, form) {
            return None;
        }
        Some(match self.form {
            Form::Value => "as a value, and not for a pattern".to_owned(),
            Form::Formatted(spec) => format!(
                "as a part of a text with the format `{{{}{spec}}}`",
                colon(spec)
            ),
            Form::Each(pattern) => format!("for the elements of `for {pattern} in`"),
            Form::Let(pattern) => format!("for the condition `let {pattern}`"),
        })
    }

    /// Returns the difference if a source has changed.
    fn other_source(&self, source: Source, plan: &Plan) -> Option<String> {
        let (before, now) = (self.names.name_of(source)?, plan.name_of(source)?);
        let (kind, place) = kind_and_place(source);
        if before != now {
            let now = crate::print::short(now);
            return Some(format!(
                "to read the {kind} `{before}`, but in its place is `{now}` now"
            ));
        }
        let Source::Input(_) = source else {
            return None;
        };
        let (before, now) = (
            self.names.inputs.get(place)?.1,
            &plan.inputs.get(place)?.type_name,
        );
        (*now != *before).then(|| {
            let (name, now) = (self.names.inputs[place].0, crate::print::short(now));
            format!("for an input `{name}` of the type `{before}`, which is `{now}` now")
        })
    }
}

impl CompiledNames {
    fn name_of(&self, source: Source) -> Option<&'static str> {
        match source {
            Source::Step(place) => self.steps.get(place).copied(),
            Source::Input(place) => self.inputs.get(place).map(|(name, _)| *name),
            Source::Local(_) => None,
        }
    }
}

impl FormatSpec {
    /// Creates a format together with its compiled code.
    pub(crate) fn compiled(text: &'static str, code: &'static dyn Code<Self>) -> Self {
        Self {
            text: text.into(),
            code: Some(code),
        }
    }

    /// Returns the code, or `None` without code.
    pub(crate) fn code(&self) -> Option<&'static dyn Code<Self>> {
        self.code
    }
}

impl From<&str> for FormatSpec {
    fn from(text: &str) -> Self {
        Self {
            text: text.into(),
            code: None,
        }
    }
}

impl From<String> for FormatSpec {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl Deref for FormatSpec {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl Display for FormatSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

fn colon(spec: &str) -> &'static str {
    if spec.is_empty() { "" } else { ":" }
}

fn kind_and_place(source: Source) -> (&'static str, usize) {
    match source {
        Source::Step(place) => ("step", place),
        Source::Input(place) => ("input", place),
        Source::Local(place) => ("local value", place),
    }
}

/// Splits a string into words, including those in string literals and comments. The flag is `true` after a single dot, as
/// for fields and methods.
fn words(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut end = 0;
    text.split(|c| !is_part_of_name(c)).filter_map(move |word| {
        let before = &text[..end];
        end += word.len()
            + text[end + word.len()..]
                .chars()
                .next()
                .map_or(0, char::len_utf8);
        let is_field = before.ends_with('.') && !before.ends_with("..");
        (!word.is_empty()).then_some((word, is_field))
    })
}
