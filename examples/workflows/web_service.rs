//! A web service without a framework: each request is a run of a plan, with limited time. If the client disconnects, the run is cancelled, and its
//! completed steps are undone.

mod support;

use plan_runtime::run::RunErrorKind;
use plan_runtime::{Error, Failure, Result, RunError, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use std::future::{Future, pending};
use std::time::Duration;
use support::{TokioTimer, World};

#[derive(Serialize, Deserialize, Shape)]
struct User {
    name: String,
    card: String,
}

#[derive(Serialize, Deserialize, Shape)]
struct Seat {
    id: u32,
    cents: u64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Shape)]
struct Ticket {
    name: String,
    seat: u32,
    /// Other shows that may interest the user.
    also: Vec<String>,
}

/// Finds a user.
#[tool]
async fn find_user(world: &World, id: u32) -> Result<User> {
    world.call(format!("find user {id}")).await?;
    match id {
        1 => Ok(User {
            name: "Ada".into(),
            card: "4711".into(),
        }),
        _ => Err(Error::permanent(format!("there is no user {id}")).with_code("NOT_FOUND")),
    }
}

/// Holds a seat in a show.
#[tool]
async fn hold_seat(world: &World, show: String) -> Result<Seat> {
    world.call(format!("hold a seat in {show}")).await?;
    Ok(Seat {
        id: 12,
        cents: 2500,
    })
}

/// Releases a held seat.
#[tool]
async fn free_seat(world: &World, id: u32) -> Result<()> {
    world.call(format!("free seat {id}")).await
}

/// Finds similar shows.
#[tool]
async fn recommend(world: &World, show: String) -> Result<Vec<String>> {
    world.call(format!("what is like {show}?")).await?;
    Ok(vec!["Macbeth".into()])
}

/// Takes money from a card.
#[tool]
async fn charge(world: &World, card: String, cents: u64) -> Result<()> {
    world.call(format!("charge {card} {cents}")).await
}

plan! {
    /// Sells a seat in a show.
    BuyTicket(user: u32, show: String) -> Ticket {
        step buyer = FindUser { id: user };
        step seat = HoldSeat { show };
        #[undo(seat)] #[retry(5)]
        step freed = FreeSeat { id: seat.id };
        #[timeout("2s")] #[fallback([])]
        step also = Recommend { show };
        step paid = Charge { card: buyer.card, cents: seat.cents };
        Ticket { name: buyer.name, seat: seat.id, also }
    }
}

mod by_hand {
    use super::support::by_hand::{Undo, all_or_nothing, attempts};
    use super::*;
    use backon::Retryable;
    use tokio::time::timeout;

    pub(crate) async fn buy_ticket(
        world: &World,
        user: u32,
        show: String,
        stopped: impl Future<Output = Error>,
    ) -> Result<Ticket> {
        all_or_nothing(
            stopped,
            async |undo| {
                let also = timeout(Duration::from_secs(2), recommend(world, show.clone()));
                let (paid, also) = tokio::join!(pay(world, undo, user, show), also);
                let (buyer, seat) = paid?;
                Ok(Ticket {
                    name: buyer.name,
                    seat: seat.id,
                    also: also.unwrap_or_else(|_| Ok(vec![])).unwrap_or_default(),
                })
            },
            async |_| (),
        )
        .await
    }

    async fn pay<'a>(
        world: &'a World,
        undo: &Undo<'a>,
        user: u32,
        show: String,
    ) -> Result<(User, Seat)> {
        let hold = async {
            let seat = hold_seat(world, show).await?;
            let free = (move || free_seat(world, seat.id)).retry(attempts(5));
            undo.push(0, "seat", free.when(Error::is_transient));
            Ok::<_, Error>(seat)
        };
        // Not `try_join!`, which would drop the seat while it is being held.
        let (buyer, seat) = tokio::join!(find_user(world, user), hold);
        let (buyer, seat) = (buyer?, seat?);
        charge(world, buyer.card.clone(), seat.cents).await?;
        Ok((buyer, seat))
    }
}

const LIMIT: Duration = Duration::from_secs(10);

/// The response to the client: a status and a body.
#[derive(Debug, PartialEq)]
struct Response(u16, String);

/// Answers `POST /tickets/<show>?user=<id> HTTP/1.1`.
async fn handle(request: &str, buy: impl AsyncFnOnce(u32, String) -> Result<Ticket>) -> Response {
    match route(request) {
        Some((user, show)) => response(buy(user, show).await),
        None => Response(404, "there is no such page".into()),
    }
}

fn route(request: &str) -> Option<(u32, String)> {
    let path = request.strip_prefix("POST /tickets/")?;
    let (show, rest) = path.split_once("?user=")?;
    let user = rest.strip_suffix(" HTTP/1.1")?.parse().ok()?;
    Some((user, show.into()))
}

fn response(result: Result<Ticket>) -> Response {
    let error = match result {
        Ok(ticket) => return Response(200, format!("{ticket:?}")),
        Err(error) => error,
    };
    let status = match error.code() {
        Some("NOT_FOUND") => 404,
        Some("CANCELLED") => 499,
        Some("DEADLINE") => 504,
        _ => 502,
    };
    Response(status, error.to_string())
}

/// The plan's version, until the client hangs up.
async fn by_plan(
    world: &World,
    user: u32,
    show: String,
    hung_up: impl Future<Output = ()> + Send,
) -> Result<Ticket> {
    let run = BuyTicket { user, show }.run(world).timer(TokioTimer);
    let ticket = run.deadline(LIMIT).cancel_on(hung_up).await;
    ticket.map_err(|error| for_client(&error))
}

/// An error without the names of steps, which a client must not see.
fn for_client(error: &RunError) -> Error {
    let error_with = |message: &str, code: &str| Error::permanent(message).with_code(code);
    match error.failures() {
        _ if error.kind() == RunErrorKind::Cancelled => {
            error_with("the run was cancelled", "CANCELLED")
        }
        _ if error.kind() == RunErrorKind::Deadline => error_with("it took too long", "DEADLINE"),
        [] => Error::permanent(error.to_string()),
        [first, ..] => {
            let failure = Failure::from(first);
            error_with(&failure.message, &failure.code)
        }
    }
}

/// Runs the second version until the client hangs up.
async fn without_plan(
    world: &World,
    user: u32,
    show: String,
    hung_up: impl Future<Output = ()>,
) -> Result<Ticket> {
    let stopped = async {
        tokio::select! {
            () = tokio::time::sleep(LIMIT) => Error::permanent("it took too long").with_code("DEADLINE"),
            () = hung_up => support::by_hand::cancelled(),
        }
    };
    by_hand::buy_ticket(world, user, show, stopped).await
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    println!("{}", BuyTicket::PLAN);
    let scenarios = [
        ("POST /tickets/hamlet?user=1 HTTP/1.1", World::default()),
        ("POST /tickets/hamlet?user=2 HTTP/1.1", World::default()),
        ("GET /tickets HTTP/1.1", World::default()),
        (
            "POST /tickets/hamlet?user=1 HTTP/1.1",
            World::default().breaks("charge", "the card is blocked"),
        ),
    ];
    for (request, world) in scenarios {
        println!("{request}");
        let buy = async |user, show| by_plan(&world, user, show, pending()).await;
        println!("    as a plan: {:?}", handle(request, buy).await);
        let buy = async |user, show| without_plan(&world, user, show, pending()).await;
        println!("    by hand:   {:?}", handle(request, buy).await);
    }
}

#[cfg(test)]
mod tests {
    use super::support::{Done, both};
    use super::*;
    use tokio::time::sleep;

    /// Returns the responses of both versions to a client who disconnects after this number of seconds.
    async fn outcome(world: impl Fn() -> World, request: &str, patience: u64) -> Done<Response> {
        let hung_up = || sleep(Duration::from_secs(patience));
        both(
            world,
            async |world| {
                let buy = async |user, show| by_plan(world, user, show, hung_up()).await;
                Ok(handle(request, buy).await)
            },
            async |world| {
                let buy = async |user, show| without_plan(world, user, show, hung_up()).await;
                Ok(handle(request, buy).await)
            },
        )
        .await
    }

    const GOOD: &str = "POST /tickets/hamlet?user=1 HTTP/1.1";

    fn status(done: &Done<Response>) -> u16 {
        done.output.as_ref().unwrap().0
    }

    #[tokio::test(start_paused = true)]
    async fn independent_calls_run_at_the_same_time() {
        let done = outcome(World::default, GOOD, 60).await;
        assert_eq!(status(&done), 200);
        assert_eq!((done.most_open, done.took.as_secs()), (3, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn other_requests_are_not_found() {
        let done = outcome(World::default, "GET /tickets HTTP/1.1", 60).await;
        assert_eq!(status(&done), 404);
        let done = outcome(World::default, "POST /tickets/hamlet?user=2 HTTP/1.1", 60).await;
        assert_eq!(status(&done), 404);
        assert_eq!(done.calls[3..], ["free seat 12"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_seat_that_is_not_paid_is_free_again() {
        let world = || World::default().breaks("charge", "the card is blocked");
        let done = outcome(world, GOOD, 60).await;
        assert_eq!(status(&done), 502);
        assert_eq!(done.calls[4..], ["free seat 12"]);
    }

    #[tokio::test(start_paused = true)]
    async fn recommendations_are_worth_two_seconds() {
        for world in [
            || World::default().takes("what is like", 60),
            || World::default().breaks("what is like", "no idea"),
        ] {
            let done = outcome(world, GOOD, 60).await;
            assert_eq!((status(&done), done.took.as_secs()), (200, 2));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_who_hangs_up_has_no_seat() {
        let done = outcome(|| World::default().takes("charge", 60), GOOD, 5).await;
        assert_eq!((status(&done), done.took.as_secs()), (499, 6));
        assert_eq!(done.calls[4..], ["free seat 12"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_has_limited_time() {
        let done = outcome(|| World::default().takes("charge", 60), GOOD, 60).await;
        assert_eq!((status(&done), done.took.as_secs()), (504, 11));
        assert_eq!(done.calls[4..], ["free seat 12"]);
    }
}
