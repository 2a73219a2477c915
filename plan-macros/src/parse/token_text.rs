//! Tokens of a type, a pattern or a path, as people write them.
//!
//! rustc puts spaces around the tokens that a macro made. This module decides between each two tokens whether a space belongs there.
//! It never reads or changes the content of a token (a string, a character).

use proc_macro2::{Delimiter, Punct, Spacing, TokenStream, TokenTree};
use syn::Path;

/// A type, a pattern or a path.
pub(crate) fn tidy(tokens: &TokenStream) -> String {
    let mut printer = Printer {
        out: String::new(),
        last: Last::Glue,
    };
    printer.stream(tokens.clone());
    printer.out
}

/// A path.
pub(crate) fn path_text(path: &Path) -> String {
    tidy(&quote::ToTokens::to_token_stream(path))
}

/// What was printed last, as far as the space after it depends on it.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    /// What follows is part of it: `(`, `::`, `&`, `..`.
    Glue,
    /// A value or a type may end here: a name, a literal, a closing bracket.
    Operand,
    /// The same, of `>`, which does not end a value.
    Generics,
    /// `dyn`, `mut`, `as`: a name that is separate from what follows.
    Keyword,
    /// `for` and `fn`, whose brackets belong to them.
    Header,
    /// `!` of a macro, whose brackets belong to it.
    Bang,
    /// A comma, an operator.
    Spaced,
}

struct Printer {
    out: String,
    last: Last,
}

const KEYWORDS: [&str; 13] = [
    "as", "box", "const", "dyn", "else", "if", "impl", "in", "let", "match", "mut", "ref", "where",
];

impl Printer {
    fn stream(&mut self, tokens: TokenStream) {
        let mut trees = tokens.into_iter().peekable();
        while let Some(tree) = trees.next() {
            match tree {
                TokenTree::Group(group) => self.group(group.delimiter(), group.stream()),
                TokenTree::Ident(ident) => {
                    let name = ident.to_string();
                    let last = match name.as_str() {
                        "for" | "fn" => Last::Header,
                        keyword if KEYWORDS.contains(&keyword) => Last::Keyword,
                        _ => Last::Operand,
                    };
                    self.put(&name, true, last);
                }
                TokenTree::Literal(literal) => self.put(&literal.to_string(), true, Last::Operand),
                TokenTree::Punct(punct) => {
                    let mut sign = String::from(punct.as_char());
                    let mut end = punct;
                    while let Some(next) = joined(&sign, &end, trees.peek()) {
                        sign.push(next.as_char());
                        end = next;
                        trees.next();
                    }
                    self.sign(&sign);
                }
            }
        }
    }

    /// Prints what is one, after a space if it is apart from what is before it.
    fn put(&mut self, text: &str, apart: bool, last: Last) {
        if apart && self.last != Last::Glue {
            self.out.push(' ');
        }
        self.out.push_str(text);
        self.last = last;
    }

    fn group(&mut self, delimiter: Delimiter, inside: TokenStream) {
        let glued = match delimiter {
            // Nothing is written around it.
            Delimiter::None => return self.stream(inside),
            Delimiter::Parenthesis => matches!(
                self.last,
                Last::Operand | Last::Generics | Last::Header | Last::Bang
            ),
            Delimiter::Bracket => matches!(self.last, Last::Operand | Last::Bang),
            Delimiter::Brace => false,
        };
        let (open, close) = match delimiter {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Bracket => ("[", "]"),
            _ => ("{", "}"),
        };
        let is_spaced = delimiter == Delimiter::Brace && !inside.is_empty();
        let first = if is_spaced { Last::Spaced } else { Last::Glue };
        self.put(open, !glued, first);
        self.stream(inside);
        if is_spaced {
            self.out.push(' ');
        }
        self.put(close, false, Last::Operand);
    }

    fn sign(&mut self, sign: &str) {
        let operand = self.last == Last::Operand;
        let follows = matches!(self.last, Last::Operand | Last::Generics);
        match sign {
            "," | ";" | ":" => self.put(sign, false, Last::Spaced),
            "::" => self.put(sign, !follows, Last::Glue),
            "<" => self.put(
                sign,
                !matches!(self.last, Last::Operand | Last::Header),
                Last::Glue,
            ),
            ">" => self.put(sign, false, Last::Generics),
            "?" if follows => self.put(sign, false, Last::Operand),
            "!" if operand => self.put(sign, false, Last::Bang),
            "." => self.put(sign, false, Last::Glue),
            ".." | "..=" | "..." => self.put(sign, !operand, Last::Glue),
            "&" | "&&" | "*" | "-" if !operand => self.put(sign, true, Last::Glue),
            "?" | "!" | "'" | "$" | "~" => self.put(sign, true, Last::Glue),
            _ => self.put(sign, true, Last::Spaced),
        }
    }
}

/// The next token, if it continues the operator before it.
fn joined(sign: &str, end: &Punct, next: Option<&TokenTree>) -> Option<Punct> {
    const SIGNS: [&str; 16] = [
        "::", "->", "=>", "..", "...", "..=", "&&", "||", "==", "!=", "<=", ">=", "+=", "-=", "*=",
        "/=",
    ];
    match next {
        Some(TokenTree::Punct(next)) if end.spacing() == Spacing::Joint => {
            let longer = format!("{sign}{}", next.as_char());
            SIGNS.contains(&longer.as_str()).then(|| next.clone())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn types_and_patterns_are_written_as_people_write_them() {
        for text in [
            "HashMap<String, Vec<Option<u8>>>",
            "&'static str",
            "&'a mut [u8]",
            "(String, u32)",
            "(T,)",
            "()",
            "[u8; 4]",
            "[[u8; 2]; 4]",
            "Box<dyn Fn(&str) -> Result<u8> + Send + 'static>",
            "dyn for<'a> Fn(&'a str) -> &'a str",
            "<T as Trait>::Out",
            "<Vec<T> as Trait<'a>>::Out",
            "impl ?Sized + Into<String>",
            "*const u8",
            "fn(u8) -> u8",
            "Foo<{ N }>",
            "Foo<-1>",
            "Foo<Item = u8>",
            "::std::vec::Vec<u8>",
            "dyn ::std::error::Error",
            "Foo::<u8>::Bar",
            "r#type",
            "crate::tools::Fetch",
            "Some(x)",
            "Some(\"a , b\")",
            "Some(\"a :: b ( c ) < d > & e ; [ f ]\")",
            "Some(' ')",
            "\"< \"",
            "Point { x, y: 0, .. }",
            "Empty {}",
            "A | B(_)",
            "(1 | 2, _)",
            "n @ 1..=5",
            "'a'..='z'",
            "-1..=1",
            "..=5",
            "5..",
            "[first, .., last]",
            "[rest @ ..]",
            "(.., x)",
            "ref mut x",
            "mut x",
            "&x",
            "&mut x",
            "&&x",
            "&(a, b)",
            "-5",
            "2.5",
            "b\"bytes\"",
            "r#\"raw , text\"#",
            "vec![1, 2]",
            "path!()",
            "!",
            "_",
            ".await?",
        ] {
            let tokens: TokenStream = text.parse().unwrap();
            assert_eq!(tidy(&tokens), text);
        }
    }

    /// All tokens without the spaces between them.
    fn tokens(stream: TokenStream, into: &mut Vec<String>) {
        for tree in stream {
            match tree {
                TokenTree::Group(group) => {
                    into.push(format!("{:?}", group.delimiter()));
                    tokens(group.stream(), into);
                    into.push("end".to_owned());
                }
                TokenTree::Punct(punct) => into.push(punct.as_char().to_string()),
                other => into.push(other.to_string()),
            }
        }
    }

    proptest! {
        /// Whatever the tokens, they are the same when what is printed is read.
        #[test]
        fn what_is_printed_has_the_same_tokens(parts in prop::collection::vec(prop::sample::select(vec![
            "a", "r#type", "dyn", "mut", "for", "fn", "as", "'b", "'c'", "1", "2.5", "1u8", "\"x , y\"", "\"/* \\\" */\"", "b'\\''", "r#\"a ( b\"#",
            "::", ":", "<", ">", ",", ";", "&", "&&", "*", "-", "->", "=>", "=", "..", "..=", "|", "+", "?", "!", "@", "#", "$",
            "(", "[", "{", ")", "]", "}",
        ]), 0..12)) {
            // Brackets that have no other are left out, and those that are open are closed.
            let (mut text, mut open) = (String::new(), Vec::new());
            for part in parts {
                match part {
                    "(" => open.push(")"),
                    "[" => open.push("]"),
                    "{" => open.push("}"),
                    ")" | "]" | "}" if open.last() != Some(&part) => continue,
                    ")" | "]" | "}" => drop(open.pop()),
                    _ => {}
                }
                text.push_str(part);
                text.push(' ');
            }
            for close in open.iter().rev() {
                text.push_str(close);
            }
            let given: TokenStream = text.parse().unwrap();
            let printed = tidy(&given);
            let read: TokenStream = printed.parse().unwrap_or_else(|_| panic!("{printed}"));
            let (mut before, mut after) = (Vec::new(), Vec::new());
            tokens(given, &mut before);
            tokens(read, &mut after);
            prop_assert_eq!(before, after, "{}", printed);
        }
    }
}
