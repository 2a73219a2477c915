//! An unreliable service: attempts, waits, time limits, and a fallback after the last attempt.

use plan_runtime::{Error, Result, Shape, Terminal, plan, tool};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::time::sleep;

/// An unreliable weather service.
#[derive(Default)]
struct Weather {
    stations: AtomicU32,
    forecasts: AtomicU32,
    warnings: AtomicU32,
}

#[derive(Serialize, Deserialize, Shape)]
struct Station {
    id: u32,
    name: String,
}

/// Finds the weather station next to a city. The first two calls find the line busy.
#[tool]
async fn find_station(weather: &Weather, city: String) -> Result<Station> {
    sleep(Duration::from_millis(15)).await;
    match weather.stations.fetch_add(1, Ordering::Relaxed) {
        0 | 1 => Err(Error::msg("the line is busy")),
        _ => Ok(Station {
            id: 7,
            name: format!("{city} Observatory"),
        }),
    }
}

/// Asks a station for tomorrow's temperature. The first answer takes forever.
#[tool]
async fn forecast(weather: &Weather, station: u32) -> Result<i32> {
    if weather.forecasts.fetch_add(1, Ordering::Relaxed) == 0 {
        sleep(Duration::from_secs(3600)).await;
    }
    sleep(Duration::from_millis(20)).await;
    Ok(11 + i32::try_from(station)?)
}

/// Finds yesterday's picture. A further attempt would fail as well.
#[tool]
async fn picture(station: u32) -> Result<String> {
    Err(Error::permanent(format!("station {station} has no camera")))
}

/// Lists the warnings for tomorrow. Always fails, and takes a while to fail.
#[tool]
async fn list_warnings(weather: &Weather, station: u32) -> Result<Vec<String>> {
    let call = weather.warnings.fetch_add(1, Ordering::Relaxed) + 1;
    sleep(Duration::from_millis(20)).await;
    Err(Error::msg(format!(
        "station {station} hung up (call {call})"
    )))
}

plan! {
    /// Describe the weather of tomorrow.
    Tomorrow(city: String) -> String {
        // The waits double: 20 ms, 40 ms, 80 ms. Without `jitter = false`, each wait is a random part of these times.
        #[retry(4, backoff = "20ms", jitter = false)]
        step station = FindStation { city };

        // Limits each attempt.
        #[timeout("50ms")]
        #[retry(3, backoff = "10ms", jitter = false)]
        step degrees = Forecast { station: station.id };

        // `#[retry]` does not repeat a call after a permanent error. The step is optional, so the error does not fail the plan.
        #[optional]
        #[retry(5)]
        step photo = Picture { station: station.id };

        // Limits all attempts together. After that, the fallback is the output.
        #[deadline("100ms")]
        #[retry(4, backoff = "10ms", jitter = false)]
        #[fallback(["unknown, so take care"])]
        step warnings = ListWarnings { station: station.id };

        format!(
            "{}: {degrees} °C tomorrow; warnings: {}; picture: {}",
            station.name,
            warnings.join(", "),
            photo.as_deref().unwrap_or("none"),
        )
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let weather = Weather::default();
    let tomorrow = Tomorrow {
        city: "Leiden".into(),
    };
    let (text, report) = tomorrow.run(&weather).with_report().await;

    let table = Terminal::stdout().report(&report);
    let text = Terminal::stdout().text(text?);
    println!("{text}\n\n{table}\n\nattempt by attempt:");
    for step in report.steps() {
        for attempt in step.attempts() {
            let started = attempt.started().as_secs_f64() * 1e3;
            let outcome = match attempt.error() {
                Some(error) => error.to_string(),
                None => "gave its output".into(),
            };
            let (step, number) = (step.id(), attempt.number());
            println!("  {started:5.0} ms  {step:8}  {number}  {outcome}");
        }
    }
    Ok(())
}
