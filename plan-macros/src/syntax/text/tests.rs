//! The printer puts spaces like rustfmt, and the spaces of the input do not change the tokens.

use super::*;
use proptest::prelude::*;
use quote::ToTokens;

#[test]
fn types_and_patterns_are_written_as_people_write_them() {
    for text in [
        "HashMap<String, Vec<Option<u8>>>",
        "&'static str",
        "&'a mut [u8]",
        "(String, u32)",
        "(T,)",
        "()",
        "[u8; 4]",
        "[[u8; 2]; 4]",
        "Box<dyn Fn(&str) -> Result<u8> + Send + 'static>",
        "dyn for<'a> Fn(&'a str) -> &'a str",
        "<T as Trait>::Out",
        "<Vec<T> as Trait<'a>>::Out",
        "impl ?Sized + Into<String>",
        "*const u8",
        "fn(u8) -> u8",
        "Foo<{ N }>",
        "Foo<-1>",
        "Foo<Item = u8>",
        "::std::vec::Vec<u8>",
        "dyn ::std::error::Error",
        "Foo::<u8>::Bar",
        "r#type",
        "crate::tools::Fetch",
        "Some(x)",
        "Some(\"a , b\")",
        "Some(\"a :: b ( c ) < d > & e ; [ f ]\")",
        "Some(' ')",
        "\"< \"",
        "Point { x, y: 0, .. }",
        "Empty {}",
        "A | B(_)",
        "(1 | 2, _)",
        "n @ 1..=5",
        "'a'..='z'",
        "-1..=1",
        "..=5",
        "5..",
        "[first, .., last]",
        "[rest @ ..]",
        "(.., x)",
        "ref mut x",
        "mut x",
        "&x",
        "&mut x",
        "&&x",
        "&(a, b)",
        "-5",
        "2.5",
        "b\"bytes\"",
        "r#\"raw , text\"#",
        "vec![1, 2]",
        "path!()",
        "!",
        "_",
        ".await?",
    ] {
        let tokens: TokenStream = text.parse().unwrap();
        assert_eq!(tidy(&tokens), text);
    }
}

#[test]
fn values_are_written_on_one_line_as_rustfmt_writes_them() {
    for text in [
        "pages.iter().zip(1..).filter(|(page, _)| page.is_none())",
        "lines.iter().map(|line| line.cents).sum::<u64>()",
        "urgency == Urgency::High",
        "totals(&pages)",
        "Echo { n: 5 }.n",
        "1..=info.pages",
        "(0..n - 1).rev()",
        "&xs[1..]",
        "xs[..2].to_vec()",
        "a < b && c > d",
        "a <= b || !done",
        "MAX < n && N > 2",
        "a << 2 >> b",
        "-x + -1 - *y * &z",
        "!done && !ready()?",
        "n as u64 - 1",
        "(n as f64 / 2.0).round() as u64",
        "xs.iter().map(|&x| -x).collect::<Vec<_>>()",
        "xs.iter().map(|x: &u64| *x).fold(0, |a, b| a + b)",
        "xs.iter().map(|_| true).any(|x| x)",
        "xs.iter().for_each(|x| |y| x | y)",
        "maybe.unwrap_or_else(|| a || b)",
        "maybe.map_or_else(String::new, move |x| x.to_string())",
        "HashMap::<String, Vec<u8>>::new()",
        "<Vec<u8> as Default>::default()",
        "size_of::<[u8; 4]>() * 2",
        "|x: Vec<Option<u8>>| -> Vec<u8> { x }",
        "if a { b } else { -c }",
        "if let Some(x) = &maybe { x.len() } else { 0 }",
        "match x { Some(1 | 2) => 3, Some(x) if x > 4 => x, 5.. => 1, _ => 0 }",
        "match x { A { x } | B { x } => x }",
        "{ let x: Vec<u8> = vec![1; 2]; x.len() }",
        "{ let mut n = 0; for (a, b) in &xs { n += a * b; } n }",
        "{ for i in 0.. { if i > 9 { break i; } } *x }",
        "{ if a { return (1, 2); } (3, 4) }",
        "'a: loop { break 'a x; }",
        "loop { break; }",
        "matches!(x, Some(n) if n >= 1)",
        "format!(\"{:>8} {name}\", x.len(), name = y)",
        "Line { text: x.clone(), ..Line::default() }",
        "#[allow(unused)] { x }",
        "(a,)",
        "[a, b]",
        "pair.0.1",
        "1. .max(2.)",
        "1.max(2)",
        "x.await?.y",
        "a & b | c ^ d % e",
        "json!({ \"a\": [1, 2] })",
        "unsafe { f() }",
        "a..b",
        "(..)",
        "&&x",
        "&mut x",
        "&|x| x",
        "u8::MAX",
        "r#type.r#in",
        "\"a  b\".len()",
    ] {
        let tokens: TokenStream = text.parse().unwrap();
        assert_eq!(value_text(&tokens), text);
        let lines: TokenStream = text.replace(' ', "\n    ").parse().unwrap();
        if !text.contains('"') {
            assert_eq!(value_text(&lines), text);
        }
    }
}

#[test]
fn a_text_over_several_lines_is_written_on_one() {
    let tokens: TokenStream = "x.len() == \"a\\\n    b\nc\"".parse().unwrap();
    assert_eq!(value_text(&tokens), "x.len() == \"ab\\nc\"");
}

#[test]
fn what_a_macro_took_as_one_value_stays_one() {
    for (text, printed) in [
        ("a + b", "(a + b) * 2"),
        ("a.len()", "a.len() * 2"),
        ("&a", "(&a) * 2"),
    ] {
        let one = Group::new(Delimiter::None, text.parse().unwrap());
        let tokens = quote::quote!(#one * 2);
        assert_eq!(value_text(&tokens), printed);
        assert_eq!(value_text(&quote::quote!(f(#one))), format!("f({text})"));
    }
}

/// Lists all tokens without the spaces between them.
fn tokens(stream: TokenStream, into: &mut Vec<String>) {
    for tree in stream {
        match tree {
            TokenTree::Group(group) => {
                into.push(format!("{:?}", group.delimiter()));
                tokens(group.stream(), into);
                into.push("end".to_owned());
            }
            TokenTree::Punct(punct) => into.push(punct.as_char().to_string()),
            other => into.push(other.to_string()),
        }
    }
}

/// Expressions with spaces everywhere.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "a",
        "MAX",
        "1",
        "2.5",
        "'c'",
        "\"x , y\"",
        "Some :: < u8 >",
        "pair . 0 . 1",
    ])
    .prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 3, |inner| {
        let forms = prop::sample::select(vec![
            "( X + Y )",
            "( X < Y )",
            "( X > Y && Z )",
            "( X << Y )",
            "( X | Y )",
            "( - X )",
            "! X",
            "& X . y",
            "( * X )",
            "( X as u8 )",
            "X . f ( | a , _ | Y )",
            "X . f ( | | Y )",
            "X . f ( | & a | - Y )",
            "f ( & X , Y )",
            "A { x : X , .. Y }",
            "[ X , Y ]",
            "[ X ; Y ]",
            "( X , )",
            "( X .. Y )",
            "( X ..= Y )",
            "( .. X )",
            "X . collect :: < Vec < _ > > ( )",
            "if ( X ) { Y } else { Z }",
            "match ( X ) { Some ( 1 | 2 ) => Y , 5 .. => Z , _ => X }",
            "{ let x : Vec < Vec < u8 > > = X ; Y }",
            "{ if ( X ) { Y } * Z }",
            "{ for ( a , b ) in X . y { Y } - Z }",
            "X ?",
            "X . await",
            "vec ! [ X , Y ]",
            "( | x : & [ u8 ] | -> u8 { X } )",
            "X [ Y .. ]",
            "( move | x | X )",
            "( X == Y )",
            "( X - - Y )",
            "( X & & Y )",
            "( X && & Y )",
        ]);
        (forms, inner.clone(), inner.clone(), inner).prop_map(|(form, x, y, z)| {
            let fill = |word: &str| match word {
                "X" => format!("( {x} )"),
                "Y" => y.clone(),
                "Z" => format!("( {z} )"),
                other => other.to_owned(),
            };
            form.split(' ').map(fill).collect::<Vec<_>>().join(" ")
        })
    })
}

proptest! {
    /// Any tokens are equal to the tokens read from their printed form.
    #[test]
    fn what_is_printed_has_the_same_tokens(parts in prop::collection::vec(prop::sample::select(vec![
        "a", "r#type", "dyn", "mut", "for", "fn", "as", "'b", "'c'", "1", "2.5", "1u8", "\"x , y\"", "\"/* \\\" */\"", "b'\\''", "r#\"a ( b\"#",
        "::", ":", "<", ">", ",", ";", "&", "&&", "*", "-", "->", "=>", "=", "..", "..=", "|", "+", "?", "!", "@", "#", "$",
        "(", "[", "{", ")", "]", "}",
        ".", "1.", "||", "<<", ">>", "%", "^", "==", "+=", ">=", "if", "match", "move", "return", "let", "Vec", "MAX", "#[a]", "|x|", "!=",
    ]), 0..16)) {
        // Single brackets are left out, and open brackets are closed.
        let (mut text, mut open) = (String::new(), Vec::new());
        for part in parts {
            match part {
                "(" => open.push(")"),
                "[" => open.push("]"),
                "{" => open.push("}"),
                ")" | "]" | "}" if open.last() != Some(&part) => continue,
                ")" | "]" | "}" => drop(open.pop()),
                _ => {}
            }
            text.push_str(part);
            text.push(' ');
        }
        for close in open.iter().rev() {
            text.push_str(close);
        }
        let given: TokenStream = text.parse().unwrap();
        for printed in [tidy(&given), value_text(&given)] {
            let read: TokenStream = printed.parse().unwrap_or_else(|_| panic!("{printed}"));
            let (mut before, mut after) = (Vec::new(), Vec::new());
            tokens(given.clone(), &mut before);
            tokens(read, &mut after);
            prop_assert_eq!(before, after, "{}", printed);
        }
    }

    /// An expression is equal to the expression read from its printed line.
    #[test]
    fn an_expression_is_read_as_the_same(text in expression()) {
        let given: Expr = syn::parse_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let printed = value_text(given.to_token_stream());
        let read: Expr = syn::parse_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"));
        let (mut before, mut after) = (Vec::new(), Vec::new());
        tokens(given.to_token_stream(), &mut before);
        tokens(read.to_token_stream(), &mut after);
        prop_assert_eq!(before, after, "{}", printed);
        prop_assert!(!printed.contains("  ") && !printed.contains('\n'), "{}", printed);
    }
}

/// Each expression of this repository, including the plans, keeps its tokens when printed.
#[test]
fn the_expressions_of_this_repository_stay_the_same() {
    fn check(given: &TokenStream, file: &std::path::Path) {
        let printed = value_text(given);
        let read: TokenStream = printed.parse().unwrap_or_else(|_| panic!("{printed}"));
        let (mut before, mut after) = (Vec::new(), Vec::new());
        tokens(given.clone(), &mut before);
        tokens(read, &mut after);
        for (before, after) in before.iter().zip(&after) {
            // A string of several lines is written on one line.
            let value = |text| syn::parse_str::<LitStr>(text).map(|text| text.value());
            let is_same =
                before == after || value(before).is_ok_and(|it| value(after).ok() == Some(it));
            assert!(
                is_same,
                "{}: {before} is {after} in {printed}",
                file.display()
            );
        }
        assert_eq!(before.len(), after.len(), "{}: {printed}", file.display());
    }
    fn groups(stream: &TokenStream, file: &std::path::Path, count: &mut usize) {
        for tree in stream.clone() {
            if let TokenTree::Group(group) = tree {
                check(&group.stream(), file);
                *count += 1;
                groups(&group.stream(), file, count);
            }
        }
    }
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<_> = [
        "tests/language",
        "examples",
        "plan-runtime/tests",
        "benches",
    ]
    .map(|folder| root.join(folder))
    .into();
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                if let Ok(file) = text.parse() {
                    check(&file, &path);
                    groups(&file, &path, &mut count);
                }
            }
        }
    }
    assert!(count > 1000, "{count}");
}
