//! The process that expands macros, a compiler or an editor, and its knowledge of the user's dependencies.

use proc_macro_crate::FoundCrate;
use proc_macro2::Span;
use std::env;
use std::path::Path as FilePath;
use std::sync::OnceLock;
use syn::{Ident, Path, parse_quote};

const EDITOR: &str = "RUST_ANALYZER_INTERNALS_DO_NOT_USE";

/// Returns `true` in an editor, and `false` in a compiler. rust-analyzer sets this variable only for its macro process,
/// which does not start without the variable.
pub(crate) fn is_editor() -> bool {
    static IS_EDITOR: OnceLock<bool> = OnceLock::new();
    *IS_EDITOR.get_or_init(|| {
        let compiler = |exe: &FilePath| {
            let name = exe.file_stem().and_then(|name| name.to_str());
            name.is_some_and(|name| ["rustc", "rustdoc", "clippy-driver", "miri"].contains(&name))
        };
        env::var_os(EDITOR).is_some() && !env::current_exe().is_ok_and(|exe| compiler(&exe))
    })
}

/// Returns the path of the runtime crate, if no option names it: `::plan_runtime`, or the name that the user's crate gives to this dependency.
pub(crate) fn runtime() -> Path {
    static NAME: OnceLock<Option<String>> = OnceLock::new();
    let name = if !is_editor() {
        // The name in the arguments of rustc, in whose process the macro runs: `--extern flows=…/libplan_runtime-….rmeta`.
        let renamed = || renamed(env::args_os().map(|it| it.to_string_lossy().into()));
        NAME.get_or_init(renamed).clone()
    } else if let Ok(FoundCrate::Name(name)) = proc_macro_crate::crate_name("plan-runtime") {
        // An editor expands for many crates in one process, without the arguments of a compiler.
        Some(name)
    } else {
        None
    };
    let name = name.as_deref().unwrap_or("plan_runtime");
    let name = Ident::new(name, Span::call_site());
    parse_quote!(::#name)
}

/// Returns `false` if rustc was called without the runtime crate.
pub(crate) fn is_dependency() -> bool {
    static MISSING: OnceLock<bool> = OnceLock::new();
    let missing = MISSING.get_or_init(|| {
        let arguments: Vec<String> = env::args_os()
            .map(|it| it.to_string_lossy().into())
            .collect();
        is_missing(&arguments, |root| std::fs::read_to_string(root).ok())
    });
    !missing
}

/// Returns `true` if rustc was called with dependencies, but without the runtime crate. An `extern crate` in the root
/// of the crate, whose source `read` returns, may import another crate under the runtime's name.
fn is_missing(arguments: &[String], read: impl FnOnce(&str) -> Option<String>) -> bool {
    let externs: Vec<&String> = arguments
        .windows(2)
        .filter(|pair| pair[0] == "--extern")
        .map(|pair| &pair[1])
        .collect();
    let has_it = |argument: &&String| argument.contains("plan_runtime");
    let is_root = |argument: &&String| argument.ends_with(".rs");
    !externs.is_empty()
        && !externs.iter().any(has_it)
        && arguments
            .iter()
            .find(is_root)
            .and_then(|root| read(root))
            .is_some_and(|root| !root.contains("plan_runtime"))
}

/// Returns the name of the dependency, if the crate is renamed.
fn renamed(arguments: impl Iterator<Item = String>) -> Option<String> {
    let mut names = arguments.filter_map(|argument| {
        let (name, path) = argument.rsplit_once('=')?;
        let file = path.rsplit(['/', '\\']).next()?;
        let is_runtime =
            file.starts_with("libplan_runtime-") || file.starts_with("libplan_runtime.");
        let (options, name) = name.rsplit_once(':').unwrap_or(("", name));
        // Without the prelude, no path can begin with the name.
        if !is_runtime || options.contains("noprelude") {
            return None;
        }
        syn::parse_str::<Ident>(name)
            .is_ok()
            .then(|| name.to_owned())
    });
    let first = names.next()?;
    let own = first == "plan_runtime" || names.any(|name| name == "plan_runtime");
    (!own).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::{EDITOR, renamed, runtime};
    use quote::ToTokens;
    use std::env;
    use std::process::Command;

    fn of(arguments: &[&str]) -> Option<String> {
        renamed(arguments.iter().map(|&it| it.to_owned()))
    }

    #[test]
    fn a_missing_dependency() {
        let facade = "facade=/target/deps/libfacade-0a1b.rmeta";
        let own = "plan_runtime=/target/deps/libplan_runtime-0a1b.rmeta";
        let flows = "flows=/target/deps/libplan_runtime-0a1b.rmeta";
        let is_missing = |arguments: &[&str], root: Option<&str>| {
            let arguments: Vec<String> = arguments.iter().map(|&it| it.to_owned()).collect();
            super::is_missing(&arguments, |_| root.map(str::to_owned))
        };
        let root = Some("use facade::plan;");
        assert!(is_missing(&["src/lib.rs", "--extern", facade], root));
        assert!(!is_missing(
            &["src/lib.rs", "--extern", facade, "--extern", own],
            root
        ));
        assert!(!is_missing(&["src/lib.rs", "--extern", flows], root));
        let named = Some("extern crate facade as plan_runtime;");
        assert!(!is_missing(&["src/lib.rs", "--extern", facade], named));
        // The source of the root is unavailable, or the dependencies are in a file.
        assert!(!is_missing(&["-", "--extern", facade], root));
        assert!(!is_missing(&["src/lib.rs", "--extern", facade], None));
        assert!(!is_missing(&["src/lib.rs", "@/target/arguments"], root));
    }

    #[test]
    fn a_renamed_dependency() {
        let flows = "flows=/target/deps/libplan_runtime-0a1b.rmeta";
        let own = "plan_runtime=/target/deps/libplan_runtime-0a1b.rmeta";
        let other = "serde=/target/deps/libserde-0a1b.rmeta";
        assert_eq!(
            of(&["--extern", other, "--extern", flows]).as_deref(),
            Some("flows")
        );
        let private = "priv:flows=C:\\deps\\libplan_runtime-0a1b.rlib";
        assert_eq!(of(&["--extern", private]).as_deref(), Some("flows"));
        assert_eq!(of(&["--extern", &format!("noprelude:{flows}")]), None);
        assert_eq!(of(&["--extern", own, "--extern", flows]), None);
        assert_eq!(of(&["--extern", flows, "--extern", own]), None);
        assert_eq!(
            of(&["--extern", other, "-L", "dependency=/target/deps"]),
            None
        );
    }

    /// The test runs itself again in the environment of an editor.
    #[test]
    fn a_renamed_dependency_in_an_editor() {
        if env::var_os(EDITOR).is_some() {
            assert_eq!(runtime().to_token_stream().to_string(), ":: flows");
            return;
        }
        let renamed = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/renamed");
        let mut test = Command::new(env::current_exe().unwrap());
        test.args(["--exact", "host::tests::a_renamed_dependency_in_an_editor"]);
        let output = test
            .env("CARGO_MANIFEST_DIR", renamed)
            .env(EDITOR, "1")
            .output();
        let output = String::from_utf8(output.unwrap().stdout).unwrap();
        assert!(output.contains("1 passed"), "{output}");
    }
}
