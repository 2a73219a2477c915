//! Plans as Mermaid and DOT.
//!
//! All diagrams are also stored in cargo's directory for tests, where `tests/pictures/run` passes them to drawing programs.

mod expected;
mod hostile;
mod random;

use crate::common::skips;
use crate::support::plans;
use plan_runtime::Plan;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Returns the folder of the diagrams for `tests/pictures/run`.
fn directory() -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// Stores both diagrams of a plan under a name, and lets Graphviz read one if it is installed.
fn keep(name: &str, mermaid: &str, dot: &str) {
    let path = directory().join(name);
    std::fs::write(path.with_extension("mmd"), mermaid).unwrap();
    let path = path.with_extension("dot");
    std::fs::write(&path, dot).unwrap();
    let graphviz = Command::new("dot")
        .args(["-Tcanon", "-o"])
        .args([path.with_extension("canon"), path])
        .stdin(Stdio::null())
        .output();
    let graphviz = graphviz.map_err(|_| "there is no Graphviz".to_owned());
    if let Some(output) = skips::unless("graphviz", graphviz) {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{said}\n{dot}");
    }
}

/// The kind of a Mermaid line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Statement {
    Node,
    Group,
    End,
    Class,
    Edge,
}

/// Takes a flowchart apart, and panics where a line has none of the forms that there are.
fn statements(mermaid: &str) -> Vec<(Statement, &str)> {
    let config = "config:\n  flowchart:\n    wrappingWidth: 600\n---\n";
    let (title, body) = mermaid.split_once(config).unwrap();
    let title = title.strip_prefix("---\n").unwrap();
    if !title.is_empty() {
        serde_json::from_str::<String>(title.strip_prefix("title: ").unwrap()).unwrap();
    }
    let mut lines = body.lines();
    assert_eq!(lines.next(), Some("flowchart TB"), "{mermaid}");
    lines.map(|line| (statement(line), line)).collect()
}

fn statement(line: &str) -> Statement {
    let line = line.trim_start_matches(' ');
    let after_id = |line: &'_ str| -> Option<usize> {
        let end = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
        (end > 0).then_some(end)
    };
    if line == "end" {
        return Statement::End;
    }
    if line.starts_with("classDef ") || line.starts_with("class ") {
        let plain = |c: char| c.is_ascii_alphanumeric() || " _-:,".contains(c);
        assert!(line.chars().all(plain), "{line}");
        return Statement::Class;
    }
    if let Some(group) = line.strip_prefix("subgraph ") {
        let end = after_id(group).unwrap();
        assert!(label(&group[end..], "[", "]"), "{line}");
        return Statement::Group;
    }
    let end = after_id(line).unwrap_or_else(|| panic!("{line}"));
    let rest = &line[end..];
    for arrow in [" -->", " -.->", " ==>"] {
        let Some(rest) = rest.strip_prefix(arrow) else {
            continue;
        };
        let to = match rest.strip_prefix("|\"") {
            Some(rest) => {
                let (text, to) = rest.split_once("\"| ").unwrap();
                assert!(inert(text), "{line}");
                to
            }
            None => rest.strip_prefix(' ').unwrap(),
        };
        assert_eq!(after_id(&format!("{to} ")), Some(to.len()), "{line}");
        return Statement::Edge;
    }
    let class = [":::input", ":::output", ":::dashed", ":::note"];
    let rest = class
        .iter()
        .find_map(|class| rest.strip_suffix(class))
        .unwrap_or(rest);
    let shapes = [
        ("[/", "/]"),
        ("([", "])"),
        ("{{", "}}"),
        ("[", "]"),
        ("(", ")"),
        ("{", "}"),
    ];
    assert!(
        shapes.iter().any(|(open, close)| label(rest, open, close)),
        "{line}"
    );
    Statement::Node
}

fn label(text: &str, open: &str, close: &str) -> bool {
    let text = text
        .strip_prefix(open)
        .and_then(|text| text.strip_suffix(close));
    let text = text.and_then(|text| text.strip_prefix('"')?.strip_suffix('"'));
    text.is_some_and(|text| !text.is_empty() && inert(text))
}

/// Returns `true` if a label contains only characters, numeric character references, and line breaks.
fn inert(text: &str) -> bool {
    let text = text.replace("<br/>", "");
    let mut pieces = text.split('#');
    let plain =
        |text: &str| !text.contains(['"', '<', '>', '&', '`', '\\', ';', '$', '*', '~', '%', '\n']);
    plain(pieces.next().unwrap())
        && pieces.all(|piece| {
            let (number, rest) = piece.split_once(';').unwrap();
            number
                .parse::<u32>()
                .is_ok_and(|number| char::from_u32(number).is_some())
                && plain(rest)
        })
}

fn count(statements: &[(Statement, &str)], of: Statement) -> usize {
    statements.iter().filter(|(it, _)| *it == of).count()
}

/// Returns both diagrams of a plan, after a check of their form.
fn drawn(plan: &Plan) -> (String, String) {
    let (mermaid, dot) = (plan.mermaid().to_string(), plan.dot().to_string());
    let found = statements(&mermaid);
    assert_eq!(
        count(&found, Statement::Group),
        count(&found, Statement::End)
    );
    let lines = dot_lines(&dot);
    let edges = lines.iter().filter(|line| line.contains(" -> ")).count();
    assert_eq!(edges, count(&found, Statement::Edge), "{mermaid}\n{dot}");
    let groups = lines
        .iter()
        .filter(|line| line.contains("subgraph cluster_"))
        .count();
    assert_eq!(groups, count(&found, Statement::Group), "{mermaid}\n{dot}");
    (mermaid, dot)
}

/// Returns the lines of DOT, without quoted strings.
fn dot_lines(dot: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in dot.lines() {
        let mut outside = String::new();
        let mut quoted = false;
        let mut chars = line.chars();
        while let Some(c) = chars.next() {
            match (c, quoted) {
                ('"', _) => quoted = !quoted,
                ('\\', true) => {
                    let next = chars.next();
                    assert!(matches!(next, Some('n' | '"' | '\\')), "{line}");
                }
                (_, true) => {}
                (c, false) => outside.push(c),
            }
        }
        assert!(!quoted, "{line}");
        let plain = |c: char| c.is_ascii_alphanumeric() || " _-=,;[]{}>".contains(c);
        assert!(outside.chars().all(plain), "{line}");
        lines.push(outside);
    }
    lines
}
