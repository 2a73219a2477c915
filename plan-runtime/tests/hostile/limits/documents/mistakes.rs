//! Documents of any size about graphs, names, nested strings, and Rust.

use super::{Shape, list, plan, plan_json, step, steps, unknown};
use plan_runtime::dynamic::Dialect;

const DIALECTS: [Dialect; 3] = [Dialect::ActionPlan, Dialect::ToolPlan, Dialect::PlanJson];

/// A number in two signs that are the same in a name of Rust.
fn signs(number: usize) -> String {
    (0..24)
        .map(|bit| if number >> bit & 1 == 1 { '-' } else { '.' })
        .collect()
}

fn root(n: usize) -> usize {
    n.isqrt().max(2)
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

pub(super) fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    let mut add = |name: &str, dialect: Dialect, make: Box<dyn Fn(usize) -> String>| {
        shapes.push(Shape::plain(format!("{name} ({dialect})"), dialect, make));
    };
    for dialect in DIALECTS {
        let x = move |at: usize, to: &[usize]| {
            let to = list(to.len(), |of| unknown(dialect, to[of]));
            step(dialect, &format!("b{at}"), &format!("{{\"x\":{to}}}"))
        };
        add(
            "each step to each",
            dialect,
            Box::new(move |n| {
                let count = root(n);
                let all: Vec<usize> = (0..count).collect();
                steps(dialect, count, |at| x(at, &all))
            }),
        );
        add(
            "each step to each one before it",
            dialect,
            Box::new(move |n| {
                let all: Vec<usize> = (0..root(n)).collect();
                steps(dialect, all.len(), |at| x(at, &all[..at]))
            }),
        );
        add(
            "steps to themselves",
            dialect,
            Box::new(move |n| steps(dialect, n, |at| x(at, &[at]))),
        );
        add(
            "a chain",
            dialect,
            Box::new(move |n| {
                steps(dialect, n, |at| {
                    x(at, &at.checked_sub(1).into_iter().collect::<Vec<_>>())
                })
            }),
        );
        add(
            "a chain backwards",
            dialect,
            Box::new(move |n| {
                steps(dialect, n, |at| {
                    x(at, &(at + 1..n).take(1).collect::<Vec<_>>())
                })
            }),
        );
        add(
            "rings around a hub",
            dialect,
            Box::new(move |n| {
                steps(dialect, n, |at| match at {
                    0 => x(0, &(1..n).collect::<Vec<_>>()),
                    _ => x(at, &[0]),
                })
            }),
        );
        add(
            "layers",
            dialect,
            Box::new(move |n| {
                let wide = 4;
                steps(dialect, n, |at| {
                    let layer = at / wide;
                    let before: Vec<usize> = match layer.checked_sub(1) {
                        Some(layer) => (layer * wide..(layer + 1) * wide).collect(),
                        None => Vec::new(),
                    };
                    x(at, &before)
                })
            }),
        );
        add(
            "ids with one name in Rust",
            dialect,
            Box::new(move |n| {
                steps(dialect, n, |at| {
                    step(dialect, &format!("A{}", signs(at)), "{}")
                })
            }),
        );
        add(
            "arguments with one name in Rust",
            dialect,
            Box::new(move |n| {
                let names: Vec<String> = (0..n).map(|at| format!("\"A{}\":1", signs(at))).collect();
                plan(dialect, &format!("{{{}}}", names.join(",")))
            }),
        );
        add(
            "tools with one name in Rust",
            dialect,
            Box::new(move |n| {
                steps(dialect, n, |at| {
                    let step = step(dialect, &format!("s{at}"), "{}");
                    step.replace("\"t\"", &format!("\"A{}\"", signs(at)))
                })
            }),
        );
        add(
            "a long id that is misspelled",
            dialect,
            Box::new(move |n| {
                let id = "b".repeat(n);
                let other = unknown(dialect, 1).replace("b1", &format!("{}c", &id[1..]));
                steps(dialect, 1, |_| {
                    step(dialect, &id, &format!("{{\"x\":{other}}}"))
                })
            }),
        );
        add(
            "misspelled ids",
            dialect,
            Box::new(move |n| {
                steps(dialect, n, |at| {
                    let other = unknown(dialect, at).replace(&format!("b{at}"), &format!("b{at}x"));
                    step(dialect, &format!("b{at}"), &format!("{{\"x\":{other}}}"))
                })
            }),
        );
        add(
            "a long member",
            dialect,
            Box::new(move |n| {
                steps(dialect, 1, |_| {
                    step(dialect, "s", "{}").replacen(
                        '{',
                        &format!("{{\"{}\":1,", "t".repeat(n)),
                        1,
                    )
                })
            }),
        );
        add(
            "unknown members of a step",
            dialect,
            Box::new(move |n| {
                let members: Vec<String> = (0..n).map(|at| format!("\"too{at}\":1,")).collect();
                steps(dialect, 1, |_| {
                    step(dialect, "s", "{}").replacen('{', &format!("{{{}", members.concat()), 1)
                })
            }),
        );
        add(
            "misspelled members of a step",
            dialect,
            Box::new(move |n| {
                let members: Vec<String> = (0..n).map(|at| format!("\"inten{at}\":1,")).collect();
                steps(dialect, 1, |_| {
                    step(dialect, "s", "{}").replacen('{', &format!("{{{}", members.concat()), 1)
                })
            }),
        );
        add(
            "a member of a step many times",
            dialect,
            Box::new(move |n| {
                steps(dialect, 1, |_| {
                    step(dialect, "s", "{}").replacen(
                        '{',
                        &format!("{{{}", "\"id\":\"s\",".repeat(n)),
                        1,
                    )
                })
            }),
        );
        add(
            "spaces",
            dialect,
            Box::new(move |n| format!("{}{}", " ".repeat(n), steps(dialect, 1, |at| x(at, &[2])))),
        );
        add("fences", dialect, Box::new(|n| "```\n".repeat(n)));
        add(
            "marks of bytes",
            dialect,
            Box::new(|n| format!("{}[]", "\u{feff}".repeat(n))),
        );
        add(
            "digits",
            dialect,
            Box::new(move |n| plan(dialect, &format!("{{\"x\":{}}}", "1".repeat(n)))),
        );
        add(
            "digits of a fraction",
            dialect,
            Box::new(move |n| plan(dialect, &format!("{{\"x\":0.{}}}", "1".repeat(n)))),
        );
        add(
            "signs that a terminal does not show",
            dialect,
            Box::new(move |n| {
                plan(
                    dialect,
                    &format!(
                        "{{\"x\":\"{}\",\"y\":{}}}",
                        "\u{202e}\u{7f}".repeat(n),
                        unknown(dialect, 1)
                    ),
                )
            }),
        );
        add(
            "tabs before a mistake",
            dialect,
            Box::new(move |n| {
                plan(
                    dialect,
                    &format!("{{{}\"x\":{}}}", "\t".repeat(n), unknown(dialect, 1)),
                )
            }),
        );
    }
    // Nested strings.
    let dialect = Dialect::ToolPlan;
    for (name, value) in [
        ("quotes", "\"\\\"v\""),
        ("lines", "\"\\nv\""),
        ("references", "\"$ref:a.x\""),
        ("unknown steps", "\"$ref:b.x\""),
        (
            "long texts of escapes",
            "\"\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\"",
        ),
        ("what is nearly a reference", "\"$ref:\""),
        ("objects", "{\"y\":{\"z\":1}}"),
    ] {
        add(
            &format!("{name} in arguments in a string"),
            dialect,
            Box::new(move |n| {
                plan(
                    dialect,
                    &quoted(&format!("{{\"x\":{}}}", list(n, |_| value.into()))),
                )
            }),
        );
        add(
            &format!("steps with {name} in arguments in a string"),
            dialect,
            Box::new(move |n| {
                steps(dialect, n, |at| {
                    let id = if at == 0 {
                        "a".to_owned()
                    } else {
                        format!("s{at}")
                    };
                    step(dialect, &id, &quoted(&format!("{{\"x\":{value}}}")))
                })
            }),
        );
    }
    add(
        "an open string in arguments in a string",
        dialect,
        Box::new(move |n| plan(dialect, &quoted(&format!("{{\"x\":\"{}", "\\\"".repeat(n))))),
    );
    let dialect = Dialect::ActionPlan;
    add(
        "inputs in a string",
        dialect,
        Box::new(move |n| {
            let all: String = (0..n)
                .map(|at| format!("{{{{PLACEHOLDER_{at}}}}}"))
                .collect();
            plan(dialect, &format!("{{\"x\":\"{all}\"}}"))
        }),
    );
    add(
        "inputs in text before them",
        dialect,
        Box::new(move |n| {
            let all: String = (0..n)
                .map(|at| format!("{{{{p{at}}}}} {{{{PLACEHOLDER_p{at}}}}}"))
                .collect();
            plan(dialect, &format!("{{\"x\":\"{all}\"}}"))
        }),
    );
    add(
        "inputs with one name in Rust",
        dialect,
        Box::new(move |n| {
            plan(
                dialect,
                &format!(
                    "{{\"x\":{}}}",
                    list(n, |at| format!("\"{{{{PLACEHOLDER_A{}}}}}\"", signs(at)))
                ),
            )
        }),
    );
    add(
        "references with escapes in a string",
        dialect,
        Box::new(move |n| {
            plan(
                dialect,
                &format!("{{\"x\":\"{}\"}}", "\\u007b{a.result.x}}\\n".repeat(n)),
            )
        }),
    );
    // Of plan JSON.
    let dialect = Dialect::PlanJson;
    let pattern = |name: &str| {
        let name = name.to_owned();
        move |pattern: String| {
            plan_json(
                r#"[{"name":"l","type":"Vec<u8>"}]"#,
                &format!(
                    r#"{{"id":"{name}","for":{{"pattern":{},"list":{{"reference":{{"input":"l","pointer":""}}}},"body":{{"tool":{{"name":"t"}}}}}}}}"#,
                    quoted(&pattern)
                ),
            )
        }
    };
    let of = pattern("m");
    add(
        "a deep pattern",
        dialect,
        Box::new(move |n| of(format!("{}x{}", "(".repeat(n), ",)".repeat(n)))),
    );
    let of = pattern("m");
    add(
        "a pattern of many names",
        dialect,
        Box::new(move |n| {
            of(format!(
                "({})",
                (0..n)
                    .map(|at| format!("n{at}"))
                    .collect::<Vec<_>>()
                    .join(", ")
            ))
        }),
    );
    for (name, open, close) in [
        ("parentheses", "(", ")"),
        ("signs", "-", ""),
        ("blocks", "{", "}"),
        ("borrows", "&", ""),
        ("comments", "/*", "*/"),
        ("quotes", "'", ""),
        ("texts", "\"", ""),
    ] {
        add(
            &format!("computed from {name}"),
            dialect,
            Box::new(move |n| {
                let written = quoted(&format!("{}1{}", open.repeat(n), close.repeat(n)));
                plan(
                    dialect,
                    &format!(r#"{{"x":{{"computed":{{"written":{written},"reads":[]}}}}}}"#),
                )
            }),
        );
        add(
            &format!("a type of {name}"),
            dialect,
            Box::new(move |n| {
                let ty = quoted(&format!("{}u8{}", open.repeat(n), close.repeat(n)));
                plan_json(
                    &format!(r#"[{{"name":"x","type":{ty}}}]"#),
                    &step(dialect, "s", "{}"),
                )
            }),
        );
    }
    add(
        "a duration of many parts",
        dialect,
        Box::new(|n| {
            plan_json(
                "[]",
                &format!(
                    r#"{{"id":"s","tool":{{"name":"t"}},"policy":{{"attempts":2,"backoff":"{}"}}}}"#,
                    "1s ".repeat(n)
                ),
            )
        }),
    );
    add(
        "names of local values",
        dialect,
        Box::new(|n| {
            let branch = |at: usize| {
                format!(
                    r#"{{"condition":{{"let":{{"pattern":"Some(n{at})","value":{{"reference":{{"step":"a","pointer":""}}}}}}}},"then":{{"value":{{"reference":{{"local":"n{at}","pointer":""}}}}}}}}"#
                )
            };
            plan_json(
                "[]",
                &format!(
                    r#"{{"id":"a","value":1}},{{"id":"s","if":{}}}"#,
                    list(n, branch)
                ),
            )
        }),
    );
    add(
        "conditions",
        dialect,
        Box::new(|n| {
            let branch = |_| {
                r#"{"condition":{"reference":{"step":"a","pointer":""}},"then":{"value":1}}"#
                    .to_owned()
            };
            plan_json(
                "[]",
                &format!(
                    r#"{{"id":"a","value":true}},{{"id":"s","if":{}}}"#,
                    list(n, branch)
                ),
            )
        }),
    );
    add(
        "steps after all before them",
        dialect,
        Box::new(|n| {
            steps(Dialect::PlanJson, root(n), |at| {
                format!(
                    r#"{{"id":"s{at}","value":1,"after":{}}}"#,
                    list(at, |of| format!("\"s{of}\""))
                )
            })
        }),
    );
    shapes
}
