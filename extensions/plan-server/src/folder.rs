//! The folder of a server. Only its owner can read the folder, and only one server at a time can use it.

use crate::server::{ServerError, at};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;

/// Creates a folder that only its owner can read, unless the folder exists: the journals of runs contain the values of
/// users.
pub(crate) fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Locks a folder, so that no second server executes its runs.
pub(crate) fn lock(folder: &Path) -> Result<File, ServerError> {
    let path = folder.join("lock");
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    let file = options.open(&path).map_err(at(path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ServerError::Io(
            folder.display().to_string(),
            io::Error::other(
                "another server uses this folder; stop that server, or start this server with another folder: `--data FOLDER`",
            ),
        )),
        Err(TryLockError::Error(error)) => Err(at(path.display())(error)),
    }
}

/// Reads the token of a folder, or creates a token. Only the owner can read the file.
pub(crate) fn token(folder: &Path) -> Result<String, ServerError> {
    let path = folder.join("token");
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(&path) {
        Ok(mut file) => {
            let mut bytes = [0; 32];
            getrandom::fill(&mut bytes).map_err(|error| {
                ServerError::Io("no random number".into(), io::Error::other(error))
            })?;
            let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            file.write_all(token.as_bytes())
                .map_err(at(path.display()))?;
            file.sync_all().map_err(at(path.display()))?;
            Ok(token)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let mut token = String::new();
            let mut file = File::open(&path).map_err(at(path.display()))?;
            file.read_to_string(&mut token)
                .map_err(at(path.display()))?;
            match token.trim() {
                token if token.len() >= 32 => Ok(token.to_owned()),
                _ => Err(ServerError::Io(
                    path.display().to_string(),
                    io::Error::other(
                        "the file contains no token of at least 32 characters; delete the file to get a new token",
                    ),
                )),
            }
        }
        Err(error) => Err(at(path.display())(error)),
    }
}
