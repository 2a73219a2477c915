//! References in the strings of blueprints.

use crate::reading::of;
use plan_runtime::dynamic::Dialect;

/// The help contains one `.data`.
#[test]
fn a_name_in_place_of_an_index() {
    let reader = of(Dialect::Blueprint);
    for (written, meant) in [
        ("${mail.data[0].x}", "${step[0].data[0].x}"),
        ("${mail.result.x}", "${step[0].data.x}"),
        ("${mail.data}", "${step[0].data}"),
        ("${mail[0].data}", "${step[0].data[0].data}"),
        ("${mail}", "${step[0].data}"),
    ] {
        let document = format!(
            r#"{{"requestId": "r", "steps": [
  {{"id": "mail", "tool": "t", "params": {{}}}},
  {{"tool": "t", "params": {{"x": "{written}"}}}}
]}}"#
        );
        let findings = reader.read(&document).unwrap_err().to_string();
        let help = format!("did you mean `{meant}`?");
        assert!(findings.contains(&help), "{findings}");
        let meant = document.replace(written, meant);
        assert!(reader.read(&meant).is_ok(), "{meant}");
    }
}
