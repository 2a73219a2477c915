use super::flow::Frame;
use super::reference::{self, path};
use super::{Context, last_name, local, slice, text};
use crate::ast::{Computed, Fields, Json, Literal, Reference, Rest, Scalar, Value};
use crate::names::Source;
use proc_macro2::{Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::{BTreeMap, HashSet};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Lit, Path};

/// The body of one `const`: what a step's arguments, or the plan's output, become.
pub(super) struct Builder<'a> {
    pub(super) cx: &'a Context<'a>,
    /// The bindings so far: cursors, literals, slots.
    pub(super) bindings: TokenStream,
    /// Statements that check what was bound.
    pub(super) checks: TokenStream,
    /// Constants that check it apart: where one fails, nothing that uses the step fails after it.
    pub(super) apart: TokenStream,
    /// The roots that the body uses, each with the name that first mentions it.
    pub(super) roots: BTreeMap<Source, Ident>,
    /// What the `for`s and `if let`s around bind.
    pub(super) frames: Vec<Frame>,
    /// What was bound again behind a loop that gave its name to an element; its root may then not be read.
    pub(super) rebound: HashSet<Source>,
    /// What gives the slots of computed values their types where the data, which does so too, is not beside them.
    pub(super) types: TokenStream,
    count: usize,
}

/// A value, expanded.
pub(super) struct Expanded {
    /// An expression that stands where the value stands, in code that is only type-checked.
    pub(super) check: TokenStream,
    /// The value as data.
    pub(super) data: TokenStream,
}

/// The fields of a literal, expanded.
pub(super) struct Fielded {
    /// The literal, in code that is only type-checked.
    pub(super) check: TokenStream,
    /// The fields as data.
    pub(super) data: TokenStream,
    /// Statements that check the fields at compile time.
    pub(super) checks: TokenStream,
}

impl<'a> Builder<'a> {
    pub(super) fn new(cx: &'a Context<'a>) -> Self {
        Self {
            cx,
            bindings: TokenStream::new(),
            checks: TokenStream::new(),
            apart: TokenStream::new(),
            roots: BTreeMap::new(),
            frames: Vec::new(),
            rebound: HashSet::new(),
            types: TokenStream::new(),
            count: 0,
        }
    }

    /// A name of the macro's own.
    pub(super) fn fresh(&mut self, prefix: &str) -> Ident {
        self.fresh_at(prefix, Span::mixed_site())
    }

    /// A name at a place of the author's. It has that place's hygiene, since all of an expression must have one if rustc is
    /// to point at it.
    pub(super) fn fresh_at(&mut self, prefix: &str, span: Span) -> Ident {
        self.count += 1;
        Ident::new(&format!("__{prefix}{}", self.count - 1), span)
    }

    /// All bindings and checks, with the roots first.
    pub(super) fn bindings(&self) -> TokenStream {
        let roots = self.roots.iter().map(|(source, name)| {
            let ty = self.cx.type_of(*source);
            let unread = self.rebound.contains(source);
            let allow = unread.then(|| quote!(#[allow(unused_variables)]));
            quote!(#allow let #name = __plan::root::<#ty>();)
        });
        let (bindings, checks) = (&self.bindings, &self.checks);
        quote!(#(#roots)* #bindings #checks)
    }

    /// Expands a value that stands where rustc knows which type it needs.
    pub(super) fn value(&mut self, value: &Value) -> Expanded {
        match value {
            Value::Scalar(scalar) => Expanded {
                check: self::scalar(scalar),
                data: scalar_data(scalar),
            },
            Value::None(none) => {
                let at = none.span();
                Expanded {
                    check: {
                        let from = path(&["FromNone", "none"], at, at);
                        quote_spanned!(at=> #from())
                    },
                    data: quote!(__plan::Template::Null),
                }
            }
            Value::Some(some, paren, value) => {
                let Expanded { check, data } = self.value(value);
                let end = paren.span.close();
                let from = path(&["FromSome", "some"], some.span(), end);
                Expanded {
                    check: quote_spanned!(end=> #from(#check)),
                    data,
                }
            }
            Value::List(bracket, values) => {
                let values: Vec<Expanded> = values.iter().map(|value| self.value(value)).collect();
                let (check, data) = unzip(values);
                let (start, end) = (bracket.span.open(), bracket.span.close());
                let list = path(&["List", "list"], start, end);
                let mut elements = Group::new(proc_macro2::Delimiter::Bracket, quote!(#(#check),*));
                elements.set_span(bracket.span.join());
                let data = slice(&data);
                Expanded {
                    check: quote_spanned!(end=> #list(#elements)),
                    data: quote!(__plan::Template::List(#data)),
                }
            }
            Value::Tuple(paren, values) => {
                let at = paren.span.join();
                let values: Vec<Expanded> = values.iter().map(|value| self.value(value)).collect();
                let (check, data) = unzip(values);
                let elements = slice(&data);
                let data = if data.is_empty() {
                    quote!(__plan::Template::Null)
                } else {
                    quote!(__plan::Template::List(#elements))
                };
                Expanded {
                    check: quote_spanned!(at=> (#(#check,)*)),
                    data,
                }
            }
            Value::Literal(literal) => {
                let (name, data) = self.literal(literal);
                let (start, end) = ends(&literal.path);
                Expanded {
                    check: fits(it(&name, start, end), start, end),
                    data,
                }
            }
            Value::Json(at, json) => {
                let data = self.json(json);
                let untyped = quote_spanned!(*at=> __plan::untyped());
                Expanded {
                    check: fits(untyped, *at, *at),
                    data,
                }
            }
            Value::Format(format) => self.format(format),
            Value::Reference(reference) => {
                let (name, data) = self.reference(reference);
                let (start, end) = (reference.root.span(), reference.end);
                Expanded {
                    check: fits(it(&name, start, end), start, end),
                    data,
                }
            }
            Value::Computed(computed) => {
                let (name, data) = self.computed(computed);
                Expanded {
                    check: quote!(#name.value()),
                    data,
                }
            }
            Value::Broken => Expanded {
                check: quote!(__plan::any()),
                data: quote!(__plan::Template::Null),
            },
        }
    }

    /// Expands a value that gives its place its type: an expression of that type, and the value as data.
    pub(super) fn inferred(&mut self, value: &Value) -> (TokenStream, TokenStream) {
        match value {
            Value::Reference(reference) => {
                let (name, data) = self.reference(reference);
                let (start, end) = (reference.root.span(), reference.end);
                let it = it(&name, start, end);
                (quote_spanned!(end=> #it.value()), data)
            }
            Value::Literal(literal) => {
                let (name, data) = self.literal(literal);
                (quote!(#name.value()), data)
            }
            Value::Scalar(scalar) if !matches!(scalar.lit, Lit::Str(_)) => {
                let (minus, lit) = (&scalar.minus, &scalar.lit);
                (quote!(#minus #lit), scalar_data(scalar))
            }
            Value::Scalar(_) | Value::Format(_) => {
                let data = self.value(value).data;
                (quote!(__plan::any::<__plan::String>()), data)
            }
            Value::Json(_, json) => (
                quote!(__plan::any::<__plan::serde_json::Value>()),
                self.json(json),
            ),
            Value::Some(some, _, value) => {
                let (check, data) = self.inferred(value);
                let at = some.span();
                (
                    quote_spanned!(at=> ::core::option::Option::Some(#check)),
                    data,
                )
            }
            Value::List(_, values) => {
                let (check, data): (Vec<_>, Vec<_>) =
                    values.iter().map(|value| self.inferred(value)).unzip();
                let data = slice(&data);
                (
                    quote!(__plan::vec![#(#check),*]),
                    quote!(__plan::Template::List(#data)),
                )
            }
            Value::Tuple(_, values) if !values.is_empty() => {
                let (check, data): (Vec<_>, Vec<_>) =
                    values.iter().map(|value| self.inferred(value)).unzip();
                let data = slice(&data);
                (quote!((#(#check,)*)), quote!(__plan::Template::List(#data)))
            }
            Value::Broken => {
                // As a type, the message says that there is none, so that nothing else is said; it is shown once.
                let ty = self.cx.error.clone().unwrap_or_else(|| quote!(_));
                (quote!(__plan::any::<#ty>()), quote!(__plan::Template::Null))
            }
            Value::None(_) | Value::Tuple(..) | Value::Computed(_) => {
                let Expanded { check, data } = self.value(value);
                (check, data)
            }
        }
    }

    /// Expands a value that stands where any JSON can stand.
    pub(super) fn untyped(&mut self, value: &Value) -> TokenStream {
        match value {
            Value::Some(_, _, value) => self.untyped(value),
            Value::List(_, values) | Value::Tuple(_, values) => {
                let values: Vec<TokenStream> =
                    values.iter().map(|value| self.untyped(value)).collect();
                let values = slice(&values);
                quote!(__plan::Template::List(#values))
            }
            other => self.value(other).data,
        }
    }

    fn json(&mut self, json: &Json) -> TokenStream {
        match json {
            Json::Null => quote!(__plan::Template::Null),
            Json::Value(value) => self.untyped(value),
            Json::List(elements) => {
                let elements: Vec<TokenStream> =
                    elements.iter().map(|element| self.json(element)).collect();
                let elements = slice(&elements);
                quote!(__plan::Template::List(#elements))
            }
            Json::Object(members) => {
                let members = members.iter().map(|(key, member)| {
                    let key = text(&key.value());
                    let value = self.json(member);
                    quote!(__plan::Entry { key: __plan::Key::Name(#key), value: #value })
                });
                let members = slice(&members.collect::<Vec<_>>());
                quote!(__plan::Template::Object(#members))
            }
        }
    }

    /// Binds a reference's cursor.
    pub(super) fn reference(&mut self, reference: &Reference) -> (Ident, TokenStream) {
        let mut root = reference.root.clone();
        if reference.local.is_none()
            && let Some(source) = self.cx.names.get(&root)
        {
            let bound = self.roots.entry(source).or_insert_with(|| root.clone());
            root.set_span(root.span().resolved_at(bound.span()));
        }
        let name = self.fresh_at("r", root.span());
        let expanded = reference::expand(reference, &root, &name, self.cx);
        self.bindings.extend(expanded.binding);
        let data = expanded.data;
        (name, quote!(__plan::Template::Reference(#data)))
    }

    /// Binds a computed value's slot.
    pub(super) fn computed(&mut self, computed: &Computed) -> (Ident, TokenStream) {
        let expr = &computed.expr;
        self.compute(computed, quote!(#expr))
    }

    /// Binds a slot that `expr`, which mentions the names of `computed`, fills.
    pub(super) fn compute(
        &mut self,
        computed: &Computed,
        expr: TokenStream,
    ) -> (Ident, TokenStream) {
        let name = self.fresh("k");
        self.bindings.extend(quote!(let #name = __plan::slot();));
        let sources = self.sources(computed);
        let scope = local("scope", 0);
        let (look, locals, refs, values) = self.reads(computed, &sources, &scope);
        let parameter = if sources.is_empty() {
            quote!(_)
        } else {
            quote!(#scope)
        };
        let filled = if computed.locals.is_empty() {
            quote!(#name.with(#look, |#parameter| { #values #expr }))
        } else {
            quote!(#name.within(#locals, #look, |#parameter, #refs| { #values #expr }))
        };
        if computed.locals.is_empty() {
            let values = sources.iter().map(|(source, name)| {
                let ty = self.cx.type_of(*source);
                quote!(#[allow(unused_variables)] let #name: &#ty = __plan::any();)
            });
            self.types
                .extend(quote!(let _ = || #name.of({ #(#values)* #expr });));
        }
        let data = self.computed_data(computed, &sources, &filled);
        (name, data)
    }

    /// The steps and inputs that a computed value mentions, in order.
    pub(super) fn sources<'c>(&self, computed: &'c Computed) -> Vec<(Source, &'c Ident)> {
        let names = computed.names.iter();
        let mut sources: Vec<_> = names
            .filter_map(|name| Some((self.cx.names.get(name)?, name)))
            .collect();
        sources.sort_by_key(|(source, _)| *source);
        sources
    }

    /// How a computed value comes by what it mentions: the closure that looks for it, the places of bound names, the pattern that
    /// names them, and the statements that name the rest.
    pub(super) fn reads(
        &self,
        computed: &Computed,
        sources: &[(Source, &Ident)],
        scope: &Ident,
    ) -> (TokenStream, TokenStream, TokenStream, TokenStream) {
        let looks = sources.iter().map(|(source, _)| {
            let ty = self.cx.type_of(*source);
            let source = Context::source(*source);
            quote!(#scope.value_of::<#ty>(#source)?;)
        });
        let parameter = if sources.is_empty() {
            quote!(_)
        } else {
            quote!(#scope)
        };
        let look = quote!(|#parameter| { #(#looks)* ::core::result::Result::Ok(()) });
        let values = sources.iter().map(|(source, name)| {
            let ty = self.cx.type_of(*source);
            let source = Context::source(*source);
            // In the tokens of a macro, a name may be a mere word.
            quote!(#[allow(unused_variables)] let #name: &#ty = #scope.known::<#ty>(#source);)
        });
        let (mut locals, mut refs) = (quote!(()), quote!(()));
        for (depth, frame) in self.frames.iter().enumerate().rev() {
            let mentioned: Vec<_> = computed
                .locals
                .iter()
                .filter(|(_, local)| local.frame == depth)
                .collect();
            if mentioned.is_empty() {
                continue;
            }
            let place = &frame.place;
            locals = quote!((__plan::at(#place, #depth), #locals));
            let named = |part: Option<usize>| {
                mentioned
                    .iter()
                    .find(|(_, local)| local.part == part)
                    .map(|(name, _)| name)
            };
            refs = if frame.together {
                let parts = (0..frame.names.len()).map(|part| match named(Some(part)) {
                    Some(name) => quote!(#name),
                    None => quote!(_),
                });
                quote!(((#(#parts,)*), #refs))
            } else {
                let name = named(None);
                quote!((#name, #refs))
            };
        }
        (look, locals, refs, quote!(#(#values)*))
    }

    /// A computed value as data.
    pub(super) fn computed_data(
        &self,
        computed: &Computed,
        sources: &[(Source, &Ident)],
        compute: &TokenStream,
    ) -> TokenStream {
        let mut reads: Vec<TokenStream> = sources
            .iter()
            .map(|(source, _)| Context::source(*source))
            .collect();
        let mut frames: Vec<usize> = computed
            .locals
            .iter()
            .map(|(_, local)| local.frame)
            .collect();
        frames.sort_unstable();
        frames.dedup();
        reads.extend(
            frames
                .into_iter()
                .map(|frame| quote!(__plan::Source::Local(#frame))),
        );
        let reads = slice(&reads);
        let written = &computed.written;
        quote! {
            __plan::Template::Computed(__plan::Computed {
                reads: #reads,
                written: __plan::Cow::Borrowed(::core::stringify!(#written)),
                compute: ::core::option::Option::Some(&#compute),
            })
        }
    }

    /// Binds a nested literal.
    fn literal(&mut self, literal: &Literal) -> (Ident, TokenStream) {
        let (start, end) = ends(&literal.path);
        let name = self.fresh_at("l", start);
        let names = self.fresh_at("n", start);
        let Fielded {
            check,
            data,
            checks,
        } = self.fields(literal, &literal.path.to_token_stream(), &names);
        let value = Ident::new("__v", start);
        let make = path(&["Shaped", "literal"], start, end);
        self.bindings.extend(quote_spanned! {end=>
            let #name = __plan::literal(&|| { let #value = #check; #make(#value) });
        });
        // What asks for the names stands at the same place as what asks for the literal: one message for both.
        self.bindings
            .extend(quote_spanned!(start=> let #names = #name.names();));
        self.bindings.extend(checks);
        let variant = last_name(&literal.path);
        let at = |span: Span| {
            let mut names = names.clone();
            names.set_span(span.resolved_at(names.span()));
            names
        };
        let names = at(end);
        let data = quote_spanned! {end=>
            __plan::Template::Tagged(#names.tag(#variant), __plan::Cow::Borrowed(&[#data]))
        };
        (name, data)
    }

    /// Expands the fields of a literal of the type or variant `path`, whose JSON names are asked of `names`.
    pub(super) fn fields(
        &mut self,
        literal: &Literal,
        path: &TokenStream,
        names: &Ident,
    ) -> Fielded {
        let variant = last_name(&literal.path);
        // A message about a name points at the field.
        let names_at = |span: Span| {
            let mut names = names.clone();
            names.set_span(span.resolved_at(names.span()));
            names
        };
        match &literal.fields {
            Fields::Unit => Fielded {
                check: quote!(#path {}),
                data: quote!(__plan::Template::Null),
                checks: TokenStream::new(),
            },
            Fields::Named(brace, fields, rest) => {
                let mut given = Vec::new();
                let mut members = Vec::new();
                let mut checks = TokenStream::new();
                let mut inits = TokenStream::new();
                for field in fields {
                    let ident = &field.name;
                    let at = ident.span();
                    let text = ident.unraw().to_string();
                    let Expanded { check, data } = self.value(&field.value);
                    inits.extend(quote_spanned!(at=> #ident: #check,));
                    let names = names_at(at);
                    members.push(quote_spanned! {at=>
                        __plan::Entry { key: #names.key(#variant, #text), value: #data }
                    });
                    given.push(text);
                }
                match rest {
                    Rest::Nothing => {}
                    Rest::Defaults(rest) => {
                        let [start, end] = rest.spans;
                        inits.extend(quote_spanned!(start=> #rest __plan::any()));
                        let names = names_at(start);
                        checks = quote_spanned!(end=> #names.rest(&[#(#given),*]););
                    }
                    Rest::Broken => {
                        inits.extend(quote_spanned!(brace.span.close()=> ..__plan::any()));
                    }
                }
                let mut group = Group::new(proc_macro2::Delimiter::Brace, inits);
                group.set_span(brace.span.join());
                let members = slice(&members);
                let check = match (rest, enum_of(&literal.path)) {
                    // `..` cannot stand in a variant.
                    (Rest::Broken, Some(of)) => quote!(__plan::any::<#of>()),
                    _ => quote!(#path #group),
                };
                Fielded {
                    check,
                    data: quote!(__plan::Template::Object(#members)),
                    checks,
                }
            }
            Fields::Unnamed(paren, values) => {
                let at = paren.span.join();
                let names = names_at(at);
                let checks = (0..values.len()).map(|index| {
                    let ident = index.to_string();
                    quote_spanned!(at=> #names.element(#variant, #ident);)
                });
                let checks = quote!(#(#checks)*);
                let (check, data) = unzip(values.iter().map(|value| self.value(value)).collect());
                let mut group =
                    Group::new(proc_macro2::Delimiter::Parenthesis, quote!(#(#check),*));
                group.set_span(at);
                let elements = slice(&data);
                let data = match &data[..] {
                    [only] => only.clone(),
                    _ => quote!(__plan::Template::List(#elements)),
                };
                Fielded {
                    check: quote!(#path #group),
                    data,
                    checks,
                }
            }
        }
    }
}

/// The enum of a path that leads to a variant.
fn enum_of(path: &Path) -> Option<Path> {
    let mut path = path.clone();
    path.segments.pop();
    path.segments.pop_punct();
    let last = path.segments.last()?.ident.unraw().to_string();
    last.starts_with(char::is_uppercase).then_some(path)
}

/// Calls what hands a bound name over, from the one place to the other.
pub(super) fn it(name: &Ident, start: Span, end: Span) -> TokenStream {
    let mut name = name.clone();
    name.set_span(start.resolved_at(name.span()));
    let call = Ident::new("it", end);
    quote_spanned!(end=> #name.#call())
}

/// Checks that something fits where it stands.
pub(super) fn fits(it: TokenStream, start: Span, end: Span) -> TokenStream {
    let present = path(&["NotAbsent", "present"], start, end);
    let fit = path(&["Fits", "fit"], start, end);
    quote_spanned!(end=> #fit(#present(#it)))
}

/// The first and the last place of a path.
pub(super) fn ends(path: &Path) -> (Span, Span) {
    let mut spans = path.to_token_stream().into_iter().map(|tree| tree.span());
    let start = spans.next().unwrap_or_else(|| path.span());
    (start, spans.last().unwrap_or(start))
}

fn unzip(values: Vec<Expanded>) -> (Vec<TokenStream>, Vec<TokenStream>) {
    values
        .into_iter()
        .map(|Expanded { check, data }| (check, data))
        .unzip()
}

fn scalar(scalar: &Scalar) -> TokenStream {
    let Scalar { minus, lit } = scalar;
    let at = lit.span();
    let start = minus.map_or(at, |minus| minus.span);
    match lit {
        Lit::Str(_) => {
            let from = path(&["FromText", "from_text"], at, at);
            quote_spanned!(at=> #from(#lit))
        }
        _ if minus.is_some() => {
            let from = path(&["FromNegative", "from_negative"], start, at);
            quote_spanned!(at=> #from(#minus #lit))
        }
        _ => {
            let from = path(&["FromLiteral", "from_literal"], start, at);
            quote_spanned!(at=> #from(#minus #lit))
        }
    }
}

fn scalar_data(scalar: &Scalar) -> TokenStream {
    let negative = scalar.minus.is_some();
    match &scalar.lit {
        Lit::Str(string) => {
            let string = text(&string.value());
            quote!(__plan::Template::String(#string))
        }
        Lit::Char(char) => {
            let string = text(&char.value().to_string());
            quote!(__plan::Template::String(#string))
        }
        Lit::Bool(bool) => quote!(__plan::Template::Bool(#bool)),
        Lit::Byte(byte) => {
            let byte = u64::from(byte.value());
            quote!(__plan::Template::Number(__plan::Number::Unsigned(#byte)))
        }
        Lit::Int(int) if negative && int.base10_digits() != "0" => {
            let value: i64 = format!("-{}", int.base10_digits())
                .parse()
                .unwrap_or_default();
            quote!(__plan::Template::Number(__plan::Number::Signed(#value)))
        }
        Lit::Int(int) => {
            let value: u64 = int.base10_digits().parse().unwrap_or_default();
            quote!(__plan::Template::Number(__plan::Number::Unsigned(#value)))
        }
        Lit::Float(float) => {
            let value: f64 = float.base10_digits().parse().unwrap_or_default();
            let value = if negative { -value } else { value };
            quote!(__plan::Template::Number(__plan::Number::Float(#value)))
        }
        _ => quote!(__plan::Template::Null),
    }
}
