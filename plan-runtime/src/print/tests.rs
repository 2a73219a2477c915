//! Names, lines and quoted strings in printed output.

use super::{Cut, Line, Lines, MessageName, Name, Quoted, is_seen, visible, width};
use regex_syntax::hir::{Class, HirKind};

/// Returns all characters of a class in the Unicode tables.
fn all_of(class: &str) -> Vec<char> {
    let hir = regex_syntax::parse(class).unwrap();
    let HirKind::Class(Class::Unicode(class)) = hir.kind() else {
        panic!("{class} is not a class");
    };
    let ranges = class.iter().flat_map(|range| range.start()..=range.end());
    ranges.collect()
}

const UNSEEN: &str = r"[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]";

#[test]
fn each_character_that_is_not_seen_is_escaped() {
    let unseen = all_of(UNSEEN);
    assert!(unseen.len() > 4_000);
    // Newer tables may assign more characters, but never these.
    let never = ['\u{e000}', '\u{fdd0}', '\u{fffe}', '\u{ffff}', '\u{10ffff}'];
    let unseen = unseen.into_iter().chain(never);
    for c in unseen {
        for text in [c.to_string(), format!("a{c}b"), format!("a{c}")] {
            let shown = [
                Line(&text).to_string(),
                Name(&text).to_string(),
                MessageName(&text).to_string(),
                Quoted(&text).to_string(),
                visible(&text).replace('\n', ""),
            ];
            for shown in shown {
                assert!(!shown.contains(c), "{c:?} in {text:?}: {shown}");
            }
            assert!(!is_seen(&text), "{c:?}");
        }
        assert_eq!(Lines(c).to_string().contains(c), c == '\n');
    }
}

#[test]
fn what_is_seen_stays() {
    let seen =
        all_of(r"[[\p{L}\p{N}\p{P}\p{S}\p{Zs}]--[\p{Default_Ignorable_Code_Point}\u{2800}]]");
    assert!(seen.len() > 130_000);
    let wrong: Vec<char> = seen
        .into_iter()
        .filter(|c| !is_seen(&format!("a{c}")))
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn marks_need_a_letter() {
    for c in all_of(r"[[\p{Mn}\p{Me}]--[\p{Default_Ignorable_Code_Point}\u{2d7f}]]") {
        assert!(is_seen(&format!("a{c}")), "{c:?}");
        for before in ["", " ", "`", "\"", "/", "\u{202e}", "\n"] {
            let text = format!("{before}{c}");
            assert!(!Line(&text).to_string().contains(c), "{text:?}");
        }
        assert_eq!(
            Line(format!("a{}", c.to_string().repeat(9)))
                .to_string()
                .matches(c)
                .count(),
            4
        );
    }
}

/// Names and words of several languages.
#[test]
fn words_of_the_world_stay() {
    for text in [
        "größe",
        "gro\u{308}ße",
        "名前",
        "имя",
        "اسم",
        "שם",
        "नाम",
        "ชื่อ",
        "이름",
        "\u{110b}\u{1175}",
        "Tiếng Việt",
        "emoji 😀",
        "naïve – “quoted” … €",
        "日本語　全角",
        "10\u{a0}%",
    ] {
        assert_eq!(Line(text).to_string(), text);
    }
    for name in [
        "größe",
        "名前",
        "имя",
        "اسم",
        "नाम",
        "이름",
        "send-mail",
        "$x",
        "_",
    ] {
        assert_eq!(Name(name).to_string(), name);
    }
}

#[test]
fn names() {
    for (name, among_rust, told) in [
        ("", "\"\"", "\"\""),
        ("a b", "\"a b\"", "a b"),
        ("a  b", "\"a  b\"", "\"a  b\""),
        (" a", "\" a\"", "\" a\""),
        ("null", "\"null\"", "null"),
        ("a`b", "\"a`b\"", "\"a`b\""),
        ("\u{3164}", r#""\u{3164}""#, r#""\u{3164}""#),
        ("a\u{200b}", r#""a\u{200b}""#, r#""a\u{200b}""#),
        ("\u{345}", r#""\u{345}""#, r#""\u{345}""#),
        ("a\nb", r#""a\nb""#, r#""a\nb""#),
        ("a\\nb", r#""a\\nb""#, r"a\nb"),
        ("\"", r#""\"""#, r#""\"""#),
    ] {
        assert_eq!(Name(name).to_string(), among_rust);
        assert_eq!(MessageName(name).to_string(), told);
    }
}

#[test]
fn strings_are_quoted_as_rust_does() {
    for text in [
        "it's",
        "\"a\\\n\t\0",
        "größe 名前",
        "\u{202e}",
        "e\u{301}",
        "\u{a0}",
    ] {
        assert_eq!(Quoted(text).to_string(), format!("{text:?}"));
    }
    assert_eq!(Quoted("a\u{1160}").to_string(), r#""a\u{1160}""#);
}

#[test]
fn twice_is_once() {
    let text = "a\u{1b}[8m\r\n\u{202e}\\n `x`";
    let once = Line(text).to_string();
    assert_eq!(once, r"a\u{1b}[8m\r\n\u{202e}\n `x`");
    assert_eq!(Line(&once).to_string(), once);
}

#[test]
fn the_beginning_of_a_text() {
    assert_eq!(Cut("größe", 5).to_string(), "größe");
    assert_eq!(Cut("größe", 3).to_string(), "grö…");
    assert_eq!(
        Cut(format_args!("{}{}", "größe", "x"), 5).to_string(),
        "größe…"
    );
    assert_eq!(Cut(Line("\n\n\n"), 3).to_string(), r"\n\…");
}

#[test]
fn wide_characters_are_two_columns() {
    assert_eq!(
        (width("名前"), width("größe"), width("e\u{301}")),
        (4, 5, 1)
    );
}
