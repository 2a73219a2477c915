//! A tool that waits.

use crate::run::CallContext;
use crate::{Error, Result, ResultExt};
use plan_macros::tool;

/// Waits for a time, such as `90s`, `5m` or `3d`: a tool of every application, which gives nothing.
///
/// The time is written as [`humantime`](https://docs.rs/humantime) reads it. In a run that is [durable](crate::Run::durable), it goes on while nobody runs it.
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
#[tool(read_only)]
#[allow(unreachable_pub, reason = "the tool is as visible as the function")]
pub async fn sleep(#[context] context: CallContext, time: String) -> Result<()> {
    let duration = humantime::parse_duration(&time).map_err(|error| {
        Error::msg(format!(
            "`{time}` is not a time, such as `90s` or `3d`: {error}"
        ))
    });
    context.sleep(duration.permanent()?).await;
    Ok(())
}
