//! Documents of any size, each with one thing in large numbers.

mod mistakes;
mod schemas;

use plan_runtime::dynamic::{Contract, Contracts, Dialect};
use serde_json::{Value, json};
use std::cell::RefCell;

/// A document, and the tools of its check.
pub(crate) struct Case {
    pub(crate) dialect: Dialect,
    pub(crate) text: String,
    /// The tools, each with the schemas of its arguments and of its output.
    tools: Vec<(String, Value, Value)>,
}

impl Case {
    /// Bytes of the document and of the schemas.
    pub(crate) fn size(&self) -> usize {
        let tools = self.tools.iter().map(|(name, arguments, output)| {
            name.len() + arguments.to_string().len() + output.to_string().len()
        });
        self.text.len() + tools.sum::<usize>()
    }

    pub(crate) fn tools(&self) -> Contracts {
        let tools = self.tools.iter().map(|(name, arguments, output)| {
            Contract::new(name.as_str())
                .arguments(arguments.clone())
                .output(output.clone())
        });
        tools.collect()
    }
}

/// A kind of documents, in a dialect.
pub(crate) struct Shape {
    pub(crate) name: String,
    make: Box<dyn Fn(usize) -> Case>,
}

impl Shape {
    /// A document whose tool takes strings, lists and objects.
    fn plain(name: String, dialect: Dialect, make: impl Fn(usize) -> String + 'static) -> Self {
        let make = move |count| {
            let any = json!({"type": "object", "properties": {"x": {"type": ["array", "object", "string"]}}});
            let tools = vec![("t".to_owned(), any.clone(), any)];
            Case {
                dialect,
                text: make(count),
                tools,
            }
        };
        Self {
            name,
            make: Box::new(make),
        }
    }

    /// A document of about this number of bytes.
    pub(crate) fn of(&self, bytes: usize) -> Case {
        let some = (self.make)(64).size();
        let more = (self.make)(128).size();
        let each = ((more - some) / 64).max(1);
        (self.make)((bytes / each).max(8))
    }
}

/// A plan of a step `a` and a step `s` with these arguments.
fn plan(dialect: Dialect, arguments: &str) -> String {
    match dialect {
        Dialect::ActionPlan => format!(
            r#"[{{"id":"a","tool":"t","arguments":{{}}}},{{"id":"s","tool":"t","arguments":{arguments}}}]"#
        ),
        Dialect::ToolPlan => format!(
            r#"{{"steps":[{{"id":"a","tool":"t","arguments":{{}}}},{{"id":"s","tool":"t","arguments":{arguments}}}]}}"#
        ),
        Dialect::Blueprint => format!(
            r#"{{"steps":[{{"tool":"t","params":{{}}}},{{"tool":"t","params":{arguments}}}]}}"#
        ),
        _ => plan_json(
            "[]",
            &format!(
                r#"{{"id":"a","tool":{{"name":"t"}}}},{{"id":"s","tool":{{"name":"t"}},"arguments":{{"object":{arguments}}}}}"#
            ),
        ),
    }
}

fn plan_json(inputs: &str, steps: &str) -> String {
    format!(r#"{{"name":"p","inputs":{inputs},"steps":[{steps}],"output":{{"value":null}}}}"#)
}

/// A reference to a part of the output of step `a`, as a value.
fn reference(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::ActionPlan => r#""{{a.result.x}}""#,
        Dialect::ToolPlan => r#""$ref:a.x""#,
        Dialect::Blueprint => r#""${step[0].data.x}""#,
        _ => r#"{"reference":{"step":"a","pointer":"/x"}}"#,
    }
}

fn unknown(dialect: Dialect, index: usize) -> String {
    match dialect {
        Dialect::ActionPlan => format!(r#""{{{{b{index}.result.x}}}}""#),
        Dialect::ToolPlan => format!(r#""$ref:b{index}.x""#),
        Dialect::Blueprint => format!(r#""${{step[1{index}].data.x}}""#),
        _ => format!(r#"{{"reference":{{"step":"b{index}","pointer":"/x"}}}}"#),
    }
}

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    let items: Vec<String> = (0..count).map(item).collect();
    format!("[{}]", items.join(","))
}

fn object(count: usize, item: impl Fn(usize) -> String) -> String {
    let items: Vec<String> = (0..count)
        .map(|at| format!("\"{at}\":{}", item(at)))
        .collect();
    format!("{{{}}}", items.join(","))
}

fn step(dialect: Dialect, id: &str, arguments: &str) -> String {
    match dialect {
        Dialect::Blueprint => format!(r#"{{"tool":"t","params":{arguments}}}"#),
        Dialect::PlanJson => {
            format!(r#"{{"id":"{id}","tool":{{"name":"t"}},"arguments":{{"object":{arguments}}}}}"#)
        }
        _ => format!(r#"{{"id":"{id}","tool":"t","arguments":{arguments}}}"#),
    }
}

fn steps(dialect: Dialect, count: usize, make: impl Fn(usize) -> String) -> String {
    let steps: Vec<String> = (0..count).map(make).collect();
    let steps = steps.join(",");
    match dialect {
        Dialect::ActionPlan => format!("[{steps}]"),
        Dialect::PlanJson => plan_json("[]", &steps),
        _ => format!("{{\"steps\":[{steps}]}}"),
    }
}

/// All kinds in all dialects.
pub(crate) fn shapes() -> Vec<Shape> {
    let shapes = RefCell::new(Vec::new());
    for dialect in [
        Dialect::ActionPlan,
        Dialect::ToolPlan,
        Dialect::Blueprint,
        Dialect::PlanJson,
    ] {
        let add = |name: &str, make: Box<dyn Fn(usize) -> String>| {
            let name = format!("{name} ({dialect})");
            shapes.borrow_mut().push(Shape::plain(name, dialect, make));
        };
        // The content of one argument of one step.
        let argument = |name: &str, make: Box<dyn Fn(usize) -> String>| {
            add(
                name,
                Box::new(move |count| plan(dialect, &format!("{{\"x\":{}}}", make(count)))),
            );
        };
        argument("ones", Box::new(|n| list(n, |_| "1".into())));
        argument("ones on lines", Box::new(|n| list(n, |_| "1\n".into())));
        argument("nulls", Box::new(|n| list(n, |_| "null".into())));
        argument(
            "long numbers",
            Box::new(|n| list(n, |_| "0.123456789".into())),
        );
        argument("empty strings", Box::new(|n| list(n, |_| "\"\"".into())));
        argument("short strings", Box::new(|n| list(n, |_| "\"a\"".into())));
        argument(
            "escaped strings",
            Box::new(|n| list(n, |_| "\"\\n\"".into())),
        );
        argument("empty lists", Box::new(|n| list(n, |_| "[]".into())));
        argument("lists of one", Box::new(|n| list(n, |_| "[1]".into())));
        argument(
            "lists of lists of one",
            Box::new(|n| list(n, |_| "[[1]]".into())),
        );
        argument(
            "a long string",
            Box::new(|n| format!("\"{}\"", "x".repeat(n.min(1 << 20)))),
        );
        argument(
            "a long escaped string",
            Box::new(|n| format!("\"{}\"", "\\u00e9".repeat(n.min(1 << 19)))),
        );
        argument(
            "deep",
            Box::new(|n| {
                let deep = format!("{}1{}", "[".repeat(40), "]".repeat(40));
                list(n / 40 + 1, |_| deep.clone())
            }),
        );
        argument(
            "wide and deep",
            Box::new(|n| {
                let wide = list(n, |_| "1".into());
                format!("{}{wide}{}", "[".repeat(50), "]".repeat(50))
            }),
        );
        argument(
            "references",
            Box::new(move |n| list(n, |_| reference(dialect).into())),
        );
        argument(
            "unknown steps",
            Box::new(move |n| list(n, |at| unknown(dialect, at))),
        );
        argument(
            "too deep",
            Box::new(|n| {
                let deep = format!("{}{}", "[".repeat(70), "]".repeat(70));
                list(n / 70 + 1, |_| deep.clone())
            }),
        );
        argument(
            "inexact numbers",
            Box::new(|n| list(n, |_| "99999999999999999999".into())),
        );
        argument(
            "half of a pair",
            Box::new(|n| list(n, |_| "\"\\ud800\"".into())),
        );
        if dialect == Dialect::PlanJson {
            argument(
                "empty objects",
                Box::new(|n| list(n, |_| r#"{"object":{}}"#.into())),
            );
            argument(
                "objects of one",
                Box::new(|n| list(n, |_| r#"{"object":{"":1}}"#.into())),
            );
            argument(
                "unknown kinds",
                Box::new(|n| list(n, |_| r#"{"a":1}"#.into())),
            );
            argument("no kinds", Box::new(|n| list(n, |_| "{}".into())));
            argument(
                "merges",
                Box::new(|n| list(n, |_| r#"{"merge":[]}"#.into())),
            );
            argument(
                "a merge",
                Box::new(|n| {
                    format!(
                        r#"{{"merge":{}}}"#,
                        list(n, |at| format!(r#"{{"object":{{"{at}":1}}}}"#))
                    )
                }),
            );
            argument(
                "tests",
                Box::new(|n| list(n, |_| r#"{"compare":[1,"<",2]}"#.into())),
            );
            argument(
                "a test",
                Box::new(|n| format!(r#"{{"any":{}}}"#, list(n, |_| r#"{"not":true}"#.into()))),
            );
            argument(
                "deep tests",
                Box::new(|n| {
                    let deep = format!("{}1{}", "{\"not\":".repeat(40), "}".repeat(40));
                    list(n / 40 + 1, |_| deep.clone())
                }),
            );
            argument(
                "wrong tests",
                Box::new(|n| list(n, |_| r#"{"compare":[1,"=",{"all":[]}]}"#.into())),
            );
            argument(
                "a text",
                Box::new(|n| format!(r#"{{"text":{}}}"#, list(n, |_| "\"a\"".into()))),
            );
            argument(
                "a text of values",
                Box::new(|n| format!(r#"{{"text":{}}}"#, list(n, |_| r#"{"value":1}"#.into()))),
            );
            argument(
                "computed",
                Box::new(|n| list(n, |_| r#"{"computed":{"written":"","reads":[]}}"#.into())),
            );
            argument(
                "reads",
                Box::new(|n| {
                    format!(
                        r#"{{"computed":{{"written":"","reads":{}}}}}"#,
                        list(n, |_| r#"{"step":"a"}"#.into())
                    )
                }),
            );
            argument(
                "a long pointer",
                Box::new(|n| {
                    format!(
                        r#"{{"reference":{{"step":"a","pointer":"{}"}}}}"#,
                        "/x".repeat(n)
                    )
                }),
            );
            argument(
                "a long path",
                Box::new(|n| {
                    format!(
                        r#"{{"reference":{{"step":"a","path":{}}}}}"#,
                        list(n, |_| "\"x\"".into())
                    )
                }),
            );
            argument(
                "a default",
                Box::new(|n| {
                    format!(
                        r#"{{"reference":{{"step":"a","pointer":"","optional":true,"else":{}}}}}"#,
                        list(n, |_| "1".into())
                    )
                }),
            );
            argument(
                "a default of objects",
                Box::new(|n| {
                    format!(
                        r#"{{"reference":{{"step":"a","pointer":"","optional":true,"else":{}}}}}"#,
                        list(n, |_| r#"{"":1}"#.into())
                    )
                }),
            );
            add(
                "inputs",
                Box::new(|n| plan_json(&list(n, |at| format!(r#"{{"name":"p{at}"}}"#)), "")),
            );
            // Each step needs the one before it.
            let row = |at: usize| {
                let after = at
                    .checked_sub(1)
                    .map(|before| format!(r#","after":["s{before}"]"#));
                format!(
                    r#"{{"id":"s{at}","tool":{{"name":"t"}}{}}}"#,
                    after.unwrap_or_default()
                )
            };
            let undo = |at: usize, of: usize| {
                let x = format!(r#"{{"reference":{{"step":"s{of}","pointer":"/x"}}}}"#);
                format!(
                    r#"{{"id":"u{at}","undo":"s{at}","tool":{{"name":"t"}},"arguments":{{"object":{{"x":{x}}}}}}}"#
                )
            };
            let rows = |n, make: &dyn Fn(usize) -> String| {
                plan_json("[]", list(n, make).trim_matches(['[', ']']))
            };
            add(
                "undo steps that refer to the first",
                Box::new(move |n| rows(n, &|at| format!("{},{}", row(at), undo(at, 0)))),
            );
            add(
                "undo steps that refer to others",
                Box::new(move |n| rows(n, &|at| format!("{},{}", row(at), undo(at, at / 2)))),
            );
            add(
                "undo steps that refer to what is not needed",
                Box::new(move |n| rows(n, &|at| format!("{},{}", row(at), undo(at, n - 1)))),
            );
            add(
                "always steps",
                Box::new(move |n| {
                    rows(n, &|at| {
                        let always = r#""always":true,"tool""#;
                        row(at).replace(r#""tool""#, always)
                    })
                }),
            );
            add(
                "empty inputs",
                Box::new(|n| plan_json(&list(n, |_| "{}".into()), "")),
            );
            add(
                "a long type",
                Box::new(|n| {
                    let ty = format!("{}u8{}", "Option<".repeat(n), ">".repeat(n));
                    let input = format!(r#"[{{"name":"x","type":"{ty}"}}]"#);
                    plan_json(
                        &input,
                        r#"{"id":"s","tool":{"name":"t"},"arguments":{"object":{"k":{"reference":{"input":"x","pointer":""}}}}}"#,
                    )
                }),
            );
            add(
                "branches",
                Box::new(|n| {
                    plan_json(
                        "[]",
                        &format!(
                            r#"{{"id":"s","if":{}}}"#,
                            list(n, |_| r#"{"then":{"value":1}}"#.into())
                        ),
                    )
                }),
            );
            add(
                "empty branches",
                Box::new(|n| {
                    plan_json(
                        "[]",
                        &format!(r#"{{"id":"s","if":{}}}"#, list(n, |_| "{}".into())),
                    )
                }),
            );
            add(
                "policies",
                Box::new(move |n| {
                    steps(dialect, n, |at| {
                        format!(r#"{{"id":"s{at}","value":1,"policy":{{"attempts":2}}}}"#)
                    })
                }),
            );
            add(
                "after",
                Box::new(|n| {
                    plan_json(
                        "[]",
                        &format!(
                            r#"{{"id":"a","value":1}},{{"id":"s","value":1,"after":{}}}"#,
                            list(n, |_| "\"a\"".into())
                        ),
                    )
                }),
            );
            add(
                "after unknown steps",
                Box::new(|n| {
                    plan_json(
                        "[]",
                        &format!(
                            r#"{{"id":"a","value":1}},{{"id":"s","value":1,"after":{}}}"#,
                            list(n, |at| format!("\"b{at}\""))
                        ),
                    )
                }),
            );
            add(
                "values",
                Box::new(move |n| {
                    steps(dialect, n, |at| match at {
                        0 => r#"{"id":"s0","value":1}"#.into(),
                        _ => format!(
                            r#"{{"id":"s{at}","value":{{"reference":{{"step":"s{}","pointer":""}}}}}}"#,
                            at - 1
                        ),
                    })
                }),
            );
        } else {
            argument("empty objects", Box::new(|n| list(n, |_| "{}".into())));
            argument(
                "objects of one",
                Box::new(|n| list(n, |_| "{\"\":1}".into())),
            );
            argument("members", Box::new(|n| object(n, |_| "1".into())));
            argument(
                "one member many times",
                Box::new(|n| {
                    let members: Vec<&str> = (0..n).map(|_| "\"\":1").collect();
                    format!("{{{}}}", members.join(","))
                }),
            );
            let near = match dialect {
                Dialect::ActionPlan => [
                    "{{",
                    "{{a",
                    "}}",
                    "{{a.result[",
                    "{{PLACEHOLDER_",
                    "{{a.result.x}}",
                    "{{\"x\"}}",
                ],
                Dialect::ToolPlan => [
                    "$ref:", "$ref:a[", "$ref:a.", "$", "$ref", "a$ref:a", "$ref:a ",
                ],
                _ => [
                    "${",
                    "${step[",
                    "${step[0]",
                    "${step[0].data",
                    "${step[0].data.x}",
                    "$",
                    "${steps[0].x}",
                ],
            };
            for near in near {
                argument(
                    &format!("{near} in a string"),
                    Box::new(move |n| {
                        format!("\"{}\"", near.replace('"', "\\\"").repeat(n.min(100_000)))
                    }),
                );
                argument(
                    &format!("strings of {near}"),
                    Box::new(move |n| list(n, |_| format!("\"{}\"", near.replace('"', "\\\"")))),
                );
            }
            argument(
                "a long path",
                Box::new(move |n| reference(dialect).replace(".x", &".x".repeat(n.min(200_000)))),
            );
            argument(
                "a long way through lists",
                Box::new(move |n| reference(dialect).replace(".x", &"[*]".repeat(n.min(200_000)))),
            );
        }
        if dialect == Dialect::ActionPlan {
            argument(
                "inputs",
                Box::new(|n| list(n, |at| format!("\"{{{{PLACEHOLDER_{at}}}}}\""))),
            );
            argument(
                "one input many times",
                Box::new(|n| list(n, |_| "\"{{PLACEHOLDER_p}}\"".into())),
            );
        }
        if dialect == Dialect::ToolPlan {
            add(
                "arguments in a string",
                Box::new(|n| {
                    let text = list(n, |_| "1".into());
                    plan(Dialect::ToolPlan, &format!("\"{{\\\"x\\\": {text}}}\""))
                }),
            );
            add(
                "output steps",
                Box::new(|n| {
                    let steps = list(n, |at| step(Dialect::ToolPlan, &format!("s{at}"), "{}"));
                    let outputs = list(n, |at| format!("\"s{at}\""));
                    format!(r#"{{"steps":{steps},"output_steps":{outputs}}}"#)
                }),
            );
            add(
                "one output step many times",
                Box::new(|n| {
                    let steps = list(1, |at| step(Dialect::ToolPlan, &format!("s{at}"), "{}"));
                    let outputs = list(n, |_| "\"s0\"".into());
                    format!(r#"{{"steps":{steps},"output_steps":{outputs}}}"#)
                }),
            );
        }
        if dialect == Dialect::Blueprint {
            add(
                "waiting",
                Box::new(|n| {
                    let waiting = list(n, |_| "0".into());
                    format!(
                        r#"{{"steps":[{{"tool":"t","params":{{}}}},{{"tool":"t","params":{{}},"dependsOn":{waiting}}}]}}"#
                    )
                }),
            );
        }
        add(
            "steps",
            Box::new(move |n| steps(dialect, n, |at| step(dialect, &format!("{at}"), "{}"))),
        );
        add(
            "empty steps",
            Box::new(move |n| steps(dialect, n, |_| "{}".into())),
        );
        add(
            "numbers for steps",
            Box::new(move |n| steps(dialect, n, |_| "1".into())),
        );
        add(
            "equal ids",
            Box::new(move |n| steps(dialect, n, |_| step(dialect, "s", "{}"))),
        );
        add(
            "other members",
            Box::new(move |n| {
                steps(dialect, n, |at| {
                    step(dialect, &format!("{at}"), "{}").replacen('{', "{\"z\":1,", 1)
                })
            }),
        );
        if dialect != Dialect::Blueprint {
            add(
                "a ring",
                Box::new(move |n| {
                    steps(dialect, n, |at| {
                        let reference = unknown(dialect, (at + 1) % n);
                        step(
                            dialect,
                            &format!("b{at}"),
                            &format!("{{\"x\":{reference}}}"),
                        )
                    })
                }),
            );
            add(
                "pairs of steps",
                Box::new(move |n| {
                    steps(dialect, n, |at| {
                        let reference = unknown(dialect, at ^ 1);
                        step(
                            dialect,
                            &format!("b{at}"),
                            &format!("{{\"x\":{reference}}}"),
                        )
                    })
                }),
            );
            add(
                "a long id",
                Box::new(move |n| {
                    let arguments = format!("{{\"x\":{}}}", list(n / 8, |at| unknown(dialect, at)));
                    steps(dialect, 1, |_| step(dialect, &"i".repeat(n), &arguments))
                }),
            );
            add(
                "long ids",
                Box::new(move |n| {
                    let id = |at: usize| format!("{}{at}", "i".repeat(1_000));
                    steps(dialect, n / 1_000 + 1, |at| {
                        step(
                            dialect,
                            &id(at),
                            &format!("{{\"x\":{}}}", unknown(dialect, at)),
                        )
                    })
                }),
            );
            add(
                "a hub",
                Box::new(move |n| {
                    steps(dialect, n, |at| {
                        let arguments = match at {
                            0 => {
                                format!("{{\"x\":{}}}", list(n - 1, |at| unknown(dialect, at + 1)))
                            }
                            _ => format!("{{\"x\":{}}}", unknown(dialect, (at + 1) % n)),
                        };
                        step(dialect, &format!("b{at}"), &arguments)
                    })
                }),
            );
        }
        let condition = move |condition: &str| {
            let call = step(dialect, "b", "{}");
            // The step does its work if the condition holds.
            let tool = call
                .trim_start_matches(r#"{"id":"b","#)
                .trim_start_matches('{');
            let id = if dialect == Dialect::Blueprint {
                ""
            } else {
                r#""id":"b","#
            };
            let branch = format!(r#"{{"condition":{condition},"then":{{{tool}}}"#);
            let conditional = format!(r#"{{{id}"if":[{branch}]}}"#);
            steps(dialect, 2, |at| match at {
                0 => step(dialect, "a", "{}"),
                _ => conditional.clone(),
            })
        };
        let compared = move |_| format!(r#"{{"compare":[{},"==",1]}}"#, reference(dialect));
        add(
            "a condition",
            Box::new(move |n| condition(&format!(r#"{{"all":{}}}"#, list(n, compared)))),
        );
        add(
            "deep conditions",
            Box::new(move |n| {
                let deep = format!("{}true{}", "{\"not\":".repeat(40), "}".repeat(40));
                condition(&format!(
                    r#"{{"any":{}}}"#,
                    list(n / 40 + 2, |_| deep.clone())
                ))
            }),
        );
        add(
            "wrong conditions",
            Box::new(move |n| {
                let wrong = |_| r#"{"al":[{"len":1}]}"#.to_owned();
                condition(&format!(r#"{{"any":{}}}"#, list(n, wrong)))
            }),
        );
        add(
            "many lines",
            Box::new(move |n| {
                plan(
                    dialect,
                    &format!("{{{}\"x\":{}}}", "\n".repeat(n), unknown(dialect, 1)),
                )
            }),
        );
        add("unclosed", Box::new(move |n| plan(dialect, &"[".repeat(n))));
        add(
            "too deep",
            Box::new(move |n| plan(dialect, &format!("{}{}", "[".repeat(n), "]".repeat(n)))),
        );
    }
    let mut shapes = shapes.into_inner();
    shapes.extend(mistakes::shapes());
    shapes.extend(schemas::shapes());
    shapes
}
