//! Whole documents that are not JSON or not plans.

use crate::reading::said;
use plan_runtime::dynamic::Reader;

#[test]
fn what_other_languages_write_for_json() {
    let quotes = "names and strings are in double quotes: `\"id\"`";
    for (document, help) in [
        ("[{'id': 1}]", quotes),
        ("[{\"id\": “a”}]", quotes),
        ("[{\"id\": True}]", "JSON writes `true` and `false`"),
        ("[{\"id\": None}]", "JSON writes `null`"),
        ("[ // steps\n]", "JSON has no comments"),
    ] {
        let said = said(&Reader::new(), document);
        assert!(said.ends_with(&format!("   = help: {help}\n")), "{said}");
    }
    let said = said(&Reader::new(), "[;]");
    assert!(!said.contains("help"), "{said}");
}
