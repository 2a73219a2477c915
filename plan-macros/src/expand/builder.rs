//! The code of one item: a `const` or a function in which rustc checks a step, or the output.

use super::Context;
use super::frame::{Level, LocalFrame};
use super::table::{ConstantKey, Table, TypeId};
use super::tokens::TokenList;
use crate::names::Source;
use plan_graph::notation::{self, Constant};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A value in which references may occur, as data.
pub(super) type TemplateData = notation::TemplateData<String>;

/// The body of a step, as data.
pub(super) type BodyData = notation::BodyData<String>;

/// A value: an expression that rustc only checks, and the data.
pub(super) struct Lowered {
    pub(super) check: TokenList,
    pub(super) data: TemplateData,
}

impl Lowered {
    pub(super) fn new(check: impl Into<TokenList>, data: TemplateData) -> Self {
        Self {
            check: check.into(),
            data,
        }
    }
}

/// The trait that decides if an argument accepts a value that may be `None`.
pub(super) const ALLOWS: &str = "Allows";

/// An item while its parts are lowered.
pub(super) struct Builder<'a> {
    pub(super) cx: &'a Context<'a>,
    /// The constants of the plan.
    pub(super) table: &'a mut Table,
    /// The constants that the item adds to the table.
    constants: Vec<TokenStream>,
    /// Statements that rustc evaluates.
    pub(super) checks: TokenStream,
    /// The bindings and checks so far, in order: a name that a loop binds may mean something else before and after it.
    bindings: Vec<Binding>,
    /// Constants that rustc evaluates separately, so that an error in them causes no error at the uses of the step.
    pub(super) apart: TokenStream,
    /// The bindings that give the slots of computed values their types without the code of the values.
    pub(super) types: TokenStream,
    /// The roots that the item uses, each with the name that first mentions it.
    pub(super) roots: BTreeMap<Source, Ident>,
    /// The steps of blocks whose names are already bound in the current step.
    pub(super) inner_roots: HashMap<Source, Ident>,
    /// The sources whose names were bound again, because a loop had used the names for its elements. The roots of these sources may be unused.
    pub(super) rebound: HashSet<Source>,
    /// The bindings of the known facts about the fields of a type.
    pub(super) known: HashMap<TypeId, Ident>,
    /// The frames of the enclosing `for`s and `if let`s.
    pub(super) frames: Vec<LocalFrame>,
    /// The plan and the enclosing blocks, the innermost last.
    pub(super) levels: Vec<Level>,
    /// The trait that decides if a value may be `None` here. Lists, tuples, `Some` and conditions have other traits
    /// than arguments.
    pub(super) arrival: &'static str,
    /// The constant that does not compile if JSON cannot hold the type that the step declares.
    pub(super) is_json: Option<Ident>,
}

/// A statement of an item.
enum Binding {
    Statement(TokenStream),
    /// An expression that is only type-checked.
    Check(TokenStream),
}

impl<'a> Builder<'a> {
    pub(super) fn new(cx: &'a Context<'a>, table: &'a mut Table) -> Self {
        Self {
            cx,
            table,
            constants: Vec::new(),
            checks: TokenStream::new(),
            bindings: Vec::new(),
            apart: TokenStream::new(),
            types: TokenStream::new(),
            roots: BTreeMap::new(),
            inner_roots: HashMap::new(),
            rebound: HashSet::new(),
            known: HashMap::new(),
            frames: Vec::new(),
            levels: vec![Level::plan()],
            arrival: ALLOWS,
            is_json: None,
        }
    }

    /// Adds a constant to the table.
    pub(super) fn constant(&mut self, constant: TokenStream) -> Constant {
        self.constants.push(constant);
        self.table.constants += 1;
        self.table.constants - 1
    }

    /// Adds a constant to the table, unless the table contains the constant already.
    pub(super) fn shared_constant(
        &mut self,
        key: ConstantKey,
        constant: impl FnOnce() -> TokenStream,
    ) -> Constant {
        self.table.shared(&key).unwrap_or_else(|| {
            let number = self.constant(constant());
            self.table.shared.insert(key, number);
            number
        })
    }

    /// Adds a statement that is only type-checked.
    pub(super) fn bind(&mut self, statement: TokenStream) {
        self.bindings.push(Binding::Statement(statement));
    }

    /// Adds an expression that is only type-checked.
    pub(super) fn check(&mut self, expression: TokenStream) {
        self.bindings.push(Binding::Check(expression));
    }

    /// Adds a statement that rustc evaluates.
    pub(super) fn evaluate(&mut self, statement: TokenStream) {
        self.checks.extend(statement);
    }

    /// Checks that a value has a type.
    pub(super) fn check_type(&mut self, at: Span, ty: impl ToTokens, check: TokenList) {
        self.bind(quote_spanned!(at=> let _ = || -> #ty { #check };));
    }

    /// Lowers a value under another rule for `None`.
    pub(super) fn arriving<T>(
        &mut self,
        arrival: &'static str,
        lower: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = std::mem::replace(&mut self.arrival, arrival);
        let result = lower(self);
        self.arrival = before;
        result
    }

    /// Returns the item, which contains the checks and the constants.
    pub(super) fn into_item(self, name: Ident) -> TokenStream {
        // A function costs rustc less than a `const`, and is enough where nothing must be evaluated.
        let is_function = self.constants.is_empty() && self.checks.is_empty();
        let bindings = self.bindings_in(is_function);
        let (apart, checks, constants) = (self.apart, self.checks, self.constants);
        if is_function {
            // The macro invents this name, so no lint about names concerns the author.
            let mut name = name;
            name.set_span(Span::mixed_site());
            // The code after `return` is type-checked, but not borrow-checked.
            return quote!(#apart fn #name() { return; #bindings });
        }
        let item = quote! {
            #apart
            const #name: &[__plan::Constant] = { #bindings #checks &[#(#constants),*] };
        };
        if !constants.is_empty() {
            self.table.items.push(name);
        }
        item
    }

    /// Creates an unused name with the macro's own hygiene.
    pub(super) fn fresh(&mut self, prefix: &str) -> Ident {
        self.fresh_at(prefix, Span::mixed_site())
    }

    /// Creates an unused name with the hygiene of this span from the author's code. rustc can only point at an
    /// expression whose tokens share one hygiene.
    pub(super) fn fresh_at(&mut self, prefix: &str, span: Span) -> Ident {
        loop {
            let name = format!("__{prefix}{}", self.table.names);
            self.table.names += 1;
            if !self.cx.names.is_taken(&name) {
                return Ident::new(&name, span);
            }
        }
    }

    /// Returns all bindings and checks, with the roots first.
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
        for binding in &self.bindings {
            match binding {
                Binding::Statement(statement) => tokens.extend(statement.clone()),
                // An item that is never called needs no closure around a check.
                Binding::Check(check) if is_function => tokens.extend(quote!(let _ = #check;)),
                Binding::Check(check) => tokens.extend(quote!(let _ = || #check;)),
            }
        }
        tokens
    }
}
