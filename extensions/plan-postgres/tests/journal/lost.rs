//! Answers and requests that are lost between the journal and the server: a proxy between them drops one, and cuts its connection.

use crate::server::Server;
use crate::{append, claim, count};
use plan_postgres::{Postgres, PostgresOptions};
use plan_runtime::journal::spi::{End, Message, RunInfo};
use plan_runtime::journal::{Journal, JournalError};
use smol::block_on;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Answer,
    Request,
}

/// A proxy that can lose a message.
pub(crate) struct Proxy {
    port: u16,
    /// The kind of the message, and the number of messages before it.
    next: Arc<Mutex<Option<(Kind, usize)>>>,
    pub(crate) lost: Arc<AtomicUsize>,
}

impl Proxy {
    fn start(server: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let proxy = Self {
            port: listener.local_addr().unwrap().port(),
            next: Arc::default(),
            lost: Arc::default(),
        };
        let (next, lost) = (Arc::clone(&proxy.next), Arc::clone(&proxy.lost));
        // The thread waits for connections until the process ends.
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, server)) else {
                    continue;
                };
                let both = [
                    (&client, &server, Kind::Request),
                    (&server, &client, Kind::Answer),
                ];
                for (from, to, kind) in both {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let (next, lost) = (Arc::clone(&next), Arc::clone(&lost));
                    thread::spawn(move || copy(from, to, kind, &next, &lost));
                }
            }
        });
        proxy
    }

    /// Loses the next message of a kind.
    fn lose(&self, kind: Kind) {
        self.lose_after(kind, 0);
    }

    /// Loses a message of a kind after this many others.
    pub(crate) fn lose_after(&self, kind: Kind, others: usize) {
        *self.next.lock().unwrap() = Some((kind, others));
    }

    /// Loses no message.
    pub(crate) fn lose_none(&self) {
        *self.next.lock().unwrap() = None;
    }
}

fn is_next(next: &mut Option<(Kind, usize)>, kind: Kind) -> bool {
    match next {
        Some((of, 0)) if *of == kind => {
            *next = None;
            true
        }
        Some((of, others)) if *of == kind => {
            *others -= 1;
            false
        }
        _ => false,
    }
}

fn copy(
    mut from: TcpStream,
    mut to: TcpStream,
    kind: Kind,
    next: &Mutex<Option<(Kind, usize)>>,
    lost: &AtomicUsize,
) {
    let mut bytes = [0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        if is_next(&mut next.lock().unwrap(), kind) {
            lost.fetch_add(1, Ordering::SeqCst);
            break;
        }
        if to.write_all(&bytes[..length]).is_err() {
            break;
        }
    }
    for stream in [from, to] {
        let _ = stream.shutdown(Shutdown::Both);
    }
}

/// A journal behind a proxy. Its lease is long, so that the journal is quiet.
pub(crate) fn behind_proxy(server: &Server) -> (Proxy, Postgres) {
    let url = server.url();
    let port = server.port();
    let proxy = Proxy::start(port);
    let url = url.replace(&port.to_string(), &proxy.port.to_string());
    let options = PostgresOptions::new().lease(Duration::from_secs(600));
    let db = block_on(options.connect(&url)).unwrap();
    (proxy, db)
}

fn signal(path: &str) -> Message {
    Message::Signal {
        path: path.to_owned(),
        body: "1".to_owned(),
    }
}

#[test]
fn a_lost_message_is_not_noticed() {
    let Some(server) = Server::start() else {
        return;
    };
    let (proxy, db) = behind_proxy(&server);
    for (n, kind) in [Kind::Answer, Kind::Request, Kind::Answer, Kind::Request]
        .into_iter()
        .enumerate()
    {
        let id = format!("run {n}");
        proxy.lose(kind);
        let held = block_on(db.claim(&id)).unwrap().claim;
        proxy.lose(kind);
        block_on(db.describe(&held, &RunInfo::new("plan", "{}", "{}"))).unwrap();
        for record in 0..3 {
            proxy.lose(kind);
            block_on(append(&db, &held, record)).unwrap();
        }
        // A second write of a key is still an error, and does not affect other writes.
        proxy.lose(kind);
        let again = append(&db, &held, 1);
        let next = append(&db, &held, 3);
        block_on(again).unwrap_err();
        block_on(next).unwrap();
        assert_eq!(count(&db, &id), 4);

        proxy.lose(kind);
        block_on(db.send(&id, &signal("a"))).unwrap();
        proxy.lose(kind);
        let second = block_on(db.send(&id, &signal("a"))).unwrap_err();
        assert!(matches!(second, JournalError::Second { .. }), "{second}");
        proxy.lose(kind);
        block_on(db.send(&id, &Message::Cancel)).unwrap();
        proxy.lose(kind);
        assert_eq!(block_on(db.messages(&held, 0)).unwrap().len(), 2);
    }
    // Each of the messages is lost before the next, but for some answers of the server that come in two parts.
    let lost = proxy.lost.load(Ordering::SeqCst);
    assert!(lost >= 30, "{lost} messages were lost");
}

#[test]
fn a_lost_answer_to_the_last_writes_is_not_noticed() {
    let Some(server) = Server::start() else {
        return;
    };
    let (proxy, db) = behind_proxy(&server);
    for round in 0..crate::kills() * 10 {
        let id = format!("run {round}");
        let held = block_on(db.claim(&id)).unwrap().claim;
        block_on(db.describe(&held, &RunInfo::new("plan", "{}", "{}"))).unwrap();
        let mut writes: Vec<_> = (0..20).map(|n| append(&db, &held, n)).collect();
        writes.push(db.end(&held, End::Done("1".to_owned())));
        db.release(&held);
        thread::sleep(Duration::from_micros(fastrand::u64(..5_000)));
        proxy.lose(if round.is_multiple_of(3) {
            Kind::Request
        } else {
            Kind::Answer
        });
        for write in writes {
            block_on(write).unwrap();
        }
        let claimed = claim(&db, &id);
        assert_eq!(claimed.run.end, Some(End::Done("1".to_owned())));
        assert_eq!(count(&db, &id), 20);
    }
    println!("{} messages lost", proxy.lost.load(Ordering::SeqCst));
}
