//! Rust as text, formatted.

/// How wide a line is that is not broken.
const WIDEST: usize = 90;

/// What stands for a `..` alone, which is no Rust where a statement is formatted.
pub(super) const REST: &str = "..__rest";

/// The inside of a `json!`.
pub(super) enum Json {
    Leaf(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(super) fn one_line(&self) -> String {
        match self {
            Self::Leaf(text) => text.clone(),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::one_line).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Object(members) if members.is_empty() => "{}".to_owned(),
            Self::Object(members) => {
                let member =
                    |(key, value): &(String, Self)| format!("{key:?}: {}", value.one_line());
                let members: Vec<String> = members.iter().map(member).collect();
                format!("{{ {} }}", members.join(", "))
            }
        }
    }

    /// The same behind so many columns, where the lines after the first start at `indent`.
    fn write(&self, out: &mut String, column: usize, indent: usize) {
        let line = self.one_line();
        let (open, close, items): (_, _, Vec<(String, &Self)>) = match self {
            Self::List(items) if column + line.len() > WIDEST && !items.is_empty() => (
                '[',
                ']',
                items.iter().map(|item| (String::new(), item)).collect(),
            ),
            Self::Object(members) if column + line.len() > WIDEST && !members.is_empty() => {
                let key = |(key, value)| (format!("{key:?}: "), value);
                ('{', '}', members.iter().map(|(k, v)| key((k, v))).collect())
            }
            _ => return out.push_str(&line),
        };
        let inside = indent + 4;
        out.push(open);
        for (index, (key, item)) in items.iter().enumerate() {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', inside));
            out.push_str(key);
            item.write(out, inside + key.len() + 1, inside);
            // `json!` has no comma behind its last value.
            if index + 1 < items.len() {
                out.push(',');
            }
        }
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', indent));
        out.push(close);
    }
}

/// The `json!`s of a statement, for each of which a name stands while it is formatted.
#[derive(Default)]
pub(super) struct Jsons(Vec<(String, Json)>);

impl Jsons {
    /// The name that stands for it, as long as its line would be.
    pub(super) fn add(&mut self, json: Json) -> String {
        let mut name = format!("__json{}_", self.0.len());
        let length = json.one_line().len() + "json!()".len();
        let more = length.min(WIDEST).saturating_sub(name.len());
        name.extend(std::iter::repeat_n('_', more));
        self.0.push((name.clone(), json));
        name
    }

    fn put(self, mut text: String) -> String {
        for (name, json) in self.0 {
            let Some(at) = text.find(&name) else { continue };
            let start = text[..at].rfind('\n').map_or(0, |line| line + 1);
            let line = &text[start..at];
            let indent = line.len() - line.trim_start().len();
            let mut written = "json!(".to_owned();
            // Behind it stand a bracket and a comma.
            let column = line.len() + written.len() + 2;
            json.write(&mut written, column, indent);
            written.push(')');
            text.replace_range(at..at + name.len(), &written);
        }
        text
    }
}

/// Formats a statement of a plan, which is one of a function as well; none where it cannot be read.
pub(super) fn statement(text: &str, jsons: Jsons) -> Option<String> {
    // So deep as a plan's steps are.
    let file = syn::parse_str(&format!("mod plan {{ fn steps() {{ {text} }} }}")).ok()?;
    let formatted = prettyplease::unparse(&file);
    let lines: Vec<&str> = formatted.lines().collect();
    let inside = lines.get(2..lines.len().checked_sub(2)?)?;
    Some(jsons.put(inside.join("\n").replace(REST, "..")))
}

/// Formats a type; none where it is none.
pub(super) fn type_name(text: &str) -> Option<String> {
    syn::parse_str::<syn::Type>(text).ok()?;
    let file = syn::parse_str(&format!("type T = {text};")).ok()?;
    let formatted = prettyplease::unparse(&file);
    let ty = formatted.trim().strip_prefix("type T = ")?;
    Some(ty.strip_suffix(';')?.to_owned())
}

pub(super) fn is_expression(text: &str) -> bool {
    syn::parse_str::<syn::Expr>(text).is_ok()
}

/// Whether this is one `if` with an empty block.
pub(super) fn is_if(text: &str) -> bool {
    let parsed = syn::parse_str::<syn::ExprIf>(text);
    parsed.is_ok_and(|found| found.else_branch.is_none() && found.then_branch.stmts.is_empty())
}

/// Whether this is one `for` with an empty block.
pub(super) fn is_for(text: &str) -> bool {
    let parsed = syn::parse_str::<syn::ExprForLoop>(text);
    parsed.is_ok_and(|found| found.body.stmts.is_empty())
}

/// A doc comment.
pub(super) fn doc(text: &str, indent: usize) -> String {
    let mut doc = String::new();
    for line in text.trim_end().lines() {
        doc.extend(std::iter::repeat_n(' ', indent));
        doc.push_str("///");
        if !line.trim().is_empty() {
            doc.push(' ');
        }
        for c in line.trim_end().chars() {
            match c {
                // rustc takes no comment in which the text is not in the order in which it is shown.
                '\r' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                    doc.extend(c.escape_default());
                }
                c => doc.push(c),
            }
        }
        doc.push('\n');
    }
    doc
}
