//! The layout of the code: the folders of a crate depend on each other in one direction, and `ARCHITECTURE.md` names only existing
//! files.
//!
//! A crate and each folder in it has a graph, with a node for each module directly inside: a file `x.rs` and its folder `x/` are one node.
//! A path from one module to another is an edge of the graph, be the path in a `use`, in an expression or a type, or in the tokens of a
//! macro.
//!
//! - `lib.rs` is not a node, and neither is the `mod.rs` of a folder. It declares the modules and re-exports from them: `crate::Plan` in
//!   a module is an edge to `plan`. A folder's own file may also declare shared items for its modules, and use these modules in turn.
//! - `check`, which generated code names, is a node like any other. `check` may use every module, so no module may use `check`.
//! - Code and files under `#[cfg(test)]` are left out, and so are comments: a link in documentation may lead anywhere.
//! - The content of `quote!` and similar macros is code for another crate.

#[path = "structure/documents.rs"]
mod documents;
#[path = "structure/imports.rs"]
mod imports;

use imports::Imports;
use plan_graph::{Graph, StepAttribute};
use std::path::{Path, PathBuf};

const CRATES: [&str; 4] = [
    "extensions/plan-rust",
    "plan-graph",
    "plan-macros",
    "plan-runtime",
];

/// Folders of `plan-runtime` whose first must not depend on the second, directly or through others.
const APART: [(&str, &str); 5] = [
    ("plan", "resolve"),
    ("error", "run"),
    ("resolve", "run"),
    ("run", "dynamic"),
    ("print", "plan"),
];

/// Files side by side that call each other, since what they read or make is recursive. This list may only get shorter.
const RECURSIVE: [[&str; 2]; 3] = [
    ["plan-macros/parse/format", "plan-macros/parse/value"],
    ["plan-runtime/check/argument", "plan-runtime/check/cursor"],
    ["plan-runtime/resolve/node", "plan-runtime/resolve/test"],
];

#[test]
fn no_folders_depend_on_each_other() {
    let mut found = Vec::new();
    let mut wrong = Vec::new();
    for name in CRATES {
        for imports in Imports::of_folders(name) {
            for cycle in graph(&imports).cycles() {
                let modules = imports.names(&cycle);
                let modules = modules.iter().map(|path| format!("{name}/{path}"));
                let modules: Vec<String> = modules.collect();
                if !RECURSIVE.iter().any(|known| modules == *known) {
                    wrong.push(imports.lines(&cycle));
                }
                found.push(modules);
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "modules depend on each other:\n{}",
        wrong.join("\n")
    );
    for known in RECURSIVE {
        let is_found = found.iter().any(|modules| *modules == known);
        assert!(is_found, "take out of the list: {known:?}");
    }
}

#[test]
fn dependencies_point_one_way() {
    let imports = Imports::of("plan-runtime");
    let graph = graph(&imports);
    for (from, to) in APART {
        let (from, to) = (imports.module(from), imports.module(to));
        // The other way round there are some, or the rule would mean nothing.
        assert!(
            graph.reachable(to)[from],
            "{} → {}",
            imports.modules[to],
            imports.modules[from]
        );
        assert!(
            !graph.reachable(from)[to],
            "{} → {}",
            imports.modules[from],
            imports.modules[to]
        );
    }
}

fn graph(imports: &Imports) -> Graph {
    let mut lists = vec![Vec::new(); imports.modules.len()];
    for &(from, to) in imports.edges.keys() {
        lists[from].push(to);
    }
    Graph::new(lists)
}

/// Returns the Rust files in these folders, with their code.
fn files<const N: usize>(folders: [&str; N]) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut open = folders.map(|folder| root.join(folder)).to_vec();
    let mut files = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let inside = std::fs::read_dir(path).unwrap();
            open.extend(inside.map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|it| it == "rs") {
            let code = std::fs::read_to_string(&path).unwrap();
            files.push((path.strip_prefix(root).unwrap().to_owned(), code));
        }
    }
    files.sort();
    files
}

/// Only strings in `plan!` are a part of the program. Code that reads data cannot create such strings.
#[test]
fn few_texts_are_of_the_program() {
    let mut found = files(["extensions/plan-rust/src", "plan-runtime/src"]);
    found.retain(|(_, code)| {
        code.lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .flat_map(|line| line.split(|c: char| c != '_' && !c.is_alphanumeric()))
            .any(|word| word == "of_program")
    });
    let found: Vec<PathBuf> = found.into_iter().map(|(path, _)| path).collect();
    let expected = [
        "plan-runtime/src/check/decode/mod.rs",
        "plan-runtime/src/check/decode/policy.rs",
        "plan-runtime/src/check/decode/template.rs",
        "plan-runtime/src/plan/rust_text.rs",
    ];
    assert_eq!(found, expected.map(Path::new));
}

/// The feature `dynamic` adds modules. No function inside of a module depends on it.
#[test]
fn the_feature_dynamic_adds_modules() {
    let mut modules = 0;
    for (path, code) in files(["plan-runtime/src"]) {
        let lines: Vec<&str> = code.lines().map(str::trim).collect();
        for (line, next) in lines.iter().zip(&lines[1..]) {
            if line.starts_with("#[cfg(") && line.contains("feature = \"dynamic\"") {
                let item = next.trim_start_matches("pub").trim_start();
                let item = item.rsplit(") ").next().unwrap_or(item);
                let is_module = item.starts_with("mod ") || item.starts_with("use ");
                assert!(is_module, "{}: {next}", path.display());
                modules += 1;
            }
        }
    }
    assert!(modules > 10, "{modules}");
}

/// The search of rustdoc finds each attribute of a step, in the documentation of `plan!`.
#[test]
fn the_search_finds_attributes() {
    let lib = include_str!("../plan-runtime/src/lib.rs");
    let (_, aliases) = lib.split_once("include_str!(\"plan.md\")").unwrap();
    let (aliases, _) = aliases.split_once("pub use").unwrap();
    let missing = StepAttribute::ALL
        .iter()
        .map(|it| format!("\"{}\"", it.name()));
    let missing: Vec<String> = missing.filter(|name| !aliases.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The attributes of steps are in one table, which code reads by the variants of an enum.
#[test]
fn attributes_are_named_in_one_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names = StepAttribute::ALL.iter().map(|attribute| attribute.name());
    // Other languages have these words as well.
    let names = names.filter(|name| *name != "catch");
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    let mut open = ["plan-macros/src", "plan-runtime/src/check"]
        .map(|folder| root.join(folder))
        .to_vec();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let inside = std::fs::read_dir(path).unwrap();
            open.extend(inside.map(|entry| entry.unwrap().path()));
            continue;
        }
        let code = std::fs::read_to_string(&path).unwrap();
        for name in &names {
            assert!(!code.contains(name), "{name} in {}", path.display());
        }
    }
}

/// Modules of the standard library that the machine may use: the rest has clocks, locks, threads or futures.
const PURE: [&str; 7] = [
    "collections",
    "error",
    "fmt",
    "marker",
    "mem",
    "ops",
    "sync::Arc;",
];

/// Parts of names that the machine must not have: each of them is a layer around the machine, or needs one.
const LAYERS: [&str; 15] = [
    "async", "atomic", "duration", "future", "gate", "instant", "journal", "json", "mutex",
    "observer", "permit", "report", "serde", "throttle", "waker",
];

/// The machine decides the next step. Time, values, journals and reports are layers around the machine, which names none of them.
#[test]
fn the_machine_stands_alone() {
    let imports = Imports::of("plan-runtime");
    let machine = imports.module("machine");
    let uses = imports.edges.iter().filter(|it| it.0.0 == machine);
    let uses: Vec<_> = uses.map(|it| it.1).collect();
    assert!(uses.is_empty(), "{uses:?}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("plan-runtime/src/machine");
    let mut files = 0;
    for entry in std::fs::read_dir(root).unwrap() {
        let code = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let wrong = impure(&code);
        assert!(wrong.is_empty(), "{wrong:?}");
        files += 1;
    }
    assert!(files > 10, "{files}");
    assert_eq!(impure("use std::fmt;\n// A waker.\nlet a = b;"), [""; 0]);
    for code in [
        "use std::sync::Once;",
        "use std::{fmt, time};",
        "a.to_json()",
        "struct InstantOf;",
    ] {
        assert_eq!(impure(code).len(), 1, "{code}");
    }
}

/// The lines of code that name a layer, or a module of the standard library that is not pure. Tests are left out.
fn impure(code: &str) -> Vec<&str> {
    let code = code.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().map(str::trim_start);
    let lines = lines.filter(|line| !line.starts_with("//"));
    let is_impure = |line: &&str| {
        let lower = line.to_lowercase();
        let mut modules = line.split("std::").skip(1);
        LAYERS.iter().any(|layer| lower.contains(layer))
            || modules.any(|rest| !PURE.iter().any(|pure| rest.starts_with(pure)))
    };
    lines.filter(is_impure).collect()
}

#[test]
fn the_architecture_names_what_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let missing = documents::missing(root, &CRATES, &text);
    assert!(
        missing.is_empty(),
        "ARCHITECTURE.md names what does not exist:\n{}",
        missing.join("\n")
    );
}

#[test]
fn missing_paths_are_found() {
    let text = "\
# One
`tests/structure.rs`, beside it `structure/imports.rs`, in that folder `documents.rs`; `tests/ui/<check>/` and `tests/ui/**/*.stderr`
`graph.rs` of a crate, `/a/pointer`, `a::path`, `if a / b`, `name.field`, and `no/such.rs`
```text
`no/such/code.rs`
```
# Two
`documents.rs`, `tests/<a>/b`, `tests/none/<a>`
";
    let missing = documents::missing(Path::new(env!("CARGO_MANIFEST_DIR")), &CRATES, text);
    assert_eq!(
        missing,
        ["3: no/such.rs", "8: documents.rs", "8: tests/none/<a>"]
    );
}

/// The paths of made-up code are found, wherever they are.
#[test]
fn imports_are_found() {
    let lib = "mod a; mod b; mod c; mod d; pub use b::Thing as Renamed; pub use crate::c::{deep::Other, Third};";
    let cases = [
        ("use crate::b::x;", "b"),
        ("use crate::{b::{self, x}, d};", "b d"),
        ("use super::c::*;", "c"),
        ("use super::{Renamed, Third};", "b c"),
        ("mod inner { use super::super::c; use super::x; }", "c"),
        (
            "mod inner { fn f() -> super::super::Other { crate::d::f::<crate::b::X>() } }",
            "b c d",
        ),
        ("fn f() { println!(\"{}\", crate::d::X); }", "d"),
        ("macro_rules! m { () => { $crate::c::f() } }", "c"),
        ("fn f() { m! { g(super::b::X { y: 1 }) } }", "b"),
        ("impl crate::Third for X {}", "c"),
        ("fn f() { quote!(crate::b::X); }", ""),
        ("#[cfg(test)] mod tests { use crate::b::X; }", ""),
        ("#[cfg(all(test, unix))] use crate::b::X;", ""),
        (
            "/// [`X`](crate::b::X)\nuse self::x::Y; pub(in crate::a) fn f() { x::crate_b() }",
            "",
        ),
    ];
    for (code, expected) in cases {
        assert_eq!(targets(&[], lib, code), expected, "{code}");
    }
    let folder = "mod a; mod b; pub use b::Thing; pub struct Own;";
    let cases = [
        ("use super::b::X;", "b"),
        ("use crate::f::Thing;", "b"),
        ("use crate::f::b;", "b"),
        ("mod inner { use super::super::b; }", "b"),
        (
            "use super::Own; use crate::{b, g::b::X}; use super::super::b;",
            "",
        ),
    ];
    for (code, expected) in cases {
        assert_eq!(targets(&["f".to_owned()], folder, code), expected, "{code}");
    }
    for code in ["use crate::nothing::X;", "use super::*;"] {
        let found = std::panic::catch_unwind(|| targets(&[], lib, code));
        assert!(found.is_err(), "{code}");
    }
}

/// The modules of a folder that code of the module `a` in it names.
fn targets(root: &[String], own: &str, code: &str) -> String {
    let mut imports = Imports::of_root(root, &syn::parse_str(own).unwrap());
    imports.read("a", &syn::parse_str(code).unwrap());
    let targets = imports.edges.keys().map(|(_, to)| &*imports.modules[*to]);
    targets.collect::<Vec<_>>().join(" ")
}
