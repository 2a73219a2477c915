//! A writer of HTML and SVG that escapes all strings.

use std::fmt::{Arguments, Display};

/// Returns the escaped form of a character that is special in HTML, for content and attributes.
///
/// ```
/// use plan_graph::entity;
///
/// assert_eq!((entity('<'), entity('l')), (Some("&lt;"), None));
/// ```
pub fn entity(c: char) -> Option<&'static str> {
    Some(match c {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        '\'' => "&#39;",
        _ => return None,
    })
}

/// A document, or a part of one, that is being written.
///
/// Tags, attributes and markup are literals of the program. One function writes all other strings, and escapes them. Only [`add`](Self::add)
/// does not escape.
///
/// ```
/// use plan_graph::Html;
///
/// let mut html = Html::new(|text, out| *out += &text.to_string().replace('<', "&lt;"));
/// html.tag("p").attr("class", "told").inside(|p| {
///     p.text("1 < 2: ");
///     p.tag("b").text(true);
/// });
/// assert_eq!(html.finish(), r#"<p class="told">1 &lt; 2: <b>true</b></p>"#);
/// ```
#[derive(Debug)]
pub struct Html {
    out: String,
    escape: fn(Arguments<'_>, &mut String),
}

impl Html {
    /// Creates an empty document. `escape` appends a string without special characters, for content and for
    /// double-quoted attributes.
    pub fn new(escape: fn(Arguments<'_>, &mut String)) -> Self {
        let out = String::new();
        Self { out, escape }
    }

    /// Begins an element, which ends with a method of [`Tag`].
    pub fn tag(&mut self, name: &'static str) -> Tag<'_> {
        self.out.push('<');
        self.out.push_str(name);
        Tag { html: self, name }
    }

    /// Writes escaped text.
    pub fn text(&mut self, text: impl Display) {
        (self.escape)(format_args!("{text}"), &mut self.out);
    }

    /// Writes an escaped string, with each part between two backticks as an element `code`.
    ///
    /// ```
    /// use plan_graph::Html;
    ///
    /// let mut html = Html::new(|text, out| *out += &text.to_string());
    /// html.prose("step `sent` has failed: a ` is text");
    /// assert_eq!(html.finish(), "step <code>sent</code> has failed: a ` is text");
    /// ```
    pub fn prose(&mut self, text: impl Display) {
        let text = text.to_string();
        let mut rest = &*text;
        while let Some((before, after)) = rest.split_once('`') {
            let code = after.split_once('`');
            let code = code.filter(|(code, _)| !code.is_empty() && !code.contains('\n'));
            let Some((code, after)) = code else { break };
            self.text(before);
            self.tag("code").text(code);
            rest = after;
        }
        self.text(rest);
    }

    /// Writes markup that the program contains.
    pub fn markup(&mut self, markup: &'static str) {
        self.out.push_str(markup);
    }

    /// Writes HTML of another writer, or of a trusted caller.
    pub fn add(&mut self, html: &str) {
        self.out.push_str(html);
    }

    /// Returns the document.
    pub fn finish(self) -> String {
        self.out
    }
}

/// An element whose attributes are being written.
#[derive(Debug)]
#[must_use = "the element is not complete"]
pub struct Tag<'h> {
    html: &'h mut Html,
    name: &'static str,
}

impl Tag<'_> {
    /// Writes an attribute.
    pub fn attr(self, name: &'static str, value: impl Display) -> Self {
        self.html.out.push(' ');
        self.html.out.push_str(name);
        self.html.out.push_str("=\"");
        self.html.text(value);
        self.html.out.push('"');
        self
    }

    /// Writes attributes that the program contains.
    pub fn markup(self, attributes: &'static str) -> Self {
        self.html.out.push(' ');
        self.html.out.push_str(attributes);
        self
    }

    /// Writes the content, and ends the element.
    pub fn inside(self, content: impl FnOnce(&mut Html)) {
        self.html.out.push('>');
        content(self.html);
        self.html.out.push_str("</");
        self.html.out.push_str(self.name);
        self.html.out.push('>');
    }

    /// Writes a string as the content, and ends the element.
    pub fn text(self, text: impl Display) {
        self.inside(|html| html.text(text));
    }

    /// Ends the element without content.
    pub fn empty(self) {
        self.inside(|_| ());
    }

    /// Ends a void element of HTML, such as `<link>`, which has no content and no end tag.
    pub fn void(self) {
        self.html.out.push('>');
    }
}
