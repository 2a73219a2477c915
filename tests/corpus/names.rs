//! Rust names for the corpus' names.

/// Returns `true` if a JSON key could be the name of a field, in any case.
pub(crate) fn is_name(key: &str) -> bool {
    !key.starts_with(|char: char| char.is_ascii_digit())
        && key.contains(|char: char| char.is_ascii_alphabetic())
}

/// `dropOff-ID` → `drop_off_id`
pub(crate) fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    let chars: Vec<char> = name.chars().collect();
    for (index, char) in chars.iter().enumerate() {
        if !char.is_ascii_alphanumeric() {
            if !snake.ends_with('_') {
                snake.push('_');
            }
            continue;
        }
        let after_lower = index > 0
            && (chars[index - 1].is_ascii_lowercase() || chars[index - 1].is_ascii_digit());
        let before_lower = index > 0 && chars.get(index + 1).is_some_and(char::is_ascii_lowercase);
        if char.is_ascii_uppercase() && (after_lower || before_lower) && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.push(char.to_ascii_lowercase());
    }
    snake.trim_matches('_').to_owned()
}

/// `search_car-location` → `SearchCarLocation`
pub(crate) fn pascal_case(name: &str) -> String {
    let snake = snake_case(name);
    let parts = snake.split('_').map(|part| {
        let mut chars = part.chars();
        chars
            .next()
            .map(|first| first.to_ascii_uppercase().to_string() + chars.as_str())
            .unwrap_or_default()
    });
    parts.collect()
}

/// The name of a struct's field, a raw identifier where Rust has the word for itself.
pub(crate) fn field_name(json: &str) -> String {
    let snake = snake_case(json);
    match &*snake {
        "" => "unnamed".to_owned(),
        "self" | "super" | "crate" => snake + "_",
        digit if digit.starts_with(|char: char| char.is_ascii_digit()) => format!("n{digit}"),
        word if KEYWORDS.contains(&word) => format!("r#{word}"),
        _ => snake,
    }
}

/// The name, with a number after it if it is taken.
pub(crate) fn distinct(name: &str, taken: &dyn Fn(&str) -> bool) -> String {
    let mut numbered = name.to_owned();
    let mut number = 1;
    while taken(&numbered) {
        number += 1;
        numbered = format!("{}_{number}", name.trim_start_matches("r#"));
        if name.starts_with(char::is_uppercase) {
            numbered = format!("{name}{number}");
        }
    }
    numbered
}

const KEYWORDS: [&str; 46] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where",
];
