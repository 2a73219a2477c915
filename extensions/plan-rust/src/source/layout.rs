//! Rust as a tree of tokens, and its layout in lines.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// The width of the longest line that stays unbroken.
const WIDEST: usize = 89;
/// The width of the longest JSON line that stays unbroken.
const WIDEST_JSON: usize = 90;
/// The width of the longest call on one line, which is rustfmt's limit for struct literals.
const WIDEST_CALL: usize = 35;
/// The width reserved for `..` at the end of a call, which authors replace by arguments.
const REST: usize = 8;

/// A part of the source.
#[derive(Debug)]
pub(super) enum Tree {
    /// Whole tokens. Lines after the first are indented as the first one is.
    Text(String),
    /// Parts in sequence.
    Row(Vec<Tree>),
    /// A row whose braces are all broken into lines, or none.
    Together(Vec<Tree>),
    /// Items in brackets.
    List(LayoutList),
}

/// Items in brackets, after a name or without one: on one line, or each item on a line of its own.
#[derive(Debug)]
pub(super) struct LayoutList {
    pub(super) name: String,
    pub(super) delimiter: Delimiter,
    pub(super) items: Vec<Tree>,
    pub(super) style: LayoutStyle,
}

/// The layout of items in their brackets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LayoutStyle {
    /// Items with commas. If each item has its own line, a comma follows the last item too.
    Commas,
    /// Items with commas between them.
    Between,
    /// On one line, right beside the brackets.
    Beside,
    /// Each on a line of its own, always, with a comma.
    Inputs,
    /// A single item, on one line or on lines of its own.
    Block,
    /// A single item, always on lines of its own.
    Lines,
    /// Each on lines of its own, always, with nothing between them.
    Steps,
}

impl Tree {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn list(
        name: impl Into<String>,
        delimiter: Delimiter,
        style: LayoutStyle,
        items: Vec<Self>,
    ) -> Self {
        let name = name.into();
        Self::List(LayoutList {
            name,
            delimiter,
            items,
            style,
        })
    }

    /// Returns the room left after this tree on one line, or `None` if it does not fit.
    fn fits(&self, room: usize) -> Option<usize> {
        match self {
            Self::Text(text) if text.contains('\n') => None,
            Self::Text(_) if is_rest(self) => room.checked_sub(REST),
            Self::Text(text) => room.checked_sub(text.chars().count()),
            Self::Row(parts) | Self::Together(parts) => {
                parts.iter().try_fold(room, |room, part| part.fits(room))
            }
            Self::List(list) => list.fits(room),
        }
    }

    /// Returns the smallest width of the tree's first line.
    fn head(&self) -> (usize, bool) {
        match self {
            Self::Text(text) => (text.chars().count(), false),
            Self::Row(parts) | Self::Together(parts) => head(parts),
            Self::List(list) => (list.name.chars().count() + 1, true),
        }
    }
}

fn head(parts: &[Tree]) -> (usize, bool) {
    let mut width = 0;
    for part in parts {
        let (more, ends) = part.head();
        width += more;
        if ends {
            return (width, true);
        }
    }
    (width, false)
}

impl LayoutList {
    fn fits(&self, room: usize) -> Option<usize> {
        let is_call = self.delimiter == Delimiter::Brace && self.style == LayoutStyle::Commas;
        match room.checked_sub(WIDEST_CALL) {
            Some(behind) if is_call => self.fits_inside(WIDEST_CALL).map(|room| room + behind),
            _ => self.fits_inside(room),
        }
    }

    fn fits_inside(&self, room: usize) -> Option<usize> {
        let pads = match self.style {
            LayoutStyle::Lines | LayoutStyle::Inputs | LayoutStyle::Steps => return None,
            _ if self.pads() => 2,
            _ => 0,
        };
        let brackets = self.name.chars().count() + 2 + pads;
        let commas = 2 * self.items.len().saturating_sub(1);
        let room = room.checked_sub(brackets + commas)?;
        self.items
            .iter()
            .try_fold(room, |room, item| item.fits(room))
    }

    /// Returns `true` if the brackets have inner spaces.
    fn pads(&self) -> bool {
        self.delimiter == Delimiter::Brace
            && !self.items.is_empty()
            && self.style != LayoutStyle::Beside
    }
}

/// The source code, and the intended tokens.
#[derive(Default)]
pub(super) struct Printer {
    text: String,
    tokens: Vec<Token>,
    column: usize,
    /// `true` if a string is not whole tokens.
    broken: bool,
}

impl Printer {
    /// Writes a tree. Lines after the first are indented by `indent`. The last argument is the number of characters that follow the tree.
    pub(super) fn tree(&mut self, tree: &Tree, indent: usize, behind: usize) {
        match tree {
            Tree::Text(text) => self.whole(text, indent),
            Tree::Row(parts) => self.row(parts, indent, behind, false),
            Tree::Together(parts) => {
                let room = (WIDEST.saturating_sub(self.column)).checked_sub(behind);
                let breaks = room.and_then(|room| tree.fits(room)).is_none();
                self.row(parts, indent, behind, breaks);
            }
            Tree::List(list) => {
                let is_json = list.style == LayoutStyle::Between && list.name.is_empty();
                let widest = if is_json { WIDEST_JSON } else { WIDEST };
                let room = (widest.saturating_sub(self.column)).checked_sub(behind);
                let breaks = room.and_then(|room| list.fits(room)).is_none();
                self.list(list, indent, behind, breaks);
            }
        }
    }

    fn row(&mut self, parts: &[Tree], indent: usize, behind: usize, breaks: bool) {
        for (at, part) in parts.iter().enumerate() {
            let (after, ends) = head(&parts[at + 1..]);
            let behind = if ends { after } else { after + behind };
            match part {
                Tree::List(list) if breaks && list.style == LayoutStyle::Block => {
                    self.list(list, indent, behind, true);
                }
                part => self.tree(part, indent, behind),
            }
        }
    }

    fn list(&mut self, list: &LayoutList, indent: usize, behind: usize, breaks: bool) {
        self.whole(&list.name, indent);
        let spaces = list.pads();
        self.open(list.delimiter);
        let breaks = breaks && !list.items.is_empty();
        let lines = breaks && list.style != LayoutStyle::Beside;
        let inside = if lines { indent + 4 } else { indent };
        let last = list.items.len().saturating_sub(1);
        for (at, item) in list.items.iter().enumerate() {
            if lines {
                self.line(inside);
            } else if at > 0 || spaces {
                self.push(" ");
            }
            let behind = if breaks && lines { 1 } else { behind + 1 };
            self.tree(item, inside, behind);
            let has_comma = at < last && list.style != LayoutStyle::Steps;
            if has_comma
                || (lines
                    && matches!(list.style, LayoutStyle::Commas | LayoutStyle::Inputs)
                    && !is_rest(item))
            {
                self.comma();
            }
        }
        if lines {
            self.line(indent);
        } else if spaces {
            self.push(" ");
        }
        self.close(list.delimiter);
    }

    fn comma(&mut self) {
        self.push(",");
        self.tokens.push(Token::Punct(',', None));
    }

    pub(super) fn open(&mut self, delimiter: Delimiter) {
        self.bracket(brackets(delimiter).0);
    }

    pub(super) fn close(&mut self, delimiter: Delimiter) {
        self.bracket(brackets(delimiter).1);
    }

    fn bracket(&mut self, bracket: char) {
        self.push(bracket.encode_utf8(&mut [0; 4]));
        self.tokens.push(Token::Bracket(bracket));
    }

    /// Writes whole tokens.
    pub(super) fn whole(&mut self, text: &str, indent: usize) {
        match text.parse::<TokenStream>() {
            Ok(tokens) => flatten(tokens, &mut self.tokens),
            Err(_) => self.broken = true,
        }
        // The next token determines if it is adjacent to the last sign.
        if let Some(Token::Punct(_, spacing)) = self.tokens.last_mut() {
            *spacing = None;
        }
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 {
                self.line(indent);
            }
            self.push(line);
        }
    }

    /// Begins a line.
    pub(super) fn line(&mut self, indent: usize) {
        while self.text.ends_with(' ') {
            self.text.pop();
        }
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }

    /// Writes spaces.
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.column += text.chars().count();
    }

    /// Returns the source code, if it has the intended tokens.
    pub(super) fn finish(mut self) -> Option<String> {
        self.text.push('\n');
        let mut found = Vec::with_capacity(self.tokens.len());
        flatten(self.text.parse().ok()?, &mut found);
        let same = found.len() == self.tokens.len()
            && found.iter().zip(&self.tokens).all(|(a, b)| a.is(b));
        (same && !self.broken).then_some(self.text)
    }
}

/// Returns `true` for the `..` at the end of a call, which has no comma after it.
fn is_rest(tree: &Tree) -> bool {
    matches!(tree, Tree::Text(text) if text == "..")
}

fn brackets(delimiter: Delimiter) -> (char, char) {
    match delimiter {
        Delimiter::Parenthesis => ('(', ')'),
        Delimiter::Bracket => ('[', ']'),
        Delimiter::Brace | Delimiter::None => ('{', '}'),
    }
}

/// A token without those inside it.
#[derive(Debug)]
pub(super) enum Token {
    /// A name or a literal.
    Word(String),
    Bracket(char),
    /// A punctuation character, and the spacing to the next one; `None` if the spacing has no effect.
    Punct(char, Option<Spacing>),
}

impl Token {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Word(a), Self::Word(b)) => a == b,
            (Self::Bracket(a), Self::Bracket(b)) => a == b,
            (Self::Punct(a, _), Self::Punct(b, None)) => a == b,
            (Self::Punct(a, beside), Self::Punct(b, meant)) => a == b && beside == meant,
            _ => false,
        }
    }
}

/// Collects the tokens in order, including brackets, without recursion.
pub(super) fn flatten(tokens: TokenStream, out: &mut Vec<Token>) {
    let mut around = vec![(tokens.into_iter(), None)];
    while let Some((tokens, closes)) = around.last_mut() {
        match tokens.next() {
            Some(TokenTree::Group(group)) => {
                // Macros may create groups without brackets.
                let closes = (group.delimiter() != Delimiter::None).then(|| {
                    let (open, close) = brackets(group.delimiter());
                    out.push(Token::Bracket(open));
                    close
                });
                around.push((group.stream().into_iter(), closes));
            }
            Some(TokenTree::Punct(punct)) => {
                out.push(Token::Punct(punct.as_char(), Some(punct.spacing())));
            }
            Some(tree) => out.push(Token::Word(tree.to_string())),
            None => {
                out.extend(closes.map(Token::Bracket));
                around.pop();
            }
        }
    }
}
