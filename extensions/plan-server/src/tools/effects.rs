//! The effects of calls, in two files. A full file becomes the old file, and the server forgets the effects of the previous old file.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A line of a file: a call that had an effect, or that repeated an earlier call with its key.
#[derive(Serialize, Deserialize)]
pub(crate) struct Effect {
    /// The idempotency key of the call, which a repeated call keeps, or the key of an answer.
    pub(crate) key: String,
    /// The run and the path of the call. In files about questions and answers, this is the run alone.
    pub(crate) call: String,
    /// The tool, or the decision of an answer.
    pub(crate) tool: String,
    /// The output of the tool, or the answer.
    pub(crate) output: Value,
    /// `true` if an earlier call had the effect, so that this call had none.
    #[serde(default)]
    again: bool,
    /// The number of effects up to this line. Lines of earlier versions have no count.
    count: Option<u64>,
}

impl Effect {
    /// Returns the number of effects up to this line, with `before` effects in the lines before it. An earlier version wrote the count only into some outputs.
    fn count(&self, before: u64) -> u64 {
        let output = |name| self.output.get(name).and_then(Value::as_u64);
        let count = self.count.or(output("id")).or(output("number"));
        let read = before.saturating_add(u64::from(!self.again));
        count.unwrap_or_default().max(read)
    }
}

/// The lines of one file.
#[derive(Default)]
struct Lines {
    lines: Vec<Effect>,
    /// The index of the latest line of each key.
    by_key: HashMap<String, usize>,
    /// The bytes of the lines.
    bytes: u64,
}

impl Lines {
    /// Reads a file, which may be missing.
    fn read(path: &Path) -> io::Result<Self> {
        let mut this = Self::default();
        let mut lines = match File::open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(this),
            file => BufReader::new(file?),
        };
        let mut line = Vec::new();
        // The last line may have been cut off by the end of the process. Its call has no record, and is made again.
        while lines.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
            this.bytes += line.len() as u64;
            if let Ok(effect) = serde_json::from_slice(&line) {
                this.add(effect);
            }
            line.clear();
        }
        Ok(this)
    }

    fn add(&mut self, effect: Effect) {
        self.by_key.insert(effect.key.clone(), self.lines.len());
        self.lines.push(effect);
    }

    fn find(&self, key: &str) -> Option<&Value> {
        Some(&self.lines[*self.by_key.get(key)?].output)
    }
}

pub(crate) struct Effects {
    path: PathBuf,
    file: File,
    /// The bytes of a full file.
    most: u64,
    /// The number of effects so far.
    count: u64,
    /// The lines of the file, and the lines of the old file.
    new: Lines,
    old: Lines,
}

impl Effects {
    /// Reads the effects so far.
    pub(crate) fn open(path: &Path, most: u64) -> io::Result<Self> {
        let (old, new) = (Lines::read(&old(path))?, Lines::read(path)?);
        let lines = old.lines.iter().chain(&new.lines);
        Ok(Self {
            path: path.to_owned(),
            file: append(path)?,
            most,
            count: lines.fold(0, |count, line| line.count(count)),
            new,
            old,
        })
    }

    /// Returns the lines that had an effect, in order.
    pub(crate) fn made(&self) -> impl DoubleEndedIterator<Item = &Effect> {
        let lines = self.old.lines.iter().chain(&self.new.lines);
        lines.filter(|line| !line.again)
    }

    /// Returns the output in the line with this key.
    pub(crate) fn find(&self, key: &str) -> Option<&Value> {
        self.new.find(key).or_else(|| self.old.find(key))
    }

    /// Writes the effect of a call, unless one of the two files has a line with its key. `make` gets the number of the
    /// effect, counted from 1, and returns the output.
    pub(crate) fn have(
        &mut self,
        key: String,
        call: String,
        tool: &str,
        make: impl FnOnce(u64) -> serde_json::Result<Value>,
    ) -> io::Result<Value> {
        let before = self.find(&key).cloned();
        let again = before.is_some();
        let count = self.count.checked_add(u64::from(!again));
        let count = count.ok_or_else(|| {
            let is_new = self.new.lines.iter().any(|line| line.count(0) == u64::MAX);
            let path = if is_new { &self.path } else { &old(&self.path) };
            let path = path.display();
            io::Error::other(format!(
                "the file {path} contains the invalid number {}, so the server cannot store further effects; stop the server, and delete the line with this number; a repeated call of this line takes effect again",
                u64::MAX
            ))
        })?;
        let output = before.map_or_else(|| make(count), Ok)?;
        let effect = Effect {
            key,
            call,
            tool: tool.to_owned(),
            output: output.clone(),
            again,
            count: Some(count),
        };
        let mut line = serde_json::to_vec(&effect)?;
        line.push(b'\n');
        if self.new.bytes + line.len() as u64 > self.most {
            self.begin_file()?;
        }
        // An earlier write may have failed after a part of its line.
        self.file.set_len(self.new.bytes)?;
        self.file.write_all(&line)?;
        self.new.bytes += line.len() as u64;
        self.count = count;
        self.new.add(effect);
        Ok(output)
    }

    /// Begins a new file. The full file becomes the old file.
    fn begin_file(&mut self) -> io::Result<()> {
        match std::fs::rename(&self.path, old(&self.path)) {
            // An earlier call moved the full file, and could not open the new file.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            moved => moved?,
        }
        self.file = append(&self.path)?;
        self.old = std::mem::take(&mut self.new);
        Ok(())
    }
}

/// Returns the path of a full file after its rename.
fn old(path: &Path) -> PathBuf {
    path.with_extension("old.jsonl")
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::{Effects, old};
    use serde_json::{Value, json};
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::{Path, PathBuf};

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("plan-server-effects-{}-{name}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            fs::create_dir_all(&folder).unwrap();
            Self(folder)
        }

        fn path(&self) -> PathBuf {
            self.0.join("effects.jsonl")
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn have(effects: &mut Effects, key: &str, text: &str) -> u64 {
        let make = |number| Ok(json!({"made": number, "text": text}));
        let output = effects.have(key.to_owned(), "r s".into(), "slow", make);
        output.unwrap()["made"].as_u64().unwrap()
    }

    fn lines(path: &Path) -> usize {
        let text = fs::read_to_string(path).unwrap_or_default();
        text.lines().count()
    }

    /// The lines of both files: the key, the number of the effect, and whether an earlier line had the effect.
    #[derive(Default)]
    struct Model {
        old: Vec<(String, u64, bool)>,
        new: Vec<(String, u64, bool)>,
        count: u64,
        /// `true` after the full file was moved, and before the new file was opened.
        is_moved: bool,
        rotations: u32,
        again: u32,
    }

    impl Model {
        fn call(&mut self, effects: &mut Effects, path: &Path, key: String, text: &str) {
            let mut lines_before = self.old.iter().chain(&self.new);
            let known = lines_before.find(|line| line.0 == key).map(|line| line.1);
            let expected = known.unwrap_or(self.count + 1);
            assert_eq!(have(effects, &key, text), expected);
            self.count = self.count.max(expected);
            self.again += u32::from(known.is_some());
            let has_rotated = if self.is_moved {
                path.exists()
            } else {
                lines(path) == 1 && !self.new.is_empty()
            };
            if has_rotated {
                self.rotate();
            }
            self.new.push((key, expected, known.is_some()));
        }

        fn rotate(&mut self) {
            self.old = std::mem::take(&mut self.new);
            self.is_moved = false;
            self.rotations += 1;
        }

        fn check(&self, effects: &Effects) {
            let lines = self.old.iter().chain(&self.new);
            let made = lines.filter(|line| !line.2);
            let made: Vec<(&str, u64)> = made.map(|line| (&*line.0, line.1)).collect();
            let number = |output: &Value| output["made"].as_u64().unwrap();
            let effects = effects.made();
            let effects: Vec<(&str, u64)> = effects
                .map(|line| (&*line.key, number(&line.output)))
                .collect();
            assert_eq!(effects, made);
        }
    }

    /// The numbers of effects are unique, and a key has one effect while one of the two files contains the key.
    #[test]
    fn effects_are_those_of_a_model() {
        let (mut rotations, mut again) = (0, 0);
        for seed in 0..60 {
            let mut random = fastrand::Rng::with_seed(seed);
            let folder = Folder::new(&seed.to_string());
            let path = folder.path();
            let (most, keys) = (random.u64(400..2_000), random.u32(5..200));
            let mut effects = Effects::open(&path, most).unwrap();
            let mut model = Model::default();
            for _ in 0..random.usize(1..400) {
                match random.u8(0..40) {
                    // A write fails after a part of its line, or the process ends then.
                    0..2 if !model.is_moved => {
                        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
                        file.write_all(br#"{"key": "1", "call"#).unwrap();
                    }
                    2 if !model.is_moved && !model.new.is_empty() => {
                        fs::rename(&path, old(&path)).unwrap();
                        model.is_moved = true;
                    }
                    3..5 => {
                        drop(effects);
                        effects = Effects::open(&path, most).unwrap();
                        if model.is_moved {
                            model.rotate();
                        }
                        model.check(&effects);
                    }
                    _ => {
                        let key = random.u32(0..keys).to_string();
                        let text = "x".repeat(random.usize(0..100));
                        model.call(&mut effects, &path, key, &text);
                        assert!(fs::metadata(&path).map_or(0, |file| file.len()) <= most);
                    }
                }
            }
            model.check(&effects);
            rotations += model.rotations;
            again += model.again;
        }
        assert!(rotations > 500 && again > 1_000, "{rotations}, {again}");
    }

    /// A line with a forged count.
    #[test]
    fn no_effect_follows_the_largest_count() {
        let folder = Folder::new("forged");
        let path = folder.path();
        let make = |number| Ok(json!({"made": number, "text": ""}));
        let outputs = [
            ("count", json!({"made": 7, "text": ""})),
            ("id", json!({"made": 7, "text": "", "id": u64::MAX})),
        ];
        let files = [path.clone(), old(&path)];
        let cases = files
            .iter()
            .flat_map(|file| outputs.iter().map(move |it| (file, it)));
        for (file, (name, output)) in cases {
            let mut line = json!({"key": "a", "call": "r s", "tool": "slow", "output": output});
            if *name == "count" {
                line["count"] = u64::MAX.into();
            }
            let _ = fs::remove_file(&path);
            fs::write(file, format!("{line}\n")).unwrap();
            let mut effects = Effects::open(&path, 10_000).unwrap();
            let had = effects.have("b".to_owned(), "r s".into(), "slow", make);
            let error = had.unwrap_err().to_string();
            assert!(
                error.contains("contains the invalid number 18446744073709551615"),
                "{error}"
            );
            assert!(error.contains(&format!("{} ", file.display())), "{error}");
            // The earlier effect is not lost, and nothing was written.
            assert_eq!(have(&mut effects, "a", ""), 7);
            let lines = lines(&path) + lines(&old(&path));
            assert_eq!((effects.made().count(), lines), (1, 2));
        }
    }

    #[test]
    fn files_of_an_earlier_version_are_read() {
        let folder = Folder::new("earlier");
        let path = folder.path();
        let line = |key: &str, tool: &str, output: Value, again: bool| json!({"key": key, "call": "r s", "tool": tool, "output": output, "again": again});
        let booked = json!({"id": 41, "title": "offsite", "day": "2026-11-27", "with": []});
        fs::write(
            old(&path),
            format!("{}\n", line("a", "event_book", booked.clone(), false)),
        )
        .unwrap();
        let new = [
            line("b", "slow", json!({"made": 42, "text": ""}), false),
            line("a", "event_book", booked, true),
        ];
        fs::write(&path, format!("{}\n{}\n", new[0], new[1])).unwrap();
        let mut effects = Effects::open(&path, 10_000).unwrap();
        assert_eq!(have(&mut effects, "b", ""), 42);
        assert_eq!(have(&mut effects, "c", ""), 43);
        drop(effects);
        let mut effects = Effects::open(&path, 10_000).unwrap();
        assert_eq!(have(&mut effects, "d", ""), 44);
    }
}
