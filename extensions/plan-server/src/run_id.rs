//! Ids of runs. An id encodes how its run was started, so that a restarted server needs no table.

use plan_runtime::dynamic::Profile;

/// The options with which a run was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// `true` if a person approves each call that does more than read.
    pub(crate) asks: bool,
    pub(crate) profile: Profile,
}

/// Returns the name of a profile in the API.
pub(crate) fn reading(profile: Profile) -> &'static str {
    match profile {
        Profile::Compat => "compatible",
        _ => "strict",
    }
}

impl Start {
    fn letters(self) -> [char; 2] {
        let asks = if self.asks { 'a' } else { 'n' };
        let profile = match self.profile {
            Profile::Compat => 'c',
            _ => 's',
        };
        [asks, profile]
    }

    /// Creates a random id.
    pub(crate) fn id(self) -> String {
        let [asks, profile] = self.letters();
        format!("{asks}{profile}-{:016x}", fastrand::u64(..))
    }

    /// Returns the id of a run with a name from the client.
    pub(crate) fn named(self, request: &str) -> String {
        let [_, profile] = self.letters();
        format!("g{profile}-{request}")
    }

    /// Returns the options with which the run with this id was started.
    pub(crate) fn of(id: &str) -> Self {
        let mut letters = id.chars();
        Self {
            asks: letters.next() == Some('a'),
            profile: match letters.next() {
                Some('c') => Profile::Compat,
                _ => Profile::Strict,
            },
        }
    }
}

/// Returns the name that the client gave to the run with this id.
pub(crate) fn request_of(id: &str) -> Option<&str> {
    id.strip_prefix("gs-").or_else(|| id.strip_prefix("gc-"))
}

#[cfg(test)]
mod tests {
    use super::{Profile, Start, request_of};

    #[test]
    fn ids_say_how_runs_were_started() {
        for asks in [true, false] {
            for profile in [Profile::Strict, Profile::Compat] {
                let start = Start { asks, profile };
                assert_eq!(Start::of(&start.id()), start);
                assert_eq!(request_of(&start.id()), None);
                let named = Start {
                    asks: false,
                    profile,
                };
                assert_eq!(Start::of(&named.named("as-1")), named);
                assert_eq!(request_of(&start.named("as-1")), Some("as-1"));
            }
        }
    }
}
