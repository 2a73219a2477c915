//! Template engines and regular expressions, as one would use them for the same: the context, templates and expressions are kept.

use crate::cases::resolving::{Ready, Reply};
use handlebars::{Context, Handlebars, Helper, Output, RenderContext, RenderErrorReason};
use minijinja::{Environment, context};
use regex::{Captures, Regex};
use serde_json::Value;

/// A `minijinja` template that returns the arguments as JSON text.
pub struct Jinja {
    environment: Environment<'static>,
    context: minijinja::Value,
}

impl Jinja {
    pub fn new(ready: &Ready) -> Self {
        let mut environment = Environment::new();
        let text = r#"{"thread": {{ inbox.data[0].threadId|tojson }}, "to": {{ inbox.data[0].from|tojson }}, "subject": {{ inbox.data[0].subject|tojson }}, "labels": {{ inbox.data[0].labels|tojson }}}"#;
        environment.add_template("reply", text).unwrap();
        let context =
            context! { inbox => minijinja::Value::from(minijinja::value::Serde(&ready.json)) };
        Self {
            environment,
            context,
        }
    }

    pub fn render(&self) -> String {
        let template = self.environment.get_template("reply").unwrap();
        template.render(&self.context).unwrap()
    }

    pub fn resolve(&self) -> Reply {
        serde_json::from_str(&self.render()).unwrap()
    }
}

/// A `handlebars` template, with a helper that writes JSON.
pub struct Bars {
    registry: Handlebars<'static>,
    context: Context,
}

impl Bars {
    pub fn new(ready: &Ready) -> Self {
        let mut registry = Handlebars::new();
        let text = r#"{"thread": {{json inbox.data.[0].threadId}}, "to": {{json inbox.data.[0].from}}, "subject": {{json inbox.data.[0].subject}}, "labels": {{json inbox.data.[0].labels}}}"#;
        registry.register_template_string("reply", text).unwrap();
        registry.register_helper(
            "json",
            Box::new(
                |helper: &Helper<'_>,
                 _: &Handlebars<'_>,
                 _: &Context,
                 _: &mut RenderContext<'_, '_>,
                 out: &mut dyn Output| {
                    let value = helper
                        .param(0)
                        .ok_or(RenderErrorReason::ParamNotFoundForIndex("json", 0))?;
                    out.write(&value.value().to_string())?;
                    Ok(())
                },
            ),
        );
        let context = Context::wraps(serde_json::json!({ "inbox": ready.json })).unwrap();
        Self { registry, context }
    }

    pub fn render(&self) -> String {
        self.registry
            .render_with_context("reply", &self.context)
            .unwrap()
    }

    pub fn resolve(&self) -> Reply {
        serde_json::from_str(&self.render()).unwrap()
    }
}

/// JSON text whose references a regular expression replaces before parsing, like the string dialects do.
pub struct Text {
    regex: Regex,
    outputs: Value,
}

impl Text {
    pub fn new(ready: &Ready) -> Self {
        Self {
            regex: Regex::new(r#""\{\{([^{}]+)\}\}""#).unwrap(),
            outputs: serde_json::json!({ "inbox": ready.json }),
        }
    }

    pub fn resolve(&self) -> Reply {
        let text = r#"{"thread": "{{inbox.data.0.threadId}}", "to": "{{inbox.data.0.from}}", "subject": "{{inbox.data.0.subject}}", "labels": "{{inbox.data.0.labels}}"}"#;
        let text = self.regex.replace_all(text, |found: &Captures<'_>| {
            let leaf = found[1]
                .split('.')
                .try_fold(&self.outputs, |json, key| match json {
                    Value::Array(list) => list.get(key.parse::<usize>().ok()?),
                    json => json.get(key),
                });
            leaf.unwrap().to_string()
        });
        serde_json::from_str(&text).unwrap()
    }
}
