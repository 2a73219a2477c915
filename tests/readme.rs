//! The README's code and messages are real: its program compiles and prints its output, and its message is the compiler's.
//! `UPDATE_EXPECT=1` draws `docs/mistakes.svg`.

/// Collects the lines that the README's program prints.
#[macro_use]
mod printed {
    use std::cell::RefCell;

    thread_local! {
        pub(crate) static LINES: RefCell<String> = const { RefCell::new(String::new()) };
    }

    macro_rules! println {
        ($($format:tt)*) => {{
            let line = format!($($format)*) + "\n";
            crate::readme::printed::LINES.with_borrow_mut(|lines| lines.push_str(&line));
        }};
    }
}

mod order {
    include!("readme/order.rs");

    pub(super) fn run() -> Result<()> {
        main()
    }
}

mod terminal;

use std::path::Path;

const README: &str = include_str!("../README.md");

/// Returns the blocks of code in a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let start = format!("```{language}\n");
    let ends = README.split(&*start).skip(1);
    ends.map(|rest| rest.split_once("```").expect("an end").0)
        .collect()
}

#[test]
fn first_plan_and_its_mistake() {
    let order = include_str!("readme/order.rs");
    // The only block of Rust code is a whole program, which this test runs, with the dependencies of the commands below the program.
    assert_eq!(blocks("rust"), [order]);
    assert!(order.contains("plan! {") && order.lines().count() <= 40);
    let (_, rest) = README.split_once(order).unwrap();
    let (_, commands) = rest.split_once("```sh\n").unwrap();
    let (commands, rest) = commands.split_once("```").unwrap();
    let uses = order.lines().filter_map(|line| line.strip_prefix("use "));
    let crates = uses.filter_map(|path| path.split("::").next());
    for name in crates.chain(["smol"]) {
        let name = name.replace('_', "-");
        let is_added = |command: &str| command.starts_with("cargo add") && command.contains(&name);
        assert!(
            commands
                .trim()
                .split("&& ")
                .flat_map(str::lines)
                .any(is_added),
            "{name}"
        );
    }
    order::run().unwrap();
    let printed = printed::LINES.take();
    assert!(
        rest.contains(&format!("prints `{}`", printed.trim())),
        "{printed}"
    );

    let (right, wrong) = ("offer.cents", "offer.cent");
    assert_eq!(order.matches(right).count(), 1);
    let mistake = include_str!("ui/readme/mistake.rs");
    assert_eq!(order.replace(right, wrong), mistake);

    let message = include_str!("ui/readme/mistake.stderr");
    let message = message.replace("tests/ui/readme/mistake.rs", "src/main.rs");
    let [shown] = blocks("text")[..] else {
        panic!("a message")
    };
    assert_eq!(shown, message);
}

/// The time of a step is the time in the table of BENCHMARKS.md, and its sentence names the size of the plans in this table.
#[test]
fn time_of_a_step() {
    let (_, table) = include_str!("../BENCHMARKS.md")
        .split_once("### Running 300 steps\n")
        .unwrap();
    let rows = table.lines().skip_while(|line| !line.starts_with('|'));
    let rows = rows.take_while(|line| line.starts_with('|')).skip(2);
    let times = rows.map(|row| row.split('|').nth(2).unwrap().trim());
    let times = times.map(|time| time.strip_suffix(" ns").unwrap().parse().unwrap());
    let times: Vec<u32> = times.collect();
    let (least, most) = (times.iter().min().unwrap(), times.iter().max().unwrap());
    let time = format!("{least} to {most} ns in plans of 300 steps");
    for text in [
        README,
        include_str!("../plan-runtime/src/guide/compared.md"),
        include_str!("../plan-runtime/src/guide/engines.md"),
    ] {
        assert!(text.contains(&time), "{time}");
    }
}

/// The README stays short; details belong into the guide.
#[test]
fn size() {
    let words = README.split_whitespace().count();
    assert!(words <= 750, "{words} words");
}

#[test]
fn links_lead_to_files() {
    let links = [("](", ')'), ("src=\"", '"'), ("srcset=\"", '"')];
    let links = links.into_iter().flat_map(|(start, end)| {
        let links = README.split(start).skip(1);
        links.filter_map(move |rest| rest.split_once(end))
    });
    let broken: Vec<&str> = links
        .map(|(link, _)| link)
        .filter(|link| !Path::new(env!("CARGO_MANIFEST_DIR")).join(link).exists())
        .collect();
    assert!(broken.is_empty(), "{broken:?}");
}

#[test]
fn picture() {
    let messages = include_str!("ui/readme/mistakes.stderr");
    let messages = messages.replace("tests/ui/readme/mistakes.rs", "src/main.rs");
    let title = "What rustc says about five mistakes in a plan";
    let errors = messages.lines().filter(|line| line.starts_with("error"));
    assert_eq!(errors.count(), 5);
    let drawn = terminal::draw(title, "cargo check", &messages);
    // The image has each line, and no markup that GitHub removes.
    assert_eq!(terminal::read(&drawn), messages);
    assert!(
        !["<script", "<style", " style=", " href=", "url("]
            .iter()
            .any(|it| drawn.contains(it))
    );

    let place = "docs/mistakes.svg";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(place);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&file, &drawn).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == drawn, "UPDATE_EXPECT=1 draws {place}");
    assert!(
        README.contains(&format!("]({place})")),
        "the README has no {place}"
    );
}
