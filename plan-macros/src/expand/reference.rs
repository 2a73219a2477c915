//! References: a chain for rustc to check, and the pointer as data.

use super::tokens::{Tokens, located};
use super::value::Builder;
use crate::ast::{Hop, Local, Reference};
use crate::docs::text_of;
use crate::names::Source;
use jsonptr::Pointer;
use proc_macro2::{Delimiter, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Lit, LitInt, Member, Token};

/// A reference as far as it was expanded.
struct Chain<'a> {
    /// Its first name, with the hygiene of its binding.
    root: &'a Ident,
    /// Where it has led to.
    place: Position,
    /// What says that another reference is at a place of the same type.
    same: String,
    /// Where there is a field after a `?`: a constant for whether it has led to a flattened field.
    flattened: Option<TokenStream>,
    /// The fields before a key, where one is: what is known of each type, and the name of the field in it.
    fields: Vec<(Ident, String)>,
}

/// Where a reference has led to.
enum Position {
    /// Its first name, which is a `Way`.
    Root,
    /// A value, which this expression is.
    Value { value: Tokens, end: Span },
    /// What has something around it that is still to be said, a `?` or a `[..]` or the method that it ends with: the expression is a `Way`.
    Wrapped(TokenStream),
}

impl Chain<'_> {
    /// A name of the macro's own at a place of the author's.
    fn name(&self, name: &str, at: Span) -> Ident {
        Ident::new(name, at.resolved_at(self.root.span()))
    }

    /// An expression for what has methods that say what the place is.
    fn receiver(&self) -> Tokens {
        match &self.place {
            Position::Root => self.root.clone().into(),
            // All of it takes the place of the reference so far, which a message then points at.
            Position::Value { value, .. } => {
                let at = self.root.span();
                let reference = Tokens::default().operator("&", at).and(value.clone());
                Tokens::default().parens(reference, at)
            }
            Position::Wrapped(way) => way.clone().into(),
        }
    }

    /// An expression for the place as a `Way`.
    fn way(&self) -> TokenStream {
        match &self.place {
            Position::Root => self.root.to_token_stream(),
            Position::Value { value, end } => {
                let here = path(&["here"], self.root.span(), *end);
                let end = *end;
                quote_spanned!(end=> #here(&#value))
            }
            Position::Wrapped(way) => way.clone(),
        }
    }

    /// Goes on to a place in the value so far: `into` makes it of an expression for that value.
    /// What looks into the value, as `how` says, is between `start` and `end`.
    fn enter(
        &mut self,
        start: Span,
        end: Span,
        how: Look<'_>,
        into: impl FnOnce(Tokens) -> Tokens,
    ) {
        let value = match &self.place {
            Position::Root => look(self.root.clone(), start, end, how),
            Position::Value { value, .. } => {
                let c = self.name("__c", end);
                let block = Tokens::default()
                    .name("let", end)
                    .with(c.clone())
                    .operator("=", end)
                    .operator("&", end)
                    .and(value.clone())
                    .operator(";", end)
                    .and(look(c, start, end, how));
                Tokens::default().group(Delimiter::Brace, block, end)
            }
            Position::Wrapped(_) => {
                return self.call("to", start, end, how, |value| {
                    Tokens::default().operator("&", end).and(into(value))
                });
            }
        };
        let value = Tokens::default().operator("*", end).and(value);
        let value = into(Tokens::default().parens(value, end));
        self.place = Position::Value { value, end };
    }

    /// Goes on with a method of the way, whose argument `into` makes of an expression for the value so far.
    fn call(
        &mut self,
        method: &str,
        start: Span,
        end: Span,
        how: Look<'_>,
        into: impl FnOnce(Tokens) -> Tokens,
    ) {
        let (way, c) = (self.way(), self.name("__c", end));
        let method = Ident::new(method, end);
        let look = look(c.clone(), start, end, how);
        let value = Tokens::default().operator("*", end).and(look);
        let value = into(Tokens::default().parens(value, end));
        self.place = Position::Wrapped(quote_spanned!(end=> { let #c = #way; #c.#method(#value) }));
    }
}

/// How a value is looked into.
#[derive(Clone, Copy)]
enum Look<'a> {
    /// For a field.
    Field,
    /// For a field of a type that this takes.
    See(&'a Ident),
    /// For an element of a list whose length this takes.
    Element(&'a Ident),
    /// For anything else.
    Other,
}

/// The value at the end of a way. That has a name, since rustc would else point at the reference so far where the value may be
/// absent.
fn look(way: Ident, start: Span, end: Span, how: Look<'_>) -> Tokens {
    let kind = call(
        Tokens::from(located(way, start))
            .operator(".", end)
            .name("plan_kind", end),
        end,
    );
    let (name, value) = match how {
        Look::Field => ("field", kind),
        Look::See(known) => ("see", kind.operator(",", end).with(known.clone())),
        Look::Element(_) | Look::Other => ("look", kind),
    };
    let value = path(&["Reachable", name], start, end).parens(value, end);
    match how {
        Look::Element(length) => {
            let length = Tokens::default().with(length.clone());
            let value = value.operator(".", end).name("plan_length", end);
            value.parens(length, end)
        }
        Look::Field | Look::See(_) => path(&["HasFields", "of"], start, end).parens(value, end),
        Look::Other => value,
    }
}

/// Calls the function without arguments.
fn call(function: Tokens, at: Span) -> Tokens {
    function.parens(Tokens::default(), at)
}

impl Builder<'_> {
    /// Writes a reference as data, and returns its chain, which must be in the code that is only type-checked.
    ///
    /// The author's tokens keep their spans, and the tokens around them take the spans of their neighbors, so that rustc's
    /// messages point at the author's text. The names of the chain's own variables take the hygiene of the reference's first token.
    pub(super) fn reference(&mut self, reference: &Reference) -> Tokens {
        let mut root = reference.root.clone();
        let source = match reference.local {
            Some(_) => None,
            None => self.source(&root),
        };
        if let Some(source) = source {
            let bound = self.bind_root(source, &root);
            root.set_span(root.span().resolved_at(bound.span()));
        }
        let mut written = reference.written();
        // In the condition of a loop, the step's name is that of a round's value.
        if let Some(Source::Step(number)) = source {
            let (name, said) = (text_of(&self.cx.steps[number].name), text_of(&root));
            if name != said {
                written.replace_range(..said.len(), &name);
            }
        }
        self.data.tag('r');
        let same = match (reference.local, source) {
            (Some(local), _) => {
                self.local_data(local, &written);
                let Local { frame, part } = local;
                self.frames
                    .get(frame)
                    .map(|frame| format!("local {} {} {part:?}", self.part, frame.place))
            }
            (None, Some(source)) => {
                let place = self.place(source);
                self.data.source(place).text(&written);
                Some(self.cx.same_type_seen(source, self.reader(source)))
            }
            (None, None) => None,
        };
        let same = same.unwrap_or_default();
        let is_field = |hop: &Hop| matches!(hop, Hop::Field(..));
        let asked = reference.hops.iter().position(is_optional);
        let (before, after) = reference.hops.split_at(asked.unwrap_or_default());
        let may_be_flattened = before.iter().any(is_field)
            && after.iter().any(is_field)
            && self.data.is_new_check(format!("{same} {written}"));
        let mut chain = Chain {
            root: &root,
            place: Position::Root,
            same,
            flattened: may_be_flattened.then(|| quote!(__plan::Flattened::No)),
            fields: Vec::new(),
        };
        for (index, hop) in reference.hops.iter().enumerate() {
            self.hop(&mut chain, hop, source, &reference.hops[index + 1..]);
        }
        self.data.tag(';');
        match &chain.place {
            Position::Wrapped(way) => {
                let whole = path(&["whole"], root.span(), reference.end);
                whole.parens(way.clone().into(), reference.end)
            }
            _ => chain.receiver(),
        }
    }

    /// Continues the chain by one hop; `rest` are the hops after it.
    fn hop(&mut self, chain: &mut Chain<'_>, hop: &Hop, source: Option<Source>, rest: &[Hop]) {
        match hop {
            Hop::Field(dot, member) => self.field(chain, dot, member, source, rest),
            Hop::Index(bracket, index) => {
                let at = bracket.span.join();
                let length = self.within(chain, index);
                let how = length.as_ref().map_or(Look::Other, Look::Element);
                chain.enter(at, at, how, |value| indexed(value, bracket, index));
                chain.same.push_str("[0]");
                self.index(index, '!');
            }
            Hop::Key(bracket, key) => {
                let at = bracket.span.join();
                chain.enter(at, at, Look::Other, |value| indexed(value, bracket, key));
                self.not_beside(chain, &key.value(), key.span());
                chain.same.push_str("[key]");
                self.key(&key.value(), '!');
            }
            Hop::Each(bracket) => {
                let at = bracket.span.join();
                chain.call("to", at, at, Look::Other, |value| {
                    Tokens::default().operator("&", at).and(value)
                });
                let way = chain.way();
                chain.place =
                    Position::Wrapped(quote_spanned!(at=> __plan::HasElements::each(#way)));
                chain.same.push_str("[..]");
                self.data.tag('*');
            }
            Hop::Optional(question) => {
                let at = question.span;
                let same = format!("asked {}", chain.same);
                chain.same.push('?');
                let asked = self.fresh_at("t", at.resolved_at(chain.root.span()));
                let mut is_new = false;
                let number = self.shared_constant(&same, || {
                    is_new = true;
                    quote_spanned!(at=> #asked.optional())
                });
                self.data.tag('?').number(number);
                let asked = is_new.then(|| {
                    self.bindings
                        .extend(quote_spanned!(at=> let #asked = __plan::root();));
                    quote_spanned!(at=> .asked(#asked))
                });
                let asked = asked.unwrap_or_else(|| quote_spanned!(at=> .asked(__plan::root())));
                let (way, c) = (chain.way(), chain.name("__c", at));
                chain.place = Position::Wrapped(
                    quote_spanned!(at=> { let #c = #way; __plan::CanBeAbsent::or_absent(#c)#asked }),
                );
            }
            Hop::Get(dot, method, key) => {
                let at = method.span();
                chain.call("get", dot.spans[0], at, Look::Other, |value| {
                    quote_spanned!(at=> #value #dot #method(#key)).into()
                });
                match key {
                    Lit::Int(index) => {
                        chain.same.push_str(".get(0)");
                        self.index(index, '?');
                    }
                    Lit::Str(key) => {
                        self.not_beside(chain, &key.value(), key.span());
                        chain.same.push_str(".get(key)");
                        self.key(&key.value(), '?');
                    }
                    // rustc says that there is no such method.
                    _ => chain.same.push_str(".get(other)"),
                }
            }
            Hop::Outcome(method) => {
                let at = method.span();
                let (way, c) = (chain.way(), chain.name("__c", at));
                chain.place = Position::Wrapped(
                    quote_spanned!(at=> { let #c = #way; __plan::HasOutcomes::#method(#c) }),
                );
                chain.same.push_str(&format!(".{method}()"));
                let side = if method == "ok" { "Ok" } else { "Err" };
                self.key(side, '?');
            }
            Hop::Pointer(dot, method, pointer) => {
                let at = method.span();
                chain.call("pointer", dot.spans[0], at, Look::Other, |value| {
                    quote_spanned!(at=> #value #dot #method(#pointer)).into()
                });
                let asked = matches!(rest.first(), Some(Hop::Optional(_)));
                let value = pointer.value();
                let tokens = || {
                    Pointer::parse(&value)
                        .into_iter()
                        .flat_map(|it| it.tokens())
                };
                if let Some(first) = tokens().next() {
                    self.not_beside(chain, &first.decoded(), pointer.span());
                }
                chain.same.push_str(".pointer(key)");
                for token in tokens() {
                    self.key(&token.decoded(), if asked { '^' } else { '!' });
                }
            }
        }
    }

    /// Goes on into a field. Which name it has in JSON is looked up once for all references to it.
    fn field(
        &mut self,
        chain: &mut Chain<'_>,
        dot: &Token![.],
        member: &Member,
        source: Option<Source>,
        rest: &[Hop],
    ) {
        let next = rest.iter().find(|hop| !is_optional(hop));
        let last = next.is_none();
        let has_elements = matches!(
            next,
            Some(Hop::Each(_) | Hop::Index(..) | Hop::Get(_, _, Lit::Int(_)))
        );
        let mut after = rest.iter();
        let after = after.find(|hop| !matches!(hop, Hop::Field(..) | Hop::Optional(_)));
        let has_key = matches!(
            after,
            Some(Hop::Key(..) | Hop::Get(_, _, Lit::Str(_)) | Hop::Pointer(..))
        );
        let (at, ident) = field_name(member);
        // Its type may not be looked into where the way ends with it.
        let how = match (last, has_elements) {
            (true, _) => " last",
            (_, true) => " list",
            _ => "",
        };
        let check = format!("{}.{ident}{how}", chain.same);
        let is_new_check = self.data.is_new_check(check);
        let same = format!("shape {}", chain.same);
        let is_new =
            is_new_check || has_key || chain.flattened.is_some() || !self.data.has_constant(&same);
        // The type of a step or an input has a name.
        let root = source.filter(|_| matches!(chain.place, Position::Root));
        let bound = root.and_then(|_| self.known.get(&same)).cloned();
        let known = is_new.then(|| match &bound {
            Some(bound) => located(bound.clone(), at),
            None => self.fresh_at("t", at.resolved_at(chain.root.span())),
        });
        let number = self.shared_constant(&same, || quote_spanned!(at=> #known.shape()));
        self.data.tag('.').number(number).text(&ident);
        let field = |value: Tokens| {
            let value = value.operator(".", dot.spans[0]);
            match member {
                Member::Named(name) => value.with(name.clone()),
                Member::Unnamed(index) => value.and(index.to_token_stream().into()),
            }
        };
        if let Some(known) = known.as_ref().filter(|_| bound.is_none()) {
            let at = self.data.asked_at(&same, at);
            let ty = match root {
                Some(source) => {
                    self.known.insert(same, known.clone());
                    located(self.type_of(source), at).into_token_stream()
                }
                None => quote_spanned!(at=> _),
            };
            self.bindings
                .extend(quote_spanned!(at=> let #known = <#ty as __plan::HasShape<_>>::KNOWN;));
        }
        let see = match (&known, root) {
            (Some(known), None) => Look::See(known),
            _ => Look::Field,
        };
        chain.enter(dot.spans[0], at, see, field);
        if is_new_check {
            self.constants.check(if has_elements {
                quote_spanned!(at=> #known.check_list(#ident);)
            } else {
                quote_spanned!(at=> #known.check(#ident, #last);)
            });
        }
        if let Some(from) = &chain.flattened {
            let entered = self.fresh_at("e", at.resolved_at(chain.root.span()));
            let asked = rest.first().is_some_and(is_optional);
            self.constants
                .check(quote_spanned!(at=> let #entered = #known.enter(#ident, #asked, #from);));
            chain.flattened = Some(entered.into_token_stream());
        }
        chain.same.push('.');
        chain.same.push_str(&ident);
        if has_key && let Some(known) = known {
            chain.fields.push((known, ident));
        }
    }

    /// Checks that a key of a flattened map is not a field beside it, which the JSON has at the same place.
    fn not_beside(&mut self, chain: &mut Chain<'_>, key: &str, at: Span) {
        let fields = std::mem::take(&mut chain.fields);
        if fields.is_empty() || !self.data.is_new_check(format!("{}[{key:?}]", chain.same)) {
            return;
        }
        let mut inside = quote!(true);
        for (known, ident) in fields.into_iter().rev() {
            let known = located(known, at);
            inside = quote_spanned!(at=> #known.not_beside(#ident, #key, #inside));
        }
        self.constants.check(quote_spanned!(at=> #inside;));
    }

    /// Checks that an index is in the array that the reference has led to, if it is one. rustc knows its length: it is that of the
    /// variable that this returns. For the same index of the same type, there is none.
    fn within(&mut self, chain: &Chain<'_>, index: &LitInt) -> Option<Ident> {
        let number = index.base10_parse::<usize>().ok()?;
        let check = format!("{}[{number}]", chain.same);
        if !self.data.is_new_check(check) {
            return None;
        }
        let at = index.span();
        let length = self.fresh_at("n", at.resolved_at(chain.root.span()));
        self.bindings
            .extend(quote_spanned!(at=> let #length = __plan::root();));
        self.constants
            .check(quote_spanned!(at=> #length.has(#number);));
        Some(length)
    }

    fn index(&mut self, index: &LitInt, absence: char) {
        self.data.tag('#');
        self.data
            .number(index.base10_parse::<usize>().unwrap_or(usize::MAX));
        self.data.tag(absence);
    }

    fn key(&mut self, key: &str, absence: char) {
        self.data.tag('k').text(key).tag(absence);
    }
}

/// `__plan::a::b`, from the one place to the other: as an expression it covers all between them.
pub(super) fn path(names: &[&str], start: Span, end: Span) -> Tokens {
    let path = Tokens::default().name("__plan", start);
    names
        .iter()
        .fold(path, |path, name| path.operator("::", end).name(name, end))
}

fn indexed(value: Tokens, bracket: &syn::token::Bracket, index: &impl ToTokens) -> Tokens {
    let index = index.to_token_stream().into();
    value.group(Delimiter::Bracket, index, bracket.span.join())
}

fn is_optional(hop: &Hop) -> bool {
    matches!(hop, Hop::Optional(_))
}

/// Where a field is named, and how.
pub(super) fn field_name(member: &Member) -> (Span, String) {
    match member {
        Member::Named(ident) => (ident.span(), text_of(ident)),
        Member::Unnamed(index) => (index.span, index.index.to_string()),
    }
}
