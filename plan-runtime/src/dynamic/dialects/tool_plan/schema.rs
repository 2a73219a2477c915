//! The JSON Schema of tool plans, for models with structured output.
//!
//! The schema stays in the subset of JSON Schema that the large providers accept. The root is an object. Each object requires all listed members
//! and forbids other members. An optional member accepts null, which the reader treats as a missing member. There are no bounds, and no keywords except
//! `type`, `enum`, `pattern`, `items`, `properties`, `anyOf` and `$ref`. If the subset cannot express the arguments of a tool, the schema accepts a
//! string that contains the JSON of the arguments as well.

use super::scan;
use crate::dynamic::schema::{Element, Form, Property, Type, Types, Work};
use crate::dynamic::{Contract, Contracts};
use crate::shape::Secrets;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// The largest number of members of all objects, of listed values, and of characters of their names. Large providers refuse more.
const MOST: SchemaBudget = SchemaBudget {
    members: 5_000,
    values: 1_000,
    characters: 120_000,
};

/// The largest number of listed values of one type.
const MOST_VALUES: usize = 250;

/// The largest depth of a type in the arguments, so that all objects of a document together are nested at most ten levels.
const DEEPEST: usize = 7;

/// A reference to a step, with its path.
const REFERENCE: &str = r#"^\$ref:[A-Za-z0-9_]+(\.[A-Za-z0-9_]+|\.\*|\[(0|[1-9][0-9]*)\]|\[\*\]|\["[ !#-\[\]-~]+"\])*$"#;

/// The amounts that remain until the limits of providers.
#[derive(Clone, Copy)]
struct SchemaBudget {
    members: usize,
    values: usize,
    characters: usize,
}

/// The key of a type, and the pointers to the secrets in its values.
type TypeKey = (Vec<usize>, Vec<String>);

/// A schema that is being made.
struct SchemaBuilder<'w> {
    defs: Map<String, Value>,
    /// The names of the types in `defs`.
    types: HashMap<TypeKey, String>,
    /// The types of the current tool, which are removed if the tool does not fit.
    added: Vec<TypeKey>,
    left: SchemaBudget,
    /// `true` if the current tool exceeds the budget.
    is_over: bool,
    /// `true` if the subset cannot express all arguments of the current tool.
    is_open: bool,
    work: &'w Work,
}

/// Returns the schema of all tool plans with these tools.
pub(in crate::dynamic) fn schema(contracts: &Contracts) -> Value {
    let work = Work::for_types();
    let mut builder = SchemaBuilder {
        defs: Map::new(),
        types: HashMap::new(),
        added: Vec::new(),
        left: MOST,
        is_over: false,
        is_open: false,
        work: &work,
    };
    // The members of the document, and the step of tools without types.
    builder.pay(5, 0, 100);
    let mut steps = Vec::new();
    let mut others = Vec::new();
    for contract in contracts {
        match builder.tool(contract) {
            Some(step) => steps.push(step),
            None => others.push(&*contract.name),
        }
    }
    if !others.is_empty() || steps.is_empty() {
        let characters = others.iter().map(|name| name.chars().count()).sum();
        builder.is_over = false;
        builder.pay(0, others.len(), characters);
        let is_listed = !builder.is_over && !others.is_empty() && others.len() <= MOST_VALUES;
        let tool = if is_listed {
            json!({"type": "string", "enum": others})
        } else {
            json!({"type": "string"})
        };
        steps.push(step(tool, named("json")));
    }
    let mut defs = builder.defs;
    let value = ["string", "number", "boolean", "null"].map(|name| json!({ "type": name }));
    let list = json!({"type": "array", "items": named("value")});
    defs.insert(
        "value".to_owned(),
        any_of(value.into_iter().chain([list]).collect()),
    );
    defs.insert(
        "reference".to_owned(),
        json!({"type": "string", "pattern": REFERENCE}),
    );
    defs.insert(
        "id".to_owned(),
        json!({"type": "string", "pattern": "^[A-Za-z0-9_]+$"}),
    );
    let about = "The arguments as the JSON of an object, or a reference to all arguments.";
    defs.insert(
        "json".to_owned(),
        json!({"type": "string", "description": about}),
    );
    let mut schema = object(vec![
        ("steps", json!({"type": "array", "items": any_of(steps)})),
        (
            "output_steps",
            json!({"type": "array", "items": named("id")}),
        ),
    ]);
    schema["$defs"] = defs.into();
    schema
}

impl SchemaBuilder<'_> {
    /// Subtracts amounts from the budget.
    fn pay(&mut self, members: usize, values: usize, characters: usize) {
        let left = &mut self.left;
        let amounts = [
            (&mut left.members, members),
            (&mut left.values, values),
            (&mut left.characters, characters),
        ];
        for (left, amount) in amounts {
            self.is_over |= amount > *left;
            *left = left.saturating_sub(amount);
        }
    }

    /// Returns the step that calls a tool, or `None` for a tool without types and for a tool that exceeds the limits.
    fn tool(&mut self, contract: &Contract) -> Option<Value> {
        let arguments = contract.arguments.as_ref()?;
        if self.work.is_spent() {
            return None;
        }
        let left = self.left;
        (self.is_open, self.is_over) = (false, false);
        self.pay(
            3,
            1,
            contract.name.chars().count() + "toolidarguments".len(),
        );
        let ty = Type::of(arguments, self.work);
        let objects = self.arguments(&ty, &contract.secret_arguments);
        if objects.is_empty() || self.is_over || self.work.is_spent() {
            self.left = left;
            for key in self.added.drain(..) {
                if let Some(name) = self.types.remove(&key) {
                    self.defs.remove(&name);
                }
            }
            return None;
        }
        self.added.clear();
        let mut all = objects;
        if self.is_open {
            all.push(named("json"));
        }
        let tool = json!({"type": "string", "enum": [&*contract.name]});
        Some(step(tool, any_of(all)))
    }

    /// Returns the schemas of the objects that are all arguments of a tool.
    fn arguments(&mut self, ty: &Type<'_>, secrets: &Secrets) -> Vec<Value> {
        if self.work.spend(ty.cost()).is_err() || ty.beyond().is_some() {
            return Vec::new();
        }
        let forms = ty.forms().iter();
        let forms = forms.filter(|form| form.types().overlaps(Types::OBJECT));
        let objects = forms.map(|form| self.object(form, secrets, 0));
        objects.collect::<Option<_>>().unwrap_or_default()
    }

    /// Returns the schema of a value of a type, or of a reference to such a value. An optional value can be null.
    fn value(&mut self, ty: &Type<'_>, secrets: &Secrets, depth: usize, optional: bool) -> Value {
        let is_any = |form: &Form<'_>| form.types() == Types::ALL && !form.counts();
        let is_paid = self.work.spend(1 + ty.cost()).is_ok();
        let is_known = is_paid && ty.beyond().is_none() && !ty.forms().iter().any(is_any);
        if !is_known || depth > DEEPEST || self.is_over {
            self.is_open = true;
            return named("value");
        }
        let null = json!({"type": "null"});
        if !ty.types().overlaps(Types::LIST.or(Types::OBJECT)) {
            let mut all = self.forms(ty, secrets, depth);
            if optional && !all.contains(&null) {
                all.push(null);
            }
            return any_of(all);
        }
        let key = (ty.key(), secrets.pointers());
        let name = match self.types.get(&key) {
            Some(name) => name.clone(),
            None => {
                let name = format!("type{}", self.types.len());
                self.pay(0, 0, name.len());
                self.types.insert(key.clone(), name.clone());
                self.added.push(key);
                let all = self.forms(ty, secrets, depth);
                self.defs.insert(name.clone(), any_of(all));
                name
            }
        };
        if optional {
            any_of(vec![named(&name), null])
        } else {
            named(&name)
        }
    }

    /// Returns the schemas of all forms of a type, and of a reference.
    fn forms(&mut self, ty: &Type<'_>, secrets: &Secrets, depth: usize) -> Vec<Value> {
        let mut all = Vec::new();
        for form in ty.forms() {
            for schema in self.form(form, secrets, depth) {
                if !all.contains(&schema) {
                    all.push(schema);
                }
            }
        }
        // A string includes references.
        if !all.contains(&json!({"type": "string"})) {
            all.push(named("reference"));
        }
        all
    }

    fn form(&mut self, form: &Form<'_>, secrets: &Secrets, depth: usize) -> Vec<Value> {
        if form.counts()
            && secrets.is_empty()
            && let Some(listed) = self.listed(form)
        {
            return listed;
        }
        let types = form.types();
        let is_integer = types.and(Types::NUMBER) == Types::INTEGER;
        let scalars = [
            (Types::NULL, "null"),
            (Types::BOOL, "boolean"),
            (Types::NUMBER, if is_integer { "integer" } else { "number" }),
            (Types::STRING, "string"),
        ];
        let scalars = scalars
            .into_iter()
            .filter(|(kind, _)| types.overlaps(*kind));
        let mut all: Vec<Value> = scalars.map(|(_, name)| json!({ "type": name })).collect();
        if types.overlaps(Types::LIST) {
            let items = match form.element(None) {
                Element::Type(ty) => self.value(&ty, &secrets.any(), depth + 1, false),
                Element::Beyond(_) => named("reference"),
            };
            all.push(json!({"type": "array", "items": items}));
        }
        if types.overlaps(Types::OBJECT) {
            match self.object(form, secrets, depth) {
                Some(object) => all.push(object),
                None => self.is_open = true,
            }
        }
        all
    }

    /// Returns the schemas of listed values, or `None` if the subset has no schema for them.
    fn listed(&mut self, form: &Form<'_>) -> Option<Vec<Value>> {
        let values: Vec<&Value> = form.allowed().take(MOST_VALUES + 1).collect();
        if values.len() > MOST_VALUES || values.iter().any(|it| it.is_array() || it.is_object()) {
            self.is_open |= values.len() <= MOST_VALUES;
            return None;
        }
        let of = |kind: fn(&Value) -> bool| values.iter().copied().filter(move |it| kind(it));
        let strings: Vec<String> = of(Value::is_string)
            .filter_map(Value::as_str)
            .map(written)
            .collect();
        let numbers: Vec<&Value> = of(Value::is_number).collect();
        let characters = strings.iter().map(|text| text.chars().count()).sum();
        self.pay(0, strings.len() + numbers.len(), characters);
        let mut all = Vec::new();
        if !strings.is_empty() {
            all.push(json!({"type": "string", "enum": strings}));
        }
        if !numbers.is_empty() {
            all.push(json!({"type": "number", "enum": numbers}));
        }
        if of(Value::is_boolean).next().is_some() {
            all.push(json!({"type": "boolean"}));
        }
        if of(Value::is_null).next().is_some() {
            all.push(json!({"type": "null"}));
        }
        Some(all)
    }

    /// Returns the schema of an object with these members. Returns `None` for an object with arbitrary members only, and for an object that no plan can
    /// write.
    fn object(&mut self, form: &Form<'_>, secrets: &Secrets, depth: usize) -> Option<Value> {
        let required = form.required();
        let needs: HashSet<&str> = required.iter().copied().collect();
        let mut listed = form.properties();
        let has: HashSet<&str> = listed.iter().map(|(name, _)| *name).collect();
        let others = required.into_iter().filter(|name| !has.contains(name));
        let others: Vec<&str> = others.collect();
        let rest = form.rest();
        let is_open = matches!(rest, Property::Open | Property::Type(_));
        self.is_open |= is_open;
        if is_open && listed.is_empty() && others.is_empty() {
            return None;
        }
        let rest = match rest {
            Property::Type(rest) => rest,
            _ => Type::any(),
        };
        listed.extend(others.into_iter().map(|name| (name, rest.clone())));
        self.is_over |= listed.len() > self.left.members;
        let mut members = Vec::new();
        for (name, ty) in &listed {
            if self.is_over {
                return None;
            }
            // No plan has a member whose name is a reference, or whose type has no values.
            if scan::scan(name, &|_| true).has_reference() || ty.types().is_empty() {
                if needs.contains(name) {
                    return None;
                }
                continue;
            }
            self.pay(1, 0, name.chars().count());
            let member = self.value(ty, &secrets.at(name), depth + 1, !needs.contains(name));
            members.push((*name, member));
        }
        Some(object(members))
    }
}

/// Returns the notation of a literal string in a plan.
fn written(text: &str) -> String {
    if text.contains(['$', '{']) || text.starts_with("ref:") {
        scan::MARK.literal(text)
    } else {
        text.to_owned()
    }
}

/// Returns the schema of a step. The tool is the first member, which distinguishes the steps.
fn step(tool: Value, arguments: Value) -> Value {
    object(vec![
        ("tool", tool),
        ("id", named("id")),
        ("arguments", arguments),
    ])
}

/// Returns the schema of an object with exactly these members.
fn object(members: Vec<(&str, Value)>) -> Value {
    let required: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    let mut schema = json!({"type": "object", "required": required, "additionalProperties": false});
    let properties = members
        .into_iter()
        .map(|(name, schema)| (name.to_owned(), schema));
    schema["properties"] = properties.collect::<Map<_, _>>().into();
    schema
}

/// Returns a reference to the schema with this name.
fn named(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// Returns the alternatives, or a single schema unchanged.
fn any_of(mut schemas: Vec<Value>) -> Value {
    match schemas.len() {
        1 => schemas.remove(0),
        _ => json!({ "anyOf": schemas }),
    }
}
