//! Answers and requests that are lost between the journal and the server: a proxy between them drops one, and cuts its connection.

use crate::server::Server;
use crate::{append, claim, count};
use plan_postgres::{Postgres, PostgresOptions};
use plan_runtime::journal::spi::{End, Message, RunInfo};
use plan_runtime::journal::{Journal, JournalError};
use smol::block_on;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

const ANSWER: u8 = 1;
const REQUEST: u8 = 2;

/// A proxy that can lose the next message.
struct Proxy {
    port: u16,
    next: Arc<AtomicU8>,
    lost: Arc<AtomicUsize>,
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
                let both = [(&client, &server, REQUEST), (&server, &client, ANSWER)];
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
    fn lose(&self, kind: u8) {
        self.next.store(kind, Ordering::SeqCst);
    }
}

fn copy(mut from: TcpStream, mut to: TcpStream, kind: u8, next: &AtomicU8, lost: &AtomicUsize) {
    let mut bytes = [0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        let order = Ordering::SeqCst;
        if next.compare_exchange(kind, 0, order, order).is_ok() {
            lost.fetch_add(1, order);
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
fn behind_proxy(server: &Server) -> (Proxy, Postgres) {
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
    for (n, kind) in [ANSWER, REQUEST, ANSWER, REQUEST].into_iter().enumerate() {
        let id = format!("run {n}");
        proxy.lose(kind);
        let held = block_on(db.claim(&id)).unwrap().claim;
        proxy.lose(kind);
        block_on(db.describe(&held, &RunInfo::new("plan", "{}", "{}"))).unwrap();
        for record in 0..3 {
            proxy.lose(kind);
            block_on(append(&db, &held, record)).unwrap();
        }
        // A second write of a key stays an error, and harms no other write.
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
            REQUEST
        } else {
            ANSWER
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
