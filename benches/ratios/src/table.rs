//! Tables in Markdown.

/// A target for a printed ratio.
pub enum Target {
    None,
    AtMost(f64),
}

pub fn title(title: &str, columns: &[&str]) {
    println!("\n### {title}\n\n| {} |", columns.join(" | "));
    println!(
        "|{}",
        columns
            .iter()
            .enumerate()
            .map(|(n, _)| if n == 0 { "---|" } else { "---:|" })
            .collect::<String>()
    );
}

pub fn row(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
}

/// Returns two cells: a target, and `yes` or `no` for the value.
pub fn target(value: f64, target: &Target, unit: &str) -> [String; 2] {
    match target {
        Target::None => [String::new(), String::new()],
        Target::AtMost(most) => {
            let met = if value <= *most { "yes" } else { "**no**" };
            [format!("≤ {}{unit}", number(*most)), met.to_owned()]
        }
    }
}

pub fn ns(ns: f64) -> String {
    match ns {
        ..1e4 => format!("{ns:.0} ns"),
        ..1e7 => format!("{:.1} µs", ns / 1e3),
        _ => format!("{:.0} ms", ns / 1e6),
    }
}

pub fn times(ratio: f64) -> String {
    format!("{} ×", number(ratio))
}

pub fn number(number: f64) -> String {
    match number {
        ..10.0 => format!("{number:.2}"),
        ..100.0 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}
