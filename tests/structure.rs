//! How the code is laid out: the folders of a crate depend on each other in one direction, and `ARCHITECTURE.md` names files that exist.
//!
//! The folder graph of a crate has a node for each top-level module: a file `x.rs` and its folder `x/` are one. It has an edge for
//! each path by which one of them names another: in a `use`, in an expression or a type, and in the tokens of a macro.
//!
//! - `lib.rs` is not a node. It declares the modules and re-exports from them: `crate::Plan` in a module is an edge to `plan`.
//! - `private`, which generated code names, is a node like any other. It may use everything, so nothing may use it.
//! - Code and files under `#[cfg(test)]` are left out, and so are comments: a link in documentation may lead anywhere.
//! - What is inside `quote!` and the like is code of somewhere else.

#[path = "structure/documents.rs"]
mod documents;
#[path = "structure/imports.rs"]
mod imports;

use imports::Imports;
use plan_graph::Graph;
use std::path::Path;

const CRATES: [&str; 3] = ["plan-graph", "plan-macros", "plan-runtime"];

/// Folders of `plan-runtime` of which the first must not depend on the second, directly or through others.
const APART: [(&str, &str); 5] = [
    ("plan", "resolve"),
    ("error", "run"),
    ("resolve", "run"),
    ("run", "dynamic"),
    ("print", "plan"),
];

#[test]
fn no_folders_depend_on_each_other() {
    for name in CRATES {
        let imports = Imports::of(name);
        let cycles = graph(&imports).cycles();
        let cycles = cycles.iter().map(|cycle| imports.lines(cycle));
        let cycles: Vec<String> = cycles.collect();
        assert!(
            cycles.is_empty(),
            "folders of `{name}` depend on each other:\n{}",
            cycles.join("\n")
        );
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
        assert_eq!(targets(lib, code), expected, "{code}");
    }
    for code in ["use crate::nothing::X;", "use super::*;"] {
        let found = std::panic::catch_unwind(|| targets(lib, code));
        assert!(found.is_err(), "{code}");
    }
}

/// The modules that code of the module `a` names.
fn targets(lib: &str, code: &str) -> String {
    let mut imports = Imports::of_root(&syn::parse_str(lib).unwrap());
    imports.read("a", &syn::parse_str(code).unwrap());
    let targets = imports.edges.keys().map(|(_, to)| &*imports.modules[*to]);
    targets.collect::<Vec<_>>().join(" ")
}
