//! The notation of references: derived from their paths, and compared with an author's notation.

use super::{Absent, ERR, OK, Path, Segment, Selector, index, push_key};
use crate::print::is_part_of_name;
use crate::print::{Line, Name, Quoted, literal};
use jsonptr::PointerBuf;

/// Writes a reference in its author's notation, from the name of its source and its path. Paths with different effects have
/// different notations.
pub(crate) fn written(name: &str, path: Path<'_>) -> String {
    let mut text = match name {
        "" => String::new(),
        name => match Name(name).to_string() {
            // Distinct from a string literal.
            quoted if quoted.starts_with('"') => format!("&{quoted}"),
            word => word,
        },
    };
    let mut optional = path.optional;
    let mut rest = path.segments;
    loop {
        if optional {
            text.push('?');
        }
        let [segment, ..] = rest else { break };
        let count = together(rest);
        if ends(segment) && !(count == 1 && segment.optional) {
            let tokens = rest[..count].iter().filter_map(Segment::token);
            push_call(
                &mut text,
                "pointer",
                Quoted(PointerBuf::from_tokens(tokens).as_str()),
            );
        } else {
            push_segment(&mut text, segment);
        }
        optional = rest[count - 1].optional;
        rest = &rest[count..];
    }
    if let Some(value) = path.otherwise {
        push_call(&mut text, "unwrap_or", Line(value.to_string()));
    }
    text
}

/// Returns the number of segments that one `.pointer("/a/b")` contains.
fn together(path: &[Segment]) -> usize {
    let continues = |pair: &&[Segment]| ends(&pair[0]) && !pair[0].optional && ends(&pair[1]);
    1 + path.windows(2).take_while(continues).count()
}

fn ends(segment: &Segment) -> bool {
    matches!(segment.absent, Absent::End) && !segment.is_each()
}

fn push_segment(text: &mut String, segment: &Segment) {
    if let Some(outcome) = outcome(segment) {
        return text.push_str(outcome);
    }
    match &segment.selector {
        Selector::Each => return text.push_str("[..]"),
        Selector::Index(index) if ends(segment) => push_call(text, "get", index),
        Selector::Index(index) => text.push_str(&format!("[{index}]")),
        // A pointer does not distinguish a key of digits from an index.
        Selector::Key(key) if index(key).is_some() && ends(segment) => push_call(text, "get", key),
        Selector::Key(key) if index(key).is_some() => text.push_str(&format!("[{key}]")),
        Selector::Key(key) if ends(segment) => push_call(text, "get", Quoted(key)),
        Selector::Key(key) => push_key(text, key),
    }
    if let Absent::Default(value) = &segment.absent {
        push_call(text, "or", Line(value.to_string()));
    }
}

/// Returns the notation of a side of a `Result`.
pub(crate) fn outcome(segment: &Segment) -> Option<&'static str> {
    let Selector::Key(key) = &segment.selector else {
        return None;
    };
    match (&**key, &segment.absent) {
        (OK, Absent::Failure) => Some("?"),
        (OK, Absent::Default(value)) if value.is_null() => Some(".ok()"),
        (ERR, Absent::Default(value)) if value.is_null() => Some(".err()"),
        _ => None,
    }
}

fn push_call(text: &mut String, method: &str, argument: impl std::fmt::Display) {
    text.push_str(&format!(".{method}({argument})"));
}

impl super::Reference {
    /// Sets the author's notation of the reference, for people. Call this method last: the reference ignores notation
    /// with another path.
    ///
    /// ```
    /// use plan_runtime::plan::{Reference, Source};
    ///
    /// let thread = Reference::new(Source::Step(0)).key("threadId");
    /// assert_eq!(thread.clone().written("mail.thread_id").to_string(), "mail.thread_id");
    /// assert_eq!(thread.written("mail.subject").to_string(), "step0.threadId");
    /// ```
    #[must_use]
    pub fn written(mut self, text: impl Into<String>) -> Self {
        let text = text.into();
        if path_agrees(self.path(), &text) {
            let name = root_name(&text).to_owned();
            return self.said(text, Some(&name));
        }
        self.written = None;
        self
    }

    /// Returns the author's notation of the reference, or the notation derived without the names of the plan.
    pub(crate) fn text(&self) -> std::borrow::Cow<'_, str> {
        use std::borrow::Cow;
        match self.as_written() {
            Some(written) => Cow::Borrowed(written),
            None => Cow::Owned(written(&self.source.name(), self.path())),
        }
    }
}

/// Returns the name at the beginning of the notation of `plan!`.
pub(crate) fn root_name(text: &str) -> &str {
    let text = text.trim_start_matches('&');
    let text = text.strip_prefix("r#").unwrap_or(text);
    text.split(['.', '?', '[']).next().unwrap_or_default()
}

/// Returns `true` if the notation matches `name` and `path`, segment by segment. A field may have its Rust name or a spelling of
/// serde's key.
pub(crate) fn agrees(name: &str, path: Path<'_>, text: &str) -> bool {
    let text = text.trim_start_matches('&');
    let text = text.strip_prefix("r#").unwrap_or(text);
    text.strip_prefix(name)
        .is_some_and(|rest| path_matches(path, rest).is_some())
}

/// Returns `true` if the notation matches the path, after any name at its beginning.
pub(crate) fn path_agrees(path: Path<'_>, text: &str) -> bool {
    let start = text.find(['.', '[', '?']).unwrap_or(text.len());
    path_matches(path, &text[start..]).is_some()
}

fn path_matches(path: Path<'_>, text: &str) -> Option<()> {
    let mut rest = after_question_marks(path.optional, text)?;
    let mut segments = path.segments.iter();
    while let Some(mut segment) = segments.next() {
        rest = if segment.is_each() {
            rest.strip_prefix("[..]")?
        } else if let Some(literal) = rest.strip_prefix(".pointer(") {
            let (pointer, after) = quoted(literal)?;
            let pointer = PointerBuf::parse(pointer).ok()?;
            let mut tokens = pointer.tokens().peekable();
            loop {
                if segment.token()? != tokens.next()? {
                    return None;
                }
                if tokens.peek().is_none() {
                    break;
                }
                segment = segments.next().filter(|_| !segment.optional)?;
            }
            after.strip_prefix(')')?
        } else {
            part_matches(segment, rest)?
        };
        rest = after_question_marks(segment.optional, rest)?;
    }
    rest.is_empty().then_some(())
}

/// Returns the rest after `?`, which may be repeated for an `Option` in an `Option`.
fn after_question_marks(optional: bool, rest: &str) -> Option<&str> {
    if optional {
        Some(rest.strip_prefix('?')?.trim_start_matches('?'))
    } else {
        Some(rest)
    }
}

/// Returns the rest after one member or element.
fn part_matches<'t>(segment: &Segment, rest: &'t str) -> Option<&'t str> {
    if let Some(rest) = outcome(segment).and_then(|outcome| rest.strip_prefix(outcome)) {
        return Some(rest);
    }
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
    let field = rest.strip_prefix('.')?;
    let field = field.strip_prefix("r#").unwrap_or(field);
    let end = field.find(['.', '[', '?']).unwrap_or(field.len());
    let (field, rest) = field.split_at(end);
    (field == key || is_spelled(field, &key)).then_some(rest)
}

/// Returns `true` if both differ only in the separation of words: `threadId`, `thread_id`, `thread-id`.
fn is_spelled(field: &str, key: &str) -> bool {
    let words = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let spelled = words(field);
    field.chars().all(is_part_of_name) && !spelled.is_empty() && spelled == words(key)
}

/// Returns the Rust string literal at the start, and the rest.
fn quoted(text: &str) -> Option<(String, &str)> {
    let length = literal(text).filter(|length| *length > 0)?;
    let (literal, rest) = text.split_at(length);
    if let Some(raw) = literal.strip_prefix('r') {
        let inside = raw.trim_matches('#').strip_prefix('"')?.strip_suffix('"')?;
        return Some((inside.to_owned(), rest));
    }
    let mut chars = literal.strip_prefix('"')?.strip_suffix('"')?.chars();
    let mut found = String::new();
    while let Some(c) = chars.next() {
        found.push(match c {
            '\\' => match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                '0' => '\0',
                c @ ('\\' | '"' | '\'') => c,
                'u' => {
                    let (code, after) = chars.as_str().strip_prefix('{')?.split_once('}')?;
                    chars = after.chars();
                    char::from_u32(u32::from_str_radix(code, 16).ok()?)?
                }
                _ => return None,
            },
            c => c,
        });
    }
    Some((found, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Reference, Source};

    fn reference(text: &str) -> Reference {
        let reference = Reference::new(Source::Step(0));
        let part = |reference: Reference, part: &str| match (part, index(part)) {
            ("..", _) => reference.each(),
            ("?", _) => reference.optional(),
            (_, Some(index)) => reference.index(index),
            (key, None) => reference.key(key),
        };
        text.split_whitespace().fold(reference, part)
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
            assert!(agrees("mail", reference(way).path(), text), "{way}: {text}");
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
            assert!(
                !agrees("mail", reference(way).path(), text),
                "{way}: {text}"
            );
        }
    }
}
