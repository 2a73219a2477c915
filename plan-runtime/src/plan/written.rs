//! References as people write them: derived from what they read, and compared with what somebody wrote.

use super::pattern::is_part;
use super::{Absent, Segment, push_key, reference::index};
use crate::print::{Line, Name, Quoted};
use jsonptr::PointerBuf;
use serde_json::Value;

/// A reference as its author would write it, derived from the name of its source and its path. Two ways that do different things
/// are written differently.
pub(crate) fn written(name: &str, path: &[Segment]) -> String {
    let mut text = match name {
        "" => String::new(),
        name => match Name(name).to_string() {
            // Not to be taken for a text.
            quoted if quoted.starts_with('"') => format!("&{quoted}"),
            word => word,
        },
    };
    let mut path = path
        .iter()
        .filter(|s| !matches!(s, Segment::Same))
        .peekable();
    while let Some(segment) = path.next() {
        match segment {
            Segment::Key(_, Absent::Stop) | Segment::Index(_, Absent::Stop) => {
                let mut pointer = PointerBuf::from_tokens(segment.token());
                while let Some(token) = path.next_if(|next| stops(next)).and_then(Segment::token) {
                    pointer.push_back(token);
                }
                text.push_str(&format!(".pointer({})", Quoted(pointer.as_str())));
            }
            Segment::Key(key, absent) => {
                let missing = matches!(path.peek(), Some(Segment::Optional(true)))
                    && !matches!(absent, Absent::Default(_));
                match index(key) {
                    // In a pointer there is no telling a key of digits from an index.
                    Some(_) if missing => text.push_str(&format!(".get({key})")),
                    Some(_) => text.push_str(&format!("[{key}]")),
                    None if missing => text.push_str(&format!(".get({})", Quoted(key))),
                    None => push_key(&mut text, key),
                }
                push_absent(&mut text, absent);
            }
            Segment::Index(index, absent) => {
                let missing = matches!(path.peek(), Some(Segment::Optional(true)))
                    && !matches!(absent, Absent::Default(_));
                if missing {
                    text.push_str(&format!(".get({index})"));
                } else {
                    text.push_str(&format!("[{index}]"));
                }
                push_absent(&mut text, absent);
            }
            Segment::Each => text.push_str("[..]"),
            Segment::Optional(_) => text.push('?'),
            Segment::Or(value) => push_default(&mut text, "or", value),
            Segment::Else(value) => push_default(&mut text, "unwrap_or", value),
            Segment::Same => {}
        }
    }
    text
}

fn stops(segment: &Segment) -> bool {
    matches!(
        segment,
        Segment::Key(_, Absent::Stop) | Segment::Index(_, Absent::Stop)
    )
}

fn push_absent(text: &mut String, absent: &Absent) {
    match absent {
        Absent::Null => push_default(text, "or", &Value::Null),
        Absent::Default(make) => push_default(text, "or", &make()),
        Absent::Error | Absent::Stop => {}
    }
}

fn push_default(text: &mut String, method: &str, value: &Value) {
    let value = value.to_string();
    text.push_str(&format!(".{method}({})", Line(value)));
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
        let rest = if inside.starts_with(['"', 'r']) {
            let (text, rest) = quoted(inside)?;
            (text == key).then_some(rest)?
        } else {
            inside
                .strip_prefix(&*key)
                .filter(|_| index(&key).is_some())?
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
