//! Times of several programs, measured in turns, so that other load on the machine affects all of them.

use std::time::{Duration, Instant};

/// A thing to measure.
pub struct Case<'a> {
    name: String,
    once: Box<dyn FnMut() + 'a>,
    /// The divisor of a time, such as the number of steps.
    of: usize,
}

impl<'a> Case<'a> {
    pub fn new<T>(name: &str, of: usize, mut once: impl FnMut() -> T + 'a) -> Self {
        Self {
            name: name.to_owned(),
            once: Box::new(move || {
                std::hint::black_box(once());
            }),
            of,
        }
    }

    fn batch(&mut self, times: u32) -> Duration {
        let start = Instant::now();
        for _ in 0..times {
            (self.once)();
        }
        start.elapsed()
    }
}

/// Nanoseconds, by name.
pub struct Times(Vec<(String, f64)>);

impl Times {
    pub fn of(&self, name: &str) -> f64 {
        let found = self.0.iter().find(|(case, _)| case == name);
        found
            .unwrap_or_else(|| panic!("`{name}` was not measured"))
            .1
    }

    pub fn try_of(&self, name: &str) -> Option<f64> {
        Some(self.0.iter().find(|(case, _)| case == name)?.1)
    }

    pub fn ratio(&self, one: &str, other: &str) -> f64 {
        self.of(one) / self.of(other)
    }
}

/// Measures the best time of each case. The cases take turns until `budget` is used up.
pub fn measure(mut cases: Vec<Case<'_>>, budget: Duration) -> Times {
    let slice = (budget / cases.len() as u32 / 40).min(Duration::from_millis(2));
    let repeat: Vec<u32> = cases
        .iter_mut()
        .map(|case| {
            case.batch(1);
            let once = case.batch(1).max(Duration::from_nanos(50));
            (slice.as_nanos() / once.as_nanos()).clamp(1, 1_000_000) as u32
        })
        .collect();
    let mut best = vec![f64::INFINITY; cases.len()];
    let start = Instant::now();
    let mut turn = 0;
    while turn < 3 || start.elapsed() < budget {
        // Another one begins each turn.
        for offset in 0..cases.len() {
            let index = (turn + offset) % cases.len();
            let took = cases[index].batch(repeat[index]).as_nanos() as f64;
            let each = took / f64::from(repeat[index]) / cases[index].of as f64;
            best[index] = best[index].min(each);
        }
        turn += 1;
    }
    Times(cases.into_iter().map(|case| case.name).zip(best).collect())
}
