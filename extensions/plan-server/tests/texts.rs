//! Plans with hostile strings cannot deceive a reader of the log, the page, a report or a question.

mod support;

use plan_graph::is_unseen;
use regex_syntax::hir::{Class, HirKind};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use support::{Folder, PATIENCE, Process};

/// Strings with line breaks, escape sequences, markup, and invisible or reversing characters.
const TEXTS: [&str; 6] = [
    "a\n2026-01-01T00:00:00Z  INFO plan_server: all is well\r",
    "b\u{202e}gro.elpmaxe@live\u{202c}\u{2066}\u{2069}\u{200e}\u{200f}\u{61c}",
    "c\u{1b}[2J\u{9b}31m\u{7}\u{8}\u{7f}\0\u{85}",
    "d\u{200b}\u{200d}\u{2060}\u{feff}\u{ad}\u{3164}\u{115f}\u{fe0f}\u{e0041}\u{e0100}",
    "e\u{2028}\u{2029}\u{fff9}\u{e000}\u{2800}",
    "f\"}<script>alert(1)</script>\\'&`${}[0].",
];

/// Returns a plan with a hostile string in each name, description and value.
fn document(text: &str) -> Value {
    let name = |number: u8| format!("{text}{number}");
    let says = |what: Value| json!({"tool": {"name": "slow"}, "arguments": {"object": {"ms": 1, "text": what}}});
    let with = |mut step: Value, number: u8, more: Value| {
        step["id"] = name(number).into();
        step["intent"] = text.into();
        for (member, value) in more.as_object().into_iter().flatten() {
            step[member] = value.clone();
        }
        step
    };
    let input = name(9);
    json!({
        "name": text, "description": text,
        "inputs": [{"name": input, "type": "String", "description": text}],
        "steps": [
            with(says(json!({"reference": {"input": input, "pointer": ""}})), 0, json!({})),
            with(json!({}), 1, json!({"for": {"pattern": "x", "list": [text, 2], "body": says(text.into())}})),
            with(json!({"await": "String"}), 2, json!({"after": [name(0)]})),
            with(says(text.into()), 3, json!({"after": [name(1), name(2)]})),
        ],
        "output": {"value": {"object": {text: {"reference": {"step": name(0), "pointer": ""}}}}},
    })
}

#[track_caller]
fn is_seen(what: &str, text: &str) {
    let unseen = text.chars().find(|c| *c != '\n' && is_unseen(*c));
    assert_eq!(unseen, None, "{what}: {text:?}");
}

/// Asserts that no string in a value has an invisible character.
fn all_are_seen(what: &str, value: &Value) {
    match value {
        Value::String(text) => is_seen(what, text),
        Value::Array(values) => values.iter().for_each(|value| all_are_seen(what, value)),
        Value::Object(members) => {
            for (name, value) in members {
                all_are_seen(&format!("{what}.{name}"), value);
            }
        }
        _ => {}
    }
}

/// Asserts that no string about a run has an invisible character.
fn run_is_seen(run: &Value) {
    for member in ["error", "steps", "svg", "progress", "undone"] {
        all_are_seen(member, &run[member]);
    }
    for question in run["questions"].as_array().unwrap() {
        for member in ["path", "text"] {
            all_are_seen(member, &question[member]);
        }
    }
    for wait in run["waits"].as_array().unwrap() {
        all_are_seen("step", &wait["step"]);
    }
}

fn goes_the_whole_way(server: &Process, text: &str) {
    let plan = document(text).to_string();
    let (status, checked) = server.post("/api/check", &json!({"text": plan}));
    assert_eq!(status, 200);
    assert_eq!(checked["findings"], json!([]), "{checked:#}");
    for member in ["text", "steps", "svg"] {
        all_are_seen(member, &checked["plan"][member]);
    }
    let faulty = plan.replace("\"slow\"", "\"slowly\"");
    let (_, checked) = server.post("/api/check", &json!({"text": faulty}));
    assert_ne!(checked["findings"], json!([]));
    all_are_seen("findings", &checked["findings"]);
    let (_, refused) = server.post("/api/runs", &json!({"text": faulty}));
    all_are_seen("refused", &refused);

    let inputs = json!({format!("{text}9"): text});
    let id = server.begin(&plan, &inputs, "each");
    let mut events = server.events(&id);
    let run = server.until(&id, |run| run["questions"].as_array().unwrap().len() == 3);
    run_is_seen(&run);
    // A question shows its arguments.
    for question in run["questions"].as_array().unwrap() {
        let read = unescaped(question["text"].as_str().unwrap());
        assert_eq!(
            serde_json::from_str::<Value>(&read).unwrap(),
            question["arguments"]
        );
    }
    // Questions of one moment have any order.
    let mut questions = run["questions"].as_array().unwrap().iter();
    let is_element = |it: &Value| it["path"].as_str().unwrap().ends_with(']');
    let first = questions.find(|it| !is_element(it)).unwrap();
    server.answer(&id, first, &json!({"decision": "allow"}));
    let run = server.until(&id, |run| run["waits"] != json!([]));
    run_is_seen(&run);
    let path = &run["waits"][0]["path"];
    let signals = format!("/api/runs/{id}/signals");
    let (status, answer) = server.post(&signals, &json!({"path": format!("{text}8"), "value": 1}));
    assert_eq!(status, 422);
    all_are_seen("answer", &answer);
    assert_eq!(
        server
            .post(&signals, &json!({"path": path, "value": text}))
            .0,
        200
    );
    let second = server.until(&id, |run| run["questions"].as_array().unwrap().len() == 2);
    let refuse = json!({"decision": "refuse", "reason": text});
    server.answer(&id, &second["questions"][0], &refuse);
    let run = server.ended(&id);
    run_is_seen(&run);
    assert!(
        run["error"].as_str().unwrap().contains("was refused: "),
        "{run:#}"
    );
    for (name, event) in events.by_ref() {
        match &*name {
            "state" => run_is_seen(&event),
            "step" => all_are_seen("step", &event),
            _ => {}
        }
    }
    let (status, page) = server.get_text(&format!("/api/runs/{id}/report.html"));
    assert_eq!(status, 200);
    is_seen("report", &page);
    assert!(!page.contains("<script>alert"));
    let (_, page) = server.get_text(&format!("/api/runs/{id}/report.md"));
    is_seen("report.md", &page);
    for part in [
        "## ✗ Run failed\n",
        "was refused: ",
        "\n### Steps\n",
        "\n### Answers of people\n",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let known = headings.filter(|line| !line.contains(text));
    assert_eq!(known.count(), page.matches("\n\n").count() / 2);
    let query = format!(
        "{{ plan(requestId: {}) {{ state }} {text}",
        Value::from(text)
    );
    let (_, answer) = server.post("/graphql", &json!({"query": query}));
    all_are_seen("errors", &answer["errors"]);
    assert_ne!(answer["errors"], Value::Null);
    let request = r#"query($id: String!) { results(requestId: $id) { state } }"#;
    let answer = server.graphql(request, &json!({"id": text}));
    all_are_seen("errors", &answer["errors"]);
    assert_ne!(answer["errors"], Value::Null);
}

/// Replaces the escapes of Rust in a string. The escapes of JSON stay.
fn unescaped(text: &str) -> String {
    let mut parts = text.split(r"\u{");
    let mut plain = parts.next().unwrap().to_owned();
    for part in parts {
        let (number, rest) = part.split_once('}').unwrap();
        let c = char::from_u32(u32::from_str_radix(number, 16).unwrap()).unwrap();
        plain.push(c);
        plain += rest;
    }
    plain
}

#[test]
fn people_read_what_programs_read() {
    let folder = Folder::new();
    let server = Process::logged(&folder);
    for text in TEXTS {
        goes_the_whole_way(&server, text);
    }
    is_seen("metrics", &server.get_text("/metrics").1);
    drop(server);
    let log = std::fs::read_to_string(folder.log()).unwrap();
    is_seen("log", &log);
    assert!(
        log.contains("a run was submitted") && log.contains(r"\u{202e}"),
        "{log}"
    );
    let day = |line: &str| line.starts_with("20") && line.get(4..5) == Some("-");
    let forged: Vec<&str> = log.lines().filter(|line| !day(line)).collect();
    assert_eq!(forged, [] as [&str; 0]);
    assert!(
        !log.lines()
            .any(|line| line.contains("Z  INFO plan_server: all is well")
                && line.starts_with("2026-01-01T00"))
    );
}

/// JavaScript would round the number.
#[test]
fn a_question_shows_each_digit() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let text = r#"{"name": "p", "steps": [{"id": "slept", "tool": {"name": "slow"},
        "arguments": {"object": {"ms": 9007199254740993, "text": "a"}}}]}"#;
    let id = server.begin(text, &json!({}), "each");
    let run = server.until(&id, |run| run["questions"] != json!([]));
    let shown = run["questions"][0]["text"].as_str().unwrap();
    assert_eq!(
        shown,
        "{\n  \"ms\": 9007199254740993,\n  \"text\": \"a\"\n}"
    );
    let long = json!({"name": "p", "steps": [{"id": "slept", "tool": {"name": "slow"},
        "arguments": {"object": {"ms": 1, "text": "x".repeat(20_000)}}}]});
    let id = server.begin(&long.to_string(), &json!({}), "each");
    let run = server.until(&id, |run| run["questions"] != json!([]));
    let shown = run["questions"][0]["text"].as_str().unwrap();
    assert!(
        shown.ends_with(" more characters, which are not shown"),
        "{shown}"
    );
}

fn status(server: &Process, head: &str) -> u16 {
    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

/// A page with the name of another site gets no answer, even with the token.
#[test]
fn only_requests_for_this_server_are_answered() {
    let folder = Folder::new();
    let names = ["--host", "plans.example.org", "--host", "other.example.org"];
    let server = Process::start_with(&folder, |command| command.args(names));
    let (_, port) = server.url.rsplit_once(':').unwrap();
    let own = [
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        "plans.example.org".into(),
        "other.example.org:443".into(),
    ];
    let others = [
        String::new(),
        format!("evil.example:{port}"),
        "evil.example".into(),
        "localhost:1".into(),
        format!("127.0.0.1.evil.example:{port}"),
    ];
    for (path, expected) in [
        ("/", 200),
        ("/page/main.js", 200),
        ("/health", 200),
        ("/api/runs", 200),
        ("/metrics", 200),
        ("/nothing", 404),
    ] {
        let get = |host: &str| {
            let bearer = format!("authorization: Bearer {}", server.token);
            status(
                &server,
                &format!("GET {path} HTTP/1.1\r\n{host}{bearer}\r\nconnection: close\r\n\r\n"),
            )
        };
        for host in &own {
            assert_eq!(
                get(&format!("host: {host}\r\n")),
                expected,
                "{path} of {host}"
            );
        }
        for host in &others {
            assert_eq!(get(&format!("host: {host}\r\n")), 421, "{path} of {host}");
        }
        assert_eq!(get(""), 421);
        assert_eq!(
            get(&format!("host: {}\r\nhost: evil.example\r\n", own[0])),
            421
        );
    }
    let line = format!(
        "GET http://evil.example/ HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
        own[0]
    );
    assert_eq!(status(&server, &line), 421);
}

/// Returns the scripts of the page, one after the other.
fn page() -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/page");
    let files = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "js"));
    paths.sort();
    let read = |path| std::fs::read_to_string(path).unwrap();
    paths.iter().map(read).collect()
}

/// The page and the server have equal lists of invisible characters.
#[test]
fn the_page_escapes_the_same() {
    let page = page();
    let (_, rest) = page.split_once("const UNSEEN = /").unwrap();
    let (class, _) = rest.split_once("]|").unwrap();
    // Rust has no surrogates.
    let class = format!("{}]", class.replace(r"\p{Cs}", ""));
    let chars = |class: &str| -> Vec<std::ops::RangeInclusive<char>> {
        let hir = regex_syntax::parse(class).unwrap();
        let HirKind::Class(Class::Unicode(class)) = hir.kind() else {
            panic!("{class} is not a class");
        };
        class
            .iter()
            .map(|range| range.start()..=range.end())
            .collect()
    };
    let escaped = chars(&class);
    let is_escaped = |c: char| {
        let at = escaped.partition_point(|range| *range.end() < c);
        escaped.get(at).is_some_and(|range| range.contains(&c))
    };
    let forgotten: Vec<char> = ('\0'..=char::MAX)
        .filter(|c| is_unseen(*c) && !is_escaped(*c))
        .collect();
    assert_eq!(forgotten, [] as [char; 0]);
    // Unicode's versions differ in unassigned characters.
    let assigned = chars(&class.replace(r"\p{Cn}", ""));
    let seen: Vec<char> = assigned
        .into_iter()
        .flatten()
        .filter(|c| !is_unseen(*c))
        .collect();
    assert_eq!(seen, [] as [char; 0]);
}

/// Only the functions `h`, `say` and `draw` write strings to the page, with escapes.
#[test]
fn the_page_writes_texts_by_few_ways() {
    let page = page();
    for never in [
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "innerText",
        "setHTML",
    ] {
        assert!(!page.contains(never), "{never}");
    }
    let written: Vec<&str> = page
        .lines()
        .map(str::trim)
        .filter(|line| line.contains("textContent =") || line.contains("createTextNode("))
        .collect();
    let known = [
        "if (element.textContent !== shown) element.textContent = shown;",
        "$(\"spoken\").textContent = \"\";",
        // Plans with invisible characters have no colors.
        "const colored = (content) => (/^[\\t -~]{1,2000}$/.test(content) ? json(content) : [document.createTextNode(content)]);",
        // The editor shows a sign that is invisible by its escape.
        "nodes.push(document.createTextNode(content.slice(done, index)), h(\"i\", { \"data-sign\": seen(sign) }, document.createTextNode(sign)));",
        "return [...nodes, document.createTextNode(content.slice(done))];",
        // The editor measures its own lines.
        "probe.textContent = \"x\";",
        "if (!known.has(key)) probe.textContent = content;",
        "const made = child.nodeType === Node.TEXT_NODE ? document.createTextNode(lines(child.data)) : child.nodeType === Node.ELEMENT_NODE ? copy(child) : null;",
    ];
    assert_eq!(written, known);
}
