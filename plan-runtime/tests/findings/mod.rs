//! Each finding: `<code>/<dialect>.txt` has the documents whose first finding has the code. In `any.txt`, the reader recognizes the dialect.
//!
//! A case has a header `@@ name profile=compat steps=1 tools=mail`, a document, `--`, and the findings, after the plan if the document is read without tools. A second `--`
//! may begin a similar document without findings. `UPDATE_EXPECT=1` writes the findings.

use crate::checks::{self, applied::all_fixes, plans, sound};
use crate::reading::said;
use plan_runtime::Plan;
use plan_runtime::dynamic::{
    Code, Contracts, Dialect, DocumentLimits, Finding, Findings, Profile, Reader,
};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs};

/// The header, the document, the findings, and the right document.
type Case = [String; 4];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/findings")
}

/// Returns the entries of a folder in order.
fn entries(folder: &Path, is_wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let mut entries: Vec<_> = entries.filter(|it| is_wanted(it)).collect();
    entries.sort();
    entries
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut section = 0;
    for line in text.lines() {
        if let Some(header) = line.strip_prefix("@@ ") {
            cases.push([
                header.to_owned(),
                String::new(),
                String::new(),
                String::new(),
            ]);
            section = 1;
        } else if line == "--" {
            section += 1;
        } else {
            let case = cases.last_mut().expect("a case begins with `@@`");
            case[section] += line;
            case[section] += "\n";
        }
    }
    for part in cases.iter_mut().flatten() {
        part.truncate(part.trim_end_matches('\n').len());
    }
    cases
}

fn written(cases: &[Case]) -> String {
    let mut text = String::new();
    for [header, document, findings, right] in cases {
        let blank = if text.is_empty() { "" } else { "\n" };
        let _ = write!(text, "{blank}@@ {header}\n{document}\n--\n{findings}\n");
        if !right.is_empty() {
            let _ = write!(text, "--\n{right}\n");
        }
    }
    text
}

/// Returns the value of an option of a header.
fn option<'h>(header: &'h str, name: &str) -> Option<&'h str> {
    let mut options = header
        .split(' ')
        .skip(1)
        .filter_map(|it| it.split_once('='));
    options.find(|(it, _)| *it == name).map(|(_, value)| value)
}

fn limits(header: &str) -> DocumentLimits {
    let number =
        |name| option(header, name).map(|it| it.trim_end_matches('s').parse::<usize>().unwrap());
    let all = DocumentLimits::DEFAULT;
    let seconds = number("time").map(|it| Duration::from_secs(it as u64));
    let attempts = number("attempts").map(|it| u32::try_from(it).unwrap());
    all.bytes(number("bytes").unwrap_or(all.bytes))
        .steps(number("steps").unwrap_or(all.steps))
        .depth(number("depth").unwrap_or(all.depth))
        .string(number("string").unwrap_or(all.string))
        .name(number("name").unwrap_or(all.name))
        .values(number("values").unwrap_or(all.values))
        .inputs(number("inputs").unwrap_or(all.inputs))
        .references(number("references").unwrap_or(all.references))
        .findings(number("findings").unwrap_or(all.findings))
        .attempts(attempts.unwrap_or(all.attempts))
        .time(seconds.unwrap_or(all.time))
}

fn reader(header: &str, dialect: &str) -> Reader<'static> {
    let reader = Reader::new().limits(limits(header));
    let reader = match option(header, "profile") {
        None => reader,
        Some("compat") => reader.profile(Profile::Compat),
        Some(other) => panic!("{other}"),
    };
    match dialect {
        "any" => reader,
        "action-plan" => reader.dialect(Dialect::ActionPlan),
        "blueprint" => reader.dialect(Dialect::Blueprint),
        "plan-json" => reader.dialect(Dialect::PlanJson),
        "tool-plan" => reader.dialect(Dialect::ToolPlan),
        other => panic!("{other}"),
    }
}

fn tools(name: &str) -> Contracts {
    match name {
        "mail" => checks::tools(),
        "parts" => sound::tools(),
        "payments" => plans::payments(),
        other => panic!("{other}"),
    }
}

/// Applies each fix of a help, after which the finding is gone. With `is_only`, no other finding takes its place.
fn apply(read: &dyn Fn(&str) -> Findings, text: &str, finding: &Finding, is_only: bool) {
    // A fix inside a block is not applied.
    if finding.step.as_deref().is_none_or(|it| it.contains('.')) {
        return;
    }
    for document in all_fixes(text, finding) {
        let rest = read(&document);
        let is_like = |it: &Finding| is_only || it.message == finding.message;
        assert!(!rest.iter().any(is_like), "{finding}{document}\n{rest}");
    }
}

/// Returns the findings of a case, and the text of the case.
fn found(case: &Case, dialect: &str) -> (Findings, String) {
    let [header, document, _, right] = case;
    let (reader, name) = (reader(header, dialect), option(header, "tools"));
    let tools = name.map(tools);
    let read = |text: &str| match &tools {
        Some(tools) => checks::all_findings(reader.clone().tools(tools).read(text)),
        None => checks::all_findings(reader.read(text)),
    };
    let findings = read(document);
    for finding in &*findings {
        let is_only = findings.len() == 1 && name == Some("parts");
        apply(&read, document, finding, is_only);
    }
    if !right.is_empty() {
        assert_eq!(read(right).to_string(), "", "{right}");
    }
    let text = match tools {
        Some(_) => findings.to_string(),
        None => said(&reader, document),
    };
    (findings, text)
}

#[test]
fn fixtures() {
    let mut wrong = String::new();
    for code in entries(&folder(), Path::is_dir) {
        for path in entries(&code, |it| it.extension().is_some_and(|it| it == "txt")) {
            let dialect = path.file_stem().unwrap().to_str().unwrap();
            let mut all = cases(&fs::read_to_string(&path).unwrap());
            let names: BTreeSet<_> = all.iter().map(|it| it[0].clone()).collect();
            assert_eq!(names.len(), all.len(), "{}", path.display());
            for case in &mut all {
                let (findings, shown) = found(case, dialect);
                let first = findings.iter().next().map(|it| it.code.as_str());
                assert_eq!(first, code.file_name().unwrap().to_str(), "{}", case[0]);
                if dialect == "plan-json" && reader(&case[0], "any").read(&case[1]).is_err() {
                    // serde accepts an order that an older version may have recorded.
                    let is_recorded = shown.contains("but an always step runs after");
                    let plan = serde_json::from_str::<Plan>(&case[1]);
                    assert!(
                        plan.is_err() || is_recorded || case[0].contains('='),
                        "{}",
                        case[1]
                    );
                }
                let shown = shown.trim_end();
                if case[2] != shown {
                    let _ = writeln!(wrong, "{}: {}\n{shown}", path.display(), case[0]);
                    shown.clone_into(&mut case[2]);
                }
            }
            if env::var_os("UPDATE_EXPECT").is_some() {
                fs::write(&path, written(&all)).unwrap();
            }
        }
    }
    assert!(
        wrong.is_empty() || env::var_os("UPDATE_EXPECT").is_some(),
        "{wrong}"
    );
}

#[test]
fn each_code_has_fixtures_and_documentation() {
    let source = include_str!("../../src/dynamic/finding/mod.rs");
    let codes = source
        .lines()
        .filter_map(|it| it.split_once(" = \"")?.1.strip_suffix("\","));
    let codes: BTreeSet<&str> = codes.collect();
    assert!(codes.contains(Code::InvalidJson.as_str()));
    let guide = include_str!("../../src/guide/codes.md");
    for code in &codes {
        assert!(
            guide.contains(&format!("`{code}`")),
            "codes.md has no `{code}`"
        );
    }
    let folders = entries(&folder(), Path::is_dir);
    let folders = folders
        .iter()
        .map(|it| it.file_name().unwrap().to_str().unwrap());
    assert_eq!(folders.collect::<BTreeSet<_>>(), codes);
}
