//! The thread that reads, so that no poll waits for the disk.

use super::reply::{Reply, reply};
use rusqlite::Connection;
use std::io;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

type Job = Box<dyn FnOnce(&Connection) + Send>;

/// Reads of a database, one after the other. Without the thread, a read has no reply.
pub(super) struct Reader {
    queue: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    pub(super) fn start(database: Connection) -> io::Result<Self> {
        let (queue, jobs) = mpsc::channel::<Job>();
        let thread = thread::Builder::new().name("plan-reader".to_owned());
        let thread = thread.spawn(move || jobs.into_iter().for_each(|job| job(&database)))?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
        })
    }

    pub(super) fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> T + Send + 'static,
    ) -> Reply<T> {
        let (answer, reply) = reply();
        if let Some(queue) = &self.queue {
            let _ = queue.send(Box::new(move |database| answer.give(read(database))));
        }
        reply
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        drop(self.queue.take());
        // A waker that the thread woke may have dropped the last clone of the database.
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
    }
}
