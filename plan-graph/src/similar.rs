//! Suggestions of known names for an unknown name.

/// The longest name that is compared, in bytes.
const LONGEST: usize = 60;

/// The most names that are compared.
const MOST: usize = 1000;

/// The least similarity of two names, where 1 means equal: about a third of the letters may differ.
const ALIKE: f64 = 0.65;

/// The least similarity for [`nearest`]: half of the letters may differ.
const NEAR: f64 = 0.5;

/// The likeness of a plural such as `retries` and its singular, which differ in three letters.
const PLURAL: f64 = 0.9;

/// Returns the name in `known` that `name` probably means: the most similar name, and the first of several equally
/// similar names.
///
/// Upper case, `_`, `-` and spaces make no difference. A comparison costs the product of the lengths, so a name of more
/// than 60 bytes has no similar name, and only the first thousand names are compared.
///
/// ```
/// use plan_graph::similar;
///
/// assert_eq!(similar("pageTitel", ["page_size", "page_title"]), Some("page_title"));
/// assert_eq!(similar("a", ["b"]), None);
/// ```
pub fn similar<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    most_similar(name, known, ALIKE)
}

/// Returns the most similar name in `known` if at most half of the letters differ. Use [`similar`] if `name` can be a name outside
/// `known`.
///
/// ```
/// use plan_graph::{nearest, similar};
///
/// assert_eq!(nearest("payed", ["paid", "note"]), Some("paid"));
/// assert_eq!(similar("payed", ["paid", "note"]), None);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    most_similar(name, known, NEAR)
}

fn most_similar<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    least: f64,
) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let plain = |name: &str| name.replace(['_', '-', ' '], "").to_lowercase();
    let letters = Letters::of(name);
    let name = plain(name);
    let mut best = None;
    let mut most = least;
    let known = known.into_iter().filter(|known| known.len() <= LONGEST);
    for known in known.take(MOST) {
        let is_plural = is_plural(&name, known, plain);
        if !is_plural && letters.most_alike(&Letters::of(known)) < most {
            continue;
        }
        let alike = if is_plural {
            PLURAL
        } else {
            strsim::normalized_damerau_levenshtein(&name, &plain(known))
        };
        if alike > most || (best.is_none() && alike == most) {
            (best, most) = (Some(known), alike);
        }
    }
    best
}

/// Returns `true` for `retries` and `retry`.
fn is_plural(name: &str, known: &str, plain: impl Fn(&str) -> String) -> bool {
    let ends = |name: &str| name.ends_with("ies") || name.ends_with("IES");
    if !ends(name) && !ends(known) {
        return false;
    }
    let known = plain(known);
    let is_of = |plural: &str, name: &str| {
        let stem = plural.strip_suffix("ies");
        stem.is_some_and(|stem| !stem.is_empty() && name.strip_suffix('y') == Some(stem))
    };
    is_of(name, &known) || is_of(&known, name)
}

/// The number of letters of each kind in a name. Several letters share a kind.
struct Letters {
    kinds: [u8; 32],
    all: u8,
}

impl Letters {
    fn of(name: &str) -> Self {
        let (mut kinds, mut all) = ([0; 32], 0);
        let letters = name.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
        for letter in letters.flat_map(char::to_lowercase) {
            // The letter sigma has another form at the end of a word.
            let letter = if letter == 'ς' { 'σ' } else { letter };
            kinds[letter as usize % 32] += 1;
            all += 1;
        }
        Self { kinds, all }
    }

    /// Returns an upper bound for the similarity: each letter that is more frequent in one name is a change.
    fn most_alike(&self, other: &Self) -> f64 {
        let kinds = self.kinds.iter().zip(&other.kinds);
        let common: u8 = kinds.map(|(one, other)| one.min(other)).sum();
        // The addition makes up for the rounding of the division.
        (f64::from(common) + 1e-6) / f64::from(self.all.max(other.all).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::similar;

    #[test]
    fn a_third_may_differ() {
        let known = ["inbox", "sent_mail", "x"];
        for (name, meant) in [
            ("inbx", Some("inbox")),
            ("InBox", Some("inbox")),
            ("sentmail", Some("sent_mail")),
            ("snet-mial", Some("sent_mail")),
            ("outbox", None),
            ("y", None),
            ("mail", None),
            ("", None),
        ] {
            assert_eq!(similar(name, known), meant, "{name}");
        }
    }

    #[test]
    fn a_plural_is_meant() {
        let known = ["timeout", "retry", "query", "by", "y"];
        for (name, meant) in [
            ("retries", Some("retry")),
            ("Queries", Some("query")),
            ("que_ries", Some("query")),
            ("timeouts", Some("timeout")),
            ("bies", Some("by")),
            ("ies", None),
            ("series", None),
        ] {
            assert_eq!(similar(name, known), meant, "{name}");
        }
        assert_eq!(similar("reply", ["replies"]), Some("replies"));
        assert_eq!(similar("retries", ["retry", "retires"]), Some("retry"));
        assert_eq!(similar("retries", ["retry", "Retries"]), Some("Retries"));
    }

    #[test]
    fn the_first_of_the_best_is_meant() {
        assert_eq!(similar("day2", ["day1", "day3"]), Some("day1"));
        assert_eq!(similar("day3", ["day1", "day_3", "DAY3"]), Some("day_3"));
        let long = "x".repeat(61);
        assert_eq!(similar(&long, [&*long]), None);
        assert_eq!(similar("day", [&*long, "days"]), Some("days"));
        let many = std::iter::repeat_n("other", 1000);
        assert_eq!(similar("day", many.clone().chain(["day"])), None);
        assert_eq!(similar("day", many.skip(1).chain(["day"])), Some("day"));
    }
}
