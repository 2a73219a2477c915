//! The expected source, token by token, from the plan alone and independent of the layout.

use plan_runtime::Plan;
use plan_runtime::plan::{
    Action, Body, Condition, Key, Number, Optional, Part, Reference, Selector, Source, Step,
    Template,
};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::HashSet;

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// A name.
    Name(String),
    /// A literal.
    Literal(String),
    Sign(char),
}

fn flat(tokens: TokenStream, out: &mut Vec<Token>) {
    for tree in tokens {
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ('(', ')'),
                    Delimiter::Bracket => ('[', ']'),
                    Delimiter::Brace => ('{', '}'),
                    Delimiter::None => unreachable!(),
                };
                out.push(Token::Sign(open));
                flat(group.stream(), out);
                out.push(Token::Sign(close));
            }
            TokenTree::Ident(name) => out.push(Token::Name(name.to_string())),
            TokenTree::Literal(literal) => out.push(Token::Literal(literal.to_string())),
            TokenTree::Punct(sign) => out.push(Token::Sign(sign.as_char())),
        }
    }
}

/// Returns an error if a source differs from the plan.
pub(crate) fn check(plan: &Plan, source: &str) -> Result<(), String> {
    let bad = |c: char| {
        c.is_control() && c != '\n' || "\u{202e}\u{2066}\u{200b}\u{2028}\u{feff}".contains(c)
    };
    if source.contains(bad) {
        return Err("a character that nobody sees".to_owned());
    }
    let item: syn::ItemMacro = syn::parse_str(source).map_err(|e| e.to_string())?;
    if !item.mac.path.is_ident("plan") || !item.attrs.is_empty() {
        return Err("more than a plan".to_owned());
    }
    let mut tokens = Vec::new();
    flat(item.mac.tokens, &mut tokens);
    let mut reader = Reader {
        plan,
        tokens,
        at: 0,
        inputs: Vec::new(),
        steps: Vec::new(),
        locals: Vec::new(),
    };
    reader.names();
    let end = reader.tokens.len();
    reader.all().and_then(|()| {
        if reader.at == end {
            Ok(())
        } else {
            reader.wrong("the end")
        }
    })
}

struct Reader<'p> {
    plan: &'p Plan,
    tokens: Vec<Token>,
    at: usize,
    inputs: Vec<String>,
    steps: Vec<String>,
    /// The patterns around, and whether what they are of is computed.
    locals: Vec<(String, bool)>,
}

type Checked = Result<(), String>;

impl Reader<'_> {
    fn wrong<T>(&self, meant: &str) -> Result<T, String> {
        let from = self.at.saturating_sub(6);
        let found = self.tokens.get(from..(self.at + 3).min(self.tokens.len()));
        Err(format!("{meant} is expected at the last of {found:?}"))
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn sign(&mut self, sign: char) -> Checked {
        if self.peek() != Some(&Token::Sign(sign)) {
            return self.wrong(&sign.to_string());
        }
        self.at += 1;
        Ok(())
    }

    fn signs(&mut self, signs: &str) -> Checked {
        signs.chars().try_for_each(|sign| self.sign(sign))
    }

    fn has(&mut self, sign: char) -> bool {
        let has = self.peek() == Some(&Token::Sign(sign));
        self.at += usize::from(has);
        has
    }

    fn name(&mut self) -> Result<String, String> {
        match self.peek() {
            Some(Token::Name(name)) => {
                let name = name.clone();
                self.at += 1;
                Ok(name)
            }
            _ => self.wrong("a name"),
        }
    }

    fn word(&mut self, word: &str) -> Checked {
        if self.name()? == word {
            Ok(())
        } else {
            self.wrong(word)
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let Some(Token::Literal(literal)) = self.peek() else {
            return self.wrong("a literal");
        };
        let Ok(literal) = syn::parse_str::<syn::LitStr>(literal) else {
            return self.wrong("a string");
        };
        self.at += 1;
        Ok(literal.value())
    }

    fn text(&mut self, text: &str) -> Checked {
        if self.string()? == text {
            Ok(())
        } else {
            self.wrong(text)
        }
    }

    /// Reads exactly these tokens; a comma at the end of a list does not count.
    fn code(&mut self, code: &str) -> Checked {
        let mut meant = Vec::new();
        let tokens: TokenStream = code.parse().map_err(|_| format!("{code} is not Rust"))?;
        flat(tokens, &mut meant);
        for (index, token) in meant.iter().enumerate() {
            if self.peek() == Some(token) {
                self.at += 1;
                continue;
            }
            let comma = Token::Sign(',');
            let closes =
                |token: Option<&Token>| matches!(token, Some(Token::Sign(')' | ']' | '}')));
            let string = |token: Option<&Token>| match token {
                Some(Token::Literal(text)) => syn::parse_str::<syn::LitStr>(text).ok(),
                _ => None,
            };
            if *token == comma && closes(meant.get(index + 1)) {
                continue;
            }
            if self.peek() == Some(&comma) && self.tokens.get(self.at + 1) == Some(token) {
                self.at += 2;
                continue;
            }
            // A string may be written in another way.
            let (found, meant) = (string(self.peek()), string(Some(token)));
            if found.is_some() && found.map(|it| it.value()) == meant.map(|it| it.value()) {
                self.at += 1;
                continue;
            }
            return self.wrong(code);
        }
        Ok(())
    }

    /// The names under which the source has inputs and steps.
    fn names(&mut self) {
        let mut depth = 0;
        for (at, pair) in self.tokens.windows(2).enumerate() {
            let before = at.checked_sub(1).map(|at| &self.tokens[at]);
            let begins = matches!(before, Some(Token::Sign('{' | ';' | ']')));
            match pair {
                [Token::Sign('(' | '[' | '{'), _] => depth += 1,
                [Token::Sign(')' | ']' | '}'), _] => depth -= 1,
                _ => {}
            }
            match pair {
                [Token::Name(word), Token::Name(name)]
                    if word == "step" && depth == 1 && begins =>
                {
                    self.steps.push(name.clone());
                }
                _ => {}
            }
        }
    }

    fn all(&mut self) -> Checked {
        let plan = self.plan;
        self.docs(&plan.description)?;
        self.word("pub")?;
        self.name()?;
        self.sign('(')?;
        for (index, input) in plan.inputs.iter().enumerate() {
            if index > 0 {
                self.sign(',')?;
            }
            self.docs(&input.description)?;
            let name = self.name()?;
            self.inputs.push(name);
            self.sign(':')?;
            self.code(if input.type_name.is_empty() {
                "String"
            } else {
                &input.type_name
            })?;
        }
        self.has(',');
        self.sign(')')?;
        let plain: HashSet<&str> = self
            .inputs
            .iter()
            .chain(&self.steps)
            .map(|name| name.trim_start_matches("r#"))
            .collect();
        if self.steps.len() != plan.steps.len()
            || plain.len() != self.steps.len() + self.inputs.len()
        {
            return Err(format!(
                "names that are not as many as steps: {:?}",
                self.steps
            ));
        }
        let gives = self.has('-');
        if gives {
            self.sign('>')?;
            self.output_type()?;
        }
        self.sign('{')?;
        for (index, step) in plan.steps.iter().enumerate() {
            self.step(index, step)?;
        }
        if gives {
            self.tail()?;
        }
        self.sign('}')
    }

    fn output_type(&mut self) -> Checked {
        let plan = self.plan;
        if !plan.output.type_name.is_empty() {
            return self.code(&plan.output.type_name);
        }
        // The whole of an input has the type of the input.
        if let Template::Reference(reference) = &plan.output.value
            && let (Source::Input(input), true) = (reference.source, reference.path.is_empty())
            && !plan.inputs[input].type_name.is_empty()
        {
            return self.code(&plan.inputs[input].type_name);
        }
        let mut reader = 0;
        // `serde_json::Value`, `<Tool as plan_runtime::Tool>::Output`, or a plain type.
        while self.peek() != Some(&Token::Sign('{')) {
            match self.peek() {
                Some(Token::Name(_) | Token::Sign(':' | '<' | '>')) if reader < 20 => self.at += 1,
                _ => return self.wrong("the type of the output"),
            }
            reader += 1;
        }
        Ok(())
    }

    fn tail(&mut self) -> Checked {
        match self.plan.output.value.clone() {
            value @ (Template::List(_) | Template::Null)
                if self.plan.output.type_name.is_empty() =>
            {
                self.json_macro(&value)
            }
            value => self.value(&value),
        }
    }

    /// Reads one doc comment for each line, whose content without markup is the line.
    fn docs(&mut self, text: &str) -> Checked {
        for line in text.trim_end().lines() {
            self.signs("#[")?;
            self.word("doc")?;
            self.sign('=')?;
            let said = self.string()?;
            self.sign(']')?;
            let (shown, meant) = (shown(&said)?, super::docs::seen(line.trim()));
            if shown.trim() != meant.trim() {
                return Err(format!("{said:?} says {shown:?} instead of {meant:?}"));
            }
        }
        Ok(())
    }

    fn step(&mut self, index: usize, step: &Step) -> Checked {
        self.docs(&step.intent)?;
        while self.has('#') {
            self.sign('[')?;
            let name = self.name()?;
            match name.as_str() {
                "after" | "optional" | "retry" | "timeout" | "deadline" | "concurrency" => {
                    let mut left = 40;
                    while !self.has(']') {
                        let fine = matches!(
                            self.peek(),
                            Some(
                                Token::Name(_)
                                    | Token::Literal(_)
                                    | Token::Sign('(' | ')' | ',' | '=')
                            )
                        );
                        if !fine || left == 0 {
                            return self.wrong("an attribute");
                        }
                        (self.at, left) = (self.at + 1, left - 1);
                    }
                }
                "fallback" => {
                    self.sign('(')?;
                    let fallback = step.policy.fallback.clone().ok_or("no fallback")?;
                    self.value(&fallback)?;
                    self.signs(")]")?;
                }
                _ => return self.wrong("an attribute of a step"),
            }
        }
        self.word("step")?;
        self.word(&self.steps[index].clone())?;
        if self.has(':') {
            self.name()?;
        }
        self.sign('=')?;
        self.body(&step.body)?;
        self.sign(';')?;
        assert!(step.policy.optional != Optional::Each || matches!(step.body, Body::For(_)));
        Ok(())
    }

    fn body(&mut self, body: &Body) -> Checked {
        match body {
            Body::Action(action) => self.action(action),
            Body::If(branches) => {
                for (index, branch) in branches.iter().enumerate() {
                    if index > 0 {
                        self.word("else")?;
                    }
                    let around = self.locals.len();
                    self.conditions(&branch.conditions, index)?;
                    self.sign('{')?;
                    self.body(&branch.body)?;
                    self.sign('}')?;
                    self.locals.truncate(around);
                }
                Ok(())
            }
            Body::For(each) => {
                self.word("for")?;
                self.code(&each.pattern)?;
                self.word("in")?;
                self.value(&each.list)?;
                self.bind(&each.pattern, &each.list);
                self.sign('{')?;
                self.body(&each.body)?;
                self.locals.pop();
                self.sign('}')
            }
            other => panic!("{other:?}"),
        }
    }

    fn conditions(&mut self, conditions: &[Condition], index: usize) -> Checked {
        if !conditions.is_empty() || index == 0 {
            self.word("if")?;
        }
        if conditions.is_empty() && index == 0 {
            self.word("true")?;
        }
        for (place, condition) in conditions.iter().enumerate() {
            if place > 0 {
                self.signs("&&")?;
            }
            match condition {
                Condition::Holds(test) if conditions.len() == 1 => self.value(test)?,
                Condition::Holds(test) => self.operand(test)?,
                Condition::Let { pattern, value } => {
                    self.word("let")?;
                    self.code(pattern)?;
                    self.sign('=')?;
                    self.operand(value)?;
                    self.bind(pattern, value);
                }
                other => panic!("{other:?}"),
            }
        }
        Ok(())
    }

    /// A value between two `&&`, in parentheses if it is code that would not end there.
    fn operand(&mut self, value: &Template) -> Checked {
        let Template::Computed(computed) = value else {
            return self.value(value);
        };
        let alone = syn::parse_str::<syn::Expr>(computed.written()).map_err(|e| e.to_string())?;
        let reaches_on = match &alone {
            syn::Expr::Binary(both) => matches!(both.op, syn::BinOp::And(_) | syn::BinOp::Or(_)),
            syn::Expr::Assign(_)
            | syn::Expr::Break(_)
            | syn::Expr::Closure(_)
            | syn::Expr::Range(_)
            | syn::Expr::Return(_) => true,
            _ => false,
        };
        let start = self.at;
        if !reaches_on && self.code(computed.written()).is_ok() {
            return Ok(());
        }
        self.at = start;
        self.sign('(')?;
        self.code(computed.written())?;
        self.sign(')')
    }

    fn bind(&mut self, pattern: &str, value: &Template) {
        let computed = matches!(value, Template::Computed(_));
        // Comments and spaces have no meaning.
        let tokens: TokenStream = pattern.parse().unwrap_or_default();
        let spaced = [(" (", "("), ("( ", "("), (" )", ")"), (" ,", ",")];
        let text = spaced.iter().fold(tokens.to_string(), |text, (from, to)| {
            text.replace(from, to)
        });
        self.locals.push((text, computed));
    }

    fn action(&mut self, action: &Action) -> Checked {
        if action.tool.is_none() {
            return self.value(&action.args);
        }
        self.name()?;
        self.sign('{')?;
        let Template::Object(entries) = &action.args else {
            return self.sign('}');
        };
        for (index, entry) in entries.iter().enumerate() {
            if index > 0 {
                self.sign(',')?;
            }
            let Key::Name(key) = &entry.key else {
                return Err("a key without a name".to_owned());
            };
            let field = self.name()?;
            spelled(&field, key)?;
            if self.has(':') {
                self.value(&entry.value)?;
            } else {
                self.at -= 1;
                self.value(&entry.value)?;
            }
        }
        if self.has(',') && !self.has('.') {
            return self.sign('}');
        }
        // The `..`, whose first dot may have been read.
        while self.has('.') {}
        self.sign('}')
    }

    fn value(&mut self, template: &Template) -> Checked {
        match template {
            Template::Null => self.word("None"),
            Template::Bool(value) => self.word(&value.to_string()),
            Template::Number(number) => self.number(*number),
            Template::String(text) => self.text(text),
            Template::List(items) => {
                self.sign('[')?;
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.sign(',')?;
                    }
                    self.value(item)?;
                }
                self.has(',');
                self.sign(']')
            }
            Template::Object(_) => self.json_macro(template),
            Template::Tagged(..) => Err("no reader makes this".to_owned()),
            Template::Reference(reference) => self.reference(reference),
            Template::Text(parts) => self.format(parts),
            Template::Computed(computed) => self.code(computed.written()),
            other => panic!("{other:?}"),
        }
    }

    fn number(&mut self, number: Number) -> Checked {
        let text = match number {
            Number::Unsigned(value) => value.to_string(),
            Number::Signed(value) => value.to_string(),
            Number::Float(value) => format!("{value:?}"),
        };
        self.code(&text)
    }

    fn json_macro(&mut self, template: &Template) -> Checked {
        self.word("json")?;
        self.signs("!(")?;
        self.json(template)?;
        self.sign(')')
    }

    fn json(&mut self, template: &Template) -> Checked {
        match template {
            Template::Null => self.word("null"),
            Template::List(items) => {
                self.sign('[')?;
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.sign(',')?;
                    }
                    self.json(item)?;
                }
                self.sign(']')
            }
            Template::Object(entries) => {
                self.sign('{')?;
                for (index, entry) in entries.iter().enumerate() {
                    if index > 0 {
                        self.sign(',')?;
                    }
                    let Key::Name(key) = &entry.key else {
                        return Err("a key without a name".to_owned());
                    };
                    self.text(key)?;
                    self.sign(':')?;
                    self.json(&entry.value)?;
                }
                self.sign('}')
            }
            other => self.value(other),
        }
    }

    fn format(&mut self, parts: &[Part]) -> Checked {
        self.word("format")?;
        self.signs("!(")?;
        let said = self.string()?;
        let mut rest = said.as_str();
        for part in parts {
            let (value, spec) = match part {
                Part::Literal(text) => {
                    let escaped = text.replace('{', "{{").replace('}', "}}");
                    rest = rest
                        .strip_prefix(&*escaped)
                        .ok_or(format!("{said:?} has no {text:?}"))?;
                    continue;
                }
                Part::Value { value, spec, .. } => (value, spec),
            };
            let (inside, after) = rest
                .strip_prefix('{')
                .and_then(|rest| rest.split_once('}'))
                .ok_or(format!("{said:?} has no value"))?;
            rest = after;
            let (name, format) = inside.split_once(':').unwrap_or((inside, ""));
            if *format != **spec {
                return Err(format!("{said:?} has not {spec:?}"));
            }
            match name {
                "" => {
                    self.sign(',')?;
                    self.value(value)?;
                }
                name => {
                    let Template::Reference(reference) = value else {
                        return Err(format!("{name} is not a reference"));
                    };
                    if self.root(reference)?.0 != name {
                        return Err(format!("{name} is another"));
                    }
                }
            }
        }
        if !rest.is_empty() {
            return Err(format!("{said:?} has more at the end"));
        }
        self.has(',');
        self.sign(')')
    }

    /// Returns the first name of a reference, and the number of its segments.
    fn root(&self, reference: &Reference) -> Result<(String, usize), String> {
        let name = match reference.source {
            Source::Step(step) => self.steps[step].clone(),
            Source::Input(input) => self.inputs[input].clone(),
            Source::Local(depth) => {
                let (pattern, computed) = &self.locals[depth];
                let bare = |text: &str, start: &str| {
                    let inside = text.strip_prefix(start)?.strip_suffix(')')?;
                    Some(inside.to_owned())
                };
                let plain =
                    |name: &&str| syn::parse_str::<syn::Ident>(name).is_ok_and(|it| it == **name);
                let wrappers = ["Some(", "Ok(", "Err("];
                let wrapped = wrappers.iter().find_map(|open| bare(pattern, open));
                let is_wrapped = wrapped.is_some();
                let inside = wrapped.unwrap_or_else(|| pattern.clone());
                let part = match reference.path.first().map(|first| &first.selector) {
                    Some(Selector::Index(part)) => Some(*part),
                    _ => None,
                };
                let names = bare(&inside, "(").unwrap_or_default();
                let name = part.and_then(|part| names.split(',').map(str::trim).nth(part));
                match (computed, Some(&*inside).filter(plain), name.filter(plain)) {
                    (false, Some(whole), _) => whole.to_owned(),
                    // One name means the whole value even if code has found the value.
                    (true, Some(whole), _) if is_wrapped => {
                        return self.unhidden(whole.to_owned(), reference, 0);
                    }
                    (false, None, Some(name)) => {
                        return self.unhidden(name.to_owned(), reference, 1);
                    }
                    // The generator has one chain whose local value it reads.
                    (true, _, _) if pattern.is_empty() && part == Some(0) => "m".to_owned(),
                    (true, _, _) => {
                        let name = part.and_then(|part| bound(pattern).into_iter().nth(part));
                        name.ok_or_else(|| format!("a part of `{pattern}`"))?
                    }
                    _ => return Err(format!("a part of `{pattern}`")),
                }
            }
            other => panic!("{other:?}"),
        };
        let skipped = matches!(reference.source, Source::Local(depth) if self.locals[depth].1);
        self.unhidden(name, reference, usize::from(skipped))
    }

    /// Sees to it that nothing around binds the name again.
    fn unhidden(
        &self,
        name: String,
        reference: &Reference,
        skipped: usize,
    ) -> Result<(String, usize), String> {
        let shadowed = |depth: &usize| reference.source != Source::Local(*depth);
        let mut inside = (0..self.locals.len()).filter(shadowed);
        if inside.any(|depth| self.locals[depth].0 == name) {
            return Err(format!("`{name}` is another one here"));
        }
        Ok((name, skipped))
    }

    fn reference(&mut self, reference: &Reference) -> Checked {
        let (root, skipped) = self.root(reference)?;
        self.word(&root)?;
        let asked = match skipped.checked_sub(1) {
            Some(last) => reference.path[last].optional,
            None => reference.optional,
        };
        if asked {
            self.sign('?')?;
        }
        for segment in &reference.path[skipped..] {
            self.selector(&segment.selector)?;
            if segment.optional {
                self.sign('?')?;
            }
        }
        if reference.otherwise.is_some() {
            return Err("`else` cannot be expressed".to_owned());
        }
        Ok(())
    }

    fn selector(&mut self, selector: &Selector) -> Checked {
        let key = match selector {
            Selector::Each => return self.signs("[..]"),
            Selector::Key(key) => key.clone(),
            Selector::Index(index) => index.to_string(),
        };
        let close = if self.has('[') {
            ']'
        } else {
            self.sign('.')?;
            let field = self.name()?;
            if field != "get" || !self.has('(') {
                return spelled(&field, &key);
            }
            ')'
        };
        match selector {
            Selector::Index(_) => self.code(&key)?,
            _ => self.text(&key)?,
        }
        self.sign(close)
    }
}

/// The names that a pattern binds.
fn bound(pattern: &str) -> Vec<String> {
    struct Names(Vec<String>);
    impl syn::visit::Visit<'_> for Names {
        fn visit_pat_ident(&mut self, name: &syn::PatIdent) {
            let text = name.ident.to_string();
            if text.starts_with(|c: char| c.is_lowercase() || c == '_') || name.subpat.is_some() {
                self.0.push(text);
            }
            syn::visit::visit_pat_ident(self, name);
        }
    }
    let mut names = Names(Vec::new());
    let parsed = syn::parse::Parser::parse_str(syn::Pat::parse_multi_with_leading_vert, pattern);
    if let Ok(pattern) = parsed {
        syn::visit::Visit::visit_pat(&mut names, &pattern);
    }
    names.0
}

/// A field equals its key, except for the separation of words.
fn spelled(field: &str, key: &str) -> Checked {
    let letters = |text: &str| -> String {
        let letters = text.chars().flat_map(char::to_lowercase);
        letters.filter(|c| c.is_alphanumeric()).collect()
    };
    if letters(field.trim_start_matches("r#")) == letters(key) {
        Ok(())
    } else {
        Err(format!("`{field}` is not {key:?}"))
    }
}

/// Returns a rendered line of Markdown without markup, or an error if it has markup.
fn shown(line: &str) -> Result<String, String> {
    let line = line.strip_prefix(' ').unwrap_or(line);
    if line.starts_with([' ', '\t', '-', '+', '=']) {
        return Err(format!("{line:?} begins a block"));
    }
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if digits.len() < line.len() && digits.starts_with(['.', ')']) {
        return Err(format!("{line:?} begins a list"));
    }
    let mut shown = String::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().unwrap_or(' ');
        match c {
            '\\' if next.is_ascii_punctuation() => {
                shown.push(next);
                chars.next();
            }
            '_' if shown.ends_with(char::is_alphanumeric) && next.is_alphanumeric() => {
                shown.push(c);
            }
            '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '#' | '~' | '|' => {
                return Err(format!("{line:?} has a `{c}`"));
            }
            ':' if next == '/' => return Err(format!("{line:?} has an address")),
            c => shown.push(c),
        }
    }
    Ok(shown)
}
