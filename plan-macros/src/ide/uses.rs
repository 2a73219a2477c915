//! Uses of names in possibly incomplete tokens. A closure, a `let`, a `for` and the arms of a `match` may shadow a
//! name.

use crate::docs::text_of;
use crate::syntax::tokens::Tokens;
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::mem::take;

/// The names that are bound around some tokens.
type Bound = BTreeSet<String>;

/// Finds where some names are mentioned.
pub(super) struct NameUses<'a> {
    names: &'a BTreeSet<String>,
    pub(super) found: Vec<Ident>,
    /// The names that patterns bind somewhere.
    pub(super) bound: Bound,
}

impl<'a> NameUses<'a> {
    pub(super) fn of(names: &'a BTreeSet<String>) -> Self {
        Self {
            names,
            found: Vec::new(),
            bound: Bound::new(),
        }
    }

    pub(super) fn look_in(&mut self, tokens: TokenStream) {
        self.walk(tokens, Bound::new());
    }

    /// Walks one sequence of tokens, in which `let` and closures bind names for the following tokens.
    fn walk(&mut self, tokens: TokenStream, mut bound: Bound) {
        let mut tokens = Tokens::new(tokens);
        let mut before = Before::default();
        // The names bound by a `let` whose value has not ended.
        let mut next = Bound::new();
        // The names in scope around an `if` or `while` before its block, and around a closure.
        let (mut around_block, mut around_closure) = (None, None);
        while let Some(tree) = tokens.next() {
            match &tree {
                TokenTree::Ident(word) => match &*word.to_string() {
                    "fn" | "impl" | "mod" | "trait" | "struct" | "enum" | "use" => {
                        tokens.take_until(|tokens| tokens.is_braces(0) || tokens.is_punct(0, ';'));
                        tokens.next();
                    }
                    "if" | "while" => around_block = Some((bound.clone(), take(&mut next))),
                    "let" => {
                        let pattern = tokens.take_until(|tokens| tokens.is_punct(0, '='));
                        next.extend(self.bind(pattern));
                    }
                    "for" => {
                        let pattern = tokens.take_until(|tokens| tokens.is_ident(0, "in"));
                        let list = tokens.take_until(|tokens| tokens.is_braces(0));
                        self.walk(list, bound.clone());
                        let inside = &bound | &self.bind(pattern);
                        self.enter(tokens.next_braces(), inside);
                    }
                    "match" => {
                        let value = tokens.take_until(|tokens| tokens.is_braces(0));
                        self.walk(value, bound.clone());
                        let arms = tokens.next_braces().as_ref().map(Group::stream);
                        self.arms(arms.unwrap_or_default(), &bound);
                    }
                    "matches" if tokens.eat_punct('!') => {
                        if let Some(TokenTree::Group(group)) = tokens.next() {
                            self.matches(group.stream(), &bound);
                        }
                    }
                    _ if before.is_name() && is_value(&tokens) && !before.names(&tokens) => {
                        let name = text_of(word);
                        if self.names.contains(&name) && !bound.contains(&name) {
                            self.found.push(word.clone());
                        }
                    }
                    _ => {}
                },
                TokenTree::Punct(punct) => match punct.as_char() {
                    '|' if before.is_value => {
                        tokens.eat_punct('|');
                    }
                    '|' => {
                        let pattern = tokens.take_until(|tokens| tokens.is_punct(0, '|'));
                        tokens.next();
                        around_closure.get_or_insert_with(|| bound.clone());
                        bound.extend(self.bind(pattern));
                    }
                    '&' if around_block.is_some() && tokens.is_punct(0, '&') => {
                        bound.append(&mut next);
                    }
                    ',' => bound = around_closure.take().unwrap_or(bound),
                    ';' => {
                        bound = around_closure.take().unwrap_or(bound);
                        bound.append(&mut next);
                    }
                    _ => {}
                },
                TokenTree::Group(group) => {
                    let is_block = group.delimiter() == Delimiter::Brace;
                    match around_block.take().filter(|_| is_block) {
                        Some((around, later)) => {
                            self.enter(Some(group.clone()), &bound | &next);
                            (bound, next) = (around, later);
                        }
                        None => self.enter(Some(group.clone()), bound.clone()),
                    }
                }
                TokenTree::Literal(_) => {}
            }
            before.pass(&tree);
        }
    }

    /// `value, pattern if guard`
    fn matches(&mut self, inside: TokenStream, bound: &Bound) {
        let mut inside = Tokens::new(inside);
        let value = inside.take_until(|tokens| tokens.is_punct(0, ','));
        self.walk(value, bound.clone());
        inside.next();
        self.arms(inside.rest(), bound);
    }

    fn enter(&mut self, group: Option<Group>, bound: Bound) {
        self.walk(group.as_ref().map(Group::stream).unwrap_or_default(), bound);
    }

    /// `pattern if guard => value, …`
    fn arms(&mut self, arms: TokenStream, bound: &Bound) {
        let is_arrow = |tokens: &Tokens| tokens.is_punct(0, '=') && tokens.is_punct(1, '>');
        let mut arms = Tokens::new(arms);
        while !arms.is_empty() {
            let pattern = arms.take_until(|arms| is_arrow(arms) || arms.is_ident(0, "if"));
            let inside = bound | &self.bind(pattern);
            let guard = arms.take_until(is_arrow);
            self.walk(guard, inside.clone());
            arms.next();
            arms.next();
            match arms.next_braces() {
                Some(block) => self.enter(Some(block), inside),
                None => {
                    let value = arms.take_until(|arms| arms.is_punct(0, ','));
                    self.walk(value, inside);
                }
            }
            arms.eat_punct(',');
        }
    }

    /// Returns the names bound by one pattern, or by several with commas between them. The patterns contain no types.
    fn bind(&mut self, pattern: TokenStream) -> Bound {
        let mut names = Bound::new();
        let mut tokens = Tokens::new(pattern);
        let mut before = Before::default();
        while let Some(tree) = tokens.next() {
            match &tree {
                TokenTree::Group(group) => names.append(&mut self.bind(fields(group))),
                TokenTree::Ident(name) if before.is_name() => {
                    let text = text_of(name);
                    let is_type = tokens.is_colon(0);
                    let is_binding = !text.starts_with(char::is_uppercase)
                        && !["ref", "mut", "box"].contains(&&*text);
                    if is_binding && (is_type || is_value(&tokens)) {
                        names.insert(text);
                    }
                    if is_type {
                        tokens.take_type(|tokens| tokens.is_punct(0, ','));
                    }
                }
                _ => {}
            }
            before.pass(&tree);
        }
        self.bound.extend(names.iter().cloned());
        names
    }
}

/// Returns the patterns inside brackets, without the names of fields before them.
fn fields(group: &Group) -> TokenStream {
    let mut tokens = Tokens::new(group.stream());
    let mut patterns = TokenStream::new();
    while let Some(tree) = tokens.next() {
        if tokens.is_colon(0) && matches!(tree, TokenTree::Ident(_)) {
            tokens.next();
        } else {
            patterns.extend([tree]);
        }
    }
    patterns
}

/// Returns `true` if the name before these tokens is a value, and not a field, a function, a macro or the start of a
/// path.
fn is_value(after: &Tokens) -> bool {
    let is_macro = after.is_punct(0, '!') && !after.is_punct(1, '=');
    let is_call = after.peek_group(0, Delimiter::Parenthesis).is_some();
    !after.is_punct(0, ':') && !is_macro && !is_call
}

/// The tokens before the current token.
#[derive(Default)]
struct Before {
    puncts: [char; 2],
    /// `true` if a value ends here, so that a `|` is an operator.
    is_value: bool,
}

impl Before {
    fn pass(&mut self, tree: &TokenTree) {
        let char = match tree {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        self.puncts = [self.puncts[1], char];
        self.is_value = match tree {
            TokenTree::Ident(word) => !["move", "return", "in", "else"].iter().any(|it| word == it),
            TokenTree::Punct(_) => char == '?',
            _ => true,
        };
    }

    /// Returns `true` for a plain name, and `false` for a field, a lifetime or the end of a path.
    fn is_name(&self) -> bool {
        !matches!(self.puncts, [':', ':'] | [_, '\'']) && !self.is_dot()
    }

    /// Returns `true` if the name before these tokens is a named argument: `format!("{a}", a = b)`.
    fn names(&self, after: &Tokens) -> bool {
        self.puncts[1] == ',' && after.is_punct(0, '=') && !after.is_punct(1, '=')
    }

    /// Returns `true` after a single dot, and `false` after the two dots of a range.
    fn is_dot(&self) -> bool {
        self.puncts[1] == '.' && self.puncts[0] != '.'
    }
}

#[cfg(test)]
mod tests {
    use super::NameUses;
    use std::collections::BTreeSet;

    /// Returns the mentioned names among `a` to `e`, in order.
    fn mentioned(tokens: &str) -> String {
        let names: BTreeSet<String> = ["a", "b", "c", "d", "e"].map(str::to_owned).into();
        let mut uses = NameUses::of(&names);
        uses.look_in(tokens.parse().expect("tokens"));
        uses.found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn patterns_bind_names() {
        for (tokens, names) in [
            ("a.b + x.c()[d] + e?.a", "ade"),
            ("a..b", "ab"),
            ("A { a, b: c, ..d }", "acd"),
            ("a::b + c!(d) + e(a) + ::b", "da"),
            ("a != b || !c", "abc"),
            ("a = b", "ab"),
            ("format!(\"{a}\", a = b, c == d)", "bcd"),
            ("x.map(|a| a + b) + a", "ba"),
            ("f(|a, B { c: d, e }| a + c + d + e, a)", "ca"),
            ("x.fold(b, move |a: &c::D<e>, _| a | b) | a", "bba"),
            ("a || b | c", "abc"),
            ("|| a", "a"),
            (
                "if let Some(a) = a && a.b && let B(c) = c { a + c + d } else { a + c }",
                "acdac",
            ),
            ("while let Some(a) = b { a } a", "ba"),
            ("if a { b } else if c { d } else { e }", "abcde"),
            ("let a = a; a + b", "ab"),
            (
                "let (a, ref b): (C, D) = if c { a } else { b } else { d }; a + b + e",
                "cabde",
            ),
            ("let x = |a| a; a", "a"),
            ("for (a, b) in a { a + b + c } a", "aca"),
            (
                "match a { B::C(a) if a > b => a + c, d if e => { d + a } _ => e, }",
                "abceae",
            ),
            ("matches!(a, B(a) | C { a } if a == b) && a", "aba"),
            ("{ let a = b; a } a", "ba"),
            ("fn f(a: B) { b } use a::b; c", "c"),
            ("for a", ""),
            ("let a", ""),
            ("match a", "a"),
            ("if let Some(a) =", ""),
        ] {
            assert_eq!(mentioned(tokens), names, "{tokens}");
        }
    }
}
