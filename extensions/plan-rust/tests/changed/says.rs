//! The behavior of a printed plan: a second interpreter of the small language of these tests.

use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::HashMap;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Said {
    Number(u64),
    Bool(bool),
    Text(String),
    List(Vec<Said>),
    /// A missing value.
    Nothing,
}

impl Said {
    pub(super) fn json(&self) -> Value {
        match self {
            Self::Number(number) => json!(number),
            Self::Bool(holds) => json!(holds),
            Self::Text(text) => json!(text),
            Self::List(items) => items.iter().map(Self::json).collect(),
            Self::Nothing => Value::Null,
        }
    }
}

enum Expr {
    Number(u64),
    Name(String),
    Binary(char, Box<Expr>, Box<Expr>),
    Method(Box<Expr>, String),
    Index(Box<Expr>, usize),
    Format(String, Vec<Expr>),
}

enum Body {
    Call(Expr),
    For(Vec<String>, Expr, Box<Body>),
    If(
        Vec<(Option<Vec<String>>, Expr)>,
        Box<Body>,
        Option<Box<Body>>,
    ),
}

/// A plan read from the output of `Display` or `to_rust`, with the values for its run.
pub(super) struct Reading {
    steps: Vec<(String, Body)>,
    output: Expr,
    inputs: HashMap<String, Said>,
    known: RefCell<HashMap<String, Said>>,
    calls: RefCell<Vec<Said>>,
}

impl Reading {
    /// Returns the reading, or `None` for a plan from elsewhere.
    pub(super) fn of(text: &str, inputs: HashMap<String, Said>) -> Option<Self> {
        let lines = text
            .lines()
            .map(|line| line.split("//").next().unwrap_or_default());
        let body: Vec<&str> = lines
            .skip_while(|line| !line.trim().starts_with("step "))
            .collect();
        let tokens = tokens(&body.join("\n"))?;
        let mut parser = Parser { tokens, at: 0 };
        let mut steps = Vec::new();
        while parser.takes("step") {
            let name = parser.word()?;
            parser.takes("=").then_some(())?;
            steps.push((name, parser.body()?));
            parser.takes(";");
        }
        parser.takes("output");
        let output = parser.expr()?;
        while parser.takes("}") {}
        let (known, calls) = Default::default();
        (parser.at == parser.tokens.len()).then_some(Self {
            steps,
            output,
            inputs,
            known,
            calls,
        })
    }

    /// The arguments of all calls, in order, and the output.
    pub(super) fn outcome(&self) -> Option<(Vec<String>, Said)> {
        for (name, _) in &self.steps {
            self.name(name, &[])?;
        }
        let output = self.eval(&self.output, &[])?;
        let mut calls: Vec<String> = self.calls.borrow().iter().map(text).collect();
        calls.sort();
        Some((calls, output))
    }

    fn name(&self, name: &str, locals: &[(String, Said)]) -> Option<Said> {
        if let Some((_, value)) = locals.iter().rev().find(|(local, _)| local == name) {
            return Some(value.clone());
        }
        if let Some(value) = self.inputs.get(name) {
            return Some(value.clone());
        }
        if let Some(value) = self.known.borrow().get(name) {
            return Some(value.clone());
        }
        if let Some((_, body)) = self.steps.iter().find(|(id, _)| id == name) {
            let value = self.run(body, &mut Vec::new())?;
            self.known
                .borrow_mut()
                .insert(name.to_owned(), value.clone());
            return Some(value);
        }
        (name == "LIMIT").then_some(Said::Number(super::LIMIT))
    }

    fn run(&self, body: &Body, locals: &mut Vec<(String, Said)>) -> Option<Said> {
        let around = locals.len();
        match body {
            Body::Call(argument) => {
                let value = self.eval(argument, locals)?;
                self.calls.borrow_mut().push(value.clone());
                Some(match value {
                    Said::Text(_) => Said::Number(1),
                    value => value,
                })
            }
            Body::For(pattern, list, body) => {
                let Said::List(items) = self.eval(list, locals)? else {
                    return None;
                };
                let mut outputs = Vec::new();
                for item in items {
                    bind(pattern, item, locals);
                    outputs.push(self.run(body, locals)?);
                    locals.truncate(around);
                }
                Some(Said::List(outputs))
            }
            Body::If(conditions, body, otherwise) => {
                let mut holds = true;
                for (pattern, condition) in conditions {
                    holds = match (pattern, self.eval(condition, locals)?) {
                        (None, Said::Bool(holds)) => holds,
                        (Some(_), Said::Nothing) => false,
                        (Some(pattern), value) => {
                            bind(pattern, value, locals);
                            true
                        }
                        _ => return None,
                    };
                    if !holds {
                        break;
                    }
                }
                let taken = if holds {
                    Some(body)
                } else {
                    otherwise.as_ref()
                };
                let value = taken.map_or(Some(Said::Nothing), |body| self.run(body, locals));
                locals.truncate(around);
                value
            }
        }
    }

    fn eval(&self, expr: &Expr, locals: &[(String, Said)]) -> Option<Said> {
        Some(match expr {
            Expr::Number(number) => Said::Number(*number),
            Expr::Name(name) => self.name(name, locals)?,
            Expr::Binary(sign, a, b) => {
                let (Said::Number(a), Said::Number(b)) =
                    (self.eval(a, locals)?, self.eval(b, locals)?)
                else {
                    return None;
                };
                match sign {
                    '+' => Said::Number(a + b),
                    '*' => Said::Number(a * b),
                    _ => Said::Bool(a > b),
                }
            }
            Expr::Method(of, method) => match (method.as_str(), self.eval(of, locals)?) {
                ("iter", list @ Said::List(_)) => list,
                ("first", Said::List(items)) => items.first().cloned().unwrap_or(Said::Nothing),
                ("enumerate", Said::List(items)) => {
                    let pairs = (0..)
                        .zip(items)
                        .map(|(i, item)| Said::List(vec![Said::Number(i), item]));
                    Said::List(pairs.collect())
                }
                _ => return None,
            },
            Expr::Index(of, index) => match self.eval(of, locals)? {
                Said::List(items) => items.get(*index)?.clone(),
                _ => return None,
            },
            Expr::Format(format, arguments) => {
                let mut arguments = arguments.iter();
                let mut parts = format.split('{');
                let mut written = parts.next()?.to_owned();
                for part in parts {
                    let (inside, after) = part.split_once('}')?;
                    let (name, spec) = inside.split_once(':').unwrap_or((inside, ""));
                    let value = match name {
                        "" => self.eval(arguments.next()?, locals)?,
                        name => self.name(name, locals)?,
                    };
                    let value = text(&value);
                    written.push_str(&match (spec.split_at_checked(1), value) {
                        (None, value) => value,
                        (Some((">", width)), value) => format!("{value:>0$}", width.parse().ok()?),
                        (Some(("<", width)), value) => format!("{value:<0$}", width.parse().ok()?),
                        _ => return None,
                    });
                    written.push_str(after);
                }
                Said::Text(written)
            }
        })
    }
}

/// A run takes a value apart where a name of the pattern is read.
fn bind(pattern: &[String], value: Said, locals: &mut Vec<(String, Said)>) {
    let parts = match (pattern, value) {
        ([_], value) => vec![value],
        (names, Said::List(parts)) if names.len() == parts.len() => parts,
        (names, _) => vec![Said::Nothing; names.len()],
    };
    locals.extend(pattern.iter().cloned().zip(parts));
}

fn text(value: &Said) -> String {
    match value {
        Said::Number(number) => number.to_string(),
        Said::Text(text) => text.clone(),
        other => format!("{other:?}"),
    }
}

/// Words, numbers, strings with their quotes, and signs.
fn tokens(text: &str) -> Option<Vec<String>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c == '_' || c.is_alphanumeric();
        let length = match first {
            '"' => rest[1..].find('"')? + 2,
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            _ if rest.starts_with("..") || rest.starts_with("&&") => 2,
            c => c.len_utf8(),
        };
        tokens.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    Some(tokens)
}

struct Parser {
    tokens: Vec<String>,
    at: usize,
}

impl Parser {
    fn next_is(&self, token: &str) -> bool {
        self.tokens.get(self.at).is_some_and(|next| next == token)
    }

    fn takes(&mut self, token: &str) -> bool {
        let takes = self.next_is(token);
        self.at += usize::from(takes);
        takes
    }

    fn needs(&mut self, token: &str) -> Option<()> {
        self.takes(token).then_some(())
    }

    fn token(&mut self) -> Option<String> {
        self.at += 1;
        self.tokens.get(self.at - 1).cloned()
    }

    fn word(&mut self) -> Option<String> {
        self.token()
            .filter(|token| token.starts_with(|c: char| c == '_' || c.is_alphabetic()))
    }

    fn body(&mut self) -> Option<Body> {
        if self.takes("for") {
            let pattern = self.pattern()?;
            self.needs("in")?;
            return Some(Body::For(pattern, self.expr()?, self.block()?.into()));
        }
        if self.takes("if") {
            let mut conditions = Vec::new();
            loop {
                let pattern = if self.takes("let") {
                    let pattern = self.pattern()?;
                    self.needs("=")?;
                    Some(pattern)
                } else {
                    None
                };
                conditions.push((pattern, self.expr()?));
                if !self.takes("&&") {
                    break;
                }
            }
            let body = self.block()?.into();
            let otherwise = if self.takes("else") {
                Some(self.block()?.into())
            } else {
                None
            };
            return Some(Body::If(conditions, body, otherwise));
        }
        self.word()
            .filter(|tool| ["record", "note"].contains(&&*tool.to_lowercase()))?;
        let is_rust = self.takes("{");
        self.word()
            .filter(|argument| ["value", "text"].contains(&&**argument))?;
        self.needs(":")?;
        let argument = self.expr()?;
        if is_rust {
            self.takes(",");
            self.takes("..");
            self.needs("}")?;
        }
        Some(Body::Call(argument))
    }

    fn block(&mut self) -> Option<Body> {
        self.needs("{")?;
        let body = self.body()?;
        self.needs("}")?;
        Some(body)
    }

    fn pattern(&mut self) -> Option<Vec<String>> {
        if self.takes("Some") {
            self.needs("(")?;
            let pattern = self.pattern()?;
            self.needs(")")?;
            return Some(pattern);
        }
        if !self.takes("(") {
            return Some(vec![self.word()?]);
        }
        let mut names = vec![self.word()?];
        while self.takes(",") {
            names.push(self.word()?);
        }
        self.needs(")")?;
        Some(names)
    }

    fn expr(&mut self) -> Option<Expr> {
        self.binary(&['>', '+', '*'])
    }

    fn binary(&mut self, signs: &[char]) -> Option<Expr> {
        let [sign, tighter @ ..] = signs else {
            return self.postfix();
        };
        let mut expr = self.binary(tighter)?;
        while self.takes(&sign.to_string()) {
            expr = Expr::Binary(*sign, expr.into(), self.binary(tighter)?.into());
        }
        Some(expr)
    }

    fn postfix(&mut self) -> Option<Expr> {
        let first = self.token()?;
        let mut expr = match first.parse() {
            Ok(number) => Expr::Number(number),
            Err(_) if first == "format" => {
                self.needs("!")?;
                self.needs("(")?;
                let format = self.token()?.trim_matches('"').to_owned();
                let mut arguments = Vec::new();
                while self.takes(",") && !self.next_is(")") {
                    arguments.push(self.expr()?);
                }
                self.needs(")")?;
                Expr::Format(format, arguments)
            }
            Err(_) if first.starts_with(char::is_alphabetic) => Expr::Name(first),
            Err(_) => return None,
        };
        loop {
            if self.takes(".") {
                let method = self.word()?;
                self.needs("(")?;
                self.needs(")")?;
                expr = Expr::Method(expr.into(), method);
            } else if self.takes("[") {
                if !self.takes("..") {
                    expr = Expr::Index(expr.into(), self.token()?.parse().ok()?);
                }
                self.needs("]")?;
            } else if self.takes("as") {
                self.needs("u64")?;
            } else {
                return Some(expr);
            }
        }
    }
}
