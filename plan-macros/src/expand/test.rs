//! Rust expressions as tests, which a run evaluates as data if the types of all operands allow it.
//!
//! Beside the expression, the data contains the form of the test. For each reference in a test, the data contains constants about the types on its
//! path and about the type of its value. The types on the path determine the JSON names of fields.

use super::builder::{Builder, TemplateData};
use super::local;
use super::reference::field_name;
use super::scope::{any_values, sources};
use super::tokens::located;
use crate::ast::{Computed, Hop, Reference, Scalar, Test};
use plan_graph::notation::{self, Constant, Ended, PlacePart, ScalarData, SourceData};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Lit;

type FormData = notation::FormData<String>;

/// The questions about the types and the constants of a test.
struct Questions<'b, 'a> {
    builder: &'b Builder<'a>,
    /// Expressions that have the types.
    types: Vec<TokenStream>,
    answers: Vec<AnswerOf>,
}

enum AnswerOf {
    /// A question about the type at this index.
    Type(Ident, usize),
    /// A constant, as an expression for its answer.
    Constant(TokenStream),
    Yes,
}

/// Lowers the form of a computed value that may be evaluated as data.
pub(super) fn lower(
    computed: &Computed,
    builder: &mut Builder<'_>,
) -> Option<(Constant, FormData)> {
    let mut questions = Questions {
        builder,
        types: Vec::new(),
        answers: Vec::new(),
    };
    let form = questions.form(questions.builder.cx.names.test(computed)?, "of_truth");
    let Questions { types, answers, .. } = questions;
    let values = any_values(&sources(computed, builder), builder);
    let names = builder.cx.names.names_in(computed);
    let locals = names
        .locals
        .iter()
        .map(|(name, _)| quote!(#[allow(unused_variables)] let #name = __plan::at_place(#name);));
    let asked = tree(&types);
    let binding = quote!(__plan::asked(&|| { #values #(#locals)* #asked }));
    let place = builder.fresh("q");
    builder.bind(quote!(let #place = #binding;));
    let names: Vec<Ident> = (0..types.len()).map(|number| local("q", number)).collect();
    let answers = answers.iter().map(|answer| match answer {
        AnswerOf::Type(about, number) => {
            let name = &names[*number];
            quote!(#name.#about())
        }
        AnswerOf::Constant(answer) => answer.clone(),
        AnswerOf::Yes => quote!(__plan::Answer::Closed(true)),
    });
    let answers: Vec<TokenStream> = answers.collect();
    let names: Vec<TokenStream> = names.iter().map(ToTokens::to_token_stream).collect();
    let names = tree(&names);
    let constant = builder.constant(quote! {
        __plan::Constant::Test(&#place.answers(|#names| {
            #[allow(unused_imports)]
            use __plan::{FieldsElsewhere as _, NotClosed as _, ToldByShape as _, WithoutJson as _};
            __plan::vec![#(#answers),*]
        }))
    });
    Some((constant, form))
}

/// Adds a form to a computed value.
pub(super) fn with(test: Option<(Constant, FormData)>, computed: TemplateData) -> TemplateData {
    match test {
        Some((answers, form)) => TemplateData::Test(answers, form, Box::new(computed)),
        None => computed,
    }
}

impl Questions<'_, '_> {
    /// Asks about the type of a value, or the types of two.
    fn ask(&mut self, about: &str, value: &TokenStream) {
        let about = Ident::new(about, Span::call_site());
        self.types.push(quote!(__plan::#about(#value)));
        // A type with two answers is an error here.
        let last = value.clone().into_iter().last();
        let at = last.map_or_else(Span::call_site, |token| token.span());
        let about = located(about, at);
        self.answers
            .push(AnswerOf::Type(about, self.types.len() - 1));
    }

    /// Lowers a part of a test. `about` is the question about the type of a value.
    fn form(&mut self, test: &Test, about: &str) -> FormData {
        match test {
            Test::All(tests) => FormData::All(self.forms(tests)),
            Test::Any(tests) => FormData::Any(self.forms(tests)),
            Test::Not(test) => FormData::Not(Box::new(self.form(test, "of_truth"))),
            Test::Compare(sign, both) => {
                let is_order = !matches!(*sign, "==" | "!=");
                let about = if is_order { "of_order" } else { "of_equal" };
                let [left, right] = both.each_ref().map(|test| Box::new(self.form(test, about)));
                if !is_order {
                    let [left, right] = both.each_ref().map(compared);
                    self.ask("of_both", &quote!(#left, #right));
                }
                FormData::Compare((*sign).to_owned(), left, right)
            }
            Test::Ask(method, reference) => {
                let about = match *method {
                    "is_some" | "is_none" => "of_presence",
                    "is_ok" | "is_err" => "of_outcome",
                    _ => "of_length",
                };
                FormData::Ask((*method).to_owned(), Box::new(self.place(reference, about)))
            }
            Test::Some(reference) => self.place(reference, "of_presence"),
            Test::Outcome(reference) => self.place(reference, "of_outcome"),
            Test::Reference(reference) => self.place(reference, about),
            Test::Scalar(scalar) => FormData::Scalar(form_of_scalar(scalar)),
            Test::Constant(path) => {
                self.ask(about, &quote!(&#path));
                let json = quote!(__plan::constant(&#path).plan_json());
                self.answers.push(AnswerOf::Constant(json));
                FormData::Constant
            }
        }
    }

    fn forms(&mut self, tests: &[Test]) -> Vec<FormData> {
        let forms = tests.iter().map(|test| self.form(test, "of_truth"));
        forms.collect()
    }

    fn place(&mut self, reference: &Reference, about: &str) -> FormData {
        let (source, part) = match (
            self.builder.cx.names.local(reference),
            self.builder.source(&reference.root),
        ) {
            (Some(local), _) => self.builder.part_of_local(local),
            (None, Some(source)) => (self.builder.place(source), None),
            // Only a reference with an error has no source.
            (None, None) => (SourceData::Local(0), None),
        };
        let mut path = Vec::new();
        if let Some(part) = part {
            path.push(PlacePart::Index(part));
            self.answers.push(AnswerOf::Yes);
        }
        let mut values = values(reference).into_iter();
        let mut value = values.next().unwrap_or_default();
        for hop in &reference.hops {
            match hop {
                Hop::Field(_, member) => {
                    self.ask("of_fields", &value);
                    path.push(PlacePart::Field(field_name(member).1));
                }
                Hop::Index(_, index) => {
                    self.ask("of_items", &value);
                    let index = index.base10_parse().unwrap_or(usize::MAX);
                    path.push(PlacePart::Index(index));
                }
                Hop::Key(_, key) => {
                    self.ask("of_keys", &value);
                    path.push(PlacePart::Key(key.value()));
                }
                Hop::Each(_)
                | Hop::Optional(_)
                | Hop::Get(..)
                | Hop::Outcome(_)
                | Hop::Pointer(..) => {}
            }
            value = values.next().unwrap_or_default();
        }
        self.ask(about, &value);
        FormData::Place(source, reference.written(), Ended(path))
    }
}

/// The largest tuple for which the standard library implements `Default`.
const WIDEST: usize = 12;

/// Writes a tuple, nested for many elements, so that the code grows in proportion to the elements.
fn tree(elements: &[TokenStream]) -> TokenStream {
    if elements.len() <= WIDEST {
        return quote!((#(#elements,)*));
    }
    let mut size = WIDEST;
    while size * WIDEST < elements.len() {
        size *= WIDEST;
    }
    let parts = elements.chunks(size).map(tree);
    quote!((#(#parts,)*))
}

/// Returns the values on the path of a reference, from its first name to its last part.
fn values(reference: &Reference) -> Vec<TokenStream> {
    // A name is a reference already.
    let mut way = reference.root.to_token_stream();
    let mut values = vec![way.clone()];
    for hop in &reference.hops {
        match hop {
            Hop::Field(dot, member) => way.extend(quote!(#dot #member)),
            Hop::Index(bracket, index) => {
                bracket.surround(&mut way, |inside| index.to_tokens(inside));
            }
            Hop::Key(bracket, key) => bracket.surround(&mut way, |inside| key.to_tokens(inside)),
            Hop::Each(_) | Hop::Optional(_) | Hop::Get(..) | Hop::Outcome(_) | Hop::Pointer(..) => {
            }
        }
        // A field of a packed struct can be compared, but not borrowed.
        values.push(quote!(&raw const #way));
    }
    values
}

/// Returns a value of the operand's type, if the type may be an enum.
fn compared(test: &Test) -> TokenStream {
    match test {
        Test::Reference(reference) => values(reference).pop().unwrap_or_default(),
        Test::Constant(path) => quote!(&#path),
        // Literals and tests are not enums.
        _ => quote!(&false),
    }
}

/// Returns a literal as data.
pub(super) fn form_of_scalar(scalar: &Scalar) -> ScalarData<String> {
    let negative = scalar.minus.is_some();
    match &scalar.lit {
        Lit::Str(string) => ScalarData::String(string.value()),
        Lit::Char(char) => ScalarData::String(char.value().to_string()),
        Lit::Bool(bool) if bool.value => ScalarData::True,
        Lit::Bool(_) => ScalarData::False,
        Lit::Byte(byte) => ScalarData::Unsigned(byte.value().into()),
        // `-9223372036854775808` is an `i64`, although its digits without the sign are none.
        Lit::Int(int) => match int.base10_parse().unwrap_or(u64::MAX) {
            magnitude @ 1.. if negative => ScalarData::Negative(magnitude),
            number => ScalarData::Unsigned(number),
        },
        Lit::Float(float) => {
            let value: f64 = float.base10_digits().parse().unwrap_or_default();
            let value = if negative { -value } else { value };
            ScalarData::Float(format!("{value:?}"))
        }
        _ => ScalarData::Null,
    }
}
