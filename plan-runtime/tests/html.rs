//! Reports as pages. They are stored in cargo's directory for tests as well, where `tests/pictures/run` opens them in a
//! browser.

use plan_runtime::dynamic::{Contract, Toolbox};
use plan_runtime::run::{HtmlParts, OnFailure};
use plan_runtime::{Error, Plan, Report};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A tool that takes `ms`, and gives `give`, or fails with `fail`: always, or, if requested, every other time.
fn toolbox() -> Toolbox<()> {
    let calls = AtomicU64::new(0);
    Toolbox::new().with_fn(Contract::new("act"), move |given: Value| {
        let flaky = u64::from(!given["flaky"].is_null());
        let call = calls.fetch_add(flaky, Ordering::Relaxed);
        async move {
            smol::Timer::after(Duration::from_millis(given["ms"].as_u64().unwrap_or(0))).await;
            let fails = given["flaky"].is_null() || call.is_multiple_of(2);
            match &given["fail"] {
                Value::String(why) if fails => Err(Error::msg(why.clone())),
                _ => Ok(given["give"].clone()),
            }
        }
    })
}

fn plan(json: Value) -> Plan {
    serde_json::from_value(json).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a step with these members and references as arguments.
fn step(id: &str, mut given: Value, needs: &[&str]) -> Value {
    for (number, need) in needs.iter().enumerate() {
        given[format!("from {number}")] = json!({"reference": {"step": need, "pointer": ""}});
    }
    json!({"id": id, "tool": {"name": "act"}, "arguments": {"object": given}})
}

fn run(plan: &Plan, capture: bool) -> Report {
    let toolbox = toolbox();
    let run = toolbox
        .run(plan, json!({}), &())
        .on_failure(OnFailure::Continue);
    let run = run.capture_arguments(capture).capture_outputs(capture);
    smol::block_on(run.with_report()).1
}

fn linked_to<'p>(style: &'p str, scripts: &'p [&'p str]) -> HtmlParts<'p> {
    let mut parts = HtmlParts::default();
    (parts.style, parts.scripts) = (style, scripts);
    parts
}

/// The page, which is kept under a name, and beside it the page with links.
fn page(name: &str, report: &Report) -> String {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    let linked_directory = directory.join("linked");
    std::fs::create_dir_all(&linked_directory).unwrap();
    let keep = |path: PathBuf, text: &str| std::fs::write(path, text).unwrap();
    let (html, linked) = (
        report.to_html(),
        report.to_html_with(&linked_to("report.css", &["report.js"])),
    );
    keep(directory.join(name).with_extension("html"), &html);
    keep(linked_directory.join(name).with_extension("html"), &linked);
    keep(linked_directory.join("report.css"), Report::HTML_STYLE);
    keep(linked_directory.join("report.js"), Report::HTML_SCRIPT);
    strict(&html, &linked);
    html
}

/// The tags of a page with their attributes, without what is inside its style sheet and its script.
fn tags(html: &str) -> Vec<&str> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some((_, after)) = rest.split_once('<') {
        // All quotes are double, and values contain none.
        let mut inside = false;
        let end = after.find(|c| {
            inside ^= c == '"';
            c == '>' && !inside
        });
        let (tag, after) = after.split_at(end.unwrap_or_else(|| panic!("no end: {after}")));
        tags.push(tag);
        let raw = ["style", "script"]
            .into_iter()
            .find(|raw| tag.starts_with(raw));
        rest = match raw {
            Some(raw) => after.split_once(&format!("</{raw}>")).unwrap().1,
            None => after,
        };
    }
    tags
}

/// The names of the attributes of a tag.
fn attributes(tag: &str) -> impl Iterator<Item = &str> {
    // Every other part is a value.
    let outside = tag.split('"').step_by(2).flat_map(str::split_whitespace);
    outside.map(|name| name.trim_end_matches('=')).skip(1)
}

/// A page needs only a style sheet and a script, and a page with links contains no style and no script.
fn strict(html: &str, linked: &str) {
    for tag in tags(html).into_iter().chain(tags(linked)) {
        let wrong = attributes(tag).find(|name| *name == "style" || name.starts_with("on"));
        assert_eq!(wrong, None, "<{tag}>");
    }
    let count = |html: &str, name: &str| {
        let is_named = |tag: &&&str| tag.split_whitespace().next() == Some(name);
        tags(html).iter().filter(is_named).count()
    };
    let counts = |html: &str| ["style", "link", "script"].map(|name| count(html, name));
    assert_eq!(counts(html), [1, 0, 1]);
    assert_eq!(counts(linked), [0, 1, 1]);
    assert!(linked.contains(" src=\"report.js\"></script>"));

    // All else is the same in both, but for the number.
    let body = |html: &str| {
        let body = html.split_once("<body>").unwrap().1;
        body.rsplit_once("<script").unwrap().0.to_owned()
    };
    assert_eq!(body(html), body(linked));
    for page in [html, linked] {
        let nonce = between(page, "; script-src 'nonce-", "'");
        assert_eq!(nonce.len(), 32);
        assert_eq!(
            page.matches(&format!("style-src 'nonce-{nonce}';")).count(),
            1
        );
        assert_eq!(page.matches(&format!(" nonce=\"{nonce}\"")).count(), 2);
        assert!(!page.contains("unsafe-"));
    }
}

/// Returns the part of a page between two strings.
fn between<'h>(html: &'h str, from: &str, to: &str) -> &'h str {
    let (_, rest) = html
        .split_once(from)
        .unwrap_or_else(|| panic!("`{from}` is missing"));
    rest.split_once(to)
        .unwrap_or_else(|| panic!("`{to}` is missing"))
        .0
}

fn story() -> Plan {
    let local = json!({"reference": {"local": 0, "pointer": ""}});
    let each =
        json!({"tool": {"name": "act"}, "arguments": {"object": {"ms": local, "give": local}}});
    let mut flaky = step(
        "flaky",
        json!({"ms": 12, "fail": "the line is busy", "flaky": true, "give": "at last"}),
        &["first"],
    );
    flaky["policy"] = json!({"attempts": 4, "backoff": "8ms", "jitter": false});
    let mut extra = step("extra", json!({"ms": 9, "fail": "no answer"}), &["first"]);
    extra["policy"] = json!({"optional": "whole"});
    let mut last = step("last", json!({"ms": 6, "give": "done"}), &["all", "flaky"]);
    last["after"] = json!(["extra"]);
    plan(json!({
        "name": "story", "description": "What can become of a step.",
        "steps": [
            {"id": "first", "intent": "Where it begins.", "tool": {"name": "act"}, "arguments": {"object": {
                "ms": 15, "give": {"object": {"name": "<script>alert(1)</script>", "n": 1}}}}},
            {"id": "all", "intent": "Each of a list.", "for": {"pattern": "ms", "list": [20, 5, 14, 9, 11], "body": each},
             "after": ["first"], "policy": {"concurrency": 2}},
            flaky, extra,
            {"id": "never", "if": [{"condition": false, "then": {"tool": {"name": "act"}, "arguments": {"object": {}}}}]},
            step("broken", json!({"ms": 20, "fail": "</pre><script>alert(2)</script>"}), &["first"]),
            step("blocked", json!({}), &["broken"]),
            last
        ],
        "output": {"value": {"reference": {"step": "last", "pointer": ""}}}
    }))
}

#[test]
fn a_page_of_each_status() {
    let report = run(&story(), true);
    let html = page("story", &report);
    let nodes = html.matches("<a class=\"node ").count();
    let rows = html.matches("<a class=\"row ").count();
    let sections = html.matches("<section class=\"step ").count();
    assert_eq!((nodes, rows, sections), (8, 8, 8));
    let class = |status: &str| html.contains(&format!("<a class=\"node {status}"));
    assert!(
        [
            "completed",
            "completed critical",
            "recovered",
            "skipped",
            "failed",
            "blocked"
        ]
        .into_iter()
        .all(class)
    );
    for what in ["for ×5: act", "if: act"] {
        assert!(html.contains(&format!(">{what}</text>")), "{what}");
    }
    // A link at the top leads to the failure.
    let failures = between(&html, "<p class=\"failures\">", "</p>");
    let link = "<a href=\"#step-5\" data-step=\"5\">broken</a>";
    assert!(
        failures.ends_with(&format!("Go to the failure: {link}")),
        "{failures}"
    );
    // `first` is needed by four, `all` and `flaky` by `last`, which is after `extra`, and `blocked` needs `broken`.
    assert_eq!(html.matches("<path class=\"edge").count(), 8);
    assert_eq!(html.matches("<path class=\"edge after").count(), 2);
    let all = between(&html, "id=\"step-1\"", "</section>");
    assert_eq!(all.matches("<li class=\"good\">").count(), 5, "{all}");
    assert!(all.contains("[4] attempt 1 of <code>act</code>"), "{all}");
    assert!(
        between(&html, "id=\"step-6\"", "</section>")
            .contains("because <a href=\"#step-5\" data-step=\"5\">broken</a> failed")
    );
    // In each row a bar, and in it the attempts.
    assert_eq!(html.matches("<rect class=\"good\"").count(), 1 + 5 + 1 + 1);
    assert_eq!(html.matches("<rect class=\"bad\"").count(), 1 + 1 + 1);
    assert!(!html.contains("was not recorded"));
}

#[test]
fn values_are_text() {
    let html = page("story", &run(&story(), true));
    // One script is the page's own.
    assert_eq!(html.matches("<script").count(), 1);
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(html.contains("&lt;/pre&gt;&lt;script&gt;alert(2)&lt;/script&gt;"));
    // Nothing is loaded from anywhere.
    assert!(!html.contains("http://") && !html.contains("https://") && !html.contains("@import"));

    let evil = "\"'><img src=x onerror=alert(3)>&amp;\0\u{1b}</title></style></svg>";
    let hostile = plan(json!({"name": evil, "description": evil, "steps": [
        {"id": evil, "intent": evil, "tool": {"name": "act"}, "arguments": {"object": {"give": evil, evil: evil}}},
        {"id": "b", "tool": {"name": "act"}, "arguments": {"object": {
            "fail": evil, "x": {"reference": {"step": evil, "pointer": "", "written": evil}}}}}
    ]}));
    let html = page("hostile", &run(&hostile, true));
    assert!(!html.contains("<img") && !html.contains('\0') && !html.contains('\u{1b}'));
    // One title is the page's, and one each that of two boxes and the arrow between them.
    for (tag, count) in [
        ("</title>", 4),
        ("</style>", 1),
        // The graph, the axis, and the tracks of two steps.
        ("</svg>", 4),
        ("<script", 1),
        ("</script>", 1),
    ] {
        assert_eq!(html.matches(tag).count(), count, "{tag}");
    }
}

/// The first line of a page counts the steps.
#[test]
fn facts_count_steps() {
    let facts = |steps: Value| {
        let html = run(&plan(json!({"name": "p", "steps": steps})), false).to_html();
        between(&html, "<p class=\"facts\">", "<strong>").to_owned()
    };
    let step = |id: &str| step(id, json!({}), &[]);
    assert_eq!(facts(json!([])), "No steps in ");
    assert_eq!(facts(json!([step("a")])), "1 step in ");
    assert_eq!(facts(json!([step("a"), step("b")])), "2 steps in ");
}

/// A list has one length in the graph and in the sentence about its failures, even if some elements did not start.
#[test]
fn a_list_has_one_length() {
    let body = json!({"tool": {"name": "act"}, "arguments": {"object": {"fail": "no"}}});
    let each = json!({"pattern": "n", "list": [1, 2, 3], "body": body});
    let steps = json!([{"id": "all", "for": each, "policy": {"concurrency": 1}}]);
    let plan = plan(json!({"name": "p", "steps": steps}));
    let html = smol::block_on(toolbox().run(&plan, json!({}), &()).with_report());
    let html = html.1.to_html();
    for part in ["for ×3: act", ": 1 of 3 elements failed: "] {
        assert!(html.contains(part), "{part} in {html}");
    }
}

#[test]
fn addresses_are_text() {
    let report = run(&story(), false);
    let style = "a.css?v=1&w=\"'><script>alert(4)</script>";
    let script = "https://example.org/a.js\" onload=\"alert(5)";
    let html = report.to_html_with(&linked_to(style, &[script]));
    assert!(html.contains(
        " href=\"a.css?v=1&amp;w=&quot;&#39;&gt;&lt;script&gt;alert(4)&lt;/script&gt;\">"
    ));
    assert!(
        html.contains(" src=\"https://example.org/a.js&quot; onload=&quot;alert(5)\"></script>")
    );
    let scripts = tags(&html)
        .into_iter()
        .filter(|tag| tag.starts_with("script"));
    let names: Vec<_> = scripts.flat_map(attributes).collect();
    assert_eq!(names, ["nonce", "src"]);
}

/// The numbers of an attribute of elements that begin so, in the order of the page.
fn numbers(html: &str, tag: &str, attribute: &str) -> Vec<f64> {
    let found = tags(html).into_iter().filter(|it| it.starts_with(tag));
    let value = |tag: &str| {
        between(tag, &format!(" {attribute}=\""), "%\"")
            .parse()
            .unwrap()
    };
    found.map(value).collect()
}

#[test]
fn bars_are_where_the_times_are() {
    let report = run(&story(), false);
    let html = page("times", &report);
    let json = json!(report);
    let whole = json["duration_ms"].as_f64().unwrap();
    let share = |ms: &Value| ms.as_f64().unwrap() / whole * 100.0;
    let mut started: Vec<&Value> = json["steps"].as_array().unwrap().iter().collect();
    started.retain(|step| step["started_ms"].is_number());
    started.sort_by(|a, b| share(&a["started_ms"]).total_cmp(&share(&b["started_ms"])));
    assert_eq!(started.len(), 7);
    let close = |found: Vec<f64>, expected: Vec<f64>| {
        assert_eq!(found.len(), expected.len());
        let far = |(found, expected): (&f64, &f64)| (found - expected).abs() > 0.01;
        assert!(
            !found.iter().zip(&expected).any(far),
            "{found:?} {expected:?}"
        );
    };
    let bar = "rect class=\"bar\"";
    close(
        numbers(&html, bar, "x"),
        started
            .iter()
            .map(|step| share(&step["started_ms"]))
            .collect(),
    );
    close(
        numbers(&html, bar, "width"),
        started
            .iter()
            .map(|step| share(&step["duration_ms"]).max(0.15))
            .collect(),
    );
    // Two calls of `all` run at a time, one drawn below the other.
    let (_, timeline) = html.split_once("class=\"timeline\"").unwrap();
    let all = between(timeline, "aria-label=\"all ", "</a>");
    assert!(!all.contains("The row shows"), "{all}");
    let mut rows = numbers(all, "rect class=\"good\"", "y");
    rows.sort_by(f64::total_cmp);
    assert_eq!((rows.len(), rows[0], rows[4]), (5, 0.0, 50.0));
    assert!(all.contains(" height=\"20\""), "{all}");
}

#[test]
fn an_undone_step_looks_undone() {
    let mut back = step("back", json!({}), &[]);
    back["undo"] = json!("booked");
    let booked = step("booked", json!({"give": 1}), &[]);
    let told = step("told", json!({"fail": "the line is busy"}), &["booked"]);
    let undone = plan(json!({"name": "undone", "steps": [booked, back, told]}));
    let mut report = run(&undone, false);
    assert_eq!(
        report.totals().to_string(),
        "1 completed, 1 undone, 1 failed"
    );
    let is_undone = |line: &str| line.trim().starts_with("booked ") && line.contains(" undone ");
    assert!(report.to_string().lines().any(is_undone), "{report}");
    // A retry has removed these attempts.
    let second = Duration::from_secs(1);
    report.add_earlier("told", second..2 * second, true);
    report.add_earlier("booked", second..2 * second, false);
    let html = page("undone", &report);
    for class in ["bad earlier", "good earlier"] {
        assert_eq!(html.matches(&format!("class=\"{class}\"")).count(), 1);
    }
    // A label begins with the visible words.
    for visible in ["booked", "booked act"] {
        let spoken = format!("aria-label=\"{visible}, completed, undone by back");
        assert_eq!(html.matches(&spoken).count(), 1);
    }
    assert_eq!(html.matches(", completed, undone by back").count(), 4);
    assert_eq!(html.matches("completed undone").count(), 3);
    // Once more in the legend, and once in the number of undone steps.
    assert_eq!(html.matches('⤺').count(), 5);
    // Only the undo step has this box and this edge.
    assert!(html.contains(">undo: act<"));
    assert!(html.contains("class=\"edge undo\" data-from=\"0\" data-to=\"1\""));
    // A graph that scrolls does not hide its legend.
    assert!(html.contains("</svg></div><ul class=\"legend\">"));
    let legend = between(&html, "class=\"legend\"", "</ul>");
    for line in [
        "✗ failed",
        "⤺ undone",
        "undoes a step",
        "uses an output",
        "undo",
    ] {
        assert!(
            legend.contains(&format!(">{line}</li>")),
            "{line} in {legend}"
        );
    }
    let section = between(&html, "id=\"step-0\"", "</section>");
    assert!(section.contains("completed, undone by <a href=\"#step-1\""));
}

#[test]
fn what_was_not_recorded_is_said() {
    let html = page("unrecorded", &run(&story(), false));
    assert!(!html.contains("at last") && !html.contains("alert(1)"));
    let first = between(&html, "id=\"step-0\"", "</section>");
    assert!(first.contains(
        "The run did not record arguments. A programmer can record the arguments of later runs with <code>Run::capture_arguments(true)</code>."
    ));
    assert!(
        first.contains(
            "The run did not record outputs. A programmer can record the outputs of later runs with <code>Run::capture_outputs(true)</code>."
        )
    );
}

#[test]
fn long_values_are_cut() {
    let text = "é".repeat(30_000);
    let long = plan(json!({"name": "long", "steps": [step("a", json!({"give": text}), &[])]}));
    let html = run(&long, true).to_html();
    assert!(html.contains("more characters"));
    assert!(html.len() < 150_000, "{}", html.len());
    // Paper has the first lines of a list.
    let list: Vec<usize> = (0..100).collect();
    let list = plan(json!({"name": "list", "steps": [step("a", json!({"give": list}), &[])]}));
    let html = page("lines", &run(&list, true));
    assert_eq!(html.matches("<pre class=\"long\"").count(), 2);
    let hint = "class=\"hint rest\">The print has only the first 60 of 102 lines.";
    assert_eq!(html.matches(hint).count(), 1);
}

#[test]
fn plans_without_steps_and_plans_that_cannot_run() {
    let html = page(
        "empty",
        &run(&plan(json!({"name": "empty", "steps": []})), true),
    );
    assert!(html.contains("No steps in"));

    let mut round = plan(
        json!({"name": "round", "steps": [step("a", json!({}), &[]), step("b", json!({}), &["a"])]}),
    );
    let steps = &mut round.steps;
    steps[0].after = vec![0, 1, 9];
    let html = page("round", &run(&round, true));
    assert_eq!(html.matches("<a class=\"node not-started").count(), 2);
}

/// A number of steps, each of which needs up to two of those shortly before it.
fn many(count: usize) -> Plan {
    let mut random = 7_u64;
    let mut next = move |below: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    let steps: Vec<Value> = (0..count)
        .map(|number| {
            let near = number.min(24);
            let mut needs: Vec<String> = Vec::new();
            for _ in 0..next(3).min(near) {
                let need = format!("step_{}", number - 1 - next(near));
                if !needs.contains(&need) {
                    needs.push(need);
                }
            }
            let needs: Vec<&str> = needs.iter().map(String::as_str).collect();
            let mut given = json!({"ms": 1 + next(12), "give": number});
            if next(90) == 0 {
                given["fail"] = json!("out of luck");
            }
            step(&format!("step_{number}"), given, &needs)
        })
        .collect();
    plan(json!({"name": "many_steps", "steps": steps}))
}

/// A row with too many calls does not end in silence.
#[test]
fn a_row_of_many_calls_shows_how_many_it_leaves_out() {
    for (count, is_cut) in [(400, false), (402, true)] {
        let list: Vec<usize> = (0..count).collect();
        let body = json!({"tool": {"name": "act"}, "arguments": {"object": {"give": 1}}});
        let all = json!({"id": "all", "for": {"pattern": "n", "list": list, "body": body}});
        let calls = plan(json!({"name": "calls", "steps": [all]}));
        let html = page("calls", &run(&calls, false));
        let (_, timeline) = html.split_once("class=\"timeline\"").unwrap();
        let row = between(timeline, "aria-label=\"all", "</a>");
        assert_eq!(row.matches("rect class=\"good\"").count(), 400);
        let note = "The row shows 400 of 402 calls, failures first.";
        // Once for people who see the row, and once for a screen reader.
        assert_eq!(row.matches(note).count(), 2 * usize::from(is_cut), "{row}");
        // Paper has the failed calls of a long list.
        let rest = format!("and leaves out {count} of {count} calls.");
        assert!(html.contains(&rest), "{rest}");
    }
}

#[test]
fn wrong_arguments_make_no_call() {
    let local = json!({"reference": {"local": 0, "pointer": "/n"}});
    let body = json!({"tool": {"name": "act"}, "arguments": {"object": {"ms": local}}});
    let all = json!({"id": "all", "for": {"pattern": "ms", "list": [{"object": {"n": 1}}, {"object": {}}], "body": body}, "policy": {"optional": "each"}});
    let report = run(&plan(json!({"name": "calls", "steps": [all]})), true);
    let html = page("uncalled", &report);
    let calls = between(&html, "class=\"attempts\"", "</ol>");
    assert_eq!(calls.matches(", no call</p>").count(), 1, "{calls}");
    assert_eq!(calls.matches(", took ").count(), 1, "{calls}");
    assert!(calls.contains("so it made no call"), "{calls}");
    let report = json!(report);
    let attempts = report["steps"][0]["attempts"].as_array().unwrap();
    let called = |nth: usize| {
        attempts
            .iter()
            .find(|it| it["element"] == json!([nth]))
            .unwrap()["called"]
            .clone()
    };
    assert_eq!([called(0), called(1)], [Value::Null, json!(false)]);
}

/// The duration of a step is not over the bar of an attempt before a retry.
#[test]
fn a_duration_is_beside_its_bar() {
    let (first, last) = (
        step("first", json!({"ms": 300}), &[]),
        step("last", json!({"ms": 10}), &["first"]),
    );
    let mut report = run(
        &plan(json!({"name": "late", "steps": [first, last]})),
        false,
    );
    let is_before = |report: &Report| {
        let html = page("late", report);
        let (_, timeline) = html.split_once("class=\"timeline\"").unwrap();
        between(timeline, "aria-label=\"last", "</a>").contains("took before")
    };
    assert!(is_before(&report));
    let started = report.step("last").unwrap().started().unwrap();
    report.add_earlier(
        "last",
        Duration::ZERO..started - Duration::from_millis(1),
        true,
    );
    assert!(!is_before(&report));
}

/// The head names the failed elements of a list, and a search for failures finds the step.
#[test]
fn failed_elements_are_at_the_top() {
    let list = [
        json!({"give": 1}),
        json!({"fail": "the `line` is busy"}),
        json!({"give": 3}),
    ];
    let list = list.map(|it| json!({"object": it}));
    let local = json!({"reference": {"local": 0, "pointer": ""}});
    let body = json!({"tool": {"name": "act"}, "arguments": local});
    let all = json!({"id": "all", "for": {"pattern": "one", "list": list, "body": body}, "policy": {"optional": "each"}});
    let html = page(
        "elements",
        &run(&plan(json!({"name": "elements", "steps": [all]})), true),
    );
    let header = between(&html, "<header>", "</header>");
    assert!(
        header.contains(">all</a>: 1 of 3 elements failed: [1]</p>"),
        "{header}"
    );
    let calls = between(&html, "class=\"attempts\"", "</ol>");
    assert!(calls.starts_with("><li class=\"bad\">"), "{calls}");
    assert!(calls.contains("the <code>line</code> is busy"), "{calls}");
    assert!(html.contains("<rect class=\"bad\""));
    assert!(!html.contains("The print has only"));
}

#[test]
fn hundreds_of_steps() {
    let html = page("many", &run(&many(300), true));
    assert_eq!(html.matches("<a class=\"node ").count(), 300);
    assert!(html.len() < 1_500_000, "{}", html.len());
}

#[test]
fn thousands_of_steps() {
    let html = run(&many(3_000), false).to_html();
    assert_eq!(html.matches("<a class=\"row ").count(), 3_000);
}

#[test]
fn a_few_steps() {
    page("few", &run(&many(5), true));
    let chain: Vec<Value> = (0..40)
        .map(|number: usize| {
            let before = number.checked_sub(1).map(|before| format!("link_{before}"));
            let needs: Vec<&str> = before.as_deref().into_iter().collect();
            step(
                &format!("link_{number}"),
                json!({"ms": 2, "give": 1}),
                &needs,
            )
        })
        .collect();
    page(
        "chain",
        &run(&plan(json!({"name": "chain", "steps": chain})), true),
    );
}

/// The boxes have the shapes of the server's page, and the legend explains only these shapes.
#[test]
fn shapes_of_forms_are_explained() {
    let html = page("shapes", &run(&story(), false));
    for shape in [" is-for\" href=", " is-if\" href="] {
        assert_eq!(html.matches(shape).count(), 1, "{shape}");
    }
    let legend = between(&html, "class=\"legend\"", "</ul>");
    let words = [
        ("is-for", "runs for each element of a list", true),
        ("is-if", "has a condition", true),
        ("is-loop", "repeats", false),
        ("is-block", "contains steps", false),
    ];
    for (class, words, is_drawn) in words {
        let item = format!("<li class=\"{class}\">{words}</li>");
        assert_eq!(legend.contains(&item), is_drawn, "{item} in {legend}");
        for part in [".node", ".legend"] {
            let styled = Report::HTML_STYLE
                .lines()
                .any(|line| line.contains(part) && line.contains(class));
            assert!(
                styled || class == "is-if" && part == ".node",
                "{part} {class}"
            );
        }
    }
}

/// Names that are equal up to their ends look different, and their full names are in the titles.
#[test]
fn long_names_keep_their_ends() {
    let of =
        |month: &str| format!("summarize_all_orders_of_the_customer_and_of_the_friends_of_{month}");
    let names = ["january", "february"].map(of);
    let steps = names
        .each_ref()
        .map(|name| step(name, json!({"ms": 1}), &[]));
    let last = json!({"reference": {"step": &names[0], "pointer": ""}});
    let plan = plan(json!({"name": "long", "steps": steps, "output": {"value": last}}));
    let report = run(&plan, false);
    let html = page("long", &report);
    let graph = between(&html, "<svg class=\"graph\"", "</svg>");
    for shown in ["summarize_al…_of_january", "summarize_al…of_february"] {
        assert_eq!(graph.matches(&format!(">{shown}<")).count(), 1, "{graph}");
    }
    for name in &names {
        assert!(
            graph.contains(&format!("<title>{name} act, completed")),
            "{graph}"
        );
        assert_eq!(
            html.matches(&format!("class=\"name\" title=\"{name}\""))
                .count(),
            1
        );
    }
    let narrow = plan_runtime::Terminal::new(60, false).report(&report);
    for end in ["_january ", "_february "] {
        assert_eq!(narrow.matches(end).count(), 1, "{narrow}");
    }
}

/// Paper is light, and shows no choice and no search of the reader.
#[test]
fn paper_shows_no_choice() {
    let style = Report::HTML_STYLE;
    assert!(style.contains("@media screen and (prefers-color-scheme: dark)"));
    let print = between(style, "@media print {", "\n}");
    assert!(print.contains("color-scheme: light;"));
    let screen = between(style, "@media screen {", "\n}");
    let all = |of: &str| ["chosen", "faded", ".near"].map(|class| of.matches(class).count());
    assert_eq!(all(style), all(screen));
}
