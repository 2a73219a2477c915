//! A journal that lives as long as the process.

use super::spi::{
    Answer, Claim, Claimed, End, Message, Notified, Record, RunInfo, StoredRun, Written,
};
use super::{Journal, JournalError};
use std::collections::{HashMap, HashSet};
use std::future::{poll_fn, ready};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::SystemTime;

/// A journal that keeps its records as long as the process lives: for tests, and for runs that are only to survive errors.
///
/// Its clones share the records.
#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<HashMap<Arc<str>, Kept>>>);

/// All that is kept of a run.
struct Kept {
    epoch: u64,
    is_owned: bool,
    run: StoredRun,
    records: Vec<Record>,
    keys: HashSet<String>,
    messages: Vec<(u64, Message)>,
    watching: Vec<Waker>,
}

impl Kept {
    fn new() -> Self {
        Self {
            epoch: 0,
            is_owned: false,
            run: StoredRun::new(SystemTime::now()),
            records: Vec::new(),
            keys: HashSet::new(),
            messages: Vec::new(),
            watching: Vec::new(),
        }
    }
}

type Runs = HashMap<Arc<str>, Kept>;

impl Memory {
    /// An empty journal.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(
        &self,
        claim: &Claim,
        act: impl FnOnce(&mut Kept) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        match self.runs().get_mut(&claim.id) {
            Some(kept) if kept.epoch == claim.epoch => act(kept),
            _ => Err(JournalError::Lost {
                id: claim.id.to_string(),
            }),
        }
    }
}

/// The number of records of a page.
const PAGE: usize = 256;

impl Journal for Memory {
    fn claim<'a>(&'a self, id: &'a str) -> Answer<'a, Claimed> {
        Box::pin(async move {
            let mut runs = self.runs();
            let id: Arc<str> = id.into();
            let kept = runs.entry(Arc::clone(&id)).or_insert_with(Kept::new);
            if kept.is_owned {
                return Err(JournalError::Owned {
                    id: id.to_string(),
                    owner: "this process".to_owned(),
                });
            }
            kept.is_owned = true;
            kept.epoch += 1;
            Ok(Claimed::new(Claim::new(id, kept.epoch), kept.run.clone()))
        })
    }

    fn look<'a>(&'a self, id: &'a str) -> Answer<'a, Option<StoredRun>> {
        Box::pin(async move {
            let runs = self.runs();
            let kept = runs.get(id).filter(|kept| kept.run.info.is_some());
            Ok(kept.map(|kept| kept.run.clone()))
        })
    }

    fn describe<'a>(&'a self, claim: &'a Claim, run: &'a RunInfo) -> Answer<'a, ()> {
        Box::pin(async move {
            self.with(claim, |kept| {
                kept.run.info = Some(run.clone());
                Ok(())
            })
        })
    }

    fn read<'a>(&'a self, id: &'a str, after: u64) -> Answer<'a, Vec<Record>> {
        Box::pin(async move {
            let runs = self.runs();
            let records = runs.get(id).map_or(&[][..], |kept| &kept.records);
            let after = usize::try_from(after).unwrap_or(usize::MAX);
            let page = records.iter().skip(after).take(PAGE);
            Ok(page.cloned().collect())
        })
    }

    fn append(&self, claim: &Claim, key: String, body: String) -> Written {
        let written = self.with(claim, |kept| {
            if !kept.keys.insert(key.clone()) {
                let error = format!("`{key}` is recorded already");
                return Err(JournalError::storage(error));
            }
            let number = kept.records.len() as u64 + 1;
            kept.records.push(Record::new(number, key, body));
            Ok(())
        });
        Box::pin(ready(written))
    }

    fn end(&self, claim: &Claim, end: End) -> Written {
        Box::pin(ready(self.with(claim, |kept| {
            kept.run.end = Some(end);
            Ok(())
        })))
    }

    fn release(&self, claim: &Claim) {
        // Another owner may have the run.
        let released = self.with(claim, |kept| {
            kept.is_owned = false;
            Ok(std::mem::take(&mut kept.watching))
        });
        drop(released);
    }

    fn send<'a>(&'a self, id: &'a str, message: &'a Message) -> Answer<'a, ()> {
        Box::pin(async move {
            let mut runs = self.runs();
            let kept = runs.get_mut(id).filter(|kept| kept.run.info.is_some());
            let Some(kept) = kept else {
                return Err(JournalError::Unknown { id: id.to_owned() });
            };
            if let Message::Signal { path, .. } = message
                && kept.messages.iter().any(|(_, sent)| {
                    matches!(sent, Message::Signal { path: other, .. } if other == path)
                })
            {
                return Err(JournalError::Second { path: path.clone() });
            }
            let number = kept.messages.len() as u64 + 1;
            kept.messages.push((number, message.clone()));
            let watching = std::mem::take(&mut kept.watching);
            drop(runs);
            watching.into_iter().for_each(Waker::wake);
            Ok(())
        })
    }

    fn messages<'a>(&'a self, claim: &'a Claim, after: u64) -> Answer<'a, Vec<(u64, Message)>> {
        Box::pin(async move {
            self.with(claim, |kept| {
                let new = kept.messages.iter().filter(|(number, _)| *number > after);
                Ok(new.cloned().collect())
            })
        })
    }

    fn watch(&self, claim: &Claim, after: u64) -> Notified {
        let (memory, claim) = (self.clone(), claim.clone());
        Box::pin(poll_fn(move |cx| {
            let has_new = memory.with(&claim, |kept| {
                let has_new = kept.messages.iter().any(|(number, _)| *number > after);
                let is_known = kept.watching.iter().any(|it| it.will_wake(cx.waker()));
                if !has_new && !is_known {
                    kept.watching.push(cx.waker().clone());
                }
                Ok(has_new)
            });
            // An owner that has lost the run finds out when it asks for the messages.
            if has_new.unwrap_or(true) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }))
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}
