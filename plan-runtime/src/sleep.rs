//! A tool that waits.

use crate::run::CallContext;
use crate::shape::{Field, FieldPlace, TypeShape};
use crate::{Call, Error, Result, ResultExt, Shape, Tool};
use serde::{Deserialize, Serialize};
use std::future::Future;

/// Waits for a duration, such as `90s`, `5m` or `3d`: a tool of every application, without an output.
///
/// [`humantime`](https://docs.rs/humantime) defines the format of the time. In a [durable](crate::run::Run::durable) run, the time passes even while
/// no process runs the run.
///
/// ```
/// use plan_runtime::run::ManualTimer;
/// use plan_runtime::{Result, Sleep, plan, tool};
/// use std::time::Duration;
///
/// /// Reminds somebody.
/// #[tool]
/// async fn remind(name: String) -> Result<String> {
///     Ok(format!("{name}?"))
/// }
///
/// plan! {
///     RemindLater(name: String) -> String {
///         step pause = Sleep { time: "3d" };
///         #[after(pause)]
///         step reminder = Remind { name };
///         reminder
///     }
/// }
///
/// let timer = ManualTimer::new();
/// let run = RemindLater { name: "Ada".into() }.run(&()).timer(timer.clone());
/// assert_eq!(smol::block_on(timer.skip_waits(run))?, "Ada?");
/// assert_eq!(timer.elapsed(), Duration::from_secs(3 * 24 * 60 * 60));
/// # Ok::<(), plan_runtime::RunError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sleep {
    /// The duration.
    pub time: String,
}

// Hand-written, since derived implementations would add this tool to rustc's messages about types that lack these traits.
#[diagnostic::do_not_recommend]
impl Shape for Sleep {
    const SHAPE: TypeShape = TypeShape::Struct(&[Field::new("time", FieldPlace::Key("time"))]);
}

#[diagnostic::do_not_recommend]
impl Tool for Sleep {
    type Output = ();
    const NAME: &'static str = "sleep";
    const DESCRIPTION: &'static str = "Waits for a time, such as `90s`, `5m` or `3d`.";
    const READ_ONLY: bool = true;
    const WAITS: bool = true;
}

#[diagnostic::do_not_recommend]
impl<App: ?Sized> Call<App> for Sleep {
    fn call(self, app: &App) -> impl Future<Output = Result<()>> + Send {
        self.call_in(app, CallContext::default())
    }

    // Not async itself: an application need not be `Sync`.
    fn call_in(self, _: &App, context: CallContext) -> impl Future<Output = Result<()>> + Send {
        wait(self.time, context)
    }
}

async fn wait(time: String, context: CallContext) -> Result<()> {
    let duration = humantime::parse_duration(&time).map_err(|error| {
        Error::msg(format!(
            "`{time}` is not a time, such as `90s` or `3d`: {error}"
        ))
    });
    context.sleep(duration.permanent()?).await;
    Ok(())
}
