//! Times for people.

use std::fmt::{Display, Formatter, Result};
use std::time::Duration;

/// A time in its suitable unit, such as `12 ms`.
#[derive(Clone, Copy, Debug)]
pub struct Time(pub Duration);

impl Display for Time {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let millis = self.0.as_secs_f64() * 1e3;
        match millis {
            0.0 => f.write_str("0"),
            ..0.095 => write!(f, "{:.0} µs", millis * 1e3),
            ..9.95 => write!(f, "{millis:.1} ms"),
            ..999.5 => write!(f, "{millis:.0} ms"),
            ..59_995.0 => write!(f, "{:.2} s", millis / 1e3),
            ..119_500.0 => write!(f, "{:.0} s", millis / 1e3),
            _ => {
                let seconds = self.0.as_secs_f64().round() as u64;
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
