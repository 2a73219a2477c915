//! Compares rustc's messages with the expected ones.

use crate::mistakes::program::Program;
use crate::mistakes::rustc::Message;
use std::fmt::Write;

/// Returns the differences in the messages of a program.
pub(crate) fn of(program: &Program, messages: &[Message]) -> Option<String> {
    let mut wrong = String::new();
    let mut add = |line: String| {
        let _ = writeln!(wrong, "    {line}");
    };
    let errors: Vec<_> = messages.iter().filter(|message| message.is_error).collect();
    if errors.len() != program.marks.len() {
        add(format!(
            "{} errors, {} expected",
            errors.len(),
            program.marks.len()
        ));
    }
    if program.marks.is_empty() && errors.is_empty() && !messages.is_empty() {
        add("has warnings".to_owned());
    }
    for mark in &program.marks {
        if !errors.iter().any(|error| error.spans.contains(mark)) {
            add(format!(
                "no error underlines `{}`",
                &program.source[mark.clone()]
            ));
        }
    }
    for error in &errors {
        for name in error.internal_names() {
            add(format!("names `{name}`"));
        }
    }
    let text: Vec<_> = errors.iter().map(|error| error.text.as_str()).collect();
    let text = text.join("\n");
    let fixes = program.case.fixes.iter();
    for words in program.case.says.iter().chain(fixes) {
        if !text.contains(words.as_str()) {
            add(format!("does not say: {words}"));
        }
    }
    for words in &program.case.never {
        if text.contains(words.as_str()) {
            add(format!("says: {words}"));
        }
    }
    if wrong.is_empty() {
        return None;
    }
    for message in messages {
        let tokens: Vec<_> = message
            .spans
            .iter()
            .map(|span| program.source.get(span.clone()).unwrap_or("?"))
            .collect();
        let text = message.text.replace('\n', "\n        | ");
        let _ = writeln!(wrong, "      at `{}`: {text}", tokens.join("`, `"));
    }
    Some(format!("{}\n{wrong}", program.name))
}
