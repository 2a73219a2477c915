//! Tokens of a value, a type, a pattern or a path, as rustfmt writes them on one line.
//!
//! rustc puts spaces around the tokens that a macro made, and line breaks between those of a long value. This module decides between each
//! two tokens whether a space belongs there. The tokens do not change, except that a string over several lines is written on one line.

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Expr, LitStr};

/// Prints a type, a pattern or a path.
pub(crate) fn tidy(tokens: impl ToTokens) -> String {
    Printer::new(false).print(tokens.into_token_stream())
}

/// Prints a value.
pub(crate) fn value_text(tokens: impl ToTokens) -> String {
    Printer::new(true).print(tokens.into_token_stream())
}

/// The kind of the last printed token. The space after the token depends on it.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    /// The next token belongs to this token: `(`, `::`, `&`.
    Glue,
    /// `..`, which may end a value as well.
    Range,
    /// A value or a type may end here: a name, a literal, a closing bracket.
    Operand,
    /// An operand that is a name before generic arguments.
    Type,
    /// An operand that is a number, whose dot could be taken for another dot.
    Number,
    /// An operand that is `}`.
    Block,
    /// An operand that is `>`, which does not end a value.
    Generics,
    /// `dyn`, `mut`, `as`: a name that is separate from the next token.
    Keyword,
    /// `for` and `fn`, whose brackets belong to them.
    Header,
    /// `!` of a macro, whose brackets belong to it.
    Bang,
    /// A comma, an operator.
    Spaced,
}

impl Last {
    fn is_operand(self) -> bool {
        matches!(
            self,
            Self::Operand | Self::Type | Self::Number | Self::Block
        )
    }
}

struct Printer {
    out: String,
    last: Last,
    /// `true` in a value, in which `<` compares and `|` may begin a closure.
    is_value: bool,
    /// `true` directly in braces, which contain statements.
    in_block: bool,
    /// The number of open generic arguments.
    generics: usize,
    /// `true` between the bars of a closure.
    closure: bool,
}

const KEYWORDS: [&str; 13] = [
    "as", "box", "const", "dyn", "else", "if", "impl", "in", "let", "match", "mut", "ref", "where",
];

/// Keywords of values.
const OF_VALUES: [&str; 9] = [
    "async", "break", "for", "loop", "move", "return", "unsafe", "while", "yield",
];

impl Printer {
    fn new(is_value: bool) -> Self {
        Self {
            out: String::new(),
            last: Last::Glue,
            is_value,
            in_block: false,
            generics: 0,
            closure: false,
        }
    }

    fn print(mut self, tokens: TokenStream) -> String {
        self.stream(tokens);
        self.out
    }

    fn stream(&mut self, tokens: TokenStream) {
        let mut trees = tokens.into_iter().peekable();
        let mut is_first = true;
        while let Some(tree) = trees.next() {
            match tree {
                TokenTree::Group(group) => {
                    let is_alone = is_first && trees.peek().is_none();
                    self.group(&group, is_alone);
                }
                TokenTree::Ident(ident) => self.ident(&ident),
                TokenTree::Literal(literal) => self.literal(&literal),
                TokenTree::Punct(punct) => {
                    let mut sign = String::from(punct.as_char());
                    let mut end = punct;
                    while let Some(next) = self.joined(&sign, &end, trees.peek()) {
                        sign.push(next.as_char());
                        end = next;
                        trees.next();
                    }
                    let is_less = self.is_value && sign == "<";
                    if is_less && self.last == Last::Type && is_list_of_types(trees.clone()) {
                        self.last = Last::Generics;
                    }
                    self.sign(&sign, trees.peek());
                }
            }
            is_first = false;
        }
    }

    /// Prints one token, after a space if the token is separate from the previous token.
    fn put(&mut self, text: &str, apart: bool, last: Last) {
        if apart && !matches!(self.last, Last::Glue | Last::Range) {
            self.out.push(' ');
        }
        self.out.push_str(text);
        self.last = last;
    }

    fn ident(&mut self, ident: &Ident) {
        let name = ident.to_string();
        let last = match name.as_str() {
            keyword if KEYWORDS.contains(&keyword) => Last::Keyword,
            keyword if self.is_value && OF_VALUES.contains(&keyword) => Last::Keyword,
            "for" | "fn" => Last::Header,
            name if is_type(name) => Last::Type,
            _ => Last::Operand,
        };
        self.put(&name, true, last);
    }

    fn literal(&mut self, literal: &Literal) {
        let text = literal.to_string();
        let last = if text.starts_with(|c: char| c.is_ascii_digit()) {
            Last::Number
        } else {
            Last::Operand
        };
        match syn::parse_str::<LitStr>(&text) {
            Ok(lines) if text.contains('\n') => {
                let one = Literal::string(&lines.value()).to_string();
                self.put(&format!("{one}{}", lines.suffix()), true, last);
            }
            _ => self.put(&text, true, last),
        }
    }

    fn group(&mut self, group: &Group, is_alone: bool) {
        let (delimiter, inside) = (group.delimiter(), group.stream());
        let is_called = self.last == Last::Generics
            || self.last.is_operand() && !(self.is_value && self.last == Last::Block);
        let (open, close, glued) = match delimiter {
            // An invisible group needs no parentheses, unless its content would split into several values.
            Delimiter::None if is_alone || !self.is_value || !is_operation(&inside) => {
                return self.stream(inside);
            }
            Delimiter::None => ("(", ")", false),
            Delimiter::Parenthesis => (
                "(",
                ")",
                is_called || matches!(self.last, Last::Header | Last::Bang),
            ),
            Delimiter::Bracket => {
                let is_indexed = is_called && self.last != Last::Generics;
                ("[", "]", is_indexed || self.last == Last::Bang)
            }
            Delimiter::Brace => ("{", "}", false),
        };
        let is_brace = delimiter == Delimiter::Brace;
        if is_brace && self.last == Last::Range {
            self.last = Last::Spaced;
        }
        let is_spaced = is_brace && !inside.is_empty();
        let first = if is_spaced { Last::Spaced } else { Last::Glue };
        self.put(open, !glued, first);
        let around = (self.in_block, self.generics, self.closure);
        (self.in_block, self.generics, self.closure) = (is_brace, 0, false);
        self.stream(inside);
        (self.in_block, self.generics, self.closure) = around;
        if is_spaced {
            self.out.push(' ');
        }
        let last = if is_brace { Last::Block } else { Last::Operand };
        self.put(close, false, last);
    }

    fn sign(&mut self, sign: &str, next: Option<&TokenTree>) {
        let operand = self.last.is_operand();
        let follows = operand || self.last == Last::Generics;
        // After a block, a statement begins.
        let is_binary = operand && !(self.is_value && self.in_block && self.last == Last::Block);
        let is_compared = self.is_value && operand;
        match sign {
            "," | ";" | ":" => self.put(sign, false, Last::Spaced),
            "::" => self.put(sign, !follows, Last::Glue),
            "<" if !is_compared => {
                self.generics += 1;
                let is_apart = !matches!(self.last, Last::Generics | Last::Header);
                self.put(sign, is_apart && !operand, Last::Glue);
            }
            ">" if !self.is_value || self.generics > 0 => {
                self.generics = self.generics.saturating_sub(1);
                self.put(sign, false, Last::Generics);
            }
            "?" if follows => self.put(sign, false, Last::Operand),
            "!" if operand => self.put(sign, false, Last::Bang),
            "." => {
                // `1. .max(2.)` and `pair.0 .1` are other tokens without the space.
                let is_named = matches!(next, Some(TokenTree::Ident(_)));
                let apart = self.last == Last::Number && (self.out.ends_with('.') || !is_named);
                self.put(sign, apart, Last::Glue);
            }
            ".." | "..=" | "..." => {
                let apart = !operand || self.out.ends_with('.');
                self.put(sign, apart, Last::Range);
            }
            "|" if self.closure => {
                self.closure = false;
                self.put(sign, false, Last::Spaced);
            }
            "|" if self.is_value && !operand && self.generics == 0 => {
                self.closure = true;
                self.put(sign, true, Last::Glue);
            }
            "&" | "&&" | "*" | "-" if !is_binary => self.put(sign, true, Last::Glue),
            "#" if is_attribute(next) => self.put(sign, true, Last::Glue),
            "?" | "!" | "'" | "$" | "~" => self.put(sign, true, Last::Glue),
            _ => {
                if self.last == Last::Range {
                    self.last = Last::Operand;
                }
                self.put(sign, true, Last::Spaced);
            }
        }
    }

    /// Returns the next token, if it continues the previous operator.
    fn joined(&self, sign: &str, end: &Punct, next: Option<&TokenTree>) -> Option<Punct> {
        const SIGNS: [&str; 20] = [
            "::", "->", "=>", "..", "...", "..=", "&&", "||", "==", "!=", "<=", ">=", "+=", "-=",
            "*=", "/=", "%=", "^=", "&=", "|=",
        ];
        const SHIFTS: [&str; 4] = ["<<", ">>", "<<=", ">>="];
        let Some(TokenTree::Punct(next)) = next else {
            return None;
        };
        // In `Vec<Vec<u8>>`, `|_| …` and `|x: &_| …`, each sign is a separate operator.
        let is_shift = self.is_value && self.last.is_operand() && self.generics == 0;
        let closes = self.generics > 0 && sign == ">" || self.closure && sign == "|";
        let longer = format!("{sign}{}", next.as_char());
        let is_one = SIGNS.contains(&&*longer) || is_shift && SHIFTS.contains(&&*longer);
        (end.spacing() == Spacing::Joint && is_one && !closes).then(|| next.clone())
    }
}

/// Returns `true` for a name that is spelled like a type, and not like a constant.
fn is_type(name: &str) -> bool {
    let is_constant = name.len() > 1 && !name.contains(|c: char| c.is_lowercase());
    name.starts_with(char::is_uppercase) && !is_constant
}

/// Returns `true` if the tokens after `<` can be generic arguments with a `>` at their end.
fn is_list_of_types(trees: impl Iterator<Item = TokenTree>) -> bool {
    let (mut open, mut before) = (1, ' ');
    for tree in trees {
        let TokenTree::Punct(punct) = tree else {
            before = ' ';
            continue;
        };
        match punct.as_char() {
            '<' => open += 1,
            '>' if before != '-' => open -= 1,
            '&' if before != '&' => {}
            ':' | ',' | '\'' | '=' | '+' | '-' | '>' | '?' | '*' | '!' => {}
            _ => return false,
        }
        if open == 0 {
            return true;
        }
        before = punct.as_char();
    }
    false
}

/// Returns `true` if `#` begins an attribute.
fn is_attribute(next: Option<&TokenTree>) -> bool {
    matches!(next, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket)
}

/// Returns `true` for a value with an operator that binds less than a method.
fn is_operation(tokens: &TokenStream) -> bool {
    matches!(
        syn::parse2(tokens.clone()),
        Ok(Expr::Assign(_)
            | Expr::Binary(_)
            | Expr::Break(_)
            | Expr::Cast(_)
            | Expr::Closure(_)
            | Expr::Range(_)
            | Expr::Reference(_)
            | Expr::Return(_)
            | Expr::Unary(_))
    )
}

#[cfg(test)]
mod tests;
