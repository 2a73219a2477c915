//! Two steps that need one first step, and a last step that needs both. The two steps run concurrently, without further syntax.
//!
//! ```text
//!         ┌─ flights ─┐
//! dates ──┤           ├── trip
//!         └─ hotels ──┘
//! ```

use plan_runtime::{Result, Shape, Terminal, plan, tool};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::time::sleep;

#[derive(Serialize, Deserialize, Shape)]
struct Dates {
    from: String,
    to: String,
}

#[derive(Serialize, Deserialize, Shape)]
struct Offer {
    text: String,
    price: u32,
}

/// Finds the days on which nothing else is planned.
#[tool]
async fn free_dates(month: String) -> Result<Dates> {
    sleep(Duration::from_millis(40)).await;
    Ok(Dates {
        from: format!("3 {month}"),
        to: format!("8 {month}"),
    })
}

/// Searches flights.
#[tool]
async fn search_flights(city: String, out: String, back: String) -> Result<Offer> {
    sleep(Duration::from_millis(120)).await;
    Ok(Offer {
        text: format!("to {city} on {out}, back on {back}"),
        price: 210,
    })
}

/// Searches hotels.
#[tool]
async fn search_hotels(city: String, from: String, to: String) -> Result<Offer> {
    sleep(Duration::from_millis(100)).await;
    Ok(Offer {
        text: format!("a room in {city}, {from} to {to}"),
        price: 460,
    })
}

/// Puts an offer together.
#[tool]
async fn offer_trip(parts: Vec<String>, price: u32) -> Result<String> {
    sleep(Duration::from_millis(20)).await;
    Ok(format!("{} for {price} EUR", parts.join("; ")))
}

plan! {
    /// Plans a trip.
    PlanTrip(city: String, month: String) -> String {
        step dates = FreeDates { month };
        step flights = SearchFlights { city, out: dates.from, back: dates.to };
        step hotels = SearchHotels { city, from: dates.from, to: dates.to };
        step trip = OfferTrip {
            parts: [flights.text, hotels.text],
            price: flights.price + hotels.price,
        };
        trip
    }
}

fn lisbon() -> PlanTrip {
    PlanTrip {
        city: "Lisbon".into(),
        month: "May".into(),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    for (number, level) in PlanTrip::PLAN.levels().iter().enumerate() {
        let names: Vec<&str> = level.iter().map(|step| step.id.as_ref()).collect();
        println!("level {number}: {}", names.join(", "));
    }

    // The tools of this plan need no application, so any value is an application.
    let (trip, report) = lisbon().run(&()).with_report().await;
    let terminal = Terminal::stdout();
    println!("\n{}\n\n{}", trip?, terminal.report(&report));
    let (_, report) = lisbon().run(&()).concurrency(1).with_report().await;
    println!("\none step at a time:\n{}", terminal.report(&report));
    Ok(())
}
