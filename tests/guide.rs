//! The compiler's messages in the guide are the actual ones.
//!
//! A comment `<!-- tests/ui/name/unknown.rs:11 -->` before a code block makes the block contain the message about this line of this
//! file (and this column, if the comment has one), from its `.stderr`. `UPDATE_EXPECT=1` writes the blocks.
//!
//! The numbers in `limits.md` are those of the code: `127<!-- plan/depth.rs DEEPEST_VALUE -->` is a number, a file and a constant in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::Visit;
use syn::{BinOp, Expr, ExprCall, ExprStruct, Lit, Member};

const GUIDE: &str = "plan-runtime/src/guide";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files in a folder and those inside it, with this extension.
fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|it| it == extension) {
            found.push(path);
        }
    }
    found.sort();
}

fn pages() -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(&root().join(GUIDE), "md", &mut found);
    found.retain(|page| !page.ends_with("links.md"));
    found
}

/// Returns the message about a position, such as `tests/ui/name/unknown.rs:11`.
fn message(place: &str) -> String {
    let (file, _) = place.split_once(".rs:").expect("a place has a line");
    let said = fs::read_to_string(root().join(format!("{file}.stderr")))
        .unwrap_or_else(|error| panic!("{file}.stderr: {error}"));
    let is_about = |message: &&str| {
        let mut lines = message.lines();
        let at = lines.find_map(|line| line.trim_start().strip_prefix("--> "));
        at.is_some_and(|at| at == place || at.starts_with(&format!("{place}:")))
    };
    let found = said.split("\n\n").find(is_about);
    let found = found.unwrap_or_else(|| panic!("no message at {place}"));
    format!("{}\n", found.trim_end()).replace(&format!("{file}.rs"), "src/main.rs")
}

/// The page with the messages put in.
fn with_messages(page: &str) -> String {
    let mut written = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        written += line;
        written += "\n";
        let place = line
            .strip_prefix("<!-- ")
            .and_then(|rest| rest.strip_suffix(" -->"))
            .filter(|rest| rest.starts_with("tests/ui/"));
        if let Some(place) = place {
            assert_eq!(lines.next(), Some("```text"), "the line after `{line}`");
            written += &format!("```text\n{}```\n", message(place));
            lines.find(|line| *line == "```");
        }
    }
    written
}

#[test]
fn messages() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut stale = Vec::new();
    for file in pages() {
        let page = fs::read_to_string(&file).unwrap();
        let expected = with_messages(&page);
        if page != expected && update {
            fs::write(&file, expected).unwrap();
        } else if page != expected {
            let mut both = page.lines().zip(expected.lines());
            let first = both.find(|(is, should)| is != should);
            stale.push(format!("{}: {first:?}", file.display()));
        }
    }
    assert!(stale.is_empty(), "UPDATE_EXPECT=1 writes these: {stale:#?}");
}

/// Each kind of check is in the page on checks.
#[test]
fn checks() {
    let page = fs::read_to_string(root().join(GUIDE).join("checks.md")).unwrap();
    let kinds = fs::read_dir(root().join("tests/ui")).unwrap();
    let kinds = kinds
        .map(|kind| kind.unwrap())
        .filter(|kind| kind.path().is_dir());
    let missing: BTreeSet<String> = kinds
        .map(|kind| format!("tests/ui/{}/", kind.file_name().display()))
        // These folders repeat errors of other folders.
        .filter(|kind| !["tests/ui/readme/", "tests/ui/place/"].contains(&kind.as_str()))
        .filter(|kind| !page.contains(&format!("<!-- {kind}")))
        .collect();
    assert!(missing.is_empty(), "not in the guide: {missing:?}");
}

/// Each page is a module of the guide and a page of the book, and both indexes name each recipe.
#[test]
fn pages_are_modules() {
    let folder = root().join(GUIDE);
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let (modules, book) = (read("mod.rs"), read("SUMMARY.md"));
    let indexes = [read("index.md"), read("recipes/mod.md")];
    for page in pages() {
        let page = page.strip_prefix(&folder).unwrap().to_str().unwrap();
        if page == "SUMMARY.md" {
            continue;
        }
        let included = format!("include_str!(\"{page}\")");
        assert!(modules.contains(&included), "{page} is not in mod.rs");
        assert!(
            book.contains(&format!("]({page})")),
            "{page} is not in SUMMARY.md"
        );
        let recipe = page.strip_prefix("recipes/").filter(|it| *it != "mod.md");
        if let Some(name) = recipe.and_then(|it| it.strip_suffix(".md")) {
            let link = format!("[recipes/{name}.md]");
            assert!(indexes.iter().all(|it| it.contains(&link)), "{page}");
        }
    }
}

/// Returns the id of a heading, as rustdoc, mdBook and repositories make it.
fn id(heading: &str) -> String {
    let heading = heading.to_lowercase().replace(' ', "-");
    heading
        .chars()
        .filter(|letter| letter.is_alphanumeric() || "-_".contains(*letter))
        .collect()
}

/// Returns the lines of a page outside its code blocks.
fn prose(page: &str) -> Vec<&str> {
    let mut is_code = false;
    let is_prose = |line: &&str| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    };
    page.lines().filter(is_prose).collect()
}

/// A link between pages leads to a file in a repository and in the book, and to the module of the file in rustdoc.
#[test]
fn links_between_pages_lead_to_pages() {
    let folder = root().join(GUIDE);
    let modules = fs::read_to_string(folder.join("links.md")).unwrap();
    let of_modules = fs::read_to_string(folder.join("mod.rs")).unwrap();
    let of_modules = ids_of_headings(&of_modules.replace("/// ", ""));
    let mut used = BTreeSet::new();
    for file in pages() {
        let page = fs::read_to_string(&file).unwrap();
        let prose = prose(&page);
        let at = file.strip_prefix(&folder).unwrap().display();
        for line in &prose {
            assert!(!line.contains("](crate::guide"), "{at}: {line}");
            for rest in line.split("][").skip(1) {
                let label = rest.split(']').next().unwrap();
                if !label.contains(".md") {
                    continue;
                }
                let (name, heading) = label.split_once('#').unwrap_or((label, ""));
                // A page in a folder reaches the guide through the parent folder.
                let link = prose
                    .iter()
                    .find_map(|line| line.strip_prefix(&format!("[{label}]: ")));
                let link = link.unwrap_or_else(|| panic!("{at}: `{label}` has no address"));
                let target = link.split('#').next().unwrap();
                let target = file.parent().unwrap().join(target).canonicalize();
                let expected = folder.join(name).canonicalize();
                assert_eq!(target.ok(), expected.ok(), "{at}: {link}");
                let target = fs::read_to_string(folder.join(name)).unwrap();
                let headings = ids_of_headings(&target);
                let is_known = [&headings, &of_modules]
                    .iter()
                    .any(|ids| heading.is_empty() || ids.contains(heading));
                assert!(is_known, "{at}: {link}");
                let path = name.strip_suffix(".md").unwrap().replace('/', "::");
                let path = path.strip_suffix("::mod").unwrap_or(&path).to_owned();
                let path = if path == "index" {
                    String::new()
                } else {
                    format!("::{path}")
                };
                let hash = if heading.is_empty() { "" } else { "#" };
                let module = format!("[{label}]: crate::guide{path}{hash}{heading}\n");
                assert!(modules.contains(&module), "links.md lacks `{module}`");
                used.insert(module);
            }
        }
    }
    let all: BTreeSet<String> = modules
        .trim()
        .lines()
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(all, used);
}

fn ids_of_headings(page: &str) -> BTreeSet<String> {
    let lines = prose(page);
    let headings = lines.iter().filter_map(|line| {
        line.trim_start_matches('#')
            .strip_prefix(' ')
            .filter(|_| line.starts_with('#'))
    });
    headings.map(id).collect()
}

/// The values of a file's constants, and of the fields of its `Self { … }`: `DEFAULT.bytes`.
#[derive(Default)]
struct Constants {
    found: BTreeMap<String, u128>,
    constant: String,
}

impl Visit<'_> for Constants {
    fn visit_item_const(&mut self, item: &syn::ItemConst) {
        self.add(item.ident.to_string(), &item.expr);
    }

    fn visit_impl_item_const(&mut self, item: &syn::ImplItemConst) {
        self.add(item.ident.to_string(), &item.expr);
    }

    fn visit_expr_struct(&mut self, expr: &ExprStruct) {
        // In a constant, and in no function.
        let fields = expr.fields.iter().filter(|_| !self.constant.is_empty());
        for field in fields {
            if let (Member::Named(name), Some(number)) = (&field.member, number(&field.expr)) {
                self.found
                    .insert(format!("{}.{name}", self.constant), number);
            }
        }
    }
}

impl Constants {
    fn of(file: &Path) -> Self {
        let code = fs::read_to_string(file).unwrap_or_else(|error| panic!("{file:?}: {error}"));
        let mut constants = Self::default();
        constants.visit_file(
            &syn::parse_file(&code).unwrap_or_else(|error| panic!("{file:?}: {error}")),
        );
        constants
    }

    fn add(&mut self, name: String, value: &Expr) {
        self.constant = name.clone();
        if let Some(number) = number(value) {
            self.found.insert(name, number);
        }
        self.visit_expr(value);
        self.constant.clear();
    }
}

/// A number, or a duration in milliseconds.
fn number(expr: &Expr) -> Option<u128> {
    match expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_parse().ok(),
            _ => None,
        },
        Expr::Paren(inner) => number(&inner.expr),
        Expr::Binary(both) => {
            let (left, right) = (number(&both.left)?, number(&both.right)?);
            match both.op {
                BinOp::Mul(_) => left.checked_mul(right),
                BinOp::Shl(_) => left.checked_shl(u32::try_from(right).ok()?),
                _ => None,
            }
        }
        Expr::Call(ExprCall { func, args, .. }) => {
            let Expr::Path(func) = &**func else {
                return None;
            };
            let unit = match func.path.segments.last()?.ident.to_string().as_str() {
                "from_secs" => 1000,
                "from_millis" => 1,
                _ => return None,
            };
            Some(number(args.first()?)? * unit)
        }
        _ => None,
    }
}

/// Returns the number before a comment: `16 MiB`, `10,000`, `30 s`.
fn written(before: &str) -> u128 {
    let mut words = before.rsplit([' ', '|']).filter(|word| !word.is_empty());
    let last = words.next().expect("a number");
    let unit: u128 = match last {
        "ms" => 1,
        "s" => 1000,
        "hours" => 60 * 60 * 1000,
        "days" => 24 * 60 * 60 * 1000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        _ => 0,
    };
    let (number, unit) = match unit {
        0 => (last, 1),
        unit => (words.next().expect("a number"), unit),
    };
    let number: u128 = number
        .replace(',', "")
        .parse()
        .unwrap_or_else(|_| panic!("`{before}` ends with a number"));
    number * unit
}

/// Constants with the names of limits that users do not meet: a file, a constant, and why.
const UNNOTICED: &str = "
plan-runtime/src/plan/depth.rs DEEPEST_COMPILED: rustc gives up before
plan-runtime/src/plan/json/text.rs DEEPEST: serde_json gives up before
plan-runtime/src/plan/pattern.rs MOST: names that are told apart in messages
plan-runtime/src/resolve/describe.rs MOST_KEYS: keys in a message
plan-runtime/src/resolve/error/mod.rs MOST_CAUSES: as `CAUSES`
plan-runtime/src/run/context/polled.rs MOST_POLLS: how soon a tool that blocks on a plan is an error
plan-runtime/src/run/context/polled.rs MOST_TURNS: calls in the search for a tool that blocks on a plan
plan-runtime/src/dynamic/check/input.rs DEEPEST: parts of an input that are compared between its uses
plan-runtime/src/dynamic/check/input.rs MOST_FORMS: forms of an input that are compared between its uses
plan-runtime/src/dynamic/check/instead.rs MOST_NAMED: suggestions
plan-runtime/src/dynamic/check/instead.rs MOST_TRIED: suggestions
plan-runtime/src/dynamic/check/leads_nowhere.rs MOST_TRIED: suggestions
plan-runtime/src/dynamic/check/narrow.rs MOST_BRANCHES: suggestions
plan-runtime/src/dynamic/check/narrow.rs MOST_LISTED: suggestions
plan-runtime/src/dynamic/check/narrow.rs MOST_MEMBERS: suggestions
plan-runtime/src/dynamic/check/unordered.rs MOST_NAMED: steps in a message
plan-runtime/src/dynamic/check/value/message.rs MOST_COUNTED: values in a message
plan-runtime/src/dynamic/check/value/message.rs MOST_READ: suggestions
plan-runtime/src/dynamic/check/value/mod.rs MOST_COMPARED: suggestions
plan-runtime/src/dynamic/check/value/mod.rs MOST_REMEMBERED: a cache
plan-runtime/src/dynamic/dialects/reading/counts.rs MOST_SEARCHES: suggestions
plan-runtime/src/dynamic/dialects/reading/cycle.rs MOST_NAMED: steps in a message
plan-runtime/src/dynamic/dialects/reading/mod.rs MOST_NAMES: names in a message
plan-runtime/src/dynamic/dialects/references/foreign.rs MOST: references in a message
plan-runtime/src/dynamic/finding/note.rs LONGEST_ID: as `Limits::name`
extensions/plan-rust/src/source/step.rs MOST_PARTS: schemas in the search for listed strings
extensions/plan-rust/src/source/layout.rs WIDEST: where lines are broken
extensions/plan-rust/src/source/layout.rs WIDEST_CALL: where lines are broken
extensions/plan-rust/src/source/layout.rs WIDEST_JSON: where lines are broken
plan-runtime/src/dynamic/schema/inclusion.rs MOST_NESTED: as the other
plan-runtime/src/dynamic/schema/together.rs MOST_TRIED: tags of an enum with more values are compared as other members
plan-runtime/src/dynamic/schema/secrets.rs DEEPEST: what is beyond is secret
plan-runtime/src/dynamic/schema/secrets.rs MOST: what is beyond is secret
plan-runtime/src/dynamic/schema/cases.rs MOST_CASES: more cases are unchecked
plan-runtime/src/dynamic/schema/cases.rs MOST_NESTED: deeper cases are unchecked
plan-runtime/src/dynamic/schema/together.rs MOST_TOGETHER: more cases are unchecked
plan-runtime/src/dynamic/schema/work.rs MOST_CASES: more cases are unchecked
plan-runtime/src/dynamic/schema/work.rs MOST_NAMES: suggestions
plan-runtime/src/dynamic/schema/work.rs MOST_SIMILAR: suggestions
plan-graph/src/similar.rs LONGEST: suggestions
plan-graph/src/similar.rs MOST: suggestions
plan-macros/src/expand/documented/words.rs MOST: as `EXPRESSION`
plan-macros/src/expand/test.rs WIDEST: tuples of tuples
plan-macros/src/expand/unordered.rs MOST_PAIRS: warnings
plan-macros/src/expand/unordered.rs MOST_TOGETHER: steps in a message
";

/// The page on limits contains all limits of the code, with their values.
#[test]
fn limits() {
    let page = fs::read_to_string(root().join(GUIDE).join("limits.md")).unwrap();
    let mut named = BTreeSet::new();
    for (before, rest) in page.match_indices("<!-- ").map(|(at, _)| page.split_at(at)) {
        let comment = rest["<!-- ".len()..].split(" -->").next().unwrap();
        let (file, constant) = comment.split_once(' ').expect("a file and a constant");
        let file = if file.starts_with("plan-") || file.starts_with("extensions/") {
            file.to_owned()
        } else {
            format!("plan-runtime/src/{file}")
        };
        let constants = Constants::of(&root().join(&file));
        let number = constants.found.get(constant);
        let number = number.unwrap_or_else(|| panic!("{file} has no number `{constant}`"));
        let line = before.lines().last().unwrap();
        assert_eq!(written(line), *number, "{file} {constant}");
        named.insert((file, constant.to_owned()));
    }

    // And nothing is missing.
    let mut missing = BTreeSet::new();
    for part in [
        "extensions/plan-rust/src",
        "plan-graph/src",
        "plan-macros/src",
        "plan-runtime/src",
    ] {
        let mut code = Vec::new();
        files(&root().join(part), "rs", &mut code);
        for file in code {
            let name = file
                .strip_prefix(root())
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            let constants = Constants::of(&file).found.into_keys();
            let limits = constants.filter(|constant| {
                let is_limit = ["DEEPEST", "LONGEST", "MOST", "WIDEST", "DEFAULT_"];
                let is_field = ["run/limits.rs", "dynamic/limits.rs"]
                    .iter()
                    .any(|it| name.ends_with(it));
                is_limit.iter().any(|it| constant.starts_with(it))
                    || is_field && constant.contains('.')
            });
            missing.extend(limits.map(|constant| (name.clone(), constant)));
        }
    }
    missing.retain(|it| !named.contains(it));
    for line in UNNOTICED.lines().filter(|line| !line.is_empty()) {
        let (place, _) = line.split_once(": ").expect("a reason");
        let (file, constant) = place.split_once(' ').expect("a constant");
        let unnoticed = (file.to_owned(), constant.to_owned());
        assert!(
            missing.remove(&unnoticed),
            "{unnoticed:?} does not exist, or is in the page"
        );
    }
    assert!(missing.is_empty(), "not in limits.md: {missing:#?}");
}
