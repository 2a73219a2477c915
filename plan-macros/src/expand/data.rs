//! The plan as one text literal, with a table of constants for what only rustc knows.
//!
//! The text is in prefix notation. `check/decode/mod.rs` of the runtime reads it, with the same table:
//!
//! | | is written as |
//! |---|---|
//! | number | decimal digits, then a space: `12 ` |
//! | text | its length in bytes as a number, then the bytes: `4 page` |
//! | list of x | its length as a number, then each x |
//! | constant | a number: a place in the table of constants |
//! | duration | seconds and nanoseconds, both numbers |
//! | plan | name, description (texts), list of inputs, list of the steps' ids (texts), steps, output's type (text), output (template) |
//! | input | name, type, description (texts) |
//! | step | intent (text), `after` (a list of numbers), nothing or `U` number: undoes that step, or `A`: always runs, body, policy |
//! | body | `T` constant template: a call · `V` template: a value · `I` list of branches · `F` pattern (text) list (template) body · `B` block · `L` whether the first input is the value of the round before (`0` or `1`) block condition (template) · `W` type (text) constant: a value from outside |
//! | block | list of inputs (name, template), list of the steps' ids (texts), steps, value (template) |
//! | branch | list of conditions, body |
//! | condition | `h` template: holds · `b` pattern (text) template: `let` |
//! | policy | any of `a` attempts (number), `b` backoff, `m` max, `t` timeout, `d` deadline (durations), `j` and `0` or `1`: jitter, `w`: optional, `e`: optional(each), `C`: catch, `E`: catch(each), `f` fallback (template), `c` concurrency (number), `l` at_most (number), `y` every (duration), `k`: collect, `N` amount (number) written (text) constant: a constant, `G` amount (number) template: what gives it, then `;` |
//! | template | `n`: null · `1`, `0`: `bool` · `u` number · `-` number: negative · `d` text: float · `s` text · `l` list of templates · `j` list of members · `a` constant variant (text) list of fields · `v` constant variant (text) template: nested literal · `r` source written (text) segments `;` · `x` list of parts · `c` list of sources, written (text), constant · `q` constant form template: a computed value, and what it is as data if the constant says so |
//! | form | `&` list of forms · `|` list of forms · `!` form · `=` sign (text) form form · `?` method (text) form · `v`: a constant · `r` source written (text) steps `;` · a scalar, as a template: `1`, `u`, `s` … |
//! | step | `.` Rust name (text): a field · `#` number · `k` text |
//! | member | key (text), template |
//! | field | Rust name (text), template |
//! | part | `s` text · `v` format spec (text), then `-` template constant: shown by Rust, or `=` template: a text of that format |
//! | source | `s`, `i` or `l`, then a number |
//! | segment | `.` constant Rust name (text): a field · `#` number, absence · `k` text, absence · `*`: each · `?` constant: optional |
//! | absence | `!`: error · `?`: null · `^`: the whole reference is absent |

use crate::names::Source;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::time::Duration;

/// The data of a plan, as far as it was written.
#[derive(Default)]
pub(super) struct Data {
    text: String,
    /// How many constants the table has.
    count: usize,
    /// The constants that several places use, by what says that they are the same.
    numbers: HashMap<String, usize>,
    /// What a constant evaluation checks already.
    checked: HashSet<String>,
    /// Where a type was first asked what it says of its fields, by what says that it is the same type.
    asked: HashMap<String, Span>,
    /// The parts of the table, in order: each is the `const` of a step.
    tables: Vec<Ident>,
    /// How many parts of the plan were begun.
    parts: usize,
}

impl Data {
    /// One letter of the notation.
    pub(super) fn tag(&mut self, tag: char) -> &mut Self {
        self.text.push(tag);
        self
    }

    pub(super) fn number(&mut self, number: impl std::fmt::Display) -> &mut Self {
        // Writing into a `String` cannot fail.
        let _ = write!(self.text, "{number} ");
        self
    }

    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.number(text.len());
        self.text.push_str(text);
        self
    }

    pub(super) fn numbers(&mut self, numbers: impl ExactSizeIterator<Item = usize>) -> &mut Self {
        self.number(numbers.len());
        numbers.fold(self, Self::number)
    }

    pub(super) fn duration(&mut self, duration: Duration) -> &mut Self {
        self.number(duration.as_secs())
            .number(duration.subsec_nanos())
    }

    pub(super) fn source(&mut self, source: Source) -> &mut Self {
        let (tag, index) = match source {
            Source::Step(index) => ('s', index),
            Source::Input(index) => ('i', index),
        };
        self.tag(tag).number(index)
    }

    pub(super) fn local(&mut self, frame: usize) -> &mut Self {
        self.tag('l').number(frame)
    }

    /// Begins a text that is not a part of the plan yet; what there is of that is handed over.
    pub(super) fn begin_aside(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// The text since then.
    pub(super) fn end_aside(&mut self, before: String) -> String {
        std::mem::replace(&mut self.text, before)
    }

    /// Adds such a text.
    pub(super) fn aside(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// The number of a part of the plan that begins.
    pub(super) fn next_part(&mut self) -> usize {
        self.parts += 1;
        self.parts
    }

    /// Whether the table has a constant that several places use.
    pub(super) fn has_constant(&self, same: &str) -> bool {
        self.numbers.contains_key(same)
    }

    /// Whether a check is the first of its kind.
    pub(super) fn is_new_check(&mut self, check: String) -> bool {
        self.checked.insert(check)
    }

    /// The place at which rustc is asked what a type says of its fields: that of the first question about the same type, so that rustc
    /// says once that it says nothing.
    pub(super) fn asked_at(&mut self, same: &str, at: Span) -> Span {
        *self.asked.entry(same.to_owned()).or_insert(at)
    }

    /// Both arguments of the runtime's `decode`.
    pub(super) fn into_arguments(self) -> TokenStream {
        let (text, tables) = (self.text, self.tables);
        quote!(#text, &[#(#tables),*])
    }
}

/// The constants that one `const` adds to the table.
#[derive(Default)]
pub(super) struct Constants {
    tokens: Vec<TokenStream>,
    /// Statements that rustc evaluates.
    checks: TokenStream,
}

impl Constants {
    /// Adds a constant, and gives its number.
    pub(super) fn add(&mut self, constant: TokenStream, data: &mut Data) -> usize {
        self.tokens.push(constant);
        data.count += 1;
        data.count - 1
    }

    /// The number of a constant that several places use, with what makes it where this is the first of them.
    pub(super) fn share(
        &mut self,
        same: &str,
        constant: impl FnOnce() -> TokenStream,
        data: &mut Data,
    ) -> usize {
        if let Some(number) = data.numbers.get(same) {
            return *number;
        }
        let number = self.add(constant(), data);
        data.numbers.insert(same.to_owned(), number);
        number
    }

    /// Adds a statement that rustc evaluates.
    pub(super) fn check(&mut self, check: TokenStream) {
        self.checks.extend(check);
    }

    /// Whether there is nothing that rustc has to evaluate.
    pub(super) fn is_empty(&self) -> bool {
        self.tokens.is_empty() && self.checks.is_empty()
    }

    /// The item that holds the constants and the code before them.
    pub(super) fn into_item(
        self,
        name: Ident,
        before: &TokenStream,
        data: &mut Data,
    ) -> TokenStream {
        let Self { tokens, checks } = self;
        let item = quote! {
            const #name: &[__plan::Constant] = { #before #checks &[#(#tokens),*] };
        };
        if !tokens.is_empty() {
            data.tables.push(name);
        }
        item
    }
}
