//! A trip: a flight, a hotel and a car are booked at the same time, all or nothing.

mod support;

use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use std::future::{Future, pending};
use support::{TokioTimer, World, show};

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Trip {
    city: String,
    days: u32,
}

#[derive(Serialize, Deserialize, Shape)]
struct Booking {
    id: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Shape)]
struct Itinerary {
    flight: String,
    hotel: String,
    car: String,
}

/// Books a flight.
#[tool]
async fn book_flight(world: &World, city: String) -> Result<Booking> {
    world.call(format!("book a flight to {city}")).await?;
    Ok(Booking { id: "F1".into() })
}

/// Books a room.
#[tool]
async fn book_hotel(world: &World, city: String, days: u32) -> Result<Booking> {
    world
        .call(format!("book a hotel in {city}, {days} days"))
        .await?;
    Ok(Booking { id: "H1".into() })
}

/// Rents a car.
#[tool]
async fn book_car(world: &World, city: String, days: u32) -> Result<Booking> {
    world
        .call(format!("book a car in {city}, {days} days"))
        .await?;
    Ok(Booking { id: "C1".into() })
}

/// Cancels any booking.
#[tool]
async fn cancel_booking(world: &World, id: String) -> Result<()> {
    world.call(format!("cancel {id}")).await
}

plan! {
    /// Books everything for a trip, or nothing.
    BookTrip(trip: Trip) -> Itinerary {
        #[retry(3)]
        step flight = BookFlight { city: trip.city };
        #[undo(flight)] #[retry(5)]
        step no_flight = CancelBooking { id: flight.id };

        #[retry(3)]
        step hotel = BookHotel { city: trip.city, days: trip.days };
        #[undo(hotel)] #[retry(5)]
        step no_hotel = CancelBooking { id: hotel.id };

        #[retry(3)] #[timeout("20s")]
        step car = BookCar { city: trip.city, days: trip.days };
        #[undo(car)] #[retry(5)]
        step no_car = CancelBooking { id: car.id };

        Itinerary { flight: flight.id, hotel: hotel.id, car: car.id }
    }
}

mod by_hand {
    use super::support::by_hand::{Undo, all_or_nothing, attempts};
    use super::*;
    use backon::Retryable;
    use plan_runtime::Error;
    use std::sync::OnceLock;
    use std::time::Duration;
    use tokio::time::timeout;

    pub(crate) async fn book_trip(
        world: &World,
        trip: Trip,
        stopped: impl Future<Output = Error>,
    ) -> Result<Itinerary> {
        let Trip { city, days } = trip;
        all_or_nothing(
            stopped,
            async |undo| {
                let flight = || book_flight(world, city.clone());
                let hotel = || book_hotel(world, city.clone(), days);
                let car = async || {
                    timeout(Duration::from_secs(20), book_car(world, city.clone(), days))
                        .await
                        .map_err(|_| Error::msg("it took too long").with_code("TIMEOUT"))?
                };
                // Not `try_join!`, which would drop bookings that are being made.
                let failure = OnceLock::new();
                let booked = tokio::join!(
                    book(world, undo, &failure, "flight", flight),
                    book(world, undo, &failure, "hotel", hotel),
                    book(world, undo, &failure, "car", car),
                );
                match booked {
                    (Some(flight), Some(hotel), Some(car)) => Ok(Itinerary {
                        flight: flight.id,
                        hotel: hotel.id,
                        car: car.id,
                    }),
                    _ => Err(failure.into_inner().expect("a failure")),
                }
            },
            async |_| (),
        )
        .await
    }

    /// Makes one booking, and registers its undo action immediately afterwards. After a failure of any booking, it makes no
    /// further attempt.
    async fn book<'a, F: Future<Output = Result<Booking>>>(
        world: &'a World,
        undo: &Undo<'a>,
        failure: &OnceLock<Error>,
        what: &'static str,
        mut book: impl FnMut() -> F,
    ) -> Option<Booking> {
        let attempt = || {
            let attempt = failure.get().is_none().then(&mut book);
            async {
                match attempt {
                    Some(attempt) => attempt.await.map(Some),
                    None => Ok(None),
                }
            }
        };
        let booked = attempt.retry(attempts(3)).when(Error::is_transient).await;
        match booked {
            Ok(booked) => {
                let id = booked.as_ref()?.id.clone();
                let cancel = move || cancel_booking(world, id.clone());
                let cancel = cancel.retry(attempts(5)).when(Error::is_transient);
                undo.push(0, what, cancel);
                booked
            }
            Err(error) => {
                // The first one is the reason.
                failure.set(error).ok();
                None
            }
        }
    }
}

fn trip() -> Trip {
    Trip {
        city: "Leiden".into(),
        days: 3,
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    println!("{}", BookTrip::PLAN);
    let scenarios = [
        ("all is well", World::default()),
        (
            "no room",
            World::default().breaks("book a hotel", "no room"),
        ),
    ];
    for (title, world) in scenarios {
        let run = BookTrip { trip: trip() }.run(&world).timer(TokioTimer);
        let run = run.with_report().await;
        let by_hand = by_hand::book_trip(&world, trip(), pending()).await;
        show(title, run, by_hand);
    }
}

#[cfg(test)]
mod tests {
    use super::support::{Done, both};
    use super::*;
    use plan_runtime::Error;
    use std::time::Duration;
    use tokio::time::sleep;

    const LIMIT: Duration = Duration::from_secs(90);

    async fn outcome(world: impl Fn() -> World) -> Done<Itinerary> {
        both(
            world,
            async |world| {
                let run = BookTrip { trip: trip() }.run(world).timer(TokioTimer);
                Ok(run.deadline(LIMIT).await?)
            },
            async |world| {
                let stopped = async {
                    sleep(LIMIT).await;
                    Error::permanent("it took too long").with_code("DEADLINE")
                };
                by_hand::book_trip(world, trip(), stopped).await
            },
        )
        .await
    }

    #[tokio::test(start_paused = true)]
    async fn all_is_booked_at_the_same_time() {
        let done = outcome(World::default).await;
        assert!(done.output.is_ok());
        assert_eq!((done.most_open, done.took.as_secs()), (3, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_booked_is_cancelled() {
        let world = || {
            World::default()
                .breaks("book a hotel", "no room")
                .takes("book a car", 5)
        };
        let done = outcome(world).await;
        assert_eq!(done.output, Err("no room".into()));
        assert_eq!(done.calls[3..], ["cancel C1", "cancel F1"]);
        assert_eq!(done.took.as_secs(), 6);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_ends_the_attempts_of_others() {
        let world = || {
            World::default()
                .breaks("book a hotel", "no room")
                .busy("book a car", 1)
        };
        let done = outcome(world).await;
        assert_eq!(done.output, Err("no room".into()));
        assert_eq!(done.calls[3..], ["cancel F1"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_booking_has_limited_time() {
        let done = outcome(|| World::default().takes("book a car", 3600)).await;
        assert_eq!(done.output, Err("TIMEOUT".into()));
        assert_eq!(done.calls.len(), 5 + 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_deadline_cancels_what_was_booked() {
        let done = outcome(|| World::default().takes("book a hotel", 3600)).await;
        assert_eq!(done.output, Err("DEADLINE".into()));
        assert_eq!(done.calls[3..], ["cancel C1", "cancel F1"]);
        assert_eq!(done.took.as_secs(), 91);
    }
}
