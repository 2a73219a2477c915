//! Tools to try plans with, which need no network: an office with mail, contacts and a calendar, a carrier with facilities and shipments, and two that misbehave.

mod carrier;
mod mail;
mod odd;
mod people;

use crate::limits;
use plan_runtime::dynamic::Toolbox;
use plan_runtime::run::{CallContext, Throttle};
use plan_runtime::{Error, Result, Sleep};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, Write};
use std::path::{Path, PathBuf};
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
    /// The run of the call, and the place of the call in the run.
    call: String,
    tool: String,
    /// The output of the tool.
    output: Value,
    /// `true` if an earlier call had the effect, so that this call had none.
    #[serde(default)]
    again: bool,
}

/// The state that the tools share. Each effect is a line of a file, so that the effect outlives the process. One call has one effect.
pub(crate) struct Office {
    effects: Mutex<Effects>,
    running: AtomicUsize,
}

struct Effects {
    path: PathBuf,
    file: File,
    /// The bytes of the file.
    bytes: u64,
    /// The number of effects so far.
    count: usize,
    /// The effects in the file, and those in the old file.
    new: Made,
    old: Made,
}

/// The effects in order (bookings, cancellations and moves), and the index of the effect of each key.
#[derive(Default)]
struct Made {
    by_key: HashMap<String, usize>,
    made: Vec<(String, Value)>,
}

impl Made {
    fn add(&mut self, key: String, tool: String, output: Value) {
        self.by_key.insert(key, self.made.len());
        self.made.push((tool, output));
    }

    fn find(&self, key: &str) -> Option<&Value> {
        Some(&self.made[*self.by_key.get(key)?].1)
    }
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
        let old_path = old(path);
        let old = if old_path.exists() {
            read(&old_path)?.0
        } else {
            Made::default()
        };
        let (new, file, bytes) = read(path)?;
        let effects = Effects {
            path: path.to_owned(),
            file,
            bytes,
            count: old.made.len() + new.made.len(),
            new,
            old,
        };
        Ok(Self {
            effects: Mutex::new(effects),
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

    /// Returns the number of calls that run.
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
        let before = effects.new.find(&key).or_else(|| effects.old.find(&key));
        let before = before.cloned();
        let again = before.is_some();
        let output = match before {
            Some(output) => output,
            None => serde_json::to_value(make(effects.count))?,
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
        let failed = |error| Error::msg(format!("the office cannot write: {error}"));
        if effects.bytes + line.len() as u64 > limits::EFFECTS {
            effects.begin_file().map_err(failed)?;
        }
        effects.file.write_all(&line).map_err(failed)?;
        effects.bytes += line.len() as u64;
        if !again {
            effects.count += 1;
            effects.new.add(key, effect.tool, output.clone());
        }
        Ok(serde_json::from_value(output)?)
    }

    /// Returns the outputs of the latest calls of a tool, in order.
    fn outputs<T: DeserializeOwned>(&self, tool: &str) -> Vec<T> {
        let effects = self.effects();
        let made = effects.old.made.iter().chain(&effects.new.made);
        let of_tool = made.rev().filter(|(made, _)| made == tool);
        let latest = of_tool.take(LATEST);
        let mut outputs: Vec<T> = latest
            .filter_map(|(_, output)| T::deserialize(output).ok())
            .collect();
        outputs.reverse();
        outputs
    }
}

/// The most outputs of one tool that other tools see.
const LATEST: usize = 1_000;

/// The file that a full one becomes.
fn old(path: &Path) -> PathBuf {
    path.with_extension("old.jsonl")
}

impl Effects {
    /// Begins a new file. The full file becomes the old file. The effects of the previous old file are forgotten, since repeated calls are newer.
    fn begin_file(&mut self) -> std::io::Result<()> {
        std::fs::rename(&self.path, old(&self.path))?;
        let mut options = OpenOptions::new();
        self.file = options.create(true).append(true).open(&self.path)?;
        self.bytes = 0;
        self.old = std::mem::take(&mut self.new);
        Ok(())
    }
}

/// Reads a file of effects, and opens it for more. Its length is that of its whole lines.
fn read(path: &Path) -> std::io::Result<(Made, File, u64)> {
    let mut options = OpenOptions::new();
    let mut file = options.create(true).read(true).append(true).open(path)?;
    let mut made = Made::default();
    let mut lines = BufReader::new(&file);
    let (mut line, mut whole) = (Vec::new(), 0);
    while lines.read_until(b'\n', &mut line)? > 0 {
        // The last line may have been cut off by the end of the process. Its call has no record, and is made again.
        if !line.ends_with(b"\n") {
            break;
        }
        whole += line.len() as u64;
        if let Ok(effect) = serde_json::from_slice::<Effect>(&line)
            && !effect.again
        {
            made.add(effect.key, effect.tool, effect.output);
        }
        line.clear();
    }
    drop(lines);
    if line.is_empty() {
        file.seek(std::io::SeekFrom::End(0))?;
    } else {
        file.set_len(whole)?;
    }
    Ok((made, file, whole))
}
