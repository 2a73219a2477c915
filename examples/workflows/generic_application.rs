//! A plan that runs on any application with a capability: on a real office, and on a test double.

mod support;

use plan_runtime::{Call, Error, Result, Shape, Tool, plan};
use serde::{Deserialize, Serialize};
use std::future::Future;
use std::sync::Mutex;
use support::{TokioTimer, World, show};

/// The capabilities of an application that a welcome needs.
trait Office: Sync {
    fn find_name(&self, id: u32) -> impl Future<Output = Result<String>> + Send;
    fn print_badge(&self, name: String) -> impl Future<Output = Result<u32>> + Send;
    fn send(&self, to: String, text: String) -> impl Future<Output = Result<()>> + Send;
}

/// Finds the name of a new colleague.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = String, read_only)]
struct FindName {
    id: u32,
}

impl<App: Office> Call<App> for FindName {
    async fn call(self, app: &App) -> Result<String> {
        app.find_name(self.id).await
    }
}

/// Prints a badge, and returns its number.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u32)]
struct PrintBadge {
    name: String,
}

impl<App: Office> Call<App> for PrintBadge {
    async fn call(self, app: &App) -> Result<u32> {
        app.print_badge(self.name).await
    }
}

/// Sends a message.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = ())]
struct SendMessage {
    to: String,
    text: String,
}

impl<App: Office> Call<App> for SendMessage {
    async fn call(self, app: &App) -> Result<()> {
        app.send(self.to, self.text).await
    }
}

plan! {
    /// Welcomes a new colleague: a badge, and a message to the team, which is not worth a failure.
    Welcome(id: u32, team: String) -> u32 {
        step name = FindName { id };
        #[retry(3)]
        step badge = PrintBadge { name };
        #[optional]
        step told = SendMessage { to: team, text: format!("{name} is here") };
        badge
    }
}

mod by_hand {
    use super::support::by_hand::attempts;
    use super::*;
    use backon::Retryable;

    pub(crate) async fn welcome<App: Office>(app: &App, id: u32, team: String) -> Result<u32> {
        let name = app.find_name(id).await?;
        let badge = || app.print_badge(name.clone());
        let badge = badge.retry(attempts(3)).when(Error::is_transient);
        let told = app.send(team, format!("{name} is here"));
        let (badge, _) = tokio::join!(badge, told);
        badge
    }
}

/// The office at work.
impl Office for World {
    async fn find_name(&self, id: u32) -> Result<String> {
        self.call(format!("find {id}")).await?;
        Ok("Ada".into())
    }

    async fn print_badge(&self, name: String) -> Result<u32> {
        self.call(format!("print a badge for {name}")).await?;
        Ok(11)
    }

    async fn send(&self, to: String, text: String) -> Result<()> {
        self.call(format!("to {to}: {text}")).await
    }
}

/// The test double: it takes no time, and records sent mails.
#[derive(Default)]
struct Double {
    sent: Mutex<Vec<String>>,
}

impl Office for Double {
    async fn find_name(&self, id: u32) -> Result<String> {
        match id {
            0 => Err(Error::permanent("nobody has this number")),
            _ => Ok(format!("name {id}")),
        }
    }

    async fn print_badge(&self, name: String) -> Result<u32> {
        Ok(name.len() as u32)
    }

    async fn send(&self, to: String, text: String) -> Result<()> {
        let mut sent = self.sent.lock().expect("nothing panics that has the lock");
        sent.push(format!("to {to}: {text}"));
        Ok(())
    }
}

/// Generic code can run a plan as well.
async fn welcome<App: Office>(app: &App, id: u32) -> Result<u32> {
    let team = "compilers".into();
    Ok(Welcome { id, team }.run(app).timer(TokioTimer).await?)
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    println!("{}", Welcome::PLAN);
    let plan = |id| Welcome {
        id,
        team: "compilers".into(),
    };
    let world = World::default().breaks("to", "the network is down");
    let run = plan(1).run(&world).timer(TokioTimer).with_report().await;
    let by_hand = by_hand::welcome(&world, 1, "compilers".into()).await;
    show("the office, without a network", run, by_hand);

    let double = Double::default();
    let run = plan(0).run(&double).timer(TokioTimer).with_report().await;
    let by_hand = by_hand::welcome(&double, 0, "compilers".into()).await;
    show("the double, and a number that nobody has", run, by_hand);
    println!("\nin generic code: {:?}", welcome(&double, 7).await);
}

#[cfg(test)]
mod tests {
    use super::support::{Done, both};
    use super::*;

    async fn outcome(world: impl Fn() -> World) -> Done<u32> {
        both(
            world,
            async |world| welcome(world, 1).await,
            async |world| by_hand::welcome(world, 1, "compilers".into()).await,
        )
        .await
    }

    #[tokio::test(start_paused = true)]
    async fn badge_and_message_are_independent() {
        let done = outcome(World::default).await;
        assert_eq!(done.output, Ok(11));
        assert_eq!((done.most_open, done.took.as_secs()), (2, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_message_may_fail() {
        let done = outcome(|| World::default().breaks("to", "the network is down")).await;
        assert_eq!(done.output, Ok(11));
        let done = outcome(|| World::default().busy("print", 2)).await;
        assert_eq!(done.output, Ok(11));
        let done = outcome(|| World::default().breaks("print", "no paper")).await;
        assert_eq!(done.output, Err("no paper".into()));
    }

    #[tokio::test(start_paused = true)]
    async fn both_versions_run_on_the_double() {
        let (plan, by_hand) = (Double::default(), Double::default());
        assert_eq!(welcome(&plan, 7).await.unwrap(), 6);
        assert_eq!(
            by_hand::welcome(&by_hand, 7, "compilers".into())
                .await
                .unwrap(),
            6
        );
        let sent = |double: Double| double.sent.into_inner().unwrap();
        assert_eq!(sent(plan), ["to compilers: name 7 is here"]);
        assert_eq!(sent(by_hand), ["to compilers: name 7 is here"]);
    }
}
