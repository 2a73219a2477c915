//! Contracts of tools, by name.
#![cfg(feature = "macros")]

use plan_runtime::dynamic::{Contract, Contracts, Profile, Reader, Toolbox};
use plan_runtime::{Result, Shape, Tool, tool};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;

/// Lists the parts.
#[tool(read_only)]
async fn list_parts(names: Vec<String>) -> Result<Vec<String>> {
    Ok(names)
}

#[tool]
async fn cut(part: String, #[serde(default)] length: u32) -> Result<String> {
    Ok(format!("{part}:{length}"))
}

fn toolbox() -> Toolbox<()> {
    Toolbox::new().with::<ListParts>().with::<Cut>()
}

#[test]
fn contracts() {
    let toolbox = toolbox().with_fn(Contract::new("x").output(json!(true)), |it| async {
        Ok(it)
    });
    assert_eq!(
        format!("{toolbox:?}"),
        r#"Toolbox(["list_parts", "cut", "x"])"#
    );
    assert_eq!(
        toolbox.contracts().to_json().as_array().unwrap()[..2],
        [
            json!({"name": "list_parts", "description": "Lists the parts.", "read_only": true, "parameters": {
                "type": "object", "properties": {"names": {}}, "required": ["names"], "additionalProperties": false}}),
            json!({"name": "cut", "description": "", "parameters": {
                "type": "object", "properties": {"part": {}, "length": {}}, "required": ["part"], "additionalProperties": false}}),
        ]
    );
    assert_eq!(
        toolbox.contracts().to_json()[2],
        json!({"name": "x", "description": "", "output": true})
    );
    let mut contracts: Contracts = toolbox.contracts().iter().cloned().collect();
    let before = contracts
        .insert(Contract::new("cut").description("Cuts."))
        .unwrap();
    assert_eq!(before.description, "");
    assert_eq!(contracts.names().nth(1), Some("cut"));
    assert_eq!((contracts.len(), contracts.get("saw")), (3, None));
}

/// Null for an optional argument is equivalent to a missing argument, in the plan and in an output.
#[test]
fn null_for_an_argument_with_a_default() {
    let found = json!({"type": "object", "properties": {"length": {"type": ["integer", "null"]}}, "required": ["length"]});
    let found = Contract::new("found").output(found);
    let toolbox = toolbox().with_fn(found, |_| async { Ok(json!({"length": null})) });
    let output = |length: &str, profile: Profile| {
        let steps = json!({"steps": [
            {"id": "a", "tool": "found", "arguments": {}},
            {"id": "b", "tool": "cut", "arguments": {"part": "x", "length": "LENGTH"}},
        ], "output": "$ref:b"});
        let text = steps.to_string().replace("\"LENGTH\"", length);
        let reader = Reader::new().tools(toolbox.contracts()).profile(profile);
        let document = reader.read(&text);
        let document = document.unwrap_or_else(|found| panic!("{found}"));
        smol::block_on(toolbox.run(&document, (), &()))
    };
    for length in ["null", r#""$ref:a.length""#] {
        for profile in [Profile::Strict, Profile::Compat] {
            assert_eq!(output(length, profile).unwrap(), "x:0", "{length}");
        }
    }
    // In the compat profile, a missing field is null.
    assert_eq!(
        output(r#""$ref:a.missing""#, Profile::Compat).unwrap(),
        "x:0"
    );
}

#[test]
fn schemas_of_unusual_arguments() {
    #[derive(Serialize, Deserialize, Shape, Tool)]
    #[tool(output = ())]
    struct Open {
        #[serde(rename = "a-b")]
        a: u8,
        #[serde(skip)]
        _b: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, u8>,
    }
    #[derive(Serialize, Deserialize, Shape, Tool)]
    #[tool(output = ())]
    #[serde(transparent)]
    struct Inner {
        inner: Vec<u8>,
    }
    let arguments = |contract: Contract| contract.arguments;
    assert_eq!(
        arguments(Contract::of::<Open>()),
        Some(json!({"type": "object", "properties": {"a-b": {}}, "required": ["a-b"]}))
    );
    assert_eq!(arguments(Contract::of::<Inner>()), None);
}

/// Schemas for reading and for writing differ.
#[cfg(feature = "schema")]
#[test]
fn schemas_by_schemars() {
    use schemars::JsonSchema;

    #[derive(Serialize, Deserialize, Shape, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    struct Part {
        part_name: String,
        #[serde(default)]
        cents: u32,
    }

    /// Copies a part.
    #[tool(name = "parts.copy")]
    #[derive(JsonSchema)]
    async fn copy(
        /// The one to copy.
        part: Part,
        #[serde(default)] times: u8,
    ) -> Result<Vec<Part>> {
        let _ = times;
        Ok(vec![part])
    }

    plan_runtime::plan! {
        /// Copies a part twice.
        #[derive(JsonSchema)]
        Twice(part: Part) -> Vec<Part> {
            step copies = Copy { part, times: 2 };
            copies
        }
    }

    let toolbox = Toolbox::<()>::new()
        .with_schema::<Copy>()
        .with_schema::<Twice>();
    let part = |required: &[&str]| {
        json!({
            "type": "object",
            "properties": {
                "partName": {"type": "string"},
                "cents": {"type": "integer", "format": "uint32", "minimum": 0, "default": 0},
            },
            "required": required,
        })
    };
    assert_eq!(
        toolbox.contracts().to_json()[0],
        json!({
            "name": "parts.copy",
            "description": "Copies a part.",
            "parameters": {
                "type": "object",
                "properties": {
                    "part": {"description": "The one to copy.", "$ref": "#/$defs/Part"},
                    "times": {"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255, "default": 0},
                },
                "additionalProperties": false,
                "required": ["part"],
                "$defs": {"Part": part(&["partName"])},
            },
            "output": {
                "title": "Array_of_Part",
                "type": "array",
                "items": {"$ref": "#/$defs/Part"},
                "$defs": {"Part": part(&["partName", "cents"])},
            },
        })
    );
    let twice = toolbox.contracts().get("twice").unwrap();
    assert_eq!(
        twice.arguments.as_ref().unwrap()["properties"],
        json!({"part": {"$ref": "#/$defs/Part"}})
    );
}
