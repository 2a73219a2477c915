//! The paths that a document about the code names.

use std::path::{Path, PathBuf};

/// The paths of a document that do not exist, each with its line.
///
/// A path is in backquotes, and contains a `/` or ends in `.rs`. Code of several words, JSON Pointers and Rust paths are not paths of
/// files. Code blocks are left out. A path starts at the root of the workspace, in `src` of a crate, or, within a section, in or beside
/// a path that the section has named before: `run/schedule.rs`, then `schedule/ready.rs`. For a path with a `*` or a `<name>`, only the
/// folders before it must exist.
pub(crate) fn missing(root: &Path, crates: &[&str], text: &str) -> Vec<String> {
    let always: Vec<PathBuf> = crates
        .iter()
        .map(|name| root.join(name).join("src"))
        .collect();
    let (mut near, mut missing, mut is_code) = (Vec::new(), Vec::new(), false);
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        if line.starts_with('#') {
            near.clear();
        }
        for written in line.split('`').skip(1).step_by(2).filter(|it| is_path(it)) {
            let fixed = written
                .split('/')
                .take_while(|part| !part.contains(['*', '<']));
            let fixed: PathBuf = fixed.collect();
            let workspace = [root.to_path_buf()];
            let folders = near.iter().rev().chain(&workspace).chain(&always);
            let found = folders
                .map(|folder: &PathBuf| folder.join(&fixed))
                .find(|path| path.exists());
            match found {
                Some(path) => {
                    near.extend(path.parent().map(Path::to_path_buf));
                    near.extend(path.is_dir().then_some(path));
                }
                None => missing.push(format!("{}: {written}", number + 1)),
            }
        }
    }
    missing
}

fn is_path(text: &str) -> bool {
    let is_file = text.contains('/') || text.ends_with(".rs");
    is_file && !text.starts_with('/') && !text.contains([' ', '#']) && !text.contains("::")
}
