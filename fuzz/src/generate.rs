//! Documents generated from bytes: plans and schemas that a changed byte leaves valid, which is rare for directly mutated documents.

use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Returns the input of a target: a document, or, after a zero, the document that `make` builds from the choices.
pub fn text(data: &[u8], make: fn(&mut Choices<'_>) -> String) -> Option<Cow<'_, str>> {
    match data {
        [0, choices @ ..] => Some(make(&mut Choices(choices)).into()),
        text => std::str::from_utf8(text).ok().map(Cow::Borrowed),
    }
}

/// Strings with a meaning in positions where they may have none.
pub(crate) const TEXTS: [&str; 24] = [
    "x",
    "",
    "a b",
    "漢字",
    "\n  step b = t",
    "\u{1b}[8m",
    "\u{202e}",
    "\u{200b}",
    "\r\0",
    "\"#",
    "*/ //",
    "```\nx\n```",
    "</script><b onclick=\"x\">",
    "{{a.result}}",
    "$ref:a",
    "${step[0].data}",
    "{x}",
    "..__rest",
    "__json0__",
    "x , y",
    "#[doc]",
    "let x",
    "\u{2028}",
    "self",
];
const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const TOOLS: [&str; 12] = [
    "t", "u", "fail", "panic", "hang", "list", "huge", "deep", "nothing", "typed", "nest", "busy",
];

/// The rest of the bytes; after the last one, each choice is the first option.
pub struct Choices<'d>(&'d [u8]);

impl Choices<'_> {
    fn below(&mut self, most: usize) -> usize {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        usize::from(*first) % most
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn is(&mut self) -> bool {
        self.below(2) == 1
    }

    /// Returns `true` rarely.
    fn seldom(&mut self) -> bool {
        self.below(6) == 5
    }

    fn text(&mut self) -> String {
        let mut text = self.of(&TEXTS).to_owned();
        while self.seldom() {
            text += self.of(&TEXTS);
        }
        text
    }

    fn object(&mut self, member: &mut dyn FnMut(&mut Self) -> Value) -> Value {
        let mut members = Map::new();
        for _ in 0..self.below(4) {
            let name = if self.seldom() {
                self.text()
            } else {
                self.of(&NAMES).to_owned()
            };
            members.insert(name, member(self));
        }
        Value::Object(members)
    }

    fn list(&mut self, item: &mut dyn FnMut(&mut Self) -> Value) -> Value {
        (0..self.below(4)).map(|_| item(self)).collect()
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 5 } else { 7 }) {
            0 => self.below(4).into(),
            1 => Value::Null,
            2 => self.is().into(),
            3 => self.of(&["", "x", "xyz", "1"]).into(),
            4 => 0.5.into(),
            5 => self.list(&mut |choices| choices.value(depth - 1)),
            _ => self.object(&mut |choices| choices.value(depth - 1)),
        }
    }

    fn schema(&mut self, depth: usize) -> Value {
        let mut keywords = Map::new();
        for _ in 0..1 + self.below(3) {
            let (name, keyword) = self.keyword(depth);
            keywords.insert(name.to_owned(), keyword);
        }
        Value::Object(keywords)
    }

    fn keyword(&mut self, depth: usize) -> (&'static str, Value) {
        let types = [
            "object", "integer", "string", "array", "null", "number", "boolean",
        ];
        match self.below(if depth == 0 { 7 } else { 16 }) {
            0 | 1 => ("type", self.of(&types).into()),
            2 => ("type", json!([self.of(&types), self.of(&types)])),
            3 => ("enum", json!([self.value(0), self.value(1)])),
            4 => ("const", self.value(0)),
            5 => {
                let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
                (self.of(&bounds), self.below(4).into())
            }
            6 => {
                let sizes = ["minLength", "maxLength", "minItems", "maxItems"];
                (self.of(&sizes), self.below(4).into())
            }
            7 | 8 => (
                "properties",
                self.object(&mut |choices| choices.schema(depth - 1)),
            ),
            9 => ("required", json!([self.of(&NAMES)])),
            10 => {
                if self.is() {
                    ("additionalProperties", self.schema(depth - 1))
                } else {
                    ("additionalProperties", false.into())
                }
            }
            11 => ("items", self.schema(depth - 1)),
            12 => (
                "prefixItems",
                json!([self.schema(depth - 1), self.schema(depth - 1)]),
            ),
            13 => ("$ref", self.of(&["#", "#/$defs/a", "#/$defs/b"]).into()),
            _ => {
                let choices = ["anyOf", "oneOf", "allOf"];
                let mut all = vec![self.schema(depth - 1)];
                while self.is() && all.len() < 10 {
                    all.push(self.schema(depth - 1));
                }
                (self.of(&choices), all.into())
            }
        }
    }
}

/// Generates a schema of arguments, a schema of an output, and a plan of one or two calls.
pub fn checked(choices: &mut Choices<'_>) -> String {
    let mut arguments = choices.schema(3);
    arguments["$defs"] = json!({ "a": choices.schema(2), "b": choices.schema(2) });
    let output = choices.schema(2);
    let mut given = choices.object(&mut |choices| choices.value(3));
    let mut steps = vec![json!({"id": "a", "tool": "t", "arguments": given})];
    if choices.is() {
        given[choices.of(&NAMES)] = choices.of(&["$ref:a", "$ref:a.a", "$ref:a.0"]).into();
        steps.push(json!({"id": "b", "tool": "u", "arguments": given}));
    }
    format!("{arguments}\n{output}\n{}", json!({ "steps": steps }))
}

/// Returns the options of a run, and the plan in plan JSON.
pub fn run(choices: &mut Choices<'_>) -> String {
    let first = char::from(b'0' + choices.below(75) as u8);
    format!("{first}{}", plan(choices))
}

/// Generates a plan in plan JSON.
pub fn plan(choices: &mut Choices<'_>) -> String {
    let mut known = Known::default();
    let mut inputs = Vec::new();
    for _ in 0..choices.below(3) {
        let name = format!("{}{}", choices.of(&["i", "input ", "fn"]), inputs.len());
        let ty = choices.of(&[
            "String",
            "Vec<u8>",
            "Option<Value>",
            "&str",
            "u8",
            "Duration",
        ]);
        inputs.push(json!({"name": name, "type": ty, "description": choices.text()}));
        known.sources.push(json!({ "input": name }));
    }
    let mut steps = Vec::new();
    for index in 0..1 + choices.below(5) {
        let id = if choices.seldom() {
            format!("{}{index}", choices.text())
        } else {
            format!("s{index}")
        };
        let mut step = known.work(choices, 3);
        step["id"] = id.clone().into();
        step["intent"] = choices.text().into();
        if choices.is() {
            known.policy(choices, &mut step["policy"]);
        }
        if let (true, Some(before)) = (choices.seldom(), known.steps.last()) {
            match choices.below(4) {
                0 => step["undo"] = json!(before),
                1 => step["always"] = true.into(),
                _ => step["after"] = json!([before]),
            }
        }
        steps.push(step);
        known.sources.push(json!({ "step": id }));
        known.steps.push(id);
    }
    let output = json!({ "value": known.template(choices, 2) });
    let (name, description) = (choices.text(), choices.text());
    let name = format!("p{name}");
    json!({"name": name, "description": description, "inputs": inputs, "steps": steps, "output": output})
        .to_string()
}

/// The names that a part of a plan may refer to.
#[derive(Default)]
struct Known {
    sources: Vec<Value>,
    steps: Vec<String>,
    locals: usize,
    /// The number of blocks' steps so far: each has a unique name.
    inside: usize,
}

impl Known {
    fn reference(&self, choices: &mut Choices<'_>) -> Value {
        let count = self.sources.len() + self.locals;
        if count == 0 {
            return Value::Null;
        }
        let place = choices.below(count);
        let local = || json!({ "local": place - self.sources.len() });
        let mut reference = self.sources.get(place).cloned().unwrap_or_else(local);
        let pointers = ["", "/a", "/0", "/0/0", "/a/b", "/4/x/0"];
        match choices.below(4) {
            0 => reference["path"] = json!(["a", { "each": "element" }, "b"]),
            _ => reference["pointer"] = choices.of(&pointers).into(),
        }
        json!({ "reference": reference })
    }

    fn template(&self, choices: &mut Choices<'_>, depth: usize) -> Value {
        match choices.below(if depth == 0 { 5 } else { 10 }) {
            0 => choices.below(300).into(),
            1 => choices.text().into(),
            2 => choices
                .of(&[Value::Null, true.into(), 0.5.into()].each_ref())
                .clone(),
            3 | 4 => self.reference(choices),
            5 => choices.list(&mut |choices| self.template(choices, depth - 1)),
            6 => {
                let part = |choices: &mut Choices<'_>| {
                    if choices.is() {
                        choices.text().into()
                    } else {
                        json!({ "value": self.reference(choices) })
                    }
                };
                json!({ "text": [part(choices), part(choices)] })
            }
            7 => self.test(choices, depth),
            _ => self.object(choices, depth),
        }
    }

    /// Generates a condition as data.
    fn test(&self, choices: &mut Choices<'_>, depth: usize) -> Value {
        let operand = |choices: &mut Choices<'_>| self.template(choices, depth - 1);
        match choices.below(4) {
            0 => {
                let operands = [operand(choices), operand(choices)];
                json!({ choices.of(&["all", "any"]): operands })
            }
            1 => json!({ "not": operand(choices) }),
            2 => {
                let sign = choices.of(&["==", "!=", "<", "<=", ">", ">="]);
                json!({ "compare": [operand(choices), sign, operand(choices)] })
            }
            _ => {
                let questions = ["is_some", "is_none", "is_ok", "is_err", "is_empty", "len"];
                json!({ choices.of(&questions): operand(choices) })
            }
        }
    }

    fn object(&self, choices: &mut Choices<'_>, depth: usize) -> Value {
        json!({ "object": choices.object(&mut |choices| self.template(choices, depth - 1)) })
    }

    /// Returns the body of a step, with the policy that it requires.
    fn work(&mut self, choices: &mut Choices<'_>, depth: usize) -> Value {
        match choices.below(12) {
            0 => json!({ "await": choices.of(&["u8", "Vec<String>", "&str", ""]) }),
            1 if depth > 0 => {
                let mut policy = json!({ "at_most": 1 + choices.below(3) });
                if choices.is() {
                    policy["every"] = "1s".into();
                }
                if choices.is() {
                    policy["collect"] = true.into();
                }
                json!({ "loop": self.round(choices, depth - 1), "policy": policy })
            }
            _ => self.body(choices, depth),
        }
    }

    fn body(&mut self, choices: &mut Choices<'_>, depth: usize) -> Value {
        match choices.below(if depth == 0 { 6 } else { 11 }) {
            10 => json!({ "block": self.block(choices, depth - 1) }),
            0..6 => {
                let tool = if choices.seldom() {
                    choices.text()
                } else {
                    choices.of(&TOOLS).to_owned()
                };
                let tool = json!({"name": tool, "description": choices.text()});
                json!({"tool": tool, "arguments": self.object(choices, 3)})
            }
            6 => json!({ "value": self.template(choices, 2) }),
            7 => {
                let condition = self.template(choices, 0);
                let then = self.body(choices, depth - 1);
                let other = self.body(choices, depth - 1);
                json!({ "if": [{ "condition": condition, "then": then }, { "then": other }] })
            }
            8 => {
                let value = self.template(choices, 0);
                self.locals += 1;
                let then = self.body(choices, depth - 1);
                self.locals -= 1;
                json!({ "if": [{ "pattern": choices.of(&["Some(x)", "Some( y )", "x"]), "value": value, "then": then }] })
            }
            _ => {
                let list = if choices.is() {
                    self.reference(choices)
                } else {
                    choices.list(&mut |choices| self.template(choices, 1))
                };
                self.locals += 1;
                let body = self.body(choices, depth - 1);
                self.locals -= 1;
                json!({ "for": { "pattern": choices.of(&["x", "y", "(x, y)"]), "list": list, "body": body } })
            }
        }
    }

    /// Returns steps that refer to each other and to enclosing names.
    fn block(&mut self, choices: &mut Choices<'_>, depth: usize) -> Value {
        let mut inside = self.inner();
        let block = inside.steps(choices, depth, self);
        self.inside = inside.inside;
        block
    }

    /// Generates a block with a condition, and sometimes with the value of the round before.
    fn round(&mut self, choices: &mut Choices<'_>, depth: usize) -> Value {
        let mut inside = self.inner();
        let last = choices.is().then(|| format!("last{}", inside.inside));
        if let Some(last) = &last {
            inside.inside += 1;
            inside.sources.push(json!({ "input": last }));
        }
        let mut round = inside.steps(choices, depth, self);
        if let Some(last) = last {
            round["last"] = last.into();
        }
        round["while"] = match choices.below(3) {
            0 => choices.is().into(),
            _ => inside.reference(choices),
        };
        self.inside = inside.inside;
        round
    }

    /// Returns the names in scope of a block here.
    fn inner(&self) -> Self {
        Self {
            sources: self.sources.clone(),
            steps: Vec::new(),
            locals: 0,
            inside: self.inside,
        }
    }

    /// Returns the members of a block with these names in scope.
    fn steps(&mut self, choices: &mut Choices<'_>, depth: usize, around: &Self) -> Value {
        let mut block = json!({});
        if choices.seldom() {
            let name = format!("given{}", self.inside);
            block["inputs"] = json!({});
            block["inputs"][&name] = around.template(choices, 1);
            self.sources.push(json!({ "input": name }));
        }
        let mut steps = Vec::new();
        for _ in 0..choices.below(3) {
            self.inside += 1;
            let id = format!("in {}", self.inside);
            let mut step = self.work(choices, depth);
            step["id"] = id.clone().into();
            if choices.seldom() {
                step["intent"] = choices.text().into();
                self.policy(choices, &mut step["policy"]);
            }
            if let (true, Some(before)) = (choices.seldom(), self.steps.last()) {
                step["after"] = json!([before]);
            }
            steps.push(step);
            self.sources.push(json!({ "step": id }));
            self.steps.push(id);
        }
        block["steps"] = steps.into();
        match choices.below(4) {
            0 => {}
            1 => block["tail"] = self.body(choices, depth),
            _ => block["value"] = self.template(choices, 1),
        }
        block
    }

    /// Generates a reference to an input, for an amount of a policy.
    fn given(&self, choices: &mut Choices<'_>) -> Option<Value> {
        let inputs: Vec<&Value> = self
            .sources
            .iter()
            .filter(|source| source.get("input").is_some())
            .collect();
        if inputs.is_empty() {
            return None;
        }
        let mut reference = choices.of(&inputs).clone();
        reference["pointer"] = choices.of(&["", "", "/a"]).into();
        Some(json!({ "reference": reference }))
    }

    /// Sets some members of a policy.
    fn policy(&self, choices: &mut Choices<'_>, policy: &mut Value) {
        if policy.is_null() {
            *policy = json!({});
        }
        let durations = ["1s", "0s", "2h", "30m"];
        for _ in 0..choices.below(4) {
            match choices.below(9) {
                0 => policy["attempts"] = choices.below(5).into(),
                1 => policy["backoff"] = choices.of(&durations).into(),
                2 => policy["timeout"] = choices.of(&durations).into(),
                3 => policy["deadline"] = choices.of(&durations).into(),
                4 => policy["optional"] = choices.of(&["whole", "each"]).into(),
                5 => policy["concurrency"] = choices.below(3).into(),
                6 if choices.is() => policy["catch"] = true.into(),
                6 => policy["catch"] = "each".into(),
                7 => {
                    let amounts = [
                        "attempts",
                        "backoff",
                        "max",
                        "timeout",
                        "deadline",
                        "concurrency",
                    ];
                    let amount = choices.of(&amounts);
                    if let Some(given) = self.given(choices) {
                        policy[amount] = given;
                    }
                }
                _ => policy["fallback"] = self.template(choices, 1),
            }
        }
    }
}
