use super::{assert_safe, hostile, reports::run};
use proptest::prelude::*;

/// The tags of a page, with the names of their attributes: what is in quotes is left out.
fn tags(page: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some((_, after)) = rest.split_once('<') {
        let mut tag = String::new();
        let mut inside = false;
        let mut end = after.len();
        for (at, c) in after.char_indices() {
            match c {
                '"' => inside = !inside,
                '>' if !inside => {
                    end = at + 1;
                    break;
                }
                c if !inside => tag.push(c),
                _ => {}
            }
        }
        rest = &after[end..];
        // The content of these elements is not HTML, and comes from the page itself.
        for raw in ["style", "script"] {
            if tag.starts_with(raw) {
                rest = rest.split_once(&format!("</{raw}>")).unwrap().1;
            }
        }
        tags.push(tag);
    }
    tags
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn a_page_has_its_own_tags_alone(name in hostile(), message in hostile(), output in hostile()) {
        let name = format!("-{name}");
        let (_, harmless, _) = run("-", "m", "o");
        let (_, report, _) = run(&name, &message, &format!("-{output}"));
        let page = report.to_html();
        assert_safe(&page);
        // Ticks are as many as the times ask for.
        let without_ticks = |page: &str| {
            let (before, rest) = page.split_once("<svg class=\"ticks\"").unwrap();
            let mut tags = tags(&format!("{before}{}", rest.split_once("</svg>").unwrap().1));
            // A message has its parts between backticks as code.
            tags.retain(|tag| !matches!(&**tag, "code" | "/code"));
            tags
        };
        prop_assert_eq!(without_ticks(&page), without_ticks(&harmless.to_html()));
        // An `&` begins one of the references that escaping writes.
        let (before, after) = (page.split_once("<style").unwrap().0, page.split_once("</style>").unwrap().1);
        let texts = format!("{before}{}", after.split_once("<script").unwrap().0);
        for (at, _) in texts.match_indices('&') {
            let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
            let rest = &texts[at..];
            prop_assert!(known.iter().any(|it| rest.starts_with(it)), "{}", rest);
        }
    }
}

#[test]
fn what_cannot_be_seen_is_shown() {
    let (_, report, _) = run("a\u{202e}b", "x\u{200b}\ny\u{feff}", "\u{0}");
    let page = report.to_html();
    assert!(page.contains(r"<h2>&quot;a\u{202e}b0&quot;</h2>"));
    assert!(page.contains(r"no: x\u{200b}\ny\u{feff}"));
    // In a value, JSON has escapes of its own.
    assert!(page.contains(r"x\u{200b}\ny\u{feff}&quot;"));
    assert!(page.contains(r"\u0000"));
}
