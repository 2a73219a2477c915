use super::{assert_line, assert_safe, assert_seen, document, hostile, texts};
use plan_runtime::dynamic::{Contract, Contracts, Findings, Reader};
use proptest::prelude::*;
use serde_json::json;

fn findings(document: &str) -> Findings {
    let tools: Contracts = [Contract::new("find\u{1b}"), Contract::new("send")]
        .into_iter()
        .collect();
    match Reader::new().tools(&tools).read(document) {
        Ok(document) => panic!("nothing is wrong: {:?}", document.into_plan()),
        Err(findings) => findings,
    }
}

/// Checks the printed findings; each has a few lines, with known beginnings.
fn check(findings: &Findings) -> Result<(), TestCaseError> {
    let text = findings.to_string();
    assert_safe(&text);
    for line in text.lines().filter(|line| !line.is_empty()) {
        let known = ["error[", "warning[", "  --> ", "   = note: ", "   = help: "];
        prop_assert!(
            known.iter().any(|start| line.starts_with(start)),
            "{}",
            text
        );
    }
    let headers = text
        .lines()
        .filter(|line| line.starts_with("error[") || line.starts_with("warning["));
    prop_assert_eq!(headers.count(), findings.len(), "{}", text);
    for label in findings
        .iter()
        .flat_map(|finding| finding.related.iter().chain([&finding.label]))
    {
        assert_line(&label.to_string());
    }
    #[cfg(feature = "diagnostics")]
    {
        let text = findings.render("plan.json");
        // A long line may be cut before a mark.
        assert_seen(&text);
        let headers = text
            .lines()
            .filter(|line| line.starts_with("error[") || line.starts_with("warning["));
        prop_assert_eq!(headers.count(), findings.len(), "{}", text);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn of_a_plan_whose_tools_nobody_knows(texts in texts()) {
        check(&findings(&document(|number| texts[number % texts.len()].clone()).to_string()))?;
    }

    #[test]
    fn of_a_document_that_is_no_json(before in hostile(), inside in hostile()) {
        check(&findings(&format!("{before}{{\"steps\": [{{\"id\": \"{inside}\"{inside}")))?;
    }

    #[test]
    fn of_names_that_nobody_knows(name in hostile()) {
        // Written unchanged, except for characters that JSON does not allow in strings.
        let quoted = json!(name).to_string();
        let document = format!(
            "{{\"steps\": [{{\"id\": {quoted}, \"tool\": {quoted}, {quoted}: 1, \"arguments\": {{\"x\": {}}}}}]}}",
            json!(format!("$ref:gone{name}.x"))
        );
        check(&findings(&document))?;
    }
}

/// Returns the text above a line of `^`, in columns.
#[cfg(feature = "diagnostics")]
fn underlined(text: &str) -> Vec<String> {
    use unicode_width::UnicodeWidthChar;
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let Some((start, length)) = line.find('^').map(|at| (at, line.matches('^').count())) else {
            continue;
        };
        let mut column = 0;
        let mut words = String::new();
        for c in lines[number - 1].chars() {
            if (start..start + length).contains(&column) {
                words.push(c);
            }
            column += c.width().unwrap_or(0);
        }
        found.push(words);
    }
    found
}

#[cfg(feature = "diagnostics")]
#[test]
fn underlines_are_where_the_place_is() {
    for (before, shown) in [
        ("", ""),
        ("\u{202e}", r"\u{202e}"),
        ("\u{7f}\u{9b}", r"\u{7f}\u{9b}"),
        ("a\u{200b}\u{feff}", r"a\u{200b}\u{feff}"),
        ("名前", "名前"),
        ("\u{2028}", r"\u{2028}"),
        ("\u{fe0f}\u{301}", r"\u{fe0f}\u{301}"),
    ] {
        let document = format!(
            "{{\"steps\": [{{\"id\": \"{before}\", \"tool\": \"no{before}pe\", \"arguments\": {{}}}}]}}"
        );
        let found = findings(&document);
        let text = found.render("plan.json");
        assert_safe(&text);
        assert!(
            underlined(&text).contains(&format!("\"no{shown}pe\"")),
            "{text}"
        );
        for finding in &found {
            let place = format!(
                "plan.json:{}:{}\n",
                finding.label.line, finding.label.column
            );
            assert!(text.contains(&place), "{place}{text}");
        }
    }
}

/// Lines end as on Windows, are indented with tabs, and have a lone carriage return.
#[cfg(feature = "diagnostics")]
#[test]
fn ends_of_lines() {
    let document =
        "{\"steps\": [\r\n\t{\"id\": \"a\", \"tool\": \"nope\", \"arguments\": {}}\r\n]}";
    let text = findings(document).render("plan.json");
    assert_safe(&text);
    assert!(!text.contains("\\r") && !text.contains("\\t"), "{text}");
    assert_eq!(underlined(&text), ["\"nope\""], "{text}");
    let document = "{\"steps\": [{\r\"id\": \"a\", \"tool\": \"nope\", \"arguments\": {}}]}";
    let text = findings(document).render("plan.json");
    assert_safe(&text);
    assert!(text.contains("{\\r\"id\""), "{text}");
    assert_eq!(underlined(&text), ["\"nope\""], "{text}");
}

/// The name of the document is printed as well.
#[cfg(feature = "diagnostics")]
#[test]
fn the_documents_name() {
    let text = findings("{\"steps\": []}").render("plan\u{1b}[8m\n.json\u{202e}");
    assert_safe(&text);
    assert!(text.contains(r"plan\u{1b}[8m\n.json\u{202e}:1:"), "{text}");
}
