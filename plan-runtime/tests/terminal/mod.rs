//! Plans, reports and findings in terminals of 80 and 120 columns, in colors and without. `UPDATE_EXPECT=1` records them.

use plan_runtime::dynamic::{Contract, Contracts, Findings, Reader, Toolbox};
use plan_runtime::run::{ManualTimer, OnFailure, Timer};
use plan_runtime::{Error, Plan, Report, Terminal};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use unicode_width::UnicodeWidthStr;

/// A plan with wide names, a long comment, long values, an undo step and invisible characters.
fn plan() -> Plan {
    let text = "Dear customer, your order has left our warehouse and step charged = pay will reach you on Monday at noon.";
    let intent = "Charge the card of the customer, which the bank does only once for each key, and keep the number of the payment for a refund.";
    serde_json::from_value(json!({
        "name": "place_order",
        "description": "Sells an item. The money is refunded if the parcel cannot be sent, and a person decides about amounts above the limit of the shop.",
        "inputs": [
            {"name": "客户", "type": "String", "description": "needs a name, an address and a telephone number, so that the parcel arrives at the right door"},
            {"name": "cents", "type": "u64"},
        ],
        "steps": [
            {"id": "paid", "intent": intent, "tool": {"name": "charge"},
                "arguments": {"object": {"seconds": 62, "customer": {"reference": {"input": "客户", "pointer": ""}}}},
                "policy": {"attempts": 3, "timeout": "2m"}},
            {"id": "refunded", "undo": "paid", "tool": {"name": "refund"},
                "arguments": {"object": {"seconds": 1}}},
            {"id": "包裹", "intent": "Pack\u{202e} it.", "tool": {"name": "ship"}, "after": ["paid"],
                "arguments": {"object": {"seconds": 7, "text": text, "fails": "the road is closed\u{1b}[8m until Monday, since a bridge has to be repaired"}}},
            {"id": "told", "tool": {"name": "send"}, "arguments": {"object": {"to": {"reference": {"step": "包裹", "pointer": ""}}}}},
        ],
        "output": {"value": {"reference": {"step": "told", "pointer": ""}}},
    }))
    .unwrap()
}

fn report() -> Report {
    let plan = plan();
    let timer = ManualTimer::new();
    let mut toolbox = Toolbox::<()>::new();
    for name in ["charge", "refund", "ship", "send"] {
        let timer = timer.clone();
        toolbox = toolbox.with_fn(Contract::new(name), move |arguments: Value| {
            let timer = timer.clone();
            async move {
                let seconds = arguments["seconds"].as_u64().unwrap_or_default();
                timer.sleep(Duration::from_secs(seconds)).await;
                match arguments["fails"].as_str() {
                    Some(why) => Err(Error::permanent(why.to_owned())),
                    None => Ok(json!(name)),
                }
            }
        });
    }
    let inputs = json!({"客户": "Ada", "cents": 4_900});
    let run = toolbox.run(&plan, inputs, &()).timer(timer.clone());
    let run = run.on_failure(OnFailure::Continue).with_report();
    smol::block_on(timer.skip_waits(run)).1
}

fn findings() -> Findings {
    let tools: Contracts = [Contract::new("send").arguments(json!({
        "type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"],
    }))]
    .into_iter()
    .collect();
    let text = "{\"steps\": [
    {\"id\": \"sent\", \"tool\": \"send\", \"arguments\": {\"to\": \"$ref:名前.email\", \"the_subject_of_the_message\": \"hello\", \"cc\": \"\"}},
    {\"id\": \"a\\u001b[1m\", \"tool\": \"sned\", \"arguments\": {}}
]}";
    Reader::new().tools(&tools).read(text).unwrap_err()
}

fn shown(terminal: Terminal) -> String {
    format!(
        "{}\n{}\n\n{}",
        terminal.plan(&plan()),
        terminal.report(&report()),
        terminal.findings(&findings(), "plan.json"),
    )
}

/// Returns a string without escape sequences for colors.
fn plain(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').unwrap().1)
}

#[test]
fn texts_fit_the_terminal() {
    for columns in [80, 120] {
        let colored = shown(Terminal::new(columns, true));
        let text = shown(Terminal::new(columns, false));
        assert_eq!(plain(&colored), text);
        let wide = text.lines().find(|line| line.width() > columns);
        assert_eq!(wide, None, "wider than {columns}");
        for (name, text) in [
            (format!("{columns}.txt"), text),
            (
                format!("{columns}-colors.txt"),
                colored.replace('\u{1b}', "␛"),
            ),
        ] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/terminal");
            let path = path.join(name);
            if std::env::var_os("UPDATE_EXPECT").is_some() {
                std::fs::write(&path, &text).unwrap();
            }
            let expected = std::fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(text, expected, "{}", path.display());
        }
    }
}

#[test]
fn a_wide_terminal_breaks_no_line() {
    let terminal = Terminal::new(1_000, false);
    assert_eq!(terminal.plan(&plan()), plan().to_string());
    // The second line has the names of the columns.
    let shown = terminal.report(&report());
    let (title, rest) = shown.split_once('\n').unwrap();
    let (header, rows) = rest.split_once('\n').unwrap();
    assert!(header.contains("start + time"), "{header}");
    let words = |text: &str| -> Vec<String> {
        let words = text.split_whitespace().filter(|it| !it.contains('█'));
        words.map(str::to_owned).collect()
    };
    let shown = format!("{title}\n{rows}");
    assert_eq!(words(&shown), words(&report().to_string()));
    assert_eq!(shown.lines().count(), report().to_string().lines().count());
    assert_eq!(
        terminal.findings(&findings(), "plan.json").lines().count(),
        findings().render("plan.json").lines().count()
    );
}

/// The bar of the last step ends at the end of the line, or after 60 columns of bars. In a log, the bars have 20 columns.
#[test]
fn bars_take_the_rest_of_the_line() {
    let end = |text: String| {
        let mut lines = text.lines();
        lines.find(|it| it.contains("refunded")).unwrap().width()
    };
    let shown =
        [70, 80, 120, 1_000].map(|columns| end(Terminal::new(columns, false).report(&report())));
    assert_eq!(shown, [70, 80, 46 + 60, 46 + 60]);
    assert_eq!(end(report().to_string()), 46 + 20);
}

/// A message keeps its words and its indentation.
#[test]
fn messages_fit() {
    let error = "plan `price` failed: step `items` (list_items): panicked: no one has heard of the warehouse `south` (this blocked `price`)";
    let shown = Terminal::new(80, false).text(format!("    {error}\n\nlast"));
    assert_eq!(
        shown,
        "    plan `price` failed: step `items` (list_items): panicked: no one has\n        heard of the warehouse `south` (this blocked `price`)\n\nlast"
    );
}

/// Code breaks outside of inner brackets, and no line ends with a space.
#[test]
fn code_breaks_between_arguments() {
    let argument = |name: &str| json!({"reference": {"input": name, "pointer": ""}});
    let list: Vec<Value> = (0..9)
        .map(|_| json!([argument("first"), argument("second")]))
        .collect();
    let plan: Plan = serde_json::from_value(json!({
        "name": "long", "inputs": [{"name": "first", "type": "String"}, {"name": "second", "type": "String"}],
        "steps": [{"id": "a", "tool": {"name": "t"}, "arguments": {"object": {"list": list}}}],
    }))
    .unwrap();
    let shown = Terminal::new(80, false).plan(&plan);
    let lines: Vec<&str> = shown.lines().filter(|line| line.contains('[')).collect();
    assert!(lines.len() > 2, "{shown}");
    let count = |line: &str, sign| line.matches(sign).count();
    for line in &lines[1..lines.len() - 1] {
        assert_eq!(count(line, '['), count(line, ']'), "{shown}");
    }
    assert!(shown.lines().all(|line| line == line.trim_end()), "{shown}");
}

/// A pipe has 80 columns and no colors.
#[test]
fn unknown_terminals() {
    assert_eq!(Terminal::new(0, true), Terminal::new(50, true));
    let is_forced = ["CLICOLOR_FORCE", "CI"]
        .iter()
        .any(|name| std::env::var_os(name).is_some());
    if !std::io::IsTerminal::is_terminal(&std::io::stdout()) && !is_forced {
        assert_eq!(Terminal::stdout(), Terminal::new(80, false));
    }
}
