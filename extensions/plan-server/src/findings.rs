//! Findings in the form of the API, and the profile of a reading.

use crate::error::{Problem, short};
use plan_graph::{Line, Lines, MessageName};
use plan_runtime::dynamic::{Code, Finding, Label, Profile, Severity};
use serde_json::{Value, json};

pub(crate) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        _ => "warning",
    }
}

/// Returns `true` if a finding is about a reference whose target is missing.
pub(crate) fn is_of_reference(code: Code) -> bool {
    matches!(
        code,
        Code::LaterStep
            | Code::ListOrElement
            | Code::MalformedReference
            | Code::MaybeAbsent
            | Code::StepOutOfRange
            | Code::UnknownField
            | Code::UnknownInput
            | Code::UnknownLocal
            | Code::UnknownStep
    )
}

/// Returns the profile that a client has named.
pub(crate) fn profile(name: Option<&str>) -> Result<Profile, Problem> {
    match name {
        None | Some("strict") => Ok(Profile::Strict),
        Some("compatible") => Ok(Profile::Compat),
        Some(other) => Err(Problem::bad(
            format!("there is no profile `{}`", short(other)),
            "Write `strict` or `compatible`.",
        )),
    }
}

/// Findings in the form of the API. Positions are in UTF-16 code units, as browsers count.
pub(crate) fn findings_json(text: &str, findings: &[Finding]) -> Value {
    let places = Places::new(text);
    let label = |label: &Label| {
        json!({
            "start": places.at(text, label.span.start),
            "end": places.at(text, label.span.end),
            "text": Lines(&label.text).to_string(),
        })
    };
    findings
        .iter()
        .map(|finding| {
            let labels: Vec<Value> = std::iter::once(&finding.label)
                .chain(&finding.related)
                .map(label)
                .collect();
            json!({
                "severity": severity(finding.severity),
                "code": finding.code.as_str(),
                "message": Line(&finding.message).to_string(),
                "help": finding.help.as_ref().map(|help| Lines(help).to_string()),
                "step": finding.step.as_deref().map(|step| MessageName(step).to_string()),
                "labels": labels,
            })
        })
        .collect()
}

/// The start of each line, in bytes and in UTF-16 code units.
struct Places(Vec<(usize, usize)>);

impl Places {
    fn new(text: &str) -> Self {
        let (mut lines, mut units) = (vec![(0, 0)], 0);
        for (at, c) in text.char_indices() {
            units += c.len_utf16();
            if c == '\n' {
                lines.push((at + 1, units));
            }
        }
        Self(lines)
    }

    fn at(&self, text: &str, byte: usize) -> Value {
        let mut byte = byte.min(text.len());
        while !text.is_char_boundary(byte) {
            byte -= 1;
        }
        let line = self.0.partition_point(|(start, _)| *start <= byte) - 1;
        let (start, units) = self.0[line];
        let column: usize = text[start..byte].chars().map(char::len_utf16).sum();
        json!({"line": line + 1, "column": column + 1, "offset": units + column})
    }
}

#[cfg(test)]
mod tests {
    use super::Places;

    #[test]
    fn places_are_in_units_of_utf16() {
        let text = "a\n\u{1F600}é\nb";
        let places = Places::new(text);
        for (byte, c) in text.char_indices() {
            let place = places.at(text, byte);
            let before = &text[..byte];
            assert_eq!(place["offset"], before.encode_utf16().count(), "{c}");
            assert_eq!(place["line"], before.matches('\n').count() + 1);
            let line = before.rsplit('\n').next().unwrap();
            assert_eq!(place["column"], line.encode_utf16().count() + 1);
        }
        assert_eq!(places.at(text, 999)["offset"], text.encode_utf16().count());
    }
}
