//! Text in a terminal fits, and its breaks hide nothing.

use super::{assert_safe, hostile, reports};
use plan_runtime::{Plan, Terminal};
use proptest::prelude::*;
use serde_json::json;
use unicode_width::UnicodeWidthStr;

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn lines_fit_and_join(name in hostile(), text in hostile(), columns in 50..120_usize) {
        let plan: Plan = serde_json::from_value(json!({"name": name, "inputs": [{"name": format!("i{name}")}], "steps": [
            {"id": format!("s{name}"), "tool": {"name": format!("t{name}")}, "arguments": {"object": {format!("k{name}"): format!("{text} {text} {text}")}}},
        ], "output": {"value": {"reference": {"step": format!("s{name}"), "pointer": ""}}}})).unwrap();
        let terminal = Terminal::new(columns, false);
        let shown = terminal.plan(&plan);
        assert_safe(&shown);
        let wide = shown.lines().find(|line| line.width() > columns);
        prop_assert_eq!(wide, None, "{}", columns);
        // No comment is broken but the fixed ones, so the lines join.
        let mut joined = String::new();
        for line in shown.lines() {
            match line.trim_start().strip_prefix("… ") {
                Some(rest) => joined += rest,
                None => joined = joined + "\n" + line,
            }
        }
        let printed = plan.to_string();
        prop_assert_eq!(joined.trim(), printed.trim());

        let (_, report, _) = reports::run(&name, &text, &text);
        let shown = terminal.report(&report);
        assert_safe(&shown);
        let wide = shown.lines().find(|line| line.width() > columns);
        prop_assert_eq!(wide, None, "{}", columns);
        let rows = shown.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let critical = usize::from(report.critical_path().len() > 1);
        let rows = rows.filter(|line| !line.ends_with("  start + time"));
        prop_assert_eq!(rows.count(), 5 + critical, "{}", shown);
    }
}
