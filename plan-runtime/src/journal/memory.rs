//! A journal that lives as long as the process.

use super::{Claim, Claimed, End, Found, Journal, JournalError, Message, RunInfo, Written};
use std::collections::{BTreeMap, HashMap};
use std::future::{poll_fn, ready};
use std::pin::Pin;
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
    run: Option<RunInfo>,
    began: SystemTime,
    end: Option<End>,
    records: BTreeMap<String, Found>,
    count: u64,
    messages: Vec<(u64, Message)>,
    watching: Vec<Waker>,
}

impl Kept {
    fn new() -> Self {
        Self {
            epoch: 0,
            is_owned: false,
            run: None,
            began: SystemTime::now(),
            end: None,
            records: BTreeMap::new(),
            count: 0,
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

impl Journal for Memory {
    fn claim(&self, id: &str) -> Result<Claimed, JournalError> {
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
        let epoch = kept.epoch;
        let claimed = Claimed::new(Claim { id, epoch });
        Ok(match &kept.run {
            None => claimed,
            Some(run) => claimed.existing(run.clone(), kept.began, kept.end.clone()),
        })
    }

    fn look(&self, id: &str) -> Result<Option<RunInfo>, JournalError> {
        Ok(self.runs().get(id).and_then(|kept| kept.run.clone()))
    }

    fn describe(&self, claim: &Claim, run: &RunInfo) -> Result<(), JournalError> {
        self.with(claim, |kept| {
            kept.run = Some(run.clone());
            Ok(())
        })
    }

    fn find(&self, claim: &Claim, key: &str) -> Result<Option<Found>, JournalError> {
        self.with(claim, |kept| Ok(kept.records.get(key).cloned()))
    }

    fn next_key(&self, claim: &Claim, from: &str) -> Result<Option<String>, JournalError> {
        self.with(claim, |kept| {
            let mut rest = kept.records.range(from.to_owned()..);
            Ok(rest.next().map(|(key, _)| key.clone()))
        })
    }

    fn record(&self, claim: &Claim, key: String, body: String) -> Written {
        let written = self.with(claim, |kept| {
            if kept.records.contains_key(&key) {
                let error = format!("`{key}` is recorded already");
                return Err(JournalError::storage(error));
            }
            kept.count += 1;
            let number = kept.count;
            kept.records.insert(key, Found { number, body });
            Ok(())
        });
        Box::pin(ready(written))
    }

    fn end(&self, claim: &Claim, end: End) -> Written {
        Box::pin(ready(self.with(claim, |kept| {
            kept.end = Some(end);
            Ok(())
        })))
    }

    fn release(&self, claim: &Claim) {
        // Nothing if somebody else has it.
        let released = self.with(claim, |kept| {
            kept.is_owned = false;
            Ok(std::mem::take(&mut kept.watching))
        });
        drop(released);
    }

    fn send(&self, id: &str, message: &Message) -> Result<(), JournalError> {
        let mut runs = self.runs();
        let Some(kept) = runs.get_mut(id).filter(|kept| kept.run.is_some()) else {
            return Err(JournalError::Unknown { id: id.to_owned() });
        };
        if let Message::Signal { path, .. } = message
            && kept.messages.iter().any(
                |(_, sent)| matches!(sent, Message::Signal { path: other, .. } if other == path),
            )
        {
            return Err(JournalError::Second { path: path.clone() });
        }
        let number = kept.messages.len() as u64 + 1;
        kept.messages.push((number, message.clone()));
        let watching = std::mem::take(&mut kept.watching);
        drop(runs);
        watching.into_iter().for_each(Waker::wake);
        Ok(())
    }

    fn messages(&self, claim: &Claim, after: u64) -> Result<Vec<(u64, Message)>, JournalError> {
        self.with(claim, |kept| {
            let new = kept.messages.iter().filter(|(number, _)| *number > after);
            Ok(new.cloned().collect())
        })
    }

    fn watch(&self, claim: &Claim, after: u64) -> Pin<Box<dyn Future<Output = ()> + Send>> {
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
            // Whoever has lost the run finds out when it asks for the messages.
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
