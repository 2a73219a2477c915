//! Rust expressions as tests, which a run evaluates as data where the types of all that they are about allow it.
//!
//! Beside the expression, the data has its form, and a constant that says what is known of each type: of those that it leads through, for the
//! places of their fields in JSON, and of those that it is about.

use super::local;
use super::tokens::located;
use super::value::Builder;
use crate::ast::{Computed, Hop, Reference, Test};
use crate::docs::text_of;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Member;

/// What is asked about the types and the constants of a test.
#[derive(Default)]
struct Asked {
    /// Expressions that say of which types.
    types: Vec<TokenStream>,
    answers: Vec<AnswerOf>,
}

enum AnswerOf {
    /// What is asked about the type at this place.
    Type(Ident, usize),
    /// A constant, as an expression for its answer.
    Constant(TokenStream),
    /// What is certain.
    Yes,
}

impl Asked {
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
}

impl Builder<'_> {
    /// Writes the form of a computed value that may be evaluated as data. The value itself comes next.
    pub(super) fn test(&mut self, computed: &Computed) {
        let Some(test) = &computed.test else { return };
        let mut asked = Asked::default();
        let before = self.data.begin_aside();
        self.form(test, "of_truth", &mut asked);
        let form = self.data.end_aside(before);

        let Asked { types, answers } = asked;
        let sources = self.sources(computed);
        let values = sources.iter().map(|(source, name)| {
            let ty = self.type_of(*source);
            quote!(#[allow(unused_variables)] let #name: &#ty = __plan::any();)
        });
        let locals = computed.locals.iter().map(
            |(name, _)| quote!(#[allow(unused_variables)] let #name = __plan::at_place(#name);),
        );
        let questions = tree(&types);
        let binding = quote!(__plan::asked(&|| { #(#values)* #(#locals)* #questions }));
        let place = self.fresh("q");
        self.bindings.extend(quote!(let #place = #binding;));
        let names: Vec<Ident> = (0..types.len()).map(|number| local("q", number)).collect();
        let answers = answers.iter().map(|answer| match answer {
            AnswerOf::Type(about, number) => {
                let name = &names[*number];
                quote!(#name.#about())
            }
            AnswerOf::Constant(answer) => answer.clone(),
            AnswerOf::Yes => quote!(__plan::Answer::Closed(true)),
        });
        let names: Vec<TokenStream> = names.iter().map(ToTokens::to_token_stream).collect();
        let names = tree(&names);
        let constant = self.constant(quote! {
            __plan::Constant::Test(&#place.answers(|#names| {
                #[allow(unused_imports)]
                use __plan::{FieldsElsewhere as _, NotClosed as _, ToldByShape as _, WithoutJson as _};
                __plan::vec![#(#answers),*]
            }))
        });
        self.data.tag('q').number(constant).aside(&form);
    }

    /// Writes a part of a test. `about` is what is asked about the type of a value.
    fn form(&mut self, test: &Test, about: &str, asked: &mut Asked) {
        match test {
            Test::All(tests) | Test::Any(tests) => {
                let tag = if matches!(test, Test::All(_)) {
                    '&'
                } else {
                    '|'
                };
                self.data.tag(tag).number(tests.len());
                for test in tests {
                    self.form(test, "of_truth", asked);
                }
            }
            Test::Not(test) => {
                self.data.tag('!');
                self.form(test, "of_truth", asked);
            }
            Test::Compare(sign, both) => {
                self.data.tag('=').text(sign);
                let is_order = !matches!(*sign, "==" | "!=");
                let about = if is_order { "of_order" } else { "of_equal" };
                for test in &**both {
                    self.form(test, about, asked);
                }
                if !is_order {
                    let [left, right] = both.each_ref().map(compared);
                    asked.ask("of_both", &quote!(#left, #right));
                }
            }
            Test::Ask(method, reference) => {
                self.data.tag('?').text(method);
                let about = match *method {
                    "is_some" | "is_none" => "of_presence",
                    "is_ok" | "is_err" => "of_outcome",
                    _ => "of_length",
                };
                self.place_of_test(reference, about, asked);
            }
            Test::Some(reference) => self.place_of_test(reference, "of_presence", asked),
            Test::Outcome(reference) => self.place_of_test(reference, "of_outcome", asked),
            Test::Reference(reference) => self.place_of_test(reference, about, asked),
            Test::Scalar(scalar) => self.scalar_data(scalar),
            Test::Constant(path) => {
                self.data.tag('v');
                asked.ask(about, &quote!(&#path));
                let json = quote!(__plan::constant(&#path).plan_json());
                asked.answers.push(AnswerOf::Constant(json));
            }
        }
    }

    fn place_of_test(&mut self, reference: &Reference, about: &str, asked: &mut Asked) {
        let root = &reference.root;
        let written = reference.written();
        self.data.tag('r');
        match reference.local {
            Some(local) => {
                if let Some(part) = self.source_data(local, &written) {
                    self.data.tag('#').number(part);
                    asked.answers.push(AnswerOf::Yes);
                }
            }
            None => {
                if let Some(source) = self.source(root) {
                    let place = self.place(source);
                    self.data.source(place).text(&written);
                }
            }
        }
        let values = values(reference);
        let mut values = values.iter();
        let mut next = || values.next().cloned().unwrap_or_default();
        let mut value = next();
        for hop in &reference.hops {
            match hop {
                Hop::Field(_, member) => {
                    asked.ask("of_fields", &value);
                    let name = match member {
                        Member::Named(name) => text_of(name),
                        Member::Unnamed(index) => index.index.to_string(),
                    };
                    self.data.tag('.').text(&name);
                }
                Hop::Index(_, index) => {
                    asked.ask("of_items", &value);
                    let place = index.base10_parse::<usize>().unwrap_or(usize::MAX);
                    self.data.tag('#').number(place);
                }
                Hop::Key(_, key) => {
                    asked.ask("of_keys", &value);
                    self.data.tag('k').text(&key.value());
                }
                Hop::Each(_)
                | Hop::Optional(_)
                | Hop::Get(..)
                | Hop::Outcome(_)
                | Hop::Pointer(..) => {}
            }
            value = next();
        }
        asked.ask(about, &value);
        self.data.tag(';');
    }
}

/// How many elements a tuple has at most that the standard library gives a default.
const WIDEST: usize = 12;

/// A tuple, of tuples where there are many: what is written is in proportion to the elements.
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

/// The places of the values that a reference leads through: from that of its name to its own.
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

/// The place of a value of the same type as this operand, as far as that may be an enum.
fn compared(test: &Test) -> TokenStream {
    match test {
        Test::Reference(reference) => values(reference).pop().unwrap_or_default(),
        Test::Constant(path) => quote!(&#path),
        // Literals and tests are not enums.
        _ => quote!(&false),
    }
}
