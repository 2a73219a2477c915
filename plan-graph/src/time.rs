//! Times for people.

use std::fmt::{Display, Formatter, Result};
use std::time::Duration;

/// A time in its suitable unit, such as `12 ms`.
#[derive(Clone, Copy, Debug)]
pub struct Time(pub Duration);

impl Display for Time {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        TimeUnit::of([self.0]).write(self.0, f)
    }
}

/// The unit of all times of a table, which the longest time of the table decides.
///
/// | longest time | unit | examples |
/// |---|---|---|
/// | below 0.1 ms | µs | `80 µs` |
/// | below 1 s | ms | `0.02 ms`, `3.0 ms`, `113 ms` |
/// | below 2 min | s | `< 0.01 s`, `0.02 s`, `3.00 s`, `75 s` |
/// | any other | s, min and h | `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min` |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Microseconds.
    Micros,
    /// Milliseconds.
    Millis,
    /// Seconds.
    Seconds,
    /// Seconds, minutes and hours.
    Minutes,
}

impl TimeUnit {
    /// Returns the unit for these times.
    pub fn of(times: impl IntoIterator<Item = Duration>) -> Self {
        let longest = times.into_iter().max().unwrap_or_default();
        match longest.as_secs_f64() * 1e3 {
            ..0.095 => Self::Micros,
            ..999.5 => Self::Millis,
            ..119_500.0 => Self::Seconds,
            _ => Self::Minutes,
        }
    }

    /// Returns a time in this unit.
    pub fn time(self, time: Duration) -> String {
        struct Written(TimeUnit, Duration);
        impl Display for Written {
            fn fmt(&self, f: &mut Formatter<'_>) -> Result {
                self.0.write(self.1, f)
            }
        }
        Written(self, time).to_string()
    }

    fn write(self, time: Duration, f: &mut Formatter<'_>) -> Result {
        let seconds = time.as_secs_f64();
        let millis = seconds * 1e3;
        match (self, millis) {
            (_, 0.0) => f.write_str("0"),
            (Self::Micros, _) => write!(f, "{:.0} µs", millis * 1e3),
            (Self::Millis, ..0.005) => f.write_str("< 0.01 ms"),
            (Self::Millis, ..0.095) => write!(f, "{millis:.2} ms"),
            (Self::Millis, ..9.95) => write!(f, "{millis:.1} ms"),
            (Self::Millis, _) => write!(f, "{millis:.0} ms"),
            (Self::Seconds, ..5.0) => f.write_str("< 0.01 s"),
            (Self::Seconds, ..59_995.0) => write!(f, "{seconds:.2} s"),
            (Self::Minutes, ..50.0) => f.write_str("< 0.1 s"),
            (Self::Minutes, ..9_950.0) => write!(f, "{seconds:.1} s"),
            (_, ..119_500.0) => write!(f, "{seconds:.0} s"),
            _ => {
                let seconds = seconds.round() as u64;
                let (large, small, [unit, part]) = match seconds / 3600 {
                    0 => (seconds / 60, seconds % 60, ["min", "s"]),
                    hours => (hours, seconds % 3600 / 60, ["h", "min"]),
                };
                write!(f, "{large} {unit}")?;
                match small {
                    0 => Ok(()),
                    _ => write!(f, " {small} {part}"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Time, TimeUnit};
    use std::time::Duration;

    #[test]
    fn a_table_has_one_unit() {
        let micros = Duration::from_micros;
        let table = |times: &[u64]| -> Vec<String> {
            let times = times.iter().map(|time| micros(*time));
            let unit = TimeUnit::of(times.clone());
            times.map(|time| unit.time(time)).collect()
        };
        assert_eq!(table(&[0, 40, 80]), ["0", "40 µs", "80 µs"]);
        assert_eq!(
            table(&[2, 20, 100, 113_000]),
            ["< 0.01 ms", "0.02 ms", "0.1 ms", "113 ms"]
        );
        assert_eq!(
            table(&[100, 20_000, 3_000_000, 75_000_000]),
            ["< 0.01 s", "0.02 s", "3.00 s", "75 s"]
        );
        assert_eq!(
            table(&[100, 400_000, 12_000_000, 185_000_000]),
            ["< 0.1 s", "0.4 s", "12 s", "3 min 5 s"]
        );
        assert_eq!(table(&[7_800_000_000]), ["2 h 10 min"]);
        assert!(table(&[]).is_empty());
    }

    /// A time outside a table is in its own unit.
    #[test]
    fn a_single_time_has_its_own_unit() {
        for (time, shown) in [
            (Duration::ZERO, "0"),
            (Duration::from_micros(94), "94 µs"),
            (Duration::from_micros(3_000), "3.0 ms"),
            (Duration::from_millis(999), "999 ms"),
            (Duration::from_millis(59_994), "59.99 s"),
            (Duration::from_secs(119), "119 s"),
            (Duration::from_secs(120), "2 min"),
        ] {
            assert_eq!(Time(time).to_string(), shown);
        }
    }
}
