//! Runs of plans with tools that are found by name.
#![cfg(feature = "macros")]

use plan_runtime::dynamic::{Contract, Toolbox};
use plan_runtime::plan::{Action, Executable, Step, Template};
use plan_runtime::run::{Observer, OnFailure, Run, Status, StepRef};
use plan_runtime::{Call, Error, Plan, Result, Shape, Tool, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A workshop, whose drill works at the third attempt.
#[derive(Default)]
struct Shop {
    attempts: AtomicU32,
    rate: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
#[serde(rename_all = "camelCase")]
struct Part {
    part_name: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    cents: Option<u32>,
}

/// Lists the parts.
#[tool(read_only)]
async fn list_parts(_shop: &Shop, names: Vec<String>) -> Result<Vec<Part>> {
    let cents = |name: &str| u32::try_from(name.len()).ok().filter(|cents| *cents > 1);
    let part = |name: String| Part {
        cents: cents(&name),
        part_name: name,
    };
    Ok(names.into_iter().map(part).collect())
}

#[tool]
async fn cut(shop: &Shop, part: String, #[serde(default)] length: u32) -> Result<String> {
    match part.as_str() {
        "stone" => Err(Error::permanent("stone cannot be cut")),
        _ => Ok(format!("{part}:{}", length * shop.rate)),
    }
}

#[tool]
async fn drill(shop: &Shop, part: String) -> Result<String> {
    match shop.attempts.fetch_add(1, SeqCst) % 3 {
        2 => Ok(format!("{part} with a hole")),
        _ => Err(Error::msg("slipped")),
    }
}

plan! {
    /// Cuts one part.
    CutOne(part: String) -> String {
        step done = Cut { part, length: 3 };
        done
    }
}

plan! {
    /// Each construct of a plan.
    Everything(names: Vec<String>, fast: bool, note: Option<String>) -> (Vec<Option<String>>, Option<String>, String, u32, Option<String>) {
        step parts = ListParts { names };
        #[optional(each)]
        step each = for part in parts { Cut { part: part.part_name, length: 2 } };
        step polished = if fast { Cut { part: "fast", .. } };
        #[retry(3)]
        step hole = Drill { part: parts[0].part_name };
        #[fallback(format!("no {}", parts[0].part_name))]
        step nested = CutOne { part: parts[0].part_name };
        #[optional]
        step lost = Cut { part: "stone", .. };
        step total: u32 = parts.iter().filter_map(|part| part.cents).sum::<u32>() + u32::from(lost.is_some());
        (each, polished, format!("{hole}, {nested}"), total, note)
    }
}

fn toolbox() -> Toolbox<Shop> {
    Toolbox::new()
        .with::<ListParts>()
        .with::<Cut>()
        .with::<Drill>()
        .with::<CutOne>()
}

fn everything(names: &[&str], fast: bool, note: Option<&str>) -> Everything {
    Everything {
        names: names.iter().map(ToString::to_string).collect(),
        fast,
        note: note.map(Into::into),
    }
}

fn read(json: Value) -> Plan {
    serde_json::from_value(json).unwrap()
}

fn error<App: ?Sized>(run: Run<'_, App, Value>) -> String {
    smol::block_on(run).unwrap_err().to_string()
}

#[test]
fn a_static_plan_runs_with_tools_by_name() {
    let (toolbox, shop) = (toolbox(), Shop::default());
    let inputs = json!({"names": ["stone", "oak", "x"], "fast": true});
    let run = toolbox.run(Everything::PLAN, inputs, &shop);
    assert_eq!(
        smol::block_on(run).unwrap(),
        json!([
            [null, "oak:0", "x:0"],
            "fast:0",
            "stone with a hole, no stone",
            8,
            null
        ])
    );
}

#[test]
fn a_static_plan_gives_the_same_as_its_own_run() {
    let toolbox = toolbox();
    let cases = [
        everything(&["oak", "stone", "x"], true, None),
        everything(&["stone"], false, Some("n")),
        everything(&[], false, None),
    ];
    for case in cases {
        let shops = [(); 2].map(|()| Shop {
            rate: 5,
            ..Shop::default()
        });
        let inputs = serde_json::to_value(&case).unwrap();
        let typed = smol::block_on(case.run(&shops[0]).with_report());
        let run = toolbox.run(Everything::PLAN, inputs, &shops[1]);
        let dynamic = smol::block_on(run.with_report());
        match (typed.0, dynamic.0) {
            (Ok(typed), Ok(dynamic)) => assert_eq!(serde_json::to_value(typed).unwrap(), dynamic),
            (Err(typed), Err(dynamic)) => assert_eq!(typed.to_string(), dynamic.to_string()),
            (typed, dynamic) => panic!("{typed:?}\n{dynamic:?}"),
        }
        assert_eq!(typed.1.totals(), dynamic.1.totals());
        let attempts = |report: &plan_runtime::Report| {
            let steps = report.steps().iter();
            steps.map(|step| step.attempts().len()).collect::<Vec<_>>()
        };
        assert_eq!(attempts(&typed.1), attempts(&dynamic.1));
    }
}

fn greeting() -> Plan {
    read(json!({
        "name": "greet",
        "inputs": [{"name": "who", "type": "String"}, {"name": "title", "type": "std::option::Option<String>"}],
        "steps": [
            {"id": "found", "tool": {"name": "find"}, "arguments": {"object": {
                "who": {"reference": {"input": "who", "pointer": ""}},
                "title": {"reference": {"input": "title", "pointer": ""}}}}},
            {"id": "said", "tool": {"name": "say"}, "arguments": {"object": {
                "text": {"text": ["Hi ", {"value": {"reference": {"step": "found", "pointer": "/names/0"}}}]}}}},
        ],
        "output": {"value": {"object": {
            "said": {"reference": {"step": "said", "pointer": ""}},
            "title": {"reference": {"step": "found", "pointer": "/title"}}}}},
    }))
}

fn voices() -> Toolbox<str> {
    Toolbox::new()
        .with_fn(Contract::new("find"), |arguments| async move {
            Ok(json!({"names": [arguments["who"]], "title": arguments["title"]}))
        })
        .with_app_fn(Contract::new("say"), |app: &str, arguments: Value| {
            Box::pin(async move {
                smol::future::yield_now().await;
                let text = arguments["text"]
                    .as_str()
                    .ok_or_else(|| Error::msg("no text"))?;
                Ok(json!(format!("{text}{app}")))
            })
        })
}

#[test]
fn closures_are_tools() {
    let (toolbox, plan) = (voices(), greeting());
    // An application that lives no longer than the run.
    let app = String::from("!");
    let run = toolbox.run(&plan, json!({"who": "{{title}} \"Ann\""}), &*app);
    let expected = json!({"said": "Hi {{title}} \"Ann\"!", "title": null});
    assert_eq!(smol::block_on(run).unwrap(), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_can_be_moved_to_another_thread() {
    let (toolbox, plan) = (Arc::new(voices()), Arc::new(greeting()));
    let task = tokio::spawn(async move {
        let inputs = json!({"who": "Ann", "title": "Dr"});
        toolbox.run(&*plan, inputs, "?").await
    });
    assert_eq!(
        task.await.unwrap().unwrap(),
        json!({"said": "Hi Ann?", "title": "Dr"})
    );
}

#[test]
fn an_application_behind_a_trait() {
    trait Voice: Sync {
        fn say(&self) -> String;
    }
    #[tool]
    async fn speak(voice: &dyn Voice) -> Result<String> {
        Ok(voice.say())
    }
    struct Loud;
    impl Voice for Loud {
        fn say(&self) -> String {
            "HA".into()
        }
    }
    let toolbox = Toolbox::<dyn Voice>::new().with::<Speak>();
    let plan = plan! { step said = Speak {}; said };
    let run = toolbox.run(plan.plan(), (), &Loud);
    assert_eq!(smol::block_on(run).unwrap(), "HA");
}

#[test]
fn what_a_block_or_a_loop_lacks_is_said_before_anything_runs() {
    let code = |written: &str| json!({"computed": {"written": written, "reads": []}});
    let plan = read(json!({
        "name": "p",
        "steps": [
            {"id": "a", "policy": {"at_most": 3}, "loop": {
                "steps": [{"id": "b", "tool": {"name": "weld"}}],
                "value": {"reference": {"step": "b", "pointer": ""}},
                "while": code("1 > 2"),
            }},
            {"id": "c", "block": {"steps": [{"id": "d", "value": code("1 + 1")}], "value": code("2 + 2")}},
        ],
    }));
    let failed = smol::block_on(toolbox().run(&plan, (), &Shop::default())).unwrap_err();
    assert_eq!(
        failed.to_string(),
        "plan `p` cannot start: the toolbox has no tool `weld`, which step `a.b` calls; \
        step `a`: the plan was read from JSON, so there is no code to compute `1 > 2`; \
        step `c.d`: the plan was read from JSON, so there is no code to compute `1 + 1`; \
        step `c`: the plan was read from JSON, so there is no code to compute `2 + 2` \
            (write conditions with `all`, `any`, `not` and `compare`, which need no code)"
    );
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let plan = read(json!({
        "name": "p",
        "inputs": [{"name": "part", "type": "String"}, {"name": "Option", "type": "Options<u8>"}],
        "steps": [
            {"id": "a", "tool": {"name": "list_part"}},
            {"id": "b", "tool": {"name": "cut"}, "arguments": {"object": {
                "part": {"computed": {"written": "part.trim()", "reads": [{"input": "part"}]}},
                "length": {"text": [{"value": 5, "spec": ">8"}]}}}},
            {"id": "c", "tool": {"name": "weld"}},
            {"id": "d", "tool": {"name": "weld"}},
        ],
        "output": {"value": {"computed": {"written": "a + b", "reads": [{"step": "a"}]}}},
    }));
    let (toolbox, shop) = (toolbox(), Shop::default());
    let (result, report) =
        smol::block_on(toolbox.run(&plan, json!({"prt": 1}), &shop).with_report());
    let failed = result.unwrap_err();
    assert_eq!(
        failed.to_string(),
        "plan `p` cannot start: the input `part` is missing; the input `Option` is missing; \
        there is no input `prt` (`part` is similar); \
        the toolbox has no tool `list_part` (`list_parts` is similar), which step `a` calls; \
        the toolbox has no tool `weld`, which steps `c` and `d` call; \
        step `b`: the plan was read from JSON, so there is no code to compute `{:>8}`; \
        step `b`: the plan was read from JSON, so there is no code to compute `part.trim()`; \
        the output: the plan was read from JSON, so there is no code to compute `a + b` \
            (write conditions with `all`, `any`, `not` and `compare`, which need no code)"
    );
    assert_eq!(format!("{failed:?}").lines().count(), 9);
    assert!(failed.is_permanent() && failed.failures().is_empty());
    assert_eq!(report.totals().to_string(), "4 not started");
}

#[test]
fn tools_that_are_lacking() {
    let steps = ["a", "b", "c", "d", "e"].map(|id| json!({"id": id, "tool": {"name": "weld"}}));
    let plan = |count: usize| read(json!({"name": "p", "steps": steps[..count]}));
    let toolbox = Toolbox::<()>::new();
    let unsupported = |count| {
        let text = error(toolbox.run(&plan(count), (), &()));
        text.strip_prefix("plan `p` cannot start: the toolbox has no tool `weld`, which ")
            .map(str::to_owned)
    };
    assert_eq!(unsupported(1).unwrap(), "step `a` calls");
    assert_eq!(unsupported(3).unwrap(), "steps `a`, `b` and `c` call");
    assert_eq!(
        unsupported(5).unwrap(),
        "steps `a`, `b`, `c` and 2 more call"
    );
}

#[test]
fn inputs_are_an_object() {
    let (toolbox, plan) = (voices(), greeting());
    for (inputs, expected) in [
        (
            json!([1, 2]),
            "plan `greet` cannot start: the inputs are a list of 2 elements, not an object",
        ),
        (
            json!("Ann"),
            "plan `greet` cannot start: the inputs are the string \"Ann\", not an object",
        ),
        (
            json!(null),
            "plan `greet` cannot start: the input `who` is missing",
        ),
        (
            json!({"WHO": 1, "zebra": 2}),
            "plan `greet` cannot start: the input `who` is missing; \
            there is no input `WHO` (`who` is similar); there is no input `zebra`",
        ),
    ] {
        assert_eq!(error(toolbox.run(&plan, inputs, "")), expected);
    }
    assert_eq!(
        error(toolbox.run(&plan, BTreeMap::from([("who", f64::NAN)]), "")),
        "plan `greet` cannot start: the inputs cannot be encoded: `/who` is NaN, which JSON cannot represent"
    );
    assert_eq!(
        error(toolbox.run(&plan, json!({"who": 5, "title": [], "x": 1}), "")),
        "plan `greet` cannot start: the input `who` is an integer, but must be a string (`String`); there is no input `x`"
    );
}

/// A value of another type than the plan declares is refused before any tool is called. The error does not show the value, which
/// may be secret.
#[test]
fn inputs_have_their_types() {
    let toolbox = Toolbox::<()>::new();
    let plan = |type_name: &str| {
        read(json!({"name": "p", "inputs": [{"name": "x", "type": type_name}], "steps": []}))
    };
    let refused = |type_name: &str, value: Value| {
        let plan = plan(type_name);
        let run = toolbox.run(&plan, json!({ "x": value }), &());
        let error = smol::block_on(run).err()?.to_string();
        let error = error.strip_prefix("plan `p` cannot start: the input `x`");
        Some(error.unwrap().trim_start_matches([',', ' ']).to_owned())
    };
    for (type_name, value, expected) in [
        (
            "String",
            json!(null),
            "is null, but must be a string (`String`)",
        ),
        (
            "bool",
            json!("hunter2"),
            "is a string, but must be `true` or `false` (`bool`)",
        ),
        (
            "f64",
            json!({}),
            "is an object, but must be a number (`f64`)",
        ),
        (
            "u8",
            json!(0.5),
            "is a number, but must be an integer (`u8`)",
        ),
        ("u8", json!(256), "must be from 0 to 255 (`u8`)"),
        (
            "u64",
            json!(-1),
            "must be from 0 to 18446744073709551615 (`u64`)",
        ),
        (
            "usize",
            json!(-1),
            "must be from 0 to 18446744073709551615 (`usize`)",
        ),
        (
            "isize",
            json!(u64::MAX),
            "must be from -9223372036854775808 to 9223372036854775807 (`isize`)",
        ),
        ("u128", json!(-1), "must be at least 0 (`u128`)"),
        ("i8", json!(u64::MAX), "must be from -128 to 127 (`i8`)"),
        (
            "Vec<u8>",
            json!({"a": 1}),
            "is an object, but must be a list (`Vec<u8>`)",
        ),
        (
            "Option<Vec<Vec<u8>>>",
            json!([[1], [2, 3, "4"]]),
            "at [1][2], is a string, but must be an integer (`Option<Vec<Vec<u8>>>`)",
        ),
        (
            "Vec<Option<bool>>",
            json!([null, 1]),
            "at [1], is an integer, but must be `true` or `false` (`Vec<Option<bool>>`)",
        ),
    ] {
        assert_eq!(refused(type_name, value).as_deref(), Some(expected));
    }
    for (type_name, value) in [
        ("String", json!("")),
        ("u8", json!(255)),
        ("u128", json!(u64::MAX)),
        ("usize", json!(u64::MAX)),
        ("i128", json!(u64::MAX)),
        ("isize", json!(-1)),
        ("i64", json!(i64::MIN)),
        ("f32", json!(3)),
        ("Option<u8>", json!(null)),
        ("Vec<Option<u8>>", json!([null, 1])),
        // Only the tools know the other types.
        ("Email", json!(5)),
        ("", json!(null)),
        ("Vec<Email>", json!([1, "a"])),
        ("std::vec::Vec<u8>", json!("?")),
    ] {
        assert_eq!(
            refused(type_name, value.clone()),
            None,
            "{type_name} {value}"
        );
    }
}

/// An input that only references name has the type of the arguments that use it; without such a type, any value fits.
#[test]
fn the_type_of_an_input_may_not_be_known() {
    let text = r#"[{"id": "a", "tool": "t", "arguments": {"x": "{{PLACEHOLDER_x}}"}}]"#;
    let toolbox = |schema: Value| {
        let contract =
            Contract::new("t").arguments(json!({"type": "object", "properties": {"x": schema}}));
        Toolbox::<()>::new().with_fn(contract, |given| async move { Ok(given["x"].clone()) })
    };
    let (any, integer) = (toolbox(json!({})), toolbox(json!({"type": "integer"})));
    let document = any.read(text).unwrap();
    assert_eq!(&*document.plan().inputs[0].type_name, "String");
    let output = smol::block_on(any.run(document.plan(), json!({"x": 5}), &())).unwrap();
    assert_eq!(output["a"], 5);
    let document = integer.read(text).unwrap();
    assert_eq!(
        error(integer.run(document.plan(), json!({"x": "5"}), &())),
        "plan `plan` cannot start: the input `x` is a string, but must be an integer (`i64`)"
    );
}

#[test]
fn errors_of_tools_and_arguments_are_those_of_every_run() {
    let plan = read(json!({"name": "p", "steps": [
        {"id": "cut", "tool": {"name": "cut"}, "arguments": {"object": {"part": 5}}},
        {"id": "say", "tool": {"name": "fail"}},
    ]}));
    let toolbox = toolbox().with_fn(Contract::new("fail"), |_| async {
        Err(Error::msg("out of order"))
    });
    let shop = Shop::default();
    let run = toolbox
        .run(&plan, (), &shop)
        .on_failure(OnFailure::Continue);
    assert_eq!(
        error(run),
        "plan `p` failed: step `cut` (cut): argument `part`: invalid type: integer `5`, expected a string; \
        step `say` (fail): out of order"
    );
}

/// Actions are numbered by position, including branches that are not taken and loops.
#[test]
fn each_call_finds_its_tool() {
    let call = |tool: &str| json!({"tool": {"name": tool}});
    let taken = |holds: bool, body: Value| json!({"condition": holds, "then": body});
    let inner =
        json!({"if": [taken(false, call("a")), taken(true, call("b")), {"then": call("c")}]});
    let plan = read(json!({"name": "p", "steps": [
        {"id": "one", "if": [
            taken(false, json!({"for": {"pattern": "x", "list": [1], "body": inner}})),
            taken(false, call("a")),
            {"then": {"for": {"pattern": "x", "list": [1, 2], "body": inner}}},
        ]},
        {"id": "two", "tool": {"name": "c"}},
        {"id": "three", "if": [taken(false, call("a")), taken(false, call("b"))]},
        {"id": "four", "tool": {"name": "d"}, "policy": {"attempts": 2}},
    ], "output": {"value": {"object": {
        "one": {"reference": {"step": "one", "pointer": ""}},
        "two": {"reference": {"step": "two", "pointer": ""}},
        "four": {"reference": {"step": "four", "pointer": ""}},
    }}}}));
    let mut toolbox = Toolbox::<()>::new();
    for name in ["a", "b", "c", "d"] {
        toolbox = toolbox.with_fn(Contract::new(name), move |_| async move { Ok(json!(name)) });
    }
    let output = smol::block_on(toolbox.run(&plan, (), &())).unwrap();
    assert_eq!(output, json!({"one": ["b", "b"], "two": "c", "four": "d"}));
    // The output is equal each time, for each form of the plan.
    let executable = Executable::new(&plan);
    for _ in 0..2 {
        assert_eq!(
            smol::block_on(toolbox.run(&executable, (), &())).unwrap(),
            output
        );
    }
    let text = serde_json::to_string(&plan).unwrap();
    let document = toolbox.read(&text).unwrap();
    for _ in 0..2 {
        assert_eq!(
            smol::block_on(toolbox.run(&document, (), &())).unwrap(),
            output
        );
    }
}

/// A tool of the same name as one of the plan, whose output is of another type.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = Vec<Value>, name = "list_parts")]
struct MockParts {
    names: Value,
}

impl Call<()> for MockParts {
    async fn call(self, (): &()) -> Result<Vec<Value>> {
        let names = self.names.as_array().into_iter().flatten();
        Ok(names
            .map(|name| json!({"partName": name, "cents": 9}))
            .collect())
    }
}

#[test]
fn computed_values_read_the_json_of_outputs() {
    let plan = plan! {
        step parts = ListParts { names: ["a", "b"] };
        parts.iter().filter_map(|part| part.cents).sum::<u32>()
    };
    let toolbox = Toolbox::new().with::<MockParts>();
    assert_eq!(
        smol::block_on(toolbox.run(plan.plan(), (), &())).unwrap(),
        18
    );
}

#[test]
fn dropping_a_run_cancels_it() {
    struct Guard(Arc<AtomicU32>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let dropped = Arc::new(AtomicU32::new(0));
    let count = dropped.clone();
    let toolbox = Toolbox::<()>::new().with_fn(Contract::new("wait"), move |_| {
        let guard = Guard(count.clone());
        async move {
            std::future::pending::<()>().await;
            drop(guard);
            Ok(Value::Null)
        }
    });
    let plan = read(json!({"name": "p", "steps": [
        {"id": "a", "tool": {"name": "wait"}}, {"id": "b", "tool": {"name": "wait"}}]}));
    let mut run = toolbox.run(&plan, (), &());
    assert!(smol::block_on(smol::future::poll_once(&mut run)).is_none());
    assert_eq!(dropped.load(SeqCst), 0);
    drop(run);
    assert_eq!(dropped.load(SeqCst), 2);
    let run = toolbox
        .run(&plan, (), &())
        .deadline(Duration::from_millis(1));
    assert_eq!(error(run), "plan `p` took longer than 1ms");
}

#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Observer for Log {
    fn step_finished(&self, step: &StepRef<'_>, status: &Status, _: Duration) {
        let tool = step.tool().map_or("", |tool| &tool.name);
        let line = format!("{step} {tool} {}", status.name());
        self.0.lock().unwrap().push(line);
    }
}

#[test]
fn observers_and_reports() {
    let (toolbox, plan, log) = (voices(), greeting(), Arc::new(Log::default()));
    let run = toolbox
        .run(&plan, json!({"who": "Ann"}), "!")
        .observe(log.clone());
    let run = run.capture_arguments(true).capture_outputs(true);
    let (output, report) = smol::block_on(run.with_report());
    assert_eq!(output.unwrap()["said"], "Hi Ann!");
    assert_eq!(
        *log.0.lock().unwrap(),
        ["found find completed", "said say completed"]
    );
    let [found, said] = report.steps() else {
        panic!()
    };
    assert_eq!(
        found.output(),
        Some(&json!({"names": ["Ann"], "title": null}))
    );
    assert_eq!(said.arguments(), Some(&json!({"text": "Hi Ann"})));
    assert_eq!(said.output(), Some(&json!("Hi Ann!")));
}

#[test]
fn captured_outputs() {
    let shop = Shop::default();
    let run = everything(&["stone", "oak"], false, None).run(&shop);
    let (_, report) = smol::block_on(run.capture_outputs(true).with_report());
    let output = |id: &str| report.step(id).unwrap().output().cloned();
    assert_eq!(output("each"), Some(json!([null, "oak:0"])));
    assert_eq!(output("polished"), Some(Value::Null));
    assert_eq!(output("nested"), Some(json!("no stone")));
    assert_eq!(output("lost"), Some(Value::Null));
    assert_eq!(output("total"), Some(json!(8)));
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["steps"][1]["output"], json!([null, "oak:0"]));

    let plan = plan! { step broken = Cut { part: "stone", .. }; step next = CutOne { part: broken }; next };
    let run = plan.run(&shop).capture_outputs(true);
    let (_, report) = smol::block_on(run.with_report());
    assert!(report.steps().iter().all(|step| step.output().is_none()));
    let (_, report) = smol::block_on(everything(&["oak"], true, None).run(&shop).with_report());
    assert!(report.steps().iter().all(|step| step.output().is_none()));
    assert!(
        !serde_json::to_string(&report)
            .unwrap()
            .contains("\"output\"")
    );
}

#[test]
#[should_panic(expected = "the toolbox already has a tool `cut`: give the other tool another name")]
fn two_tools_of_one_name() {
    let _ = toolbox().with_fn(Contract::new("cut"), |it| async { Ok(it) });
}

#[test]
fn each_way_to_add_a_tool_takes_a_name_once() {
    let adds: [fn() -> Toolbox<Shop>; 2] = [
        || toolbox().with::<Cut>(),
        || toolbox().with_app_fn(Contract::new("cut"), |_, it| Box::pin(async { Ok(it) })),
    ];
    for add in adds {
        let panic = std::panic::catch_unwind(add).unwrap_err();
        assert_eq!(
            panic.downcast_ref::<String>().unwrap(),
            "the toolbox already has a tool `cut`: give the other tool another name"
        );
    }
}

#[test]
fn a_toolbox_with_fewer_tools() {
    let names = |toolbox: &Toolbox<Shop>| -> Vec<String> {
        toolbox.contracts().names().map(str::to_owned).collect()
    };
    let all = names(&toolbox());
    assert!(all.iter().any(|name| name == "cut") && all.len() > 2);
    assert_eq!(names(&toolbox().only(["*"])), all);
    assert_eq!(names(&toolbox().only(["cut", "dr*"])), ["cut", "drill"]);
    assert_eq!(
        names(&toolbox().only(["c", "", "Cut", "cut.*", "*cut"])),
        [""; 0]
    );
    assert_eq!(names(&toolbox().only([""; 0])), [""; 0]);
    // Each name still has its own tool.
    let shop = Shop::default();
    let few = toolbox().only(["drill"]);
    let drilled = smol::block_on(few.call("drill", json!({"part": "leg"}), &shop));
    let before = smol::block_on(toolbox().call("drill", json!({"part": "leg"}), &shop));
    assert_eq!(
        drilled.unwrap_err().to_string(),
        before.unwrap_err().to_string()
    );
    let findings = few.read(r#"[{"id": "a", "tool": "cut", "arguments": {"part": "leg"}}]"#);
    assert!(
        findings
            .unwrap_err()
            .to_string()
            .contains("there is no tool `cut`")
    );
}

#[test]
fn a_single_call() {
    let tools = Toolbox::<()>::new()
        .with_fn(
            Contract::new("fail").arguments(json!({"type": "object", "required": ["x"]})),
            |_| async { Err(plan_runtime::Error::msg("no")) },
        )
        .with_fn(Contract::new("echo"), |given| async move { Ok(given) });
    let call = |name: &str, given: Value| {
        smol::block_on(tools.call(name, given, &())).map_err(|error| error.to_string())
    };
    assert_eq!(
        call("echo", json!({"a": [1, null]})),
        Ok(json!({"a": [1, null]}))
    );
    assert_eq!(
        call("fail", json!({"x": 1})).unwrap_err(),
        "plan `fail` failed: step `called` (fail): no"
    );
    assert_eq!(
        call("fail", json!({})).unwrap_err(),
        "plan `fail` failed: step `called` (fail): `fail` needs the argument `x`"
    );
    // Data may look like a reference.
    let text = json!({"a": "{{called.result}}", "b": "$ref:called"});
    assert_eq!(call("echo", text.clone()), Ok(text));
}

#[test]
fn a_toolbox_is_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Toolbox<std::cell::Cell<u8>>>();
}

/// Null is not a `Result`, for a pattern as for a question.
#[test]
fn patterns_of_results_take_results() {
    let toolbox = Toolbox::<()>::new();
    let run = |pattern: &str, value: Value| {
        let plan = read(json!({
            "name": "p",
            "inputs": [{"name": "x", "type": "Value"}],
            "steps": [{"id": "a", "if": [
                {
                    "pattern": pattern,
                    "value": {"reference": {"input": "x", "pointer": ""}},
                    "then": {"value": [{"reference": {"local": 0, "pointer": ""}}]},
                },
                {"then": {"value": "other"}},
            ]}],
            "output": {"value": {"reference": {"step": "a", "pointer": ""}}},
        }));
        let run = toolbox.run(&plan, json!({ "x": value }), &());
        smol::block_on(run).map_err(|error| error.to_string())
    };
    for (pattern, value, expected) in [
        ("Ok(x)", json!({"Ok": 1}), json!([1])),
        ("Ok(x)", json!({"Ok": null}), json!([null])),
        ("Ok(x)", json!({"Err": 1}), json!("other")),
        (" Err(x)", json!({"Err": [1]}), json!([[1]])),
        ("Some(x)", json!(null), json!("other")),
        ("Some(x)", json!({"Ok": 1}), json!([{"Ok": 1}])),
    ] {
        assert_eq!(run(pattern, value), Ok(expected), "{pattern}");
    }
    for value in [json!(null), json!(5), json!({}), json!({"Ok": 1, "Err": 2})] {
        for pattern in ["Ok(x)", "Err(x)"] {
            let error = run(pattern, value.clone()).unwrap_err();
            let expected = format!("the pattern `{pattern}` needs a `Result`, but found");
            assert!(error.contains(&expected), "{error}");
        }
    }
}

/// A dropped call has no end, in each kind of step.
#[test]
fn a_dropped_attempt_has_no_end() {
    let toolbox = Toolbox::<()>::new()
        .with_fn(Contract::new("fail"), |_: Value| async {
            Err::<Value, _>(Error::msg("no"))
        })
        .with_fn(Contract::new("wait"), |_: Value| {
            std::future::pending::<Result<Value>>()
        });
    let wait = json!({"tool": {"name": "wait"}});
    let plan: Plan = serde_json::from_value(json!({"name": "p", "steps": [
        {"id": "plain", "tool": {"name": "wait"}},
        {"id": "tried", "tool": {"name": "wait"}, "policy": {"attempts": 2}},
        {"id": "each", "for": {"pattern": "x", "list": [1, 2], "body": wait}},
        {"id": "failed", "tool": {"name": "fail"}}
    ]}))
    .unwrap();
    let run = toolbox.run(&plan, (), &()).on_failure(OnFailure::Cancel);
    let (result, report) = smol::block_on(run.with_report());
    assert!(result.is_err());
    assert_eq!(report.totals().cancelled, 3);
    for step in &report.steps()[..3] {
        assert!(!step.attempts().is_empty(), "{report}");
        assert!(
            step.attempts().iter().all(|it| it.ended().is_none()),
            "{report}"
        );
    }
}

/// Cuts a part, which an undo step puts aside.
#[tool]
async fn put_aside(shop: &Shop, part: String) -> Result<()> {
    shop.attempts.fetch_add(100, SeqCst);
    drop(part);
    Ok(())
}

plan! {
    /// Cuts a part that can be put aside.
    CutForNow(part: String) -> String {
        step done = Cut { part, length: 3 };
        #[undo(done)]
        step aside = PutAside { part: done };
        done
    }
}

/// The scope around a toolbox's plan undoes the plan after its success, regardless of the check of the outer plan.
#[test]
fn a_plan_of_a_toolbox_is_undone() {
    let toolbox = toolbox().with::<PutAside>().with::<CutForNow>();
    let part = |part: &str| Template::object([("part", part.to_owned().into())]);
    let mut plan = Plan::new("p");
    let stone = Step::new("stone", Action::call("cut", part("stone")));
    plan.steps = vec![
        Step::new("oak", Action::call("cut_for_now", part("oak"))),
        stone,
    ];
    plan.steps[1].after = vec![0];
    let shop = Shop::default();
    let error = smol::block_on(toolbox.run(&plan, (), &shop)).unwrap_err();
    assert_eq!(error.undone().collect::<Vec<_>>(), ["oak.done"], "{error}");
    assert_eq!(shop.attempts.load(SeqCst), 100);
}

/// A deeper value would overflow the stack wherever it is copied or printed.
#[test]
fn an_output_is_nested_256_levels_at_most() {
    let arounds: [fn(Value) -> Value; 2] = [|it| json!([1, it]), |it| json!({"a": 1, "b": it})];
    let plan = json!({"name": "p", "steps": [{"id": "a", "tool": {"name": "get"}}], "output": {"value": null}});
    let plan: Plan = serde_json::from_value(plan).unwrap();
    for around in arounds {
        for (levels, is_deep) in [(256, false), (257, true), (1_000, true)] {
            let toolbox = Toolbox::<()>::new().with_fn(Contract::new("get"), move |_| async move {
                Ok((0..levels).fold(json!(1), |inner, _| around(inner)))
            });
            let error = smol::block_on(toolbox.run(&plan, (), &())).err();
            let text = error.map(|error| error.to_string());
            let is_refused = text
                .as_ref()
                .is_some_and(|it| it.contains("nested too deep"));
            assert_eq!(is_refused, is_deep, "{levels}: {text:?}");
        }
    }
}
