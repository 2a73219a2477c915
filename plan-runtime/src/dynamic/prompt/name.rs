//! Names of tools, arguments and formats in a prompt.

use crate::print::Quoted;
use std::fmt::{Display, Formatter, Result};

/// The largest number of characters of a name in the prompt. A truncated name would be useless.
const NAME: usize = 100;

/// The largest number of characters of a name without quotes. A longer one could contain a sentence.
const BARE: usize = 64;

/// The formats that JSON Schema defines. Any other word could be written by anybody.
const FORMATS: &str = "date-time date time duration email idn-email hostname idn-hostname ipv4 ipv6 \
    uri uri-reference iri iri-reference uuid uri-template json-pointer relative-json-pointer regex";

/// Returns `true` if a name fits.
pub(super) fn fits(name: &str) -> bool {
    name.chars().nth(NAME).is_none()
}

/// Returns `true` if JSON Schema defines a format.
pub(super) fn is_format(format: &str) -> bool {
    FORMATS.split(' ').any(|it| it == format)
}

/// A name, without quotes only if it looks like an identifier of a program.
pub(super) struct Name<'t>(pub(super) &'t str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if is_bare(self.0) {
            f.write_str(self.0)
        } else {
            Quoted(self.0).fmt(f)
        }
    }
}

fn is_bare(name: &str) -> bool {
    let begins = |c: char| c == '_' || c.is_ascii_alphabetic();
    let goes_on = |c: char| begins(c) || c.is_ascii_digit() || matches!(c, '.' | '-');
    name.len() <= BARE
        && name.starts_with(begins)
        && name.chars().all(goes_on)
        // These words are values.
        && !matches!(name, "null" | "true" | "false")
}

#[cfg(test)]
mod tests {
    use super::{BARE, Name};

    #[test]
    fn only_names_of_programs_have_no_quotes() {
        let longest = "n".repeat(BARE);
        for name in ["a", "_", "mail.list", "find-items_2", "Cc", &longest] {
            assert_eq!(Name(name).to_string(), name);
        }
        let longer = "n".repeat(BARE + 1);
        let others = [
            "", "2nd", "-a", ".a", "$ref", "@type", "für", "имя", "a b", "a:b", "a\n", "null",
            "true", &longer,
        ];
        for name in others {
            let shown = Name(name).to_string();
            assert!(shown.starts_with('"') && shown.ends_with('"'), "{shown}");
        }
    }
}
