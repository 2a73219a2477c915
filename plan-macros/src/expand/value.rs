//! Values: as an expression for rustc to check, and as a template.

use super::Context;
use super::binding::LocalFrame;
use super::block::Level;
use super::data::{Constants, Data};
use super::reference::path;
use super::tokens::{Tokens, located};
use crate::ast::{Json, Outcome, Scalar, Value};
use crate::names::Source;
use proc_macro2::{Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::{BTreeMap, HashMap, HashSet};
use syn::spanned::Spanned;
use syn::{Lit, Path};

/// The trait that says whether a value may be absent where it is given to an argument.
pub(super) const ALLOWS: &str = "Allows";

/// The body of one `const`: what a step's arguments, or the plan's output, become.
pub(super) struct Builder<'a> {
    pub(super) cx: &'a Context<'a>,
    /// The bindings and checks so far, in order: a name that a loop binds may mean something else before and after it.
    pub(super) bindings: Bindings,
    /// Constants that check it apart: where one fails, nothing that uses the step fails after it.
    pub(super) apart: TokenStream,
    /// The roots that the body uses, each with the name that first mentions it.
    pub(super) roots: BTreeMap<Source, Ident>,
    /// What the types of roots say of their fields, by what says that a type is the same.
    pub(super) known: HashMap<String, Ident>,
    /// What the `for`s and `if let`s around bind.
    pub(super) frames: Vec<LocalFrame>,
    /// The sources that were bound again after a loop that gave their names to elements; their roots may then be unused.
    pub(super) rebound: HashSet<Source>,
    /// What gives the slots of computed values their types where the data, which does so too, is not beside them.
    pub(super) types: TokenStream,
    /// The data of the plan; what is expanded is written to it.
    pub(super) data: &'a mut Data,
    /// What the data needs that only rustc knows.
    pub(super) constants: Constants,
    /// The plan and the blocks around the values, the innermost last.
    pub(super) levels: Vec<Level>,
    /// The steps of blocks whose names are bound already in the step that is expanded.
    pub(super) inner_roots: HashMap<Source, Ident>,
    /// Which part of the plan this is.
    pub(super) part: usize,
    /// The trait that says whether a value may be absent where it is going: in a list, a tuple, `Some` or a condition, it is another.
    pub(super) arrival: &'static str,
    /// The constant that does not compile if JSON cannot hold the type that the step declares.
    pub(super) is_json: Option<Ident>,
    count: usize,
}

/// Statements, in order.
#[derive(Default)]
pub(super) struct Bindings(Vec<Binding>);

enum Binding {
    Statement(TokenStream),
    /// An expression that is only type-checked.
    Check(TokenStream),
}

impl Bindings {
    pub(super) fn extend(&mut self, statement: TokenStream) {
        self.0.push(Binding::Statement(statement));
    }

    pub(super) fn check(&mut self, expression: TokenStream) {
        self.0.push(Binding::Check(expression));
    }
}

impl<'a> Builder<'a> {
    pub(super) fn new(cx: &'a Context<'a>, data: &'a mut Data) -> Self {
        let part = data.next_part();
        Self {
            cx,
            bindings: Bindings::default(),
            apart: TokenStream::new(),
            roots: BTreeMap::new(),
            known: HashMap::new(),
            frames: Vec::new(),
            rebound: HashSet::new(),
            types: TokenStream::new(),
            data,
            part,
            levels: vec![Level::plan()],
            inner_roots: HashMap::new(),
            arrival: ALLOWS,
            is_json: None,
            constants: Constants::default(),
            count: 0,
        }
    }

    /// Adds a constant to the plan's table, and gives its number.
    pub(super) fn constant(&mut self, constant: TokenStream) -> usize {
        self.constants.add(constant, self.data)
    }

    /// The number of a constant that several places use.
    pub(super) fn shared_constant(
        &mut self,
        same: &str,
        constant: impl FnOnce() -> TokenStream,
    ) -> usize {
        self.constants.share(same, constant, self.data)
    }

    /// The item that checks all that was expanded, and holds the constants.
    pub(super) fn into_item(self, name: Ident) -> TokenStream {
        // A function costs rustc less than a `const`, and is enough where nothing must be evaluated.
        let is_function = self.constants.is_empty();
        let bindings = self.bindings_in(is_function);
        let apart = self.apart;
        let item = if is_function {
            // No lint about names is for the author: the name is the macro's own, whatever it is made of.
            let mut name = name;
            name.set_span(Span::mixed_site());
            // The code after `return` is type-checked, but not borrow-checked.
            quote!(fn #name() { return; #bindings })
        } else {
            self.constants.into_item(name, &bindings, self.data)
        };
        quote!(#apart #item)
    }

    /// A name of the macro's own.
    pub(super) fn fresh(&mut self, prefix: &str) -> Ident {
        self.fresh_at(prefix, Span::mixed_site())
    }

    /// A name at a place of the author's. It has that place's hygiene, since all of an expression must have one if rustc is
    /// to point at it, so it differs from all names of the plan.
    pub(super) fn fresh_at(&mut self, prefix: &str, span: Span) -> Ident {
        loop {
            let name = format!("__{prefix}{}", self.count);
            self.count += 1;
            if !self.cx.names.is_taken(&name) {
                return Ident::new(&name, span);
            }
        }
    }

    /// The name of the type of a step or an input, as it is seen here.
    pub(super) fn type_of(&self, source: Source) -> Ident {
        self.cx.type_seen(source, self.reader(source))
    }

    /// All bindings and checks, with the roots first.
    pub(super) fn bindings(&self) -> TokenStream {
        self.bindings_in(false)
    }

    fn bindings_in(&self, is_function: bool) -> TokenStream {
        let roots = self.roots.iter().map(|(source, name)| {
            let ty = self.type_of(*source);
            let unread = self.rebound.contains(source);
            let allow = unread.then(|| quote!(#[allow(unused_variables)]));
            quote!(#allow let #name = __plan::root::<#ty>();)
        });
        let mut tokens = quote!(#(#roots)*);
        for binding in &self.bindings.0 {
            match binding {
                Binding::Statement(statement) => tokens.extend(statement.clone()),
                // What is never called needs no closure around it.
                Binding::Check(check) if is_function => tokens.extend(quote!(let _ = #check;)),
                Binding::Check(check) => tokens.extend(quote!(let _ = || #check;)),
            }
        }
        tokens
    }

    /// Writes a value as data, and gives an expression for it in code that is only type-checked, where rustc knows which type the
    /// place needs.
    pub(super) fn value(&mut self, value: &Value) -> Tokens {
        match value {
            Value::Scalar(scalar) => {
                self.scalar_data(scalar);
                self::scalar(scalar)
            }
            Value::None(none) => {
                self.data.tag('n');
                let at = none.span();
                let from = path(&["TakesNone", "none"], at, at);
                from.parens(Tokens::default(), at)
            }
            Value::Some(some, paren, value) => {
                let check = self.arriving("FitsIntoSome", |builder| builder.value(value));
                let (start, end) = (some.span(), paren.span.close());
                let inner = path(&["inner"], start, end).parens(check, end);
                path(&["TakesSome", "some"], start, end).parens(inner, end)
            }
            Value::List(bracket, values) => {
                let check = self.values(values);
                let (start, end) = (bracket.span.open(), bracket.span.close());
                let list = path(&["TakesList", "list"], start, end);
                let mut elements = Group::new(proc_macro2::Delimiter::Bracket, quote!(#(#check),*));
                elements.set_span(bracket.span.join());
                list.parens(Tokens::default().with(elements), end)
            }
            Value::Tuple(paren, values) => {
                let at = paren.span.join();
                if values.is_empty() {
                    self.data.tag('n');
                    return Tokens::default().parens(Tokens::default(), at);
                }
                let check = self.values(values);
                quote_spanned!(at=> (#(#check,)*)).into()
            }
            Value::Literal(literal) => {
                let (start, end) = ends(&literal.path);
                let name = located(self.literal(literal), start);
                self.fits("TakesStruct", it(name.into(), end), start, end)
            }
            Value::Json(at, json) => {
                self.json(json);
                let untyped = quote_spanned!(*at=> __plan::untyped());
                self.fits("Takes", untyped.into(), *at, *at)
            }
            Value::Format(format) => self.format(format).into(),
            Value::Reference(reference) => {
                let way = self.reference(reference);
                let (start, end) = (reference.root.span(), reference.end);
                let place = match reference.outcome {
                    Outcome::None => "Takes",
                    Outcome::One => "TakesOutcome",
                    Outcome::Each => "TakesOutcomes",
                };
                self.fits(place, it(way, end), start, end)
            }
            Value::Computed(computed) => {
                let name = self.computed(computed);
                quote!(#name.value()).into()
            }
            Value::Broken => {
                self.data.tag('n');
                quote!(__plan::any()).into()
            }
        }
    }

    /// A list of values.
    fn values(&mut self, values: &[Value]) -> Vec<Tokens> {
        self.data.tag('l').number(values.len());
        self.inner(|builder| values.iter().map(|value| builder.value(value)).collect())
    }

    /// Goes on to what is in a list or a tuple.
    fn inner<T>(&mut self, within: impl FnOnce(&mut Self) -> T) -> T {
        self.arriving("FitsInto", within)
    }

    /// Goes on to a value that arrives somewhere else.
    pub(super) fn arriving<T>(
        &mut self,
        arrival: &'static str,
        at: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = std::mem::replace(&mut self.arrival, arrival);
        let result = at(self);
        self.arrival = before;
        result
    }

    /// Checks that a value fits its place.
    fn fits(&self, place: &str, it: Tokens, start: Span, end: Span) -> Tokens {
        let present = path(&[self.arrival, "present"], start, end).parens(it, end);
        path(&[place, "fit"], start, end).parens(present, end)
    }

    /// Writes a value that gives its place its type, and gives an expression of that type.
    pub(super) fn inferred(&mut self, value: &Value) -> TokenStream {
        match value {
            Value::Reference(reference) => {
                let way = self.reference(reference);
                let end = reference.end;
                let it = it(way, end);
                quote_spanned!(end=> #it.value())
            }
            Value::Literal(literal) => {
                let name = self.literal(literal);
                quote!(#name.value())
            }
            Value::Scalar(scalar) if !matches!(scalar.lit, Lit::Str(_)) => {
                self.scalar_data(scalar);
                let (minus, lit) = (&scalar.minus, &scalar.lit);
                quote!(#minus #lit)
            }
            Value::Scalar(_) | Value::Format(_) => {
                self.value(value);
                quote!(__plan::any::<__plan::String>())
            }
            Value::Json(_, json) => {
                self.json(json);
                quote!(__plan::any::<__plan::serde_json::Value>())
            }
            Value::Some(some, _, value) => {
                let check = self.inferred(value);
                let at = some.span();
                quote_spanned!(at=> ::core::option::Option::Some(#check))
            }
            Value::List(_, values) => {
                let check = self.inferred_values(values);
                quote!(__plan::vec![#(#check),*])
            }
            Value::Tuple(_, values) if !values.is_empty() => {
                let check = self.inferred_values(values);
                quote!((#(#check,)*))
            }
            Value::Broken => {
                self.data.tag('n');
                // The error takes the place of the type, so that rustc reports nothing else; it is shown once.
                let ty = self.cx.error.clone().unwrap_or_else(|| quote!(_));
                quote!(__plan::any::<#ty>())
            }
            Value::None(_) | Value::Tuple(..) | Value::Computed(_) => {
                self.value(value).into_token_stream()
            }
        }
    }

    fn inferred_values(&mut self, values: &[Value]) -> Vec<TokenStream> {
        self.data.tag('l').number(values.len());
        values.iter().map(|value| self.inferred(value)).collect()
    }

    /// Writes a value where any JSON is allowed.
    pub(super) fn untyped(&mut self, value: &Value) {
        match value {
            Value::Some(_, _, value) => self.untyped(value),
            Value::List(_, values) | Value::Tuple(_, values) => {
                self.data.tag('l').number(values.len());
                values.iter().for_each(|value| self.untyped(value));
            }
            Value::Reference(reference) => {
                let way = self.reference(reference);
                let it = it(way, reference.end);
                self.bindings.extend(quote!(let _ = || { let _ = #it; };));
            }
            other => {
                self.value(other);
            }
        }
    }

    fn json(&mut self, json: &Json) {
        match json {
            Json::Null => {
                self.data.tag('n');
            }
            Json::Value(value) => self.untyped(value),
            Json::List(elements) => {
                self.data.tag('l').number(elements.len());
                elements.iter().for_each(|element| self.json(element));
            }
            Json::Object(members) => {
                self.data.tag('j').number(members.len());
                for (key, member) in members {
                    self.data.text(&key.value());
                    self.json(member);
                }
            }
        }
    }

    pub(super) fn scalar_data(&mut self, scalar: &Scalar) {
        let negative = scalar.minus.is_some();
        let data = &mut *self.data;
        match &scalar.lit {
            Lit::Str(string) => data.tag('s').text(&string.value()),
            Lit::Char(char) => data.tag('s').text(&char.value().to_string()),
            Lit::Bool(bool) => data.tag(if bool.value { '1' } else { '0' }),
            Lit::Byte(byte) => data.tag('u').number(byte.value()),
            // `-9223372036854775808` is one, though its digits alone are not.
            Lit::Int(int) => {
                let negative = negative && int.base10_digits() != "0";
                let tag = if negative { '-' } else { 'u' };
                data.tag(tag).number(int.base10_digits())
            }
            Lit::Float(float) => {
                let value: f64 = float.base10_digits().parse().unwrap_or_default();
                let value = if negative { -value } else { value };
                data.tag('d').text(&format!("{value:?}"))
            }
            _ => data.tag('n'),
        };
    }
}

/// Calls what hands over what something is.
pub(super) fn it(of: Tokens, end: Span) -> Tokens {
    let it = of.operator(".", end).name("plan_value", end);
    it.parens(Tokens::default(), end)
}

/// The first and the last place of a path.
pub(super) fn ends(path: &Path) -> (Span, Span) {
    // Asking for tokens costs much, and nearly all paths are names alone.
    if let (None, Some(first), Some(last)) = (
        path.leading_colon,
        path.segments.first(),
        path.segments.last(),
    ) && last.arguments.is_none()
    {
        return (first.ident.span(), last.ident.span());
    }
    let mut spans = path.to_token_stream().into_iter().map(|tree| tree.span());
    let start = spans.next().unwrap_or_else(|| path.span());
    (start, spans.last().unwrap_or(start))
}

fn scalar(scalar: &Scalar) -> Tokens {
    let Scalar { minus, lit } = scalar;
    let at = lit.span();
    let start = minus.map_or(at, |minus| minus.span);
    let from = match lit {
        Lit::Str(_) => path(&["TakesText", "from_text"], at, at),
        _ if minus.is_some() => path(&["TakesNegative", "from_negative"], start, at),
        Lit::Int(int) if int.suffix().is_empty() => path(&["TakesInteger", "from_integer"], at, at),
        Lit::Float(float) if float.suffix().is_empty() => {
            path(&["TakesFloat", "from_float"], at, at)
        }
        _ => path(&["TakesLiteral", "from_literal"], start, at),
    };
    from.parens(quote!(#minus #lit).into(), at)
}
