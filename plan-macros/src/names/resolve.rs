//! Goes through all values of a plan and looks up what they name: a value that mentions an unknown name becomes [`Value::Broken`].

use super::caught::CaughtSteps;
use super::compared::ComparedPattern;
use super::frames::Frame;
use super::roles::LateSteps;
use super::{Frames, Meaning, Names, Source};
use super::{braces, caught, computed, each};
use crate::ast::{
    Block, BlockTail, Body, Branch, Capture, Captured, Computed, Condition, Field, Fields,
    FormatPart, Hop, Json, List, Local, Loop, Mention, Outcome, Plan, Reference, Rest, Role,
    Scalar, Step, Test, Value,
};
use crate::docs::text_of;
use crate::parse;
use crate::report::Report;
use proc_macro2::Span;
use quote::ToTokens;
use std::collections::HashSet;
use syn::ext::IdentExt;
use syn::{Expr, Ident, Lit, Pat, PatIdent};

/// Replaces all values that refer to unknown names by [`Value::Broken`], and calls of the plan itself; finds the names in computed values.
pub(crate) fn resolve(plan: &mut Plan, names: &Names, report: &mut Report) {
    let mut resolver = Resolver {
        names,
        caught: CaughtSteps::of(plan, names),
        forms: braces::Forms::of(plan),
        each_meant: HashSet::new(),
        elements: Vec::new(),
        late: LateSteps::of(plan),
        role: Role::Work,
        blocks: Vec::new(),
        own: plan.head.as_ref().map(|head| &head.name),
        frames: Frames::default(),
        mentions: Vec::new(),
        bound: Vec::new(),
        unused: Vec::new(),
        braces: Vec::new(),
        report,
    };
    plan.steps.iter_mut().for_each(|step| resolver.step(step));
    if let Some(tail) = &mut plan.tail {
        resolver.value(&mut tail.value);
        tail.mentions = resolver.mentions;
    }
    plan.bound = resolver.bound;
    plan.unused = resolver.unused;
    plan.braces = resolver.braces;
}

struct Resolver<'a> {
    names: &'a Names,
    caught: CaughtSteps,
    forms: braces::Forms,
    /// The steps whose `#[catch]` was reported to mean `#[catch(each)]`.
    each_meant: HashSet<Source>,
    /// The elements of such steps in the `for` around, and whether something asks for the `Result` of each.
    elements: Vec<(Ident, bool)>,
    late: LateSteps,
    /// What the plan's own step is for.
    role: Role,
    /// The blocks around, the innermost last.
    blocks: Vec<OpenBlock>,
    /// The name of the plan.
    own: Option<&'a Ident>,
    frames: Frames,
    /// What the values so far mention.
    mentions: Vec<Mention>,
    /// The names that are bound and not mentioned.
    bound: Vec<Ident>,
    unused: Vec<(Ident, bool)>,
    /// Texts that are probably meant as calls of `format!`.
    braces: Vec<(Span, String)>,
    report: &'a mut Report,
}

/// A block that is gone through.
struct OpenBlock {
    scope: usize,
    /// What the step in it is for.
    role: Role,
    /// How many frames are around it.
    frames: usize,
    captures: Vec<Capture>,
}

impl Resolver<'_> {
    fn step(&mut self, step: &mut Step) {
        let outside = std::mem::take(&mut self.mentions);
        let around = std::mem::replace(self.role(), std::mem::take(&mut step.role));
        self.after(&mut step.after, &step.name);
        match &mut step.body {
            Body::Loop(repeat) => {
                let collects = step.policy.collect.is_some();
                self.repeat(repeat, &step.name, step.number, collects);
            }
            body => self.body(body),
        }
        for (_, amount) in &mut step.policy.amounts {
            self.amount(amount);
        }
        if let Some((_, fallback)) = &mut step.policy.fallback {
            self.value(fallback);
        }
        step.role = std::mem::replace(self.role(), around);
        step.mentions = std::mem::replace(&mut self.mentions, outside);
    }

    /// What the innermost step is for.
    fn role(&mut self) -> &mut Role {
        match self.blocks.last_mut() {
            Some(block) => &mut block.role,
            None => &mut self.role,
        }
    }

    /// What the step is for that is here, in this block or around it.
    fn role_in(&self, scope: usize) -> &Role {
        role_in(&self.blocks, &self.role, scope)
    }

    fn block(&mut self, block: &mut Block, then: impl FnOnce(&mut Self)) {
        let around = std::mem::replace(&mut self.frames.scope, block.scope);
        self.blocks.push(OpenBlock {
            scope: block.scope,
            role: Role::Work,
            frames: self.frames.count(),
            captures: Vec::new(),
        });
        for step in &mut block.steps {
            self.step(step);
            let mentions = step.mentions.iter();
            let outside =
                mentions.filter(|mention| self.names.scope_of(mention.source) != block.scope);
            self.mentions.extend(outside.map(|mention| Mention {
                name: mention.name.clone(),
                ..*mention
            }));
        }
        self.tail(block);
        then(self);
        self.frames.scope = around;
        let open = self.blocks.pop();
        block.captures = open.map_or_else(Vec::new, |open| open.captures);
    }

    /// The loop that a step of this name and number is.
    fn repeat(&mut self, repeat: &mut Loop, name: &Ident, number: usize, collects: bool) {
        if let (BlockTail::Name(tail), Some(last)) = (&repeat.round.tail, &repeat.last)
            && tail.unraw() == last.unraw()
            && self.names.own(repeat.round.scope, tail).is_none()
        {
            self.report.error(tail, outside(&text_of(tail)));
            repeat.round.tail = BlockTail::Broken;
        }
        // Nothing is known of the value of the round before if the block does not end with a value of its own.
        let is_broken = match &repeat.round.tail {
            BlockTail::Broken => true,
            BlockTail::Name(tail) => {
                let scope = repeat.round.scope;
                self.names.own(scope, tail).is_none() || self.names.is_broken(scope, tail)
            }
            BlockTail::None | BlockTail::Step | BlockTail::Value(_) => false,
        };
        if let Some(last) = &repeat.last {
            let names = vec![(text_of(last), None)];
            self.frames.enter(Frame::new(names, is_broken));
        }
        let scope = repeat.round.scope;
        let (again, again_scope, last) = (&mut repeat.again, repeat.scope, &repeat.last);
        let mut mentions = Vec::new();
        self.block(&mut repeat.round, |it| {
            it.frames.scope = again_scope;
            let before = it.mentions.len();
            it.truth(again);
            it.round_before(again, last, name, collects);
            mentions = it.mentions.split_off(before);
        });
        // The value of the round before is the first input.
        if let Some(last) = &repeat.last
            && let Meaning::Local(last) = self.names.find(last, &self.frames)
        {
            let is_other = |capture: &Capture| capture.of != Captured::Local(last);
            repeat.round.captures.sort_by_key(is_other);
        }
        let text = text_of(name);
        for mention in mentions {
            if self.names.scope_of(mention.source) != scope {
                self.mentions.push(mention);
            } else if collects && text_of(&mention.name) == text {
                self.report.error(
                    &mention.name,
                    format!("`{text}` is the list of all rounds, incomplete here\nhelp: use a step of the block"),
                );
                repeat.again = Value::Broken;
            } else {
                repeat.mentions.push(mention);
            }
        }
        let own = Source::Step(number);
        let mut seen = false;
        self.mentions.retain(|mention| {
            let is_own = mention.source == own;
            if is_own && !std::mem::replace(&mut seen, true) {
                self.report.error(
                    &mention.name,
                    format!(
                        "`{text}` is what the loop gives when it has ended\n\
                         help: name the value of the round before: `loop |last| {{ … }} while …`, and write `last?` here"
                    ),
                );
            }
            !is_own
        });
        if let Some(last) = &repeat.last {
            self.leave(&Pat::Ident(PatIdent {
                attrs: Vec::new(),
                by_ref: None,
                mutability: None,
                ident: last.clone(),
                subpat: None,
            }));
        }
        if is_broken {
            repeat.last = None;
        }
    }

    /// Reports a field of the value of the round before in the condition of a loop: in the first round, there is no such value.
    fn round_before(
        &mut self,
        again: &mut Value,
        last: &Option<Ident>,
        step: &Ident,
        collects: bool,
    ) {
        let found = match &*again {
            Value::Reference(reference) => match reference.hops.first() {
                Some(Hop::Field(_, member)) => Some((reference.root.clone(), member.clone())),
                _ => None,
            },
            Value::Computed(computed) => {
                let is_local =
                    |name: &Ident| computed.locals.iter().any(|(local, _)| local == name);
                computed
                    .fields
                    .iter()
                    .find(|(name, _)| is_local(name))
                    .cloned()
            }
            _ => None,
        };
        let Some((name, member)) = found.filter(|(name, _)| last.as_ref() == Some(name)) else {
            return;
        };
        let (text, member) = (text_of(&name), member.to_token_stream());
        let this = if collects {
            "a step of the block".to_owned()
        } else {
            format!("`{}.{member}`", text_of(step))
        };
        self.report.error(
            name,
            format!("`{text}` is the value of the round before, an `Option`, since the first round has none\nhelp: for the value of this round, write {this}"),
        );
        *again = Value::Broken;
    }

    /// The name at the end of a block, which is that of a step in it, or the value there.
    fn tail(&mut self, block: &mut Block) {
        if let BlockTail::Value(value) = &mut block.tail {
            let before = self.mentions.len();
            self.value(value);
            for mention in self.mentions.split_off(before) {
                if self.names.scope_of(mention.source) == block.scope {
                    block.mentions.push(mention);
                } else {
                    self.mentions.push(mention);
                }
            }
        }
        let BlockTail::Name(name) = &block.tail else {
            return;
        };
        if self.names.own(block.scope, name).is_some() {
            return;
        }
        match self.names.find(name, &self.frames) {
            Meaning::Broken => {}
            Meaning::Local(_) | Meaning::Source => {
                self.report.error(name, outside(&text_of(name)));
            }
            Meaning::Unknown => {
                let (message, _) = self.names.unknown(name, &self.frames);
                self.report.error(name, message);
            }
        }
        block.tail = BlockTail::Broken;
    }

    /// Notes that the blocks around mention what is outside of them. `is_in` says whether something is in a block.
    fn capture(&mut self, name: &Ident, of: Captured, is_in: impl Fn(&OpenBlock) -> bool) {
        for block in self.blocks.iter_mut().rev() {
            if is_in(block) {
                return;
            }
            if block.captures.iter().all(|known| known.of != of) {
                let name = name.clone();
                block.captures.push(Capture { name, of });
            }
        }
    }

    fn capture_source(&mut self, name: &Ident, source: Source) {
        let scope = self.names.scope_of(source);
        self.capture(name, Captured::Source(source), |block| block.scope == scope);
    }

    fn capture_local(&mut self, name: &Ident, local: Local) {
        self.capture(name, Captured::Local(local), |block| {
            local.frame >= block.frames
        });
    }

    fn after(&mut self, after: &mut Vec<Ident>, step: &Ident) {
        let scope = self.frames.scope;
        after.retain(|after| match self.names.own(scope, after) {
            Some(Source::Step(_)) => true,
            Some(Source::Input(_)) => {
                self.report.error(after, format!("`{after}` is an input, which is available from the start; `#[after(…)]` takes steps"));
                false
            }
            None => {
                let message = self.names.unknown_after(after, step, scope, |owner| {
                    format!("help: write `#[after({owner})]`, which waits for all of that block")
                });
                if let Some(message) = message {
                    self.report.error(after, message);
                }
                false
            }
        });
    }

    fn body(&mut self, body: &mut Body) {
        match body {
            Body::Call(literal) => {
                let before = self.mentions.len();
                self.fields(&mut literal.fields);
                let path = &literal.path;
                // Only a plain name is certain to be the plan's: a longer path may lead anywhere.
                if let (Some(own), Some(tool)) = (self.own, path.get_ident())
                    && own.unraw() == tool.unraw()
                {
                    self.report.error(
                        path,
                        format!(
                            "`{own}` cannot call itself in a step: every run would start another\n\
                             help: for a recursion that ends, call it from a tool: a function with `#[tool]` that awaits `Box::pin({own} {{ … }}.run(app))`\n\
                             help: to call a tool for each element of a list, use `for`"
                        ),
                    );
                    self.mentions.truncate(before);
                    *body = Body::Broken(Some(path.clone()));
                }
            }
            Body::Compute(value) => self.value(value),
            Body::Block(block) => self.block(block, |_| {}),
            // It is the whole of a step.
            Body::Loop(_) => {}
            Body::If(branches) => {
                for Branch { conditions, body } in branches {
                    for condition in &mut *conditions {
                        self.condition(condition);
                    }
                    self.body(body);
                    for condition in conditions.iter().rev() {
                        match condition {
                            Condition::Holds(_) => {}
                            Condition::Let(pat, ..) => self.leave(pat),
                            Condition::Broken(_) => drop(self.frames.leave(Vec::new())),
                        }
                    }
                }
            }
            Body::For(repeat) => {
                let mut failed = None;
                let names = match &mut repeat.list {
                    List::Reference(reference, name) => {
                        let bound = vec![(text_of(name), None)];
                        if !self.reference(reference) {
                            repeat.list = List::Broken;
                        } else if reference.outcome == Outcome::One {
                            failed = Some(reference.clone());
                            self.elements.push((name.clone(), false));
                            repeat.list = List::Broken;
                        }
                        bound
                    }
                    List::Computed(computed, bound) => {
                        let bound = parts(bound);
                        if !self.computed(computed) {
                            repeat.list = List::Broken;
                        }
                        bound
                    }
                    List::Broken => parts(&crate::parse::names_in(&repeat.pat)),
                };
                let broken = matches!(repeat.list, List::Broken);
                self.frames.enter(Frame::new(names, broken));
                self.body(&mut repeat.body);
                self.leave(&repeat.pat);
                if let Some(reference) = failed {
                    self.no_list(&reference);
                }
            }
            Body::Await(_) | Body::Broken(_) => {}
        }
    }

    /// Says that a `for` goes through a `Result`.
    fn no_list(&mut self, reference: &Reference) {
        let element = self.elements.pop();
        let written = reference.written();
        let source = self.names.get_in(self.frames.scope, &reference.root);
        let list = source.filter(|_| reference.hops.is_empty());
        let each = list.and_then(|source| Some((source, self.caught.list(source)?)));
        match (each, element) {
            (Some((source, at)), Some((element, true))) => {
                let list = format!("for {element} in {written}");
                self.means_each(source, at, &list);
            }
            (each, _) => {
                let help = each.map_or_else(String::new, |_| {
                    format!(
                        "\nhelp: for a `Result` of each element, write `#[catch(each)]` on `{written}`"
                    )
                });
                self.report.error(
                    &reference.root,
                    format!("`{written}` may have failed: it is a `Result`, not a list\nhelp: write `{written}?`, which fails if `{written}` did{help}"),
                );
            }
        }
    }

    /// Says once of a step that its `#[catch]` means `#[catch(each)]`.
    fn means_each(&mut self, source: Source, at: Span, written: &str) {
        if self.each_meant.insert(source) {
            self.report.error_at(at, caught::means_each(written));
        }
    }

    /// A condition, whose frame is entered if it binds names.
    fn condition(&mut self, condition: &mut Condition) {
        if let Condition::Holds(Value::Computed(computed)) = condition {
            let is_unknown =
                |name: &Ident| matches!(self.names.find(name, &self.frames), Meaning::Unknown);
            if let Some(compared) = ComparedPattern::of(&computed.expr, &is_unknown) {
                self.report.error(compared.pattern, compared.message());
                *condition = Condition::Broken(compared.names);
            }
        }
        if let Condition::Let(_, computed, names) = condition
            && !self.computed(computed)
        {
            *condition = Condition::Broken(std::mem::take(names));
        }
        let (names, broken) = match condition {
            Condition::Holds(value) => return self.truth(value),
            Condition::Let(pat, _, names) if parse::binds_one(pat) => {
                let whole = names.iter().map(|name| (text_of(name), None));
                (whole.collect(), false)
            }
            Condition::Let(_, _, names) => (parts(names), false),
            Condition::Broken(names) => (parts(names), true),
        };
        self.frames.enter(Frame::new(names, broken));
    }

    /// Leaves what a pattern binds.
    fn leave(&mut self, pat: &Pat) {
        let fields = crate::parse::fields_in(pat);
        let names = crate::parse::names_in(pat);
        let own = names.iter().filter(|name| !fields.contains(name));
        self.bound.extend(own.cloned());
        let names = self.frames.leave(names);
        self.unused.extend(names.map(|name| {
            let is_field = fields.contains(&name);
            (name, is_field)
        }));
    }

    fn fields(&mut self, fields: &mut Fields) {
        match fields {
            Fields::Named(_, fields, rest) => {
                for field in &mut *fields {
                    self.value(&mut field.value);
                }
                // It is not known whether the field or the value is meant: one message is enough.
                let is_unknown =
                    |field: &Field| field.shorthand && matches!(field.value, Value::Broken);
                for at in 1..fields.len() {
                    if is_unknown(&fields[at]) {
                        // `a: b,c` may be `a: b.c`.
                        fields[at - 1].value = Value::Broken;
                    }
                }
                let before = fields.len();
                fields.retain(|field| !is_unknown(field));
                if fields.len() < before {
                    *rest = Rest::Broken;
                }
            }
            Fields::Unnamed(_, values) => values.iter_mut().for_each(|value| self.value(value)),
            Fields::Unit => {}
        }
    }

    /// An amount of a policy, which is the same for all of a step and known when it starts.
    fn amount(&mut self, amount: &mut Value) {
        let before = self.mentions.len();
        self.value(amount);
        let steps = self.mentions[before..]
            .iter()
            .filter(|mention| matches!(mention.source, Source::Step(_)));
        let steps: Vec<Ident> = steps.map(|mention| mention.name.clone()).collect();
        for step in &steps {
            let message = format!(
                "`{step}` is a step; policies take constants and inputs\nhelp: make it an input"
            );
            self.report.error(step, message);
        }
        let bound = match &*amount {
            Value::Reference(reference) => reference.local.map(|_| &reference.root),
            Value::Computed(computed) => computed.locals.first().map(|(name, _)| name),
            _ => None,
        };
        if let Some(name) = bound {
            let message = format!(
                "`{name}` is bound inside the plan; policies take constants and inputs\nhelp: make it an input"
            );
            self.report.error(name, message);
        }
        if !steps.is_empty() || bound.is_some() {
            self.mentions.truncate(before);
            *amount = Value::Broken;
        }
    }

    /// A value that must be `true` or `false`.
    fn truth(&mut self, value: &mut Value) {
        self.value(value);
        if let Value::Reference(reference) = value
            && reference.outcome == Outcome::One
        {
            self.report
                .error(&reference.root, caught::no_condition(reference));
            *value = Value::Broken;
        }
    }

    fn value(&mut self, value: &mut Value) {
        let before = self.report.len();
        self.parts_of(value);
        // A name that is unknown twice is one mistake.
        self.report.keep_one_of_each(before);
    }

    fn parts_of(&mut self, value: &mut Value) {
        match value {
            Value::Scalar(Scalar {
                lit: Lit::Str(text),
                ..
            }) => {
                let meant = braces::meant(text, &|name| self.shown(name));
                self.braces.extend(meant.map(|call| (text.span(), call)));
            }
            Value::Scalar(_) | Value::None(_) | Value::Broken => {}
            Value::Some(_, _, value) => self.value(value),
            Value::List(_, values) | Value::Tuple(_, values) => {
                let before = self.report.len();
                values.iter_mut().for_each(|value| self.value(value));
                // `(a,b)` may be `a.b`, so their number is not known.
                let is_broken = values.iter().any(|value| matches!(value, Value::Broken));
                if is_broken && self.report.len() > before {
                    *value = Value::Broken;
                }
            }
            Value::Literal(literal) => self.fields(&mut literal.fields),
            Value::Json(_, json) => self.json(json),
            // What is shown may be borrowed, as in any `format!`.
            Value::Format(format) => {
                for (place, value) in format.args.iter_mut().enumerate() {
                    match &mut *value {
                        Value::Computed(computed) => {
                            if !self.computed(computed) {
                                *value = Value::Broken;
                            }
                        }
                        value => self.value(value),
                    }
                    let is_shown = |part: &FormatPart| matches!(part, FormatPart::Placeholder { arg, spec } if *arg == place && !spec.ends_with('?'));
                    if let Value::Reference(reference) = value
                        && reference.outcome == Outcome::One
                        && format.parts.iter().any(is_shown)
                    {
                        let written = reference.written();
                        self.report.error(
                            &reference.root,
                            format!("`{written}` may have failed: it is a `Result`, which `{{}}` cannot show\nhelp: write `{written}?`, which fails if `{written}` did, or `{{:?}}`"),
                        );
                        *value = Value::Broken;
                    }
                }
            }
            Value::Reference(reference) => {
                if !self.reference(reference) {
                    *value = Value::Broken;
                }
            }
            Value::Computed(computed) => {
                let borrowed = borrowed(&computed.expr);
                let ok = self.computed(computed);
                let names = computed.names.len() + computed.locals.len();
                if let Some((at, owned)) = borrowed.filter(|_| ok && names > 0) {
                    let message = format!(
                        "a plan passes values, not references to them\nhelp: write `{owned}`"
                    );
                    self.report.error_at(at, message);
                    *value = Value::Broken;
                } else if !ok {
                    *value = Value::Broken;
                }
            }
        }
    }

    fn json(&mut self, json: &mut Json) {
        match json {
            Json::Null => {}
            Json::Value(value) => self.value(value),
            Json::List(elements) => elements.iter_mut().for_each(|element| self.json(element)),
            Json::Object(members) => members.iter_mut().for_each(|(_, member)| self.json(member)),
        }
    }

    /// Returns the form in which `format!` can show what a name of the plan leads to.
    fn shown(&self, name: &Ident) -> Option<braces::Shown> {
        if self.frames.get(name).is_some() {
            return Some(braces::Shown::default());
        }
        let source = self.names.get_in(self.frames.scope, name)?;
        let role = self.role_in(self.names.scope_of(source));
        Some(braces::Shown {
            lists: self.caught.lists(name, source, role),
            form: self.forms.get(source),
        })
    }

    /// `false` if the reference's root is unknown, and reported.
    fn reference(&mut self, reference: &mut Reference) -> bool {
        let name = &reference.root;
        match self.names.find(name, &self.frames) {
            Meaning::Local(local) => {
                reference.local = Some(local);
                self.frames.mention(name);
                self.capture_local(name, local);
            }
            Meaning::Source => {
                let Some(source) = self.names.get_in(self.frames.scope, name) else {
                    return false;
                };
                self.mentions.push(Mention {
                    name: name.clone(),
                    source,
                    whole: reference.hops.is_empty(),
                });
                self.capture_source(name, source);
                let role = self.role_in(self.names.scope_of(source));
                if self.late.refuse(source, role) {
                    return false;
                }
                if let Some(at) = self.caught.each_meant(reference, source, role) {
                    self.means_each(source, at, &reference.written());
                    return false;
                }
                if let Some((at, message)) = self.caught.mistake(reference, source, role) {
                    self.report.error_at(at, message);
                    return false;
                }
                reference.outcome = self.caught.outcome(reference, source, role);
            }
            Meaning::Broken => {
                let asks = matches!(
                    reference.hops.first(),
                    Some(Hop::Optional(_) | Hop::Outcome(..))
                );
                let mut elements = self.elements.iter_mut().rev();
                if let Some((_, asked)) = elements.find(|(element, _)| element == name) {
                    *asked |= asks;
                }
                return false;
            }
            Meaning::Unknown => {
                let (message, _) = self.names.unknown(name, &self.frames);
                self.report.error(name, message);
                return false;
            }
        }
        true
    }

    /// `false` if something in the expression was reported.
    fn computed(&mut self, computed: &mut Computed) -> bool {
        let (names, frames) = (self.names, &self.frames);
        let (caught, blocks, role) = (&self.caught, &*self.blocks, &self.role);
        let is_caught = |name: &Ident| {
            let source = names.get_in(frames.scope, name);
            source.is_some_and(|source| {
                let role = role_in(blocks, role, names.scope_of(source));
                caught.is_caught(name, source, role)
            })
        };
        let each = caught.each_meant_in(&computed.expr, |name| {
            let source = names.get_in(frames.scope, name);
            source.filter(|_| frames.get(name).is_none() && is_caught(name))
        });
        for (element, asked) in &mut self.elements {
            *asked |= each::asks(&computed.expr, element);
        }
        let ok = computed::analyze(computed, names, frames, &is_caught, self.report);
        for (name, local) in &computed.locals {
            self.frames.mention(name);
            self.capture_local(name, *local);
        }
        let mut sources = Vec::new();
        for name in &computed.names {
            if let Some(source) = self.names.get_in(self.frames.scope, name) {
                self.capture_source(name, source);
                sources.push((name, source));
            }
        }
        let role = |source| self.role_in(self.names.scope_of(source));
        let is_late = |(_, source): &(_, Source)| self.late.refuse(*source, role(*source));
        let is_late = sources.iter().any(is_late);
        if let Some((source, at, written)) = each.filter(|_| !is_late) {
            self.means_each(source, at, &written);
            return false;
        }
        let mistake = self.caught.mistake_in(computed, &sources, role);
        if let Some((at, message)) = mistake.filter(|_| !is_late) {
            self.report.error_at(at, message);
            return false;
        }
        if let Some(test) = &mut computed.test
            && let Some(reference) = self.caught_truth(test).filter(|_| !is_late)
        {
            self.report
                .error(&reference.root, caught::no_condition(&reference));
            return false;
        }
        if let Some(test) = &mut computed.test {
            let mut is_known = ok;
            test.references(
                &mut |reference| match self.names.find(&reference.root, &self.frames) {
                    Meaning::Local(local) => reference.local = Some(local),
                    Meaning::Source => {}
                    Meaning::Broken | Meaning::Unknown => is_known = false,
                },
            );
            if !is_known {
                computed.test = None;
            }
        }
        if ok {
            let mentions = sources.into_iter().map(|(name, source)| Mention {
                name: name.clone(),
                source,
                whole: true,
            });
            self.mentions.extend(mentions);
        }
        ok && !is_late
    }

    /// Returns the first operand of a test that is the `Result` of a step where the test needs a `bool`.
    fn caught_truth(&self, test: &Test) -> Option<Reference> {
        caught::truths(test).into_iter().find_map(|reference| {
            let name = &reference.root;
            let Meaning::Source = self.names.find(name, &self.frames) else {
                return None;
            };
            let source = self.names.get_in(self.frames.scope, name)?;
            let role = self.role_in(self.names.scope_of(source));
            let outcome = self.caught.outcome(reference, source, role);
            (outcome == Outcome::One).then(|| reference.clone())
        })
    }
}

/// Says that a block does not end with what is around it.
fn outside(name: &str) -> String {
    format!(
        "`{name}` is outside this block, which ends with a step of its own\n\
         help: write `step value: Type = {name};`, then `value`"
    )
}

/// What the step is for that is here, in this block or around it.
fn role_in<'r>(blocks: &'r [OpenBlock], role: &'r Role, scope: usize) -> &'r Role {
    let block = blocks.iter().find(|block| block.scope == scope);
    block.map_or(role, |block| &block.role)
}

/// The place of the `&` of an expression that borrows what a name leads to, and nothing else, with that: no argument takes a reference.
fn borrowed(expr: &Expr) -> Option<(Span, String)> {
    let Expr::Reference(reference) = expr else {
        return None;
    };
    let place = &reference.expr;
    is_place(place).then(|| {
        let owned = parse::tidy(&place.to_token_stream());
        (reference.and_token.span, owned)
    })
}

/// Whether an expression is a name, or what fields and indices of one lead to.
fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Path(path) => path.path.get_ident().is_some(),
        Expr::Field(field) => is_place(&field.base),
        Expr::Index(index) => {
            let is_known = match &*index.index {
                Expr::Lit(_) => true,
                Expr::Range(range) => range.start.is_none() && range.end.is_none(),
                _ => false,
            };
            is_known && is_place(&index.expr)
        }
        Expr::Paren(paren) => is_place(&paren.expr),
        Expr::Group(group) => is_place(&group.expr),
        _ => false,
    }
}

/// Names that are bound together.
fn parts(names: &[Ident]) -> Vec<(String, Option<usize>)> {
    names
        .iter()
        .enumerate()
        .map(|(part, name)| (text_of(name), Some(part)))
        .collect()
}
