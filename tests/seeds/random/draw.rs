//! Random plans: steps that fail or have random outputs, and arguments with random references.

use serde_json::{Map, Value, json};

/// A random number generator (SplitMix64) whose plans are the same in each run of the tests.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    /// Returns `true` with a probability of 1 in `times`.
    pub(crate) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn from<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// A part of a path.
#[derive(Clone, Debug)]
pub(crate) enum Token {
    Key(&'static str),
    Index(usize),
}

#[derive(Clone, Debug)]
pub(crate) enum Part {
    Text(String),
    Read {
        step: usize,
        path: Vec<Token>,
    },
    /// An input of the plan.
    Input(&'static str),
}

/// A string of the arguments.
#[derive(Clone, Debug)]
pub(crate) enum Words {
    Parts(Vec<Part>),
    /// A malformed reference. The document ignores it, and the strict profile refuses it.
    Near(String),
}

/// A value of the arguments.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    String(Words),
    Plain(Value),
    List(Vec<Node>),
    Object(Vec<(&'static str, Node)>),
}

pub(crate) struct Step {
    pub(crate) id: String,
    pub(crate) arguments: Node,
    /// The output as a string and as a JSON value; `None` if the tool fails.
    pub(crate) output: Option<(String, Value)>,
}

/// The forms that a dialect has.
pub(crate) struct Forms {
    pub(crate) embedded: bool,
    pub(crate) inputs: bool,
    /// Tools return strings, which need not be JSON.
    pub(crate) plain_text: bool,
    pub(crate) ids: &'static [&'static str],
    /// With `@` for the id of the first step.
    pub(crate) near: &'static [&'static str],
}

const KEYS: &[&str] = &["a", "b", "c_d", "id", "rows"];

const STRINGS: &[&str] = &[
    "",
    "x",
    "Sarah",
    "é😀",
    "5",
    "null",
    "$ref:s0",
    "${step[0].data}",
    "{{s0.result}}",
    "say \"hi\"",
    "back\\slash",
    "two\nlines",
];

/// Literal parts of strings.
const TEXTS: &[&str] = &["Re: ", " and ", "$5 ", "{x}", "a.b", "é", "\"", "\n"];

const PLAIN: &[&str] = &["It is sunny.", "", "007", "NaN", "{", "say \"hi\""];

fn value(draw: &mut Draw, depth: usize) -> Value {
    match draw.below(if depth == 0 { 5 } else { 9 }) {
        0 => Value::Null,
        1 => json!(draw.one_in(2)),
        2 => json!(draw.below(1_000)),
        3 => json!(draw.below(100) as f64 + 0.5),
        4 => json!(draw.from(STRINGS)),
        5 | 6 => (0..draw.below(4)).map(|_| value(draw, depth - 1)).collect(),
        _ => object(draw, depth),
    }
}

fn object(draw: &mut Draw, depth: usize) -> Value {
    let mut members = Map::new();
    for key in KEYS {
        let row = |draw: &mut Draw| json!([draw.from(STRINGS), draw.below(9)]);
        match *key {
            _ if draw.one_in(3) => {}
            "rows" => drop(members.insert("rows".into(), json!([row(draw), row(draw)]))),
            key => drop(members.insert(key.to_owned(), value(draw, depth - 1))),
        }
    }
    Value::Object(members)
}

/// Returns a random path. Most paths follow the output, and some paths continue beyond it.
fn path(draw: &mut Draw, output: Option<&Value>) -> Vec<Token> {
    let (mut path, mut at) = (Vec::new(), output);
    while path.len() < 4 && !draw.one_in(4) {
        let token = match at {
            Some(Value::Array(items)) if !draw.one_in(12) => {
                // Sometimes the first index after the list.
                let beyond = usize::from(items.is_empty() || draw.one_in(6));
                Token::Index(draw.below(items.len() + beyond))
            }
            Some(Value::Object(_)) => Token::Key(draw.from(KEYS)),
            _ if draw.one_in(3) => Token::Key(draw.from(KEYS)),
            _ => break,
        };
        at = at.and_then(|at| match token {
            Token::Key(key) => at.get(key),
            Token::Index(index) => at.get(index),
        });
        path.push(token);
    }
    path
}

struct Made<'a> {
    draw: &'a mut Draw,
    forms: &'a Forms,
    before: &'a [Step],
}

impl Made<'_> {
    fn read(&mut self) -> Part {
        let step = self.draw.below(self.before.len());
        let output = self.before[step].output.as_ref();
        let path = path(self.draw, output.map(|(_, value)| value));
        Part::Read { step, path }
    }

    fn words(&mut self) -> Words {
        let text = |draw: &mut Draw| Part::Text(draw.from(TEXTS).to_owned());
        if self.before.is_empty() || self.draw.one_in(5) {
            return Words::Parts(vec![text(self.draw)]);
        }
        if self.draw.one_in(25) {
            let text = self.draw.from(self.forms.near);
            return Words::Near(text.replace('@', &self.before[0].id));
        }
        if !self.forms.embedded || self.draw.one_in(2) {
            return Words::Parts(vec![self.read()]);
        }
        let parts = (0..1 + self.draw.below(4)).map(|_| match self.draw.below(5) {
            0 | 1 => text(self.draw),
            2 if self.forms.inputs => Part::Input(self.draw.from(&["title", "reply_message"])),
            _ => self.read(),
        });
        Words::Parts(parts.collect())
    }

    fn node(&mut self, depth: usize) -> Node {
        match self.draw.below(if depth == 0 { 5 } else { 7 }) {
            0 => Node::Plain(self.draw.from(&[5, 70]).into()),
            5 => Node::List(
                (0..self.draw.below(4))
                    .map(|_| self.node(depth - 1))
                    .collect(),
            ),
            6 => self.object(depth - 1),
            _ => Node::String(self.words()),
        }
    }

    fn object(&mut self, depth: usize) -> Node {
        let names = ["to", "subject", "body"];
        let members = names.into_iter().filter(|_| !self.draw.one_in(3));
        let members: Vec<&'static str> = members.collect();
        Node::Object(
            members
                .into_iter()
                .map(|name| (name, self.node(depth)))
                .collect(),
        )
    }
}

pub(crate) fn steps(draw: &mut Draw, forms: &Forms) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for place in 0..2 + draw.below(4) {
        let mut made = Made {
            draw,
            forms,
            before: &steps,
        };
        let arguments = made.object(2);
        let output = match draw.below(12) {
            0 => None,
            1 if forms.plain_text => Some(draw.from(PLAIN).to_owned()),
            2 | 3 => Some(value(draw, 3).to_string()),
            _ => Some(object(draw, 3).to_string()),
        };
        let json = |text: String| {
            let json = serde_json::from_str(&text).unwrap_or_else(|_| Value::from(text.as_str()));
            (text, json)
        };
        steps.push(Step {
            id: format!("{}{place}", draw.from(forms.ids)),
            arguments,
            output: output.map(json),
        });
    }
    steps
}
