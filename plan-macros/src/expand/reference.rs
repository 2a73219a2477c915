//! References: a chain for rustc to check, and the path as data.

use super::builder::{Builder, Lowered, TemplateData};
use super::table::{CheckKey, ConstantKey, Next, PartKey, TypeId, TypeKey};
use super::tokens::{TokenList, located};
use super::way::{Look, Way, WayState, path};
use crate::ast::{Hop, Reference};
use crate::docs::text_of;
use crate::names::{Local, Source};
use crate::syntax::tokens::{end_of, placed};
use jsonptr::Pointer;
use plan_graph::notation::{AbsenceData, Ended, ReferenceData, SegmentData, SourceData};
use proc_macro2::{Delimiter, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Lit, LitInt, Member, Token};

/// A reference as far as the reference was lowered.
struct Chain<'c, 'a> {
    builder: &'c mut Builder<'a>,
    /// The step or the input of the first name. A local value has none.
    source: Option<Source>,
    way: Way,
    /// The type at the end of the path.
    ty: TypeId,
    path: Vec<SegmentData<String>>,
    /// A constant that is `true` if the reference has led to a flattened field. Only a field after a `?` needs the constant.
    flattened: Option<TokenStream>,
    /// The fields before a key: the known facts about each type, and the name of the field.
    fields: Vec<(Ident, String)>,
}

/// Lowers a reference to data and a chain, which must be in the code that is only type-checked.
///
/// The author's tokens keep their spans, and the tokens around them take the spans of their neighbors, so that rustc's
/// messages point at the author's code. The names of the chain's own variables take the hygiene of the reference's
/// first token.
pub(super) fn lower(reference: &Reference, builder: &mut Builder<'_>) -> Lowered {
    let mut root = reference.root.clone();
    let local = builder.cx.names.local(reference);
    let source = match local {
        Some(_) => None,
        None => builder.source(&root),
    };
    if let Some(source) = source {
        let bound = builder.bind_root(source, &root);
        root.set_span(root.span().resolved_at(bound.span()));
    }
    let mut written = reference.written();
    // In the condition of a loop, the step's name is the name of a round's value.
    if let Some(Source::Step(number)) = source {
        let (name, said) = (text_of(&builder.cx.steps[number].name), text_of(&root));
        if name != said {
            written.replace_range(..said.len(), &name);
        }
    }
    let (place, part, ty) = start(local, source, builder);
    let is_field = |hop: &Hop| matches!(hop, Hop::Field(..));
    let asked = reference.hops.iter().position(is_optional);
    let (before, after) = reference.hops.split_at(asked.unwrap_or_default());
    let check = || CheckKey::Flattened(ty, written.clone());
    let may_be_flattened = before.iter().any(is_field)
        && after.iter().any(is_field)
        && builder.table.is_new_check(check());
    let mut chain = Chain {
        builder,
        source,
        way: Way {
            root,
            position: WayState::Root,
        },
        ty,
        path: part.into_iter().collect(),
        flattened: may_be_flattened.then(|| quote!(__plan::Flattened::No)),
        fields: Vec::new(),
    };
    for (index, hop) in reference.hops.iter().enumerate() {
        chain.hop(hop, &reference.hops[index + 1..]);
    }
    let data = ReferenceData {
        source: place,
        written,
        path: Ended(chain.path),
    };
    let Way { root, position } = &chain.way;
    let check = match position {
        WayState::Wrapped(way) => {
            let whole = path(&["whole"], root.span(), reference.end);
            whole.parens(way.clone().into(), reference.end)
        }
        _ => chain.way.receiver(),
    };
    Lowered::new(check, TemplateData::Reference(data))
}

/// Returns the source of a reference's first name, the part of the source, and the type.
fn start(
    local: Option<Local>,
    source: Option<Source>,
    builder: &mut Builder<'_>,
) -> (SourceData, Option<SegmentData<String>>, TypeId) {
    if let (None, Some(source)) = (local, source) {
        return (builder.place(source), None, builder.type_id(source));
    }
    let key = local.and_then(|Local { frame, part }| {
        let place = &builder.frames.get(frame)?.place;
        Some(TypeKey::Local(place.to_string(), part))
    });
    let ty = builder.table.type_id(key.unwrap_or(TypeKey::Unknown));
    // Only a reference with an error has no source.
    let (place, part) = match local {
        Some(local) => builder.part_of_local(local),
        None => (SourceData::Local(0), None),
    };
    let part = part.map(|part| SegmentData::Index(part, AbsenceData::Error));
    (place, part, ty)
}

impl Chain<'_, '_> {
    /// Continues the chain by one hop; `rest` are the hops after it.
    fn hop(&mut self, hop: &Hop, rest: &[Hop]) {
        match hop {
            Hop::Field(dot, member) => self.field(dot, member, rest),
            Hop::Index(bracket, index) => {
                let at = bracket.span.join();
                let length = self.within(index);
                let how = length.as_ref().map_or(Look::Other, Look::Element);
                let way = &mut self.way;
                way.enter(at, at, how, |value| indexed(value, bracket, index));
                self.index(index, AbsenceData::Error);
                self.part(PartKey::Element);
            }
            Hop::Key(bracket, key) => {
                let at = bracket.span.join();
                let way = &mut self.way;
                way.enter(at, at, Look::Other, |value| indexed(value, bracket, key));
                self.key(key.value(), key.span(), AbsenceData::Error);
                self.part(PartKey::Value);
            }
            Hop::Each(bracket) => {
                let at = bracket.span.join();
                let reference = |value| TokenList::default().operator("&", at).and(value);
                self.way.call("to", at, at, Look::Other, reference);
                let way = self.way.way();
                let each = quote_spanned!(at=> __plan::HasElements::each(#way));
                self.way.position = WayState::Wrapped(each);
                self.path.push(SegmentData::Each);
                self.part(PartKey::Elements);
            }
            Hop::Optional(question) => self.optional(question.span),
            Hop::Get(dot, method, key) => {
                let at = method.span();
                self.way
                    .call("get", dot.spans[0], at, Look::Other, |value| {
                        quote_spanned!(at=> #value #dot #method(#key)).into()
                    });
                let part = match key {
                    Lit::Int(index) => {
                        self.index(index, AbsenceData::Null);
                        PartKey::GotElement
                    }
                    Lit::Str(key) => {
                        self.key(key.value(), key.span(), AbsenceData::Null);
                        PartKey::GotValue
                    }
                    // rustc reports that there is no such method.
                    _ => PartKey::GotOther,
                };
                self.part(part);
            }
            Hop::Outcome(method) => {
                let at = method.span();
                let (way, c) = (self.way.way(), self.way.name("__c", at));
                self.way.position = WayState::Wrapped(
                    quote_spanned!(at=> { let #c = #way; __plan::HasOutcomes::#method(#c) }),
                );
                let side = if method == "ok" { "Ok" } else { "Err" };
                let key = SegmentData::Key(side.to_owned(), AbsenceData::Null);
                self.path.push(key);
                self.part(PartKey::Outcome(method.to_string()));
            }
            Hop::Pointer(dot, method, pointer) => {
                let at = method.span();
                self.way
                    .call("pointer", dot.spans[0], at, Look::Other, |value| {
                        quote_spanned!(at=> #value #dot #method(#pointer)).into()
                    });
                let absence = match rest.first() {
                    Some(Hop::Optional(_)) => AbsenceData::Whole,
                    _ => AbsenceData::Error,
                };
                self.pointer(&pointer.value(), pointer.span(), absence);
                self.part(PartKey::Pointer);
            }
        }
    }

    /// Adds the keys of a JSON pointer.
    fn pointer(&mut self, pointer: &str, at: Span, absence: AbsenceData) {
        let tokens = Pointer::parse(pointer).into_iter();
        let tokens = tokens.flat_map(|pointer| pointer.tokens());
        for (index, token) in tokens.enumerate() {
            let key = token.decoded().into_owned();
            if index == 0 {
                self.not_beside(&key, at);
            }
            self.path.push(SegmentData::Key(key, absence));
        }
    }

    /// Continues to the type of a part.
    fn part(&mut self, part: PartKey) {
        self.ty = self.builder.table.type_id(TypeKey::Part(self.ty, part));
    }

    /// Creates an unused name with the hygiene of the reference.
    fn fresh(&mut self, prefix: &str, at: Span) -> Ident {
        let at = at.resolved_at(self.way.root.span());
        self.builder.fresh_at(prefix, at)
    }

    /// Continues the chain by a `?`.
    fn optional(&mut self, at: Span) {
        let asked = self.fresh("t", at);
        let key = ConstantKey::Asked(self.ty);
        self.part(PartKey::Present);
        let is_new = self.builder.table.shared(&key).is_none();
        let number = self
            .builder
            .shared_constant(key, || quote_spanned!(at=> #asked.optional()));
        self.path.push(SegmentData::Asked(number));
        let asked = if is_new {
            self.builder
                .bind(quote_spanned!(at=> let #asked = __plan::root();));
            quote_spanned!(at=> .asked(#asked))
        } else {
            quote_spanned!(at=> .asked(__plan::root()))
        };
        let (way, c) = (self.way.way(), self.way.name("__c", at));
        self.way.position = WayState::Wrapped(
            quote_spanned!(at=> { let #c = #way; __plan::CanBeAbsent::or_absent(#c)#asked }),
        );
    }

    /// Continues the chain by a field. Its name in JSON is looked up once for all references to it.
    fn field(&mut self, dot: &Token![.], member: &Member, rest: &[Hop]) {
        let next = match rest.iter().find(|hop| !is_optional(hop)) {
            None => Next::None,
            Some(Hop::Each(_) | Hop::Index(..) | Hop::Get(_, _, Lit::Int(_))) => Next::Element,
            Some(_) => Next::Other,
        };
        let mut after = rest.iter();
        let after = after.find(|hop| !matches!(hop, Hop::Field(..) | Hop::Optional(_)));
        let has_key = matches!(
            after,
            Some(Hop::Key(..) | Hop::Get(_, _, Lit::Str(_)) | Hop::Pointer(..))
        );
        let (at, ident) = field_name(member);
        let shape = ConstantKey::Shape(self.ty);
        let table = &mut self.builder.table;
        let is_new_check = table.is_new_check(CheckKey::Field(self.ty, ident.clone(), next));
        let is_asked =
            is_new_check || has_key || self.flattened.is_some() || table.shared(&shape).is_none();
        // The type of a step or an input has a name.
        let is_root = matches!(self.way.position, WayState::Root);
        let root = self.source.filter(|_| is_root);
        let known = is_asked.then(|| self.known(root, at));
        let (known, is_bound) = known.unzip();
        let number = self
            .builder
            .shared_constant(shape, || quote_spanned!(at=> #known.shape()));
        self.path.push(SegmentData::Field(number, ident.clone()));
        if let (Some(known), Some(false)) = (&known, is_bound) {
            self.ask(known, root, at);
        }
        let see = match (&known, root) {
            (Some(known), None) => Look::See(known),
            _ => Look::Field,
        };
        self.way.enter(dot.spans[0], at, see, |value| {
            let value = value.operator(".", dot.spans[0]);
            match member {
                Member::Named(name) => value.with(name.clone()),
                Member::Unnamed(index) => value.and(index.to_token_stream().into()),
            }
        });
        if is_new_check {
            let is_last = next == Next::None;
            self.builder.evaluate(match next {
                Next::Element => quote_spanned!(at=> #known.check_list(#ident);),
                // The type of the last field is not searched.
                Next::None | Next::Other => quote_spanned!(at=> #known.check(#ident, #is_last);),
            });
        }
        if let Some(from) = self.flattened.take() {
            let entered = self.fresh("e", at);
            let asked = rest.first().is_some_and(is_optional);
            self.builder
                .evaluate(quote_spanned!(at=> let #entered = #known.enter(#ident, #asked, #from);));
            self.flattened = Some(entered.into_token_stream());
        }
        self.part(PartKey::Field(ident.clone()));
        if has_key && let Some(known) = known {
            self.fields.push((known, ident));
        }
    }

    /// Returns the variable for the known facts about the current type, and whether the variable is bound already.
    fn known(&mut self, root: Option<Source>, at: Span) -> (Ident, bool) {
        match root.and_then(|_| self.builder.known.get(&self.ty)) {
            Some(bound) => (located(bound.clone(), at), true),
            None => (self.fresh("t", at), false),
        }
    }

    /// Binds that variable.
    fn ask(&mut self, known: &Ident, root: Option<Source>, at: Span) {
        let at = self.builder.table.asked_at(self.ty, at);
        let ty = match root {
            Some(source) => {
                self.builder.known.insert(self.ty, known.clone());
                let ty = self.builder.type_of(source);
                let at = end_of(&ty).map_or(at, |end| at.resolved_at(end));
                placed(ty, at)
            }
            None => quote_spanned!(at=> _),
        };
        self.builder
            .bind(quote_spanned!(at=> let #known = <#ty as __plan::HasShape<_>>::KNOWN;));
    }

    /// Checks that a key of a flattened map differs from the fields beside the map, which share its JSON object.
    fn not_beside(&mut self, key: &str, at: Span) {
        let fields = std::mem::take(&mut self.fields);
        let check = || CheckKey::Beside(self.ty, key.to_owned());
        if fields.is_empty() || !self.builder.table.is_new_check(check()) {
            return;
        }
        let mut inside = quote!(true);
        for (known, ident) in fields.into_iter().rev() {
            let known = located(known, at);
            inside = quote_spanned!(at=> #known.not_beside(#ident, #key, #inside));
        }
        self.builder.evaluate(quote_spanned!(at=> #inside;));
    }

    /// Checks that an index is within the array before it. rustc knows the length of the array: the length of the
    /// returned variable. Returns `None` if the index of the type is checked already.
    fn within(&mut self, index: &LitInt) -> Option<Ident> {
        let number = index.base10_parse::<usize>().ok()?;
        let check = CheckKey::Index(self.ty, number);
        if !self.builder.table.is_new_check(check) {
            return None;
        }
        let at = index.span();
        let length = self.fresh("n", at);
        self.builder
            .bind(quote_spanned!(at=> let #length = __plan::root();));
        self.builder
            .evaluate(quote_spanned!(at=> #length.has(#number);));
        Some(length)
    }

    fn index(&mut self, index: &LitInt, absence: AbsenceData) {
        let index = index.base10_parse::<usize>().unwrap_or(usize::MAX);
        self.path.push(SegmentData::Index(index, absence));
    }

    fn key(&mut self, key: String, at: Span, absence: AbsenceData) {
        self.not_beside(&key, at);
        self.path.push(SegmentData::Key(key, absence));
    }
}

fn indexed(value: TokenList, bracket: &syn::token::Bracket, index: &impl ToTokens) -> TokenList {
    let index = index.to_token_stream().into();
    value.group(Delimiter::Bracket, index, bracket.span.join())
}

fn is_optional(hop: &Hop) -> bool {
    matches!(hop, Hop::Optional(_))
}

/// Returns the span and the name of a field.
pub(super) fn field_name(member: &Member) -> (Span, String) {
    match member {
        Member::Named(ident) => (ident.span(), text_of(ident)),
        Member::Unnamed(index) => (index.span, index.index.to_string()),
    }
}
