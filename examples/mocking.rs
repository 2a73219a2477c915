//! A plan on three applications: files on disk, a `Mock` whose closures answer, and a map in memory that a test can inspect.
//!
//! The tools are structs with `#[derive(Tool)]`. Two applications implement the tools, and the mock needs no implementation.

use plan_runtime::run::Mock;
use plan_runtime::{Call, Error, Result, Shape, Terminal, Tool, plan};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::{fs, process};

/// Reads a text file.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = String)]
struct ReadFile {
    name: String,
}

/// Writes a text file, and returns its size in bytes.
#[derive(Debug, PartialEq, Serialize, Deserialize, Shape, Tool)]
#[tool(output = usize)]
struct WriteFile {
    name: String,
    text: String,
}

plan! {
    /// Numbers the lines of a file, in another file.
    NumberLines(name: String) -> usize {
        step source = ReadFile { name };
        step numbered: String = source
            .lines()
            .enumerate()
            .map(|(index, line)| format!("{:>3}  {line}\n", index + 1))
            .collect();
        step written = WriteFile { name: format!("{name}.numbered"), text: numbered };
        written
    }
}

/// The real application.
struct Disk {
    folder: PathBuf,
}

impl Call<Disk> for ReadFile {
    async fn call(self, disk: &Disk) -> Result<String> {
        Ok(fs::read_to_string(disk.folder.join(self.name))?)
    }
}

impl Call<Disk> for WriteFile {
    async fn call(self, disk: &Disk) -> Result<usize> {
        fs::write(disk.folder.join(self.name), &self.text)?;
        Ok(self.text.len())
    }
}

/// A test application that stores files in memory.
#[derive(Default)]
struct Memory {
    files: Mutex<BTreeMap<String, String>>,
}

impl Call<Memory> for ReadFile {
    async fn call(self, memory: &Memory) -> Result<String> {
        let file = memory.files.lock().unwrap().get(&self.name).cloned();
        file.ok_or_else(|| Error::permanent(format!("no file `{}`", self.name)))
    }
}

impl Call<Memory> for WriteFile {
    async fn call(self, memory: &Memory) -> Result<usize> {
        let length = self.text.len();
        memory.files.lock().unwrap().insert(self.name, self.text);
        Ok(length)
    }
}

fn plan(name: &str) -> NumberLines {
    NumberLines { name: name.into() }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let poem = "Two roads diverged\nin a yellow wood\n";

    let terminal = Terminal::stdout();
    let mock = Mock::new()
        .on(|ReadFile { .. }| Ok("one\ntwo\n".into()))
        .on(|WriteFile { text, .. }| Ok(text.len()));
    let mocked = plan("poem").run(&mock).await?;
    println!("mock: {mocked} bytes, after {}", mock.order().join(" and "));
    let text = "  1  one\n  2  two\n".to_owned();
    let name = "poem.numbered".to_owned();
    assert_eq!(mock.calls::<WriteFile>(), [WriteFile { name, text }]);
    let mock = mock.on(|ReadFile { name }| Err(Error::permanent(format!("no file `{name}`"))));
    let error = plan("prose").run(&mock).await.unwrap_err();
    println!("{}", terminal.text(format!("mock: {error}")));
    let error = plan("prose").run(&Mock::new()).await.unwrap_err();
    println!("{}\n", terminal.text(format!("mock: {error:?}")));

    let memory = Memory::default();
    let files = BTreeMap::from([("poem".to_owned(), poem.to_owned())]);
    *memory.files.lock().unwrap() = files;
    let in_memory = plan("poem").run(&memory).await?;
    println!("memory: {in_memory} bytes");
    print!("{}", memory.files.lock().unwrap()["poem.numbered"]);
    let error = plan("prose").run(&memory).await.unwrap_err();
    println!("{}", terminal.text(format!("memory: {error}")));

    let folder = std::env::temp_dir().join(format!("plan-mocking-{}", process::id()));
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("poem"), poem)?;
    let disk = Disk { folder };
    let on_disk = plan("poem").run(&disk).await?;
    println!("\ndisk: {on_disk} bytes");
    print!("{}", fs::read_to_string(disk.folder.join("poem.numbered"))?);
    let error = plan("prose").run(&disk).await.unwrap_err();
    println!("{}", terminal.text(format!("disk: {error}")));
    fs::remove_dir_all(&disk.folder)?;

    assert_eq!(in_memory, on_disk);
    Ok(())
}
