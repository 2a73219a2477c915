//! A plan as a step of another, in the form of generated code.

use super::support::{Driven, Lab, Outcome, Work, action, plan};
use plan_runtime::check::{Request, Started, called};
use plan_runtime::plan::ToolInfo;
use plan_runtime::run::Run;
use plan_runtime::shape::TypeShape;
use plan_runtime::{Call, Plan, Result, Shape, Tool};
use serde::{Deserialize, Serialize};
use std::future::Future;
use std::sync::LazyLock;

static INNER: LazyLock<Plan> = LazyLock::new(|| plan("one, two < one"));
static OUTER: LazyLock<Plan> = LazyLock::new(|| {
    let mut plan = plan("first, second < first");
    plan.name = "outer".into();
    plan.steps[1].after = vec![0];
    action(&mut plan.steps[1]).args = plan_runtime::plan::Template::Object(Vec::new());
    action(&mut plan.steps[1]).tool = Some(ToolInfo::new("inner").into());
    plan
});

#[derive(Serialize, Deserialize)]
struct Inner {}

impl Inner {
    fn run<A: ?Sized + Sync>(self, app: &A) -> Run<'_, A, u64>
    where
        Work: Call<A>,
    {
        fn start<'x, A: ?Sized + Sync>(step: usize, request: Request<'_>, app: &'x A) -> Started<'x>
        where
            Work: Call<A>,
        {
            match step {
                0 | 1 => request.call::<Work, A>(app),
                _ => request.unknown(),
            }
        }
        Run::new(&*INNER, Ok(vec![]), app, start::<A>)
    }
}

impl Shape for Inner {
    const SHAPE: TypeShape = TypeShape::Opaque;
}

impl Tool for Inner {
    type Output = u64;
    const NAME: &'static str = "inner";
}

impl<A: ?Sized + Sync> Call<A> for Inner
where
    Work: Call<A>,
{
    fn call(self, app: &A) -> impl Future<Output = Result<u64>> + Send {
        called::<Self, _>(self.run(app))
    }
}

#[derive(Serialize, Deserialize)]
struct Outer {}

impl Outer {
    fn run<A: ?Sized + Sync>(self, app: &A) -> Run<'_, A, u64>
    where
        Work: Call<A>,
        Inner: Call<A>,
    {
        fn start<'x, A: ?Sized + Sync>(step: usize, request: Request<'_>, app: &'x A) -> Started<'x>
        where
            Work: Call<A>,
            Inner: Call<A>,
        {
            match step {
                0 => request.call::<Work, A>(app),
                1 => request.call::<Inner, A>(app),
                _ => request.unknown(),
            }
        }
        Run::new(&*OUTER, Ok(vec![]), app, start::<A>)
    }
}

#[test]
fn a_plan_is_a_tool() {
    let lab = Lab::default();
    let mut driven = Driven::new(Outer {}.run(&lab));
    for step in ["first", "one", "two"] {
        driven.pending();
        assert_eq!(lab.running(), [step]);
        lab.let_through(step);
    }
    assert_eq!(driven.ended().unwrap(), 2);
}

#[test]
fn an_error_says_the_whole_way_to_what_failed() {
    let lab = Lab::open().with("two", Outcome::Fail);
    let error = Driven::new(Outer {}.run(&lab)).ended().unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `outer` failed: step `second.two` (work): no two today"
    );
    assert!(error.is_transient());
    let [failure] = error.failures() else {
        panic!("{error}")
    };
    assert_eq!(
        (failure.step(), failure.tool()),
        ("second.two", Some("work"))
    );
    assert_eq!(
        failure.error().as_tool().unwrap().to_string(),
        "no two today"
    );
}

#[test]
fn a_run_goes_to_other_threads() {
    fn send<T: Send>(_: &T) {}
    fn unpin<T: Unpin>(_: &T) {}
    let lab = Lab::open();
    send(&Outer {}.run(&lab));
    unpin(&Outer {}.run(&lab));
    send(&Outer {}.run(&lab).with_report());
    send(&async {
        let app: &dyn Mail = &Letters;
        Run::<dyn Mail, u64>::new(&*INNER, Ok(vec![]), app, |_, request, mail| {
            request.call::<Fetch, dyn Mail>(mail)
        })
        .await
    });
    fn generic<A: Sync>(app: &A)
    where
        Work: Call<A>,
        Inner: Call<A>,
    {
        send(&Outer {}.run(app));
        send(&Inner {}.call(app));
    }
    generic(&lab);
}

trait Mail: Sync {
    fn count(&self) -> u64;
}

struct Letters;

impl Mail for Letters {
    fn count(&self) -> u64 {
        3
    }
}

#[derive(Serialize, Deserialize)]
struct Fetch {}

impl Shape for Fetch {
    const SHAPE: TypeShape = TypeShape::Opaque;
}

impl Tool for Fetch {
    type Output = u64;
    const NAME: &'static str = "fetch";
}

impl Call<dyn Mail> for Fetch {
    async fn call(self, mail: &(dyn Mail + 'static)) -> Result<u64> {
        Ok(mail.count())
    }
}

#[test]
fn the_application_may_be_a_trait_object() {
    let letters = Letters;
    let app: &dyn Mail = &letters;
    let mut plan = plan("a");
    action(&mut plan.steps[0]).args = plan_runtime::plan::Template::Object(Vec::new());
    let run = Run::<dyn Mail, u64>::new(&plan, Ok(vec![]), app, |_, request, mail| {
        request.call::<Fetch, dyn Mail>(mail)
    });
    assert_eq!(Driven::new(run).ended().unwrap(), 3);
}
