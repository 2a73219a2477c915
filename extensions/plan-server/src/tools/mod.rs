//! Tools to try plans with, which need no network: an office with mail, contacts and a calendar, a carrier with facilities and shipments, and two that misbehave.

mod carrier;
mod mail;
mod odd;
mod people;

use plan_runtime::dynamic::Toolbox;
use plan_runtime::run::{CallContext, Throttle};
use plan_runtime::{Error, Result, Sleep};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn toolbox(throttle: Throttle) -> Toolbox<Office> {
    Toolbox::new()
        .with_schema::<mail::ListEmails>()
        .with_schema::<mail::ReadEmail>()
        .with_schema::<mail::SendEmail>()
        .with_schema::<people::FindContacts>()
        .with_schema::<people::ListEvents>()
        .with_schema::<people::BookEvent>()
        .with_schema::<people::CancelEvent>()
        .with_schema::<carrier::FacilitiesList>()
        .with_schema::<carrier::ShipmentsList>()
        .with_schema::<carrier::MoveShipment>()
        .with_schema::<odd::Slow>()
        .with_schema::<odd::Flaky>()
        .with::<Sleep>()
        .with::<mail::ReplyToLatest>()
        .throttle(throttle)
}

/// An effect of a call, as it is written down.
#[derive(Serialize, Deserialize)]
struct Effect {
    /// The key of the call, which is the same whenever it is made.
    key: String,
    /// Where in which run the call is.
    call: String,
    tool: String,
    /// What the tool gave.
    output: Value,
    /// Whether it was made before, so that nothing happened.
    #[serde(default)]
    again: bool,
}

/// What the tools share. Each effect is a line of a file, so that it outlives the process, and one call has one effect.
pub(crate) struct Office {
    effects: Mutex<Effects>,
    running: AtomicUsize,
}

struct Effects {
    file: File,
    by_key: HashMap<String, Value>,
    /// What was booked, cancelled and moved, in order.
    made: Vec<(String, Value)>,
}

/// A call that is being made.
pub(crate) struct Running<'o>(&'o AtomicUsize);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Office {
    /// Reads what has happened so far.
    pub(crate) fn open(path: &Path) -> std::io::Result<Self> {
        let mut options = OpenOptions::new();
        let mut file = options.create(true).read(true).append(true).open(path)?;
        let (mut by_key, mut made) = (HashMap::new(), Vec::new());
        let mut lines = BufReader::new(&file);
        let (mut line, mut whole) = (Vec::new(), 0);
        while lines.read_until(b'\n', &mut line)? > 0 {
            // The last line may have been cut off by the end of the process. Its call has no record, and is made again.
            if let (true, Ok(effect)) = (
                line.ends_with(b"\n"),
                serde_json::from_slice::<Effect>(&line),
            ) {
                if !effect.again {
                    made.push((effect.tool, effect.output.clone()));
                    by_key.insert(effect.key, effect.output);
                }
                whole += line.len() as u64;
            } else if !line.ends_with(b"\n") {
                break;
            }
            line.clear();
        }
        drop(lines);
        if line.is_empty() {
            file.seek(std::io::SeekFrom::End(0))?;
        } else {
            file.set_len(whole)?;
        }
        Ok(Self {
            effects: Mutex::new(Effects { file, by_key, made }),
            running: AtomicUsize::new(0),
        })
    }

    fn effects(&self) -> MutexGuard<'_, Effects> {
        self.effects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Each call to a tool begins so, and ends when this is dropped.
    fn enter(&self) -> Running<'_> {
        self.running.fetch_add(1, Ordering::AcqRel);
        Running(&self.running)
    }

    /// How many calls run.
    pub(crate) fn running(&self) -> usize {
        self.running.load(Ordering::Acquire)
    }

    /// Has the effect of a call, unless this call has had it. `make` gets the number of effects before.
    fn effect<T: Serialize + DeserializeOwned>(
        &self,
        context: &CallContext,
        tool: &str,
        make: impl FnOnce(usize) -> T,
    ) -> Result<T> {
        let key = context.idempotency_key();
        let mut effects = self.effects();
        let before = effects.by_key.get(&key).cloned();
        let again = before.is_some();
        let output = match before {
            Some(output) => output,
            None => serde_json::to_value(make(effects.made.len()))?,
        };
        let effect = Effect {
            key: key.clone(),
            call: format!("{} {context}", context.run_id()),
            tool: tool.to_owned(),
            output: output.clone(),
            again,
        };
        let mut line = serde_json::to_vec(&effect)?;
        line.push(b'\n');
        effects
            .file
            .write_all(&line)
            .map_err(|error| Error::msg(format!("the office cannot write: {error}")))?;
        if !again {
            effects.made.push((effect.tool, output.clone()));
            effects.by_key.insert(key, output.clone());
        }
        Ok(serde_json::from_value(output)?)
    }

    /// What the calls of a tool gave so far.
    fn outputs<T: DeserializeOwned>(&self, tool: &str) -> Vec<T> {
        let effects = self.effects();
        let of_tool = effects.made.iter().filter(|(made, _)| made == tool);
        of_tool
            .filter_map(|(_, output)| T::deserialize(output).ok())
            .collect()
    }
}
