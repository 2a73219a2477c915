//! The thread of a journal. It owns all connections, so the journal works with any executor of its caller.

use super::asks::{Ask, Asks};
use super::failure::Failure;
use super::journal::{Postgres, gone};
use super::line::{Line, Session};
use super::listener;
use super::owned::Owned;
use super::pool::Pool;
use super::schema;
use super::settings::Settings;
use super::sql::{Sql, quoted};
use super::watching::Watching;
use super::writer::{Job, Writer};
use plan_runtime::journal::JournalError;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::runtime;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{LocalSet, spawn_local};

/// The statements at the start of a session. An acknowledged record must be durable, even if the database has another
/// default.
pub(crate) const SETUP: &str = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local');
SET default_transaction_isolation = 'read committed'";

/// The server releases the locks of a connection that was lost inside a transaction.
const WRITER: &str = "SET idle_in_transaction_session_timeout = '10s'";

/// A question about a locked run fails early and is repeated, so that the other questions do not wait behind it.
const ASKS: &str = "SET lock_timeout = '1s'";

const CONNECT: &str = "cannot connect";

/// Starts the thread, and returns its journal after the thread has connected.
pub(crate) async fn start(settings: Settings) -> Result<Postgres, JournalError> {
    let place = settings.place.clone();
    let (jobs, job_queue) = mpsc::unbounded_channel();
    let (asks, ask_queue) = mpsc::unbounded_channel();
    let watching = Arc::new(Watching::default());
    let (reply, connected) = oneshot::channel();
    let channels = Channels {
        jobs: jobs.clone(),
        job_queue,
        ask_queue,
        watching: Arc::clone(&watching),
    };
    let failed = |error: std::io::Error| {
        JournalError::from(Failure::new(
            &place,
            "cannot start a thread",
            error.to_string(),
        ))
    };
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(failed)?;
    let thread = thread::Builder::new().name("plan-postgres".to_owned());
    let started = thread.spawn(move || {
        let local = LocalSet::new();
        local.block_on(&runtime, work(settings, channels, reply));
    });
    let thread = started.map_err(failed)?;
    // If the caller drops this future earlier, the thread ends.
    match connected.await {
        Ok(Ok(())) => Ok(Postgres::new(place, jobs, asks, watching, thread)),
        Ok(Err(failure)) => Err(failure.into()),
        Err(_) => Err(gone(&place)),
    }
}

struct Channels {
    jobs: mpsc::UnboundedSender<Job>,
    job_queue: mpsc::UnboundedReceiver<Job>,
    ask_queue: mpsc::UnboundedReceiver<Ask>,
    watching: Arc<Watching>,
}

async fn work(
    settings: Settings,
    channels: Channels,
    connected: oneshot::Sender<Result<(), Failure>>,
) {
    let Channels {
        jobs,
        job_queue,
        mut ask_queue,
        watching,
    } = channels;
    let settings = Rc::new(settings);
    let begun = begin(&settings, &watching).await;
    let Begun {
        owner,
        writer,
        asking,
        listening,
        pool,
    } = match begun {
        Ok(begun) => begun,
        Err(failure) => {
            let _ = connected.send(Err(failure));
            return;
        }
    };
    let owned = Rc::new(RefCell::new(Owned::default()));
    let asks = Rc::new(Asks {
        line: asking,
        owner: Arc::clone(&owner),
        pool,
    });
    let listening = Rc::new(listening);
    spawn_local(listener::renew(Rc::clone(&listening), Arc::clone(&owner)));
    spawn_local(listener::abandon(Rc::clone(&asks), Rc::clone(&owned)));
    spawn_local(listener::poll(listening, owner, watching));
    let answering = Rc::clone(&asks);
    spawn_local(async move {
        while let Some(ask) = ask_queue.recv().await {
            spawn_local(ask(Rc::clone(&answering)));
        }
    });
    if connected.send(Ok(())).is_err() {
        let _ = jobs.send(Job::Close);
    }
    let writer = Writer {
        line: writer,
        asks,
        owned,
        jobs,
        parked: HashMap::new(),
    };
    writer.run(job_queue).await;
}

struct Begun {
    owner: Arc<str>,
    writer: Line,
    asking: Line,
    listening: Line,
    pool: Pool,
}

/// Creates the tables, draws a name for the owner, and takes the owner's lease.
async fn begin(settings: &Rc<Settings>, watching: &Arc<Watching>) -> Result<Begun, Failure> {
    let place = &settings.place;
    let refused = |error: tokio_postgres::Error| Failure::from_error(place, CONNECT, &error);
    let mut session = Session::open(settings, "plan-postgres", None)
        .await
        .map_err(refused)?;
    schema::migrate(settings, &mut session).await?;
    // Two owners with equal names would write to each other's runs, so the server draws random names.
    let drawn = session.query("SELECT gen_random_uuid()::text", &[]).await;
    let drawn = drawn.map_err(refused)?;
    let owner = drawn.first().map(|row| row.try_get::<_, String>(0));
    let Some(owner) = owner.transpose().map_err(refused)? else {
        return Err(Failure::new(place, CONNECT, "no name for the owner"));
    };
    drop(session);
    let sql = Rc::new(Sql::new(&settings.schema));
    let line = |role: &str, setup: &str| {
        let name = format!("plan-postgres {role} {owner}");
        Line::new(settings, &sql, name, format!("{SETUP}; {setup}"))
    };
    // After a lost connection, the new session of a line ends the old session, whose statements may still run.
    let end_old = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid() AND usename = current_user";
    let listen = format!("LISTEN {}", quoted(&sql.channel));
    // An attempt on a dead connection must end before the lease does.
    let third = settings.lease / 3;
    let patience = third.max(Duration::from_secs(1)).min(settings.patience);
    let name: Arc<str> = owner.clone().into();
    let begun = Begun {
        writer: line("writer", &format!("{WRITER}; {end_old}")),
        asking: line("asks", &format!("{ASKS}; {end_old}")),
        listening: line("listener", &listen)
            .waking(Arc::clone(watching))
            .within(patience),
        pool: Pool::new(settings, &name, SETUP),
        owner: name,
    };
    let lease =
        async |session: &Session| listener::renew_once(session, &begun.listening, &owner).await;
    begun.listening.run("cannot take a lease", lease).await?;
    Ok(begun)
}
