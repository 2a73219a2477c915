//! A marker at the cursor, as an editor puts it there, changes nothing before it.

use proc_macro2::{Group, Ident, Spacing, Span, TokenStream, TokenTree};
use std::str::FromStr;

const MARKER: &str = "raCompletionMarker";

pub(super) const PLAN: &str = r#"
    /// A plan.
    pub Whole(sender: String, limit: Option<u8>, #[serde(default)] list: Vec<(u8, String)>) -> (Receipt, Vec<u64>) {
        /// The inbox.
        #[retry(3, backoff = "1s", max = "2s")]
        step inbox = FetchEmails { filters: Filters { sender, since: None, .. }, limit: limit? };
        #[after(inbox, count)]
        #[optional]
        step sent = Reply {
            to: [inbox.data[0].from.email, "me", Some(format!("{} {count:>4}", inbox.data.get(1)?.id))],
            raw: json!({"a": [inbox.raw["k"], -1.5, null], "b": inbox.raw.pointer("/x/0")}),
            kind: Kind::Special(1, "x"), pair: (1, 'c'), ids: inbox.data[..].id,
            text: if count > 3 { "many" } else { "few" }.to_owned(),
        };
        step count: u64 = inbox.data.iter().map(|mail| mail.size).sum::<u64>() + { let x = 1; x };
        #[timeout("1h")]
        step reply: String = await;
        step maybe = if count > 3 { Note { text: sender } } else if let Some(x) = &limit { Note { text: x } };
        #[fallback(vec![])]
        step all = for mail in inbox.data { if mail.ok { Note { text: mail.id } } };
        (sent, inbox.data[..].size)
    }
"#;

fn expanded(plan: TokenStream) -> String {
    crate::ide::expand(&crate::syntax::scan(plan)).to_string()
}

/// The plan with the cursor somewhere: with the marker there, and without it.
pub(super) struct Cursor {
    /// The position of the cursor, counted down during the walk.
    place: usize,
    /// `true` if the tokens after the cursor are kept.
    rest: bool,
    pub(super) found: bool,
    /// `true` if completion makes sense here.
    sensible: bool,
}

impl Cursor {
    pub(super) fn new(place: usize, rest: bool) -> Self {
        Self {
            place,
            rest,
            found: false,
            sensible: false,
        }
    }

    pub(super) fn walk(&mut self, stream: TokenStream, marker: bool) -> TokenStream {
        let mut out = TokenStream::new();
        let mut last = None;
        for tree in stream.into_iter().map(Some).chain([None]) {
            // Before the token, where no name is written yet.
            if self.arrives() {
                let follows = match &tree {
                    Some(TokenTree::Ident(name)) => name == "step",
                    Some(TokenTree::Group(_)) => false,
                    _ => true,
                };
                let ended = match &last {
                    None => true,
                    // `::` is one token.
                    Some(TokenTree::Punct(punct)) => punct.spacing() == Spacing::Alone,
                    Some(_) => false,
                };
                self.sensible = follows && ended;
                if marker {
                    out.extend([Ident::new(MARKER, Span::call_site())].map(TokenTree::from));
                }
            }
            if self.found && !self.rest {
                return out;
            }
            let Some(tree) = tree else { break };
            let tree = match tree {
                TokenTree::Group(group) => {
                    let mut new = Group::new(group.delimiter(), self.walk(group.stream(), marker));
                    new.set_span(group.span());
                    TokenTree::Group(new)
                }
                // At the end of the name.
                TokenTree::Ident(name) if self.arrives() => {
                    self.sensible = !["step", "pub", "if", "for", "in", "else", "await"]
                        .contains(&&*name.to_string());
                    let end = if marker { MARKER } else { "" };
                    TokenTree::Ident(Ident::new(&format!("{name}{end}"), name.span()))
                }
                other => other,
            };
            out.extend([tree.clone()]);
            last = Some(tree);
            if self.found && !self.rest {
                return out;
            }
        }
        out
    }

    fn arrives(&mut self) -> bool {
        let arrives = !self.found && self.place == 0;
        self.found |= arrives;
        self.place = self.place.saturating_sub(1);
        arrives
    }
}

/// Returns `true` for positions without completion: generated names, foreign attributes, and the inside of a token.
fn is_apart(text: &str) -> bool {
    let before = text.split(MARKER).next().unwrap_or_default();
    let words: Vec<&str> = before.split_whitespace().collect();
    let foreign = ["[doc", "[serde"]
        .iter()
        .any(|attribute| before.rfind(attribute) > before.rfind(']'));
    let made_up = matches!(
        words.as_slice(),
        [.., "step" | "pub", _] | [.., "step" | "pub"] | []
    );
    let midst = ["#", "!", "-", "[.", "[..", "json", "format", "null"];
    let midst = words
        .last()
        .is_some_and(|last| midst.contains(&last.trim_start_matches('(')));
    foreign || made_up || midst || !before.contains('(')
}

#[test]
fn a_marker_changes_nothing_before_it() {
    let plan = TokenStream::from_str(PLAN).expect("tokens");
    let mut changed = Vec::new();
    let mut tried = 0;
    for rest in [true, false] {
        for place in 0.. {
            let (mut with, mut without) = (Cursor::new(place, rest), Cursor::new(place, rest));
            let (marked, unmarked) = (
                with.walk(plan.clone(), true),
                without.walk(plan.clone(), false),
            );
            if !with.found {
                break;
            }
            let text = marked.to_string();
            if !with.sensible || is_apart(&text) {
                continue;
            }
            tried += 1;
            let (marked, unmarked) = (expanded(marked), expanded(unmarked));
            let before = marked
                .split_once(MARKER)
                .map(|(before, _)| before.trim_end());
            if !before.is_some_and(|before| unmarked.starts_with(before)) {
                let end = text.find(MARKER).unwrap_or_default() + MARKER.len();
                changed.push(text[end.saturating_sub(90)..end].to_owned());
            }
        }
    }
    assert!(tried > 250, "{tried}");
    assert!(
        changed.is_empty(),
        "{} of {tried}:\n{}",
        changed.len(),
        changed.join("\n")
    );
}
