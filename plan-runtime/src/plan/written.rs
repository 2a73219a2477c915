//! References as people write them: derived from what they read, and compared with what somebody wrote.

use super::{Segment, Template, push_key, reference::index};
use crate::print::{Line, Name};

/// A reference as its author would write it, derived from the name of its source and its path.
pub(crate) fn written(name: &str, path: &[Segment]) -> String {
    let mut text = match name {
        "" => String::new(),
        name => match Name(name).to_string() {
            // Not to be taken for a text.
            quoted if quoted.starts_with('"') => format!("&{quoted}"),
            word => word,
        },
    };
    for segment in path {
        match segment {
            // In a pointer there is no telling a key of digits from an index.
            Segment::Key(key, _) if index(key).is_some() => text.push_str(&format!("[{key}]")),
            Segment::Key(key, _) => push_key(&mut text, key),
            Segment::Index(index, _) => text.push_str(&format!("[{index}]")),
            Segment::Each => text.push_str("[..]"),
            Segment::Optional(_) => text.push('?'),
            Segment::Or(value) | Segment::Else(value) => {
                let value = value.to_string();
                text.push_str(&format!(".or({})", Line(value)));
            }
            Segment::Same => {}
        }
    }
    text
}

/// Whether a text says what `name` and `path` say, segment by segment. A field may be spelled as Rust or as serde spells the key.
pub(crate) fn agrees(name: &str, path: &[Segment], text: &str) -> bool {
    let text = text.trim_start_matches('&');
    let text = text.strip_prefix("r#").unwrap_or(text);
    text.strip_prefix(name)
        .is_some_and(|rest| goes(path, rest).is_some())
}

/// The same for the path alone, after whatever name the text begins with.
pub(crate) fn path_agrees(path: &[Segment], text: &str) -> bool {
    let start = text.find(['.', '[', '?']).unwrap_or(text.len());
    goes(path, &text[start..]).is_some()
}

fn goes(path: &[Segment], mut rest: &str) -> Option<()> {
    let mut path = path
        .iter()
        .filter(|segment| !matches!(segment, Segment::Same | Segment::Or(_) | Segment::Else(_)));
    while let Some(segment) = path.next() {
        rest = match segment {
            Segment::Optional(_) => rest.strip_prefix('?')?,
            Segment::Each => rest.strip_prefix("[..]")?,
            Segment::Index(..) | Segment::Key(..) => {
                if let Some(literal) = rest.strip_prefix(".pointer(") {
                    let (pointer, after) = quoted(literal)?;
                    let pointer = jsonptr::PointerBuf::parse(pointer).ok()?;
                    let mut segments = std::iter::once(segment).chain(path.by_ref());
                    for token in pointer.tokens() {
                        let key = segments.next()?.token()?.decoded().into_owned();
                        if key != token.decoded() {
                            return None;
                        }
                    }
                    after.strip_prefix(')')?
                } else {
                    hop(segment, rest)?
                }
            }
            Segment::Same | Segment::Or(_) | Segment::Else(_) => rest,
        };
    }
    rest.is_empty().then_some(())
}

/// What is left of a text after one member or element.
fn hop<'t>(segment: &Segment, rest: &'t str) -> Option<&'t str> {
    let token = segment.token()?;
    let key = token.decoded();
    if let Some((inside, close)) = None
        .or_else(|| Some((rest.strip_prefix('[')?, ']')))
        .or_else(|| Some((rest.strip_prefix(".get(")?, ')')))
    {
        let rest = match inside.starts_with(['"', 'r']) {
            true => {
                let (text, rest) = quoted(inside)?;
                (text == key).then_some(rest)?
            }
            false => inside
                .strip_prefix(&*key)
                .filter(|_| index(&key).is_some())?,
        };
        return rest.strip_prefix(close);
    }
    let field = rest.strip_prefix('.').unwrap_or(rest);
    // Without a dot it is what follows no name.
    if field.len() == rest.len() && !rest.is_empty() {
        return None;
    }
    let field = field.strip_prefix("r#").unwrap_or(field);
    let end = field.find(['.', '[', '?']).unwrap_or(field.len());
    let (field, rest) = field.split_at(end);
    (field == key || is_spelled(field, &key)).then_some(rest)
}

/// Whether both differ only in how words are told apart: `threadId`, `thread_id`, `thread-id`.
fn is_spelled(field: &str, key: &str) -> bool {
    let words = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let spelled = words(field);
    field.chars().all(is_part) && !spelled.is_empty() && spelled == words(key)
}

/// A literal of Rust at the start, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    if let Some(raw) = text.strip_prefix('r') {
        let signs = raw.len() - raw.trim_start_matches('#').len();
        let inside = raw[signs..].strip_prefix('"')?;
        let end = format!("\"{}", "#".repeat(signs));
        let (inside, rest) = inside.split_once(&end)?;
        return Some((inside.to_owned(), rest));
    }
    let mut chars = text.strip_prefix('"')?.char_indices();
    let mut found = String::new();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((found, &text[at + 2..])),
            '\\' => found.push(match chars.next()?.1 {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                '0' => '\0',
                c @ ('\\' | '"' | '\'') => c,
                'u' => {
                    let (_, '{') = chars.next()? else {
                        return None;
                    };
                    let mut number = String::new();
                    loop {
                        match chars.next()?.1 {
                            '}' => break,
                            digit => number.push(digit),
                        }
                    }
                    char::from_u32(u32::from_str_radix(&number, 16).ok()?)?
                }
                _ => return None,
            }),
            c => found.push(c),
        }
    }
    None
}

/// The names of what a `for` or a condition binds, as far as its pattern shows them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bound {
    names: Vec<Option<String>>,
    /// Whether the local value is a list of what the names stand for.
    parts: bool,
}

impl Bound {
    /// Those of a pattern that takes apart this value, or the elements of this list. A computed value was taken apart when it was
    /// computed.
    pub(crate) fn pattern(pattern: &str, value: &Template) -> Self {
        let pattern = pattern.trim();
        let within = |open: &str| Some(pattern.strip_prefix(open)?.strip_suffix(')')?.trim());
        if matches!(value, Template::Computed(_)) {
            return Self::together(&words(pattern));
        }
        if let Some(name) = name(within("Some(").unwrap_or(pattern)) {
            return Self {
                names: vec![Some(name.to_owned())],
                parts: false,
            };
        }
        let elements = within("(").unwrap_or_default().split(',').map(str::trim);
        let names: Vec<_> = elements.map(|element| name(element)).collect();
        let is_plain = |(name, element): (&Option<&str>, &str)| name.is_some() || element == "_";
        let elements = within("(").unwrap_or_default().split(',').map(str::trim);
        match names.iter().zip(elements).all(is_plain) {
            true => Self {
                names: names.iter().map(|name| name.map(str::to_owned)).collect(),
                parts: true,
            },
            false => Self::default(),
        }
    }

    /// Those of all patterns of a chain of conditions.
    pub(crate) fn chain(chain: &str) -> Self {
        let mut patterns = Vec::new();
        let mut within = false;
        for word in words(chain) {
            match word {
                "let" => within = true,
                "=" => within = false,
                word if within => patterns.push(word),
                _ => {}
            }
            if word == "=" {
                patterns.push(",");
            }
        }
        Self::together(&patterns)
    }

    fn together(words: &[&str]) -> Self {
        let mut names = Vec::new();
        // No pattern begins so.
        if words.first() == Some(&"{") {
            return Self::default();
        }
        for (at, word) in words.iter().enumerate() {
            let before = at.checked_sub(1).map_or("", |at| words[at]);
            let after = words.get(at + 1).copied().unwrap_or_default();
            // A path, a struct, a macro, or a field whose pattern follows.
            let leads = ["::", "(", "{", "!", ":"].contains(&after) || before == "::";
            names.extend(
                name(word)
                    .filter(|_| !leads)
                    .map(|name| Some(name.to_owned())),
            );
        }
        Self { names, parts: true }
    }

    /// Whether a pattern gives this name to anything.
    pub(crate) fn binds(&self, name: &str) -> bool {
        self.names.iter().flatten().any(|bound| bound == name)
    }

    /// The name from which a path in the local value starts, and the path from there on.
    pub(crate) fn start<'p>(&self, path: &'p [Segment]) -> Option<(&str, &'p [Segment])> {
        match (self.parts, path) {
            (false, path) => Some((self.names.first()?.as_deref()?, path)),
            (true, [Segment::Index(part, _), rest @ ..]) => {
                Some((self.names.get(*part)?.as_deref()?, rest))
            }
            (true, _) => None,
        }
    }
}

/// The name that a word of a pattern binds, if it does.
fn name(word: &str) -> Option<&str> {
    const KEYWORDS: [&str; 10] = [
        "ref", "mut", "box", "let", "true", "false", "const", "crate", "self", "super",
    ];
    let plain = word.strip_prefix("r#").unwrap_or(word);
    let starts = |c: char| c == '_' || c.is_lowercase();
    let is_name = plain.starts_with(starts) && plain.chars().all(is_part) && plain != "_";
    (is_name && !KEYWORDS.contains(&word)).then_some(plain)
}

fn is_part(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Names, `::`, and other signs of their own; strings are left out.
fn words(mut text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    loop {
        text = text.trim_start();
        let Some(first) = text.chars().next() else {
            return words;
        };
        if let Some((_, rest)) = quoted(text) {
            text = rest;
            continue;
        }
        let plain = text.strip_prefix("r#").unwrap_or(text);
        let raw = text.len() - plain.len();
        let length = match plain.find(|c| !is_part(c)).unwrap_or(plain.len()) {
            0 => ["::", "==", "=>", "..=", "<=", ">=", "!="]
                .iter()
                .find(|sign| text.starts_with(**sign))
                .map_or(first.len_utf8(), |sign| sign.len()),
            length => raw + length,
        };
        words.push(&text[..length]);
        text = &text[length..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Absent, Computed};

    fn path(text: &str) -> Vec<Segment> {
        let segment = |part: &str| match part {
            ".." => Segment::Each,
            "?" => Segment::Optional(false),
            part => Segment::of_token(part.to_owned(), Absent::Error),
        };
        text.split_whitespace().map(segment).collect()
    }

    #[test]
    fn spellings_of_one_way_agree() {
        for (way, text) in [
            ("", "mail"),
            ("", "&mail"),
            ("subject", "mail.subject"),
            ("threadId", "mail.thread_id"),
            ("thread-id", "mail[\"thread-id\"]"),
            ("thread-id", "mail.thread_id"),
            ("type", "mail.r#type"),
            ("0 id", "mail[0].id"),
            ("0 id", "mail.0.id"),
            ("0 ? id", "mail.get(0)?.id"),
            ("a ? b", "mail.get(\"a\")?.b"),
            ("a 0 b", "mail.pointer(\"/a/0\").b"),
            (".. x ?", "mail[..].x?"),
            ("k\"", "mail[\"k\\\"\"]"),
            ("k\"", "mail[r#\"k\"\"#]"),
        ] {
            assert!(agrees("mail", &path(way), text), "{way}: {text}");
        }
    }

    #[test]
    fn another_way_does_not_agree() {
        for (way, text) in [
            ("", "mails"),
            ("", "mail.subject"),
            ("subject", "mail"),
            ("subject", "mail.body"),
            ("subject", "mail subject"),
            ("subject", "mail.subject // and more"),
            ("subject", "mail.subject()"),
            ("0", "mail[1]"),
            ("0", "mail[00]"),
            ("0 id", "mail[..].id"),
            ("a 0 b", "mail.pointer(\"/a/1\").b"),
            ("a", "mail[\"b\"]"),
            ("a", "secrets.a"),
            ("a", "mail.a?"),
            ("-", "mail._"),
        ] {
            assert!(!agrees("mail", &path(way), text), "{way}: {text}");
        }
    }

    #[test]
    fn names_of_patterns() {
        let computed = Template::Computed(Computed {
            reads: vec![].into(),
            written: "x".into(),
            compute: None,
        });
        let start = |bound: &Bound, way: &str| {
            let path = path(way);
            let found = bound.start(&path);
            found.map(|(name, rest)| written(name, rest))
        };
        let whole = Bound::pattern("mail", &Template::Null);
        assert_eq!(start(&whole, "0 id").as_deref(), Some("mail[0].id"));
        let some = Bound::pattern("Some(to)", &Template::Null);
        assert_eq!(start(&some, "").as_deref(), Some("to"));
        let pair = Bound::pattern("(_, value)", &Template::Null);
        assert_eq!(start(&pair, "1 id").as_deref(), Some("value.id"));
        assert_eq!(start(&pair, "0"), None);
        let parts = Bound::pattern("Point { x: a, r#type, .. }", &computed);
        assert_eq!(start(&parts, "1").as_deref(), Some("type"));
        let chain = Bound::chain("k == \"let z\" && let Some(a) = &b && let [c, ..] = d");
        assert_eq!(start(&chain, "0").as_deref(), Some("a"));
        assert_eq!(start(&chain, "1 x").as_deref(), Some("c.x"));
        assert_eq!(start(&chain, "2"), None);
    }
}
