//! Blocks, and plans that steps call, undo what they have done: when they fail, when the plan around them fails, and when the run is cancelled or late.

mod blocks;
mod plans;

use plan_runtime::run::RunErrorKind;
use plan_runtime::{Error, Result, RunError, tool};
use std::sync::Mutex;

/// The calls, in order.
#[derive(Default)]
pub struct Desk(Mutex<Vec<String>>);

impl Desk {
    fn add(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Books something.
#[tool]
pub async fn book(desk: &Desk, what: String) -> Result<String> {
    desk.add(format!("book {what}"));
    smol::future::yield_now().await;
    if what.starts_with("no ") {
        return Err(Error::permanent(format!("there is {what}")));
    }
    if what.starts_with("slow ") {
        std::future::pending::<()>().await;
    }
    Ok(what)
}

/// Cancels what was booked.
#[tool]
pub async fn cancel(desk: &Desk, what: String) -> Result<()> {
    desk.add(format!("cancel {what}"));
    smol::future::yield_now().await;
    if what.starts_with("fixed ") {
        return Err(Error::permanent("cannot be cancelled"));
    }
    Ok(())
}

fn undone(error: &RunError) -> Vec<&str> {
    error.undone().collect()
}

/// The properties of both versions.
macro_rules! laws {
    () => {
        fn journey(flight: &str, hotel: &str, last: &str) -> Journey {
            let [flight, hotel, last] = [flight, hotel, last].map(str::to_owned);
            Journey {
                flight,
                hotel,
                last,
            }
        }

        fn orders(items: &[&str]) -> Orders {
            let items = items.iter().map(ToString::to_string).collect();
            Orders { items }
        }

        #[test]
        fn one_that_fails_undoes_its_steps_before_anyone_hears_of_it() {
            let desk = Desk::default();
            let error = smol::block_on(journey("f", "no hotel", "i").run(&desk)).unwrap_err();
            assert_eq!(
                desk.taken(),
                ["book f", "book no hotel", "cancel f", "cancel told false"]
            );
            assert_eq!(undone(&error), ["trip.seat"]);
            assert_eq!(error.not_undone().len(), 0);
            assert_eq!(
                error.to_string(),
                "plan `journey` failed: step `trip.room` (book): there is no hotel (this blocked `insured`); undone: `trip.seat`"
            );
        }

        #[test]
        fn what_it_has_done_is_undone_when_the_plan_fails_later() {
            let desk = Desk::default();
            let error = smol::block_on(journey("f", "h", "no cover").run(&desk)).unwrap_err();
            // The undo step of the block comes before those in it, in the reverse order of dependencies.
            let log = desk.taken();
            assert_eq!(
                log[..5],
                [
                    "book f",
                    "book h",
                    "cancel told true",
                    "book no cover",
                    "cancel trip to h"
                ]
            );
            let mut inner = log[5..].to_vec();
            inner.sort();
            assert_eq!(inner, ["cancel f", "cancel h for f"]);
            assert_eq!(undone(&error).len(), 3, "{error}");
            assert_eq!(error.not_undone().len(), 0);
            // Nothing is undone where nothing fails.
            assert_eq!(
                smol::block_on(journey("f", "h", "i").run(&desk)).unwrap(),
                "i"
            );
            assert_eq!(
                desk.taken(),
                ["book f", "book h", "cancel told true", "book i"]
            );
        }

        #[test]
        fn what_cannot_be_undone_is_named_with_its_path() {
            let desk = Desk::default();
            let error = smol::block_on(journey("fixed f", "h", "no cover").run(&desk)).unwrap_err();
            assert_eq!(error.not_undone().collect::<Vec<_>>(), ["trip.seat"]);
            assert!(error.is_permanent());
            assert!(
                error.to_string().ends_with("not undone: `trip.seat`"),
                "{error}"
            );
        }

        #[test]
        fn elements_that_had_succeeded_are_undone_before_their_list_fails() {
            for mode in [OnFailure::Stop, OnFailure::Continue, OnFailure::Cancel] {
                let desk = Desk::default();
                let run = orders(&["a", "b", "no c", "d"]).run(&desk).on_failure(mode);
                let error = smol::block_on(run).unwrap_err();
                let log = desk.taken();
                let booked = log
                    .iter()
                    .filter(|line| line.starts_with("book ") && !line.contains("no "));
                for line in booked {
                    let what = line.strip_prefix("book ").unwrap();
                    let cancelled = format!("cancel {what}");
                    let times = log.iter().filter(|other| **other == cancelled).count();
                    // A call that was dropped has booked nothing.
                    assert!(times <= 1, "{mode:?}: {what} in {log:?}");
                    if mode == OnFailure::Continue {
                        assert_eq!(times, 1, "{mode:?}: {what} in {log:?}");
                    }
                }
                assert!(log.contains(&"cancel a".to_owned()), "{mode:?}: {log:?}");
                assert!(
                    log.contains(&"cancel hold no c".to_owned()),
                    "{mode:?}: {log:?}"
                );
                assert!(undone(&error).contains(&"orders[0].paid"), "{error}");
                assert_eq!(error.not_undone().len(), 0, "{error}");
                assert!(
                    error.to_string().contains("step `orders[2].paid` (book)"),
                    "{error}"
                );
            }
        }

        #[test]
        fn an_optional_element_is_undone_alone() {
            let desk = Desk::default();
            let items = ["a", "no b"].map(str::to_owned).to_vec();
            let output = smol::block_on(Caught { items }.run(&desk)).unwrap();
            assert_eq!(output, [Some("a".to_owned()), None]);
            let log = desk.taken();
            let cancelled: Vec<_> = log
                .iter()
                .filter(|line| line.starts_with("cancel"))
                .collect();
            assert_eq!(cancelled, ["cancel hold no b"]);
        }

        #[test]
        fn a_failure_that_left_something_done_is_not_absorbed() {
            let desk = Desk::default();
            let error = smol::block_on(
                Left {
                    item: "no pay".into(),
                }
                .run(&desk),
            )
            .unwrap_err();
            assert_eq!(error.not_undone().collect::<Vec<_>>(), ["order.held"]);
        }

        #[test]
        fn its_steps_are_undone_when_the_run_is_cancelled() {
            let desk = Desk::default();
            let (send, receive) = smol::channel::bounded::<()>(1);
            let run = journey("f", "slow h", "i")
                .run(&desk)
                .cancel_on(async move {
                    let _ = receive.recv().await;
                });
            let stop = async {
                for _ in 0..5 {
                    smol::future::yield_now().await;
                }
                send.send(()).await.unwrap();
                std::future::pending::<()>().await;
            };
            let error = smol::block_on(smol::future::or(run, async {
                stop.await;
                unreachable!()
            }))
            .unwrap_err();
            assert_eq!(error.kind(), RunErrorKind::Cancelled);
            assert_eq!(
                desk.taken(),
                ["book f", "book slow h", "cancel f", "cancel told false"]
            );
            assert_eq!(undone(&error), ["trip.seat"]);
        }

        #[test]
        fn its_steps_are_undone_when_the_run_is_late() {
            let (desk, timer) = (Desk::default(), ManualTimer::new());
            let run = orders(&["a", "slow b"])
                .run(&desk)
                .deadline(Duration::from_secs(5))
                .timer(timer.clone());
            let error = smol::block_on(timer.skip_waits(run)).unwrap_err();
            assert_eq!(error.kind(), RunErrorKind::Deadline);
            let mut log = desk.taken();
            log.sort();
            assert_eq!(
                log,
                [
                    "book a",
                    "book hold a",
                    "book hold slow b",
                    "book slow b",
                    "cancel a",
                    "cancel hold a",
                    "cancel hold slow b"
                ]
            );
            assert_eq!(error.not_undone().len(), 0, "{error}");
        }

        #[test]
        fn one_that_takes_too_long_undoes_its_steps() {
            let (desk, timer) = (Desk::default(), ManualTimer::new());
            let run = Limited { what: "p".into() }.run(&desk).timer(timer.clone());
            assert_eq!(smol::block_on(timer.skip_waits(run)).unwrap(), None);
            assert_eq!(timer.elapsed(), Duration::from_secs(3));
            let log = desk.taken();
            assert!(
                log.contains(&"cancel hold".to_owned()) && log.contains(&"cancel p".to_owned()),
                "{log:?}"
            );
        }

        #[test]
        fn undo_steps_are_handed_on_through_all_of_them() {
            let desk = Desk::default();
            let error = smol::block_on(
                Outermost {
                    last: "no end".into(),
                }
                .run(&desk),
            )
            .unwrap_err();
            let log = desk.taken();
            let cancelled: Vec<_> = log
                .iter()
                .filter(|line| line.starts_with("cancel"))
                .collect();
            assert_eq!(cancelled.len(), 3, "{log:?}");
            // The dependents are undone first.
            assert_eq!(cancelled[2], "cancel deep");
            let mut undone = undone(&error);
            undone.sort_unstable();
            assert_eq!(
                undone,
                ["all.inner.deep", "all.more[0].one", "all.more[1].one"]
            );
        }

        #[test]
        fn a_run_that_is_dropped_undoes_nothing() {
            let desk = Desk::default();
            let run = journey("f", "slow h", "i").run(&desk);
            let some = async {
                for _ in 0..9 {
                    smol::future::yield_now().await;
                }
            };
            smol::block_on(smol::future::or(
                async {
                    let _ = run.await;
                },
                some,
            ));
            assert_eq!(desk.taken(), ["book f", "book slow h"]);
        }
    };
}
use laws;
