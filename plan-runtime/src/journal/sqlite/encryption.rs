//! The encryption of strings in the database. The cipher authenticates the run of each string, and its field in the run.

use super::super::JournalError;
use crate::print::MessageName;
use base64::Engine;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use chacha20poly1305::aead::{Aead, Generate, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use std::borrow::Cow;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The beginning of a sealed string. No JSON begins with this character, so the JSON of earlier versions never looks sealed.
const SEALED: &str = "\u{1}xchacha20poly1305:";

/// The length of the name of a key.
const NAME: usize = 8;

/// The length of the head of a sealed string. The head contains the name of the key.
pub(super) const HEAD: u32 = (SEALED.len() + NAME) as u32;

const NONCE: usize = 24;

/// A key that encrypts the runs of a [`Sqlite`](super::Sqlite): 32 random bytes.
///
/// Every process that opens the database needs this key. Store the key with your other secrets, and not beside the database. Dropping the key
/// overwrites its memory.
///
/// ```
/// use plan_runtime::journal::{EncryptionKey, Sqlite};
///
/// # let folder = std::env::temp_dir().join(format!("plan-key-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let (path, key_path) = (folder.join("runs.db"), folder.join("key"));
/// # std::fs::write(&key_path, [7; 32])?;
/// // For example `head -c 32 /dev/urandom > key`.
/// let bytes: [u8; 32] = std::fs::read(key_path)?.try_into().map_err(|_| "a key has 32 bytes")?;
/// let db = Sqlite::open(path)?.encrypted(&EncryptionKey::new(bytes));
/// # drop(db);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EncryptionKey(Zeroizing<[u8; 32]>);

impl EncryptionKey {
    /// Creates a key from these bytes. The bytes must come from a source of random bytes for cryptography: a password is not a key.
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }
}

/// The field of a run that contains a string. The cipher authenticates the field.
#[derive(Clone, Copy)]
pub(super) enum Place<'p> {
    Document,
    Inputs,
    /// The record with this key.
    Record(&'p str),
    /// The end of a run, with `true` for a failure.
    End(bool),
    /// The signal for this path.
    Signal(&'p str),
    /// The reason of a refusal.
    Reason,
}

impl Place<'_> {
    /// Returns `true` for the interrupt of a run. Lists of runs read it without a key to find cancelled runs, and the record contains no value of a
    /// run.
    pub(super) fn is_plain(self) -> bool {
        matches!(self, Self::Record("!interrupt"))
    }

    fn parts(self) -> (&'static str, &'static str) {
        match self {
            Self::Document => ("document", "plan"),
            Self::Inputs => ("inputs", "inputs"),
            Self::Record(_) => ("record", "record"),
            Self::End(false) => ("output", "output"),
            Self::End(true) => ("failures", "failures"),
            Self::Signal(_) => ("signal", "value for step"),
            Self::Reason => ("reason", "reason"),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Record(name) | Self::Signal(name) => name,
            Self::Document | Self::Inputs | Self::End(_) | Self::Reason => "",
        }
    }

    /// Returns the unique bytes of the field in a run.
    fn authenticated(&self, id: &str) -> Vec<u8> {
        let (kind, _) = self.parts();
        let length = id.len().to_string();
        let parts = [kind, ":", &length, ":", id, self.name()];
        parts.concat().into_bytes()
    }

    /// Returns the name of the field for error messages.
    fn shown(&self) -> String {
        let (_, what) = self.parts();
        match self.name() {
            "" => format!("its {what}"),
            name => format!("its {what} `{}`", MessageName(name)),
        }
    }
}

/// Seals and opens strings.
#[derive(Clone)]
pub(super) struct Cipher(Arc<Sealing>);

struct Sealing {
    aead: XChaCha20Poly1305,
    /// The name of the key, which reveals nothing about the key.
    name: String,
}

impl Cipher {
    pub(super) fn new(key: &EncryptionKey) -> Self {
        let aead = XChaCha20Poly1305::new((&*key.0).into());
        // No sealed string has this nonce, unless 24 random bytes are all zero.
        let nothing = Payload {
            msg: &[],
            aad: b"the name of the key",
        };
        let tag = aead.encrypt(&XNonce::default(), nothing);
        let tag = tag.unwrap_or_default();
        let name = tag.iter().take(NAME / 2);
        let name = name.map(|byte| format!("{byte:02x}")).collect();
        Self(Arc::new(Sealing { aead, name }))
    }

    /// Returns `true` if this key has sealed the string with this head.
    pub(super) fn has_sealed(&self, head: &str) -> bool {
        let name = head.strip_prefix(SEALED).and_then(|head| head.get(..NAME));
        name == Some(&*self.0.name)
    }

    pub(super) fn seal(
        &self,
        id: &str,
        place: Place<'_>,
        text: &str,
    ) -> Result<String, JournalError> {
        let nonce = XNonce::try_generate().map_err(JournalError::storage)?;
        let payload = Payload {
            msg: text.as_bytes(),
            aad: &place.authenticated(id),
        };
        let sealed = self.0.aead.encrypt(&nonce, payload);
        let sealed =
            sealed.map_err(|_| JournalError::storage("a record is too large to encrypt"))?;
        let mut bytes = nonce.to_vec();
        bytes.extend(sealed);
        let mut text = format!("{SEALED}{}:", self.0.name);
        BASE64_STANDARD_NO_PAD.encode_string(bytes, &mut text);
        Ok(text)
    }

    fn open(&self, id: &str, place: Place<'_>, sealed: &str) -> Option<String> {
        let bytes = sealed.get(HEAD as usize..)?.strip_prefix(':')?;
        let bytes = BASE64_STANDARD_NO_PAD.decode(bytes).ok()?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE)?;
        let payload = Payload {
            msg: sealed,
            aad: &place.authenticated(id),
        };
        let text = self.0.aead.decrypt(&XNonce::try_from(nonce).ok()?, payload);
        String::from_utf8(text.ok()?).ok()
    }
}

/// Returns `true` if this is the head of a sealed string.
pub(super) fn is_sealed(head: &str) -> bool {
    head.starts_with(SEALED)
}

/// Returns an error if a run needs another key than this one. All sealed strings of the run begin with this head.
pub(super) fn check(cipher: Option<&Cipher>, id: &str, head: &str) -> Result<(), JournalError> {
    match cipher {
        None => Err(without_key(id)),
        Some(cipher) if !cipher.has_sealed(head) => Err(encrypted(
            id,
            "the run was encrypted with another key than the key of the database",
        )),
        Some(_) => Ok(()),
    }
}

/// Returns the stored form of a string of a run: sealed if the string of the run with this head is sealed.
pub(super) fn seal_like<'t>(
    cipher: Option<&Cipher>,
    id: &str,
    head: &str,
    place: Place<'_>,
    text: &'t str,
) -> Result<Cow<'t, str>, JournalError> {
    if !is_sealed(head) {
        return Ok(Cow::Borrowed(text));
    }
    check(cipher, id, head)?;
    let sealed = cipher.map(|cipher| cipher.seal(id, place, text));
    sealed
        .unwrap_or_else(|| Err(without_key(id)))
        .map(Cow::Owned)
}

/// Returns the error for an encrypted run whose database has no key.
pub(super) fn without_key(id: &str) -> JournalError {
    let why =
        "the database was opened without a key; open it with `Sqlite::open(…)?.encrypted(&key)`";
    encrypted(id, why)
}

/// Returns the string in this field of an encrypted run.
pub(super) fn open(
    cipher: Option<&Cipher>,
    id: &str,
    place: Place<'_>,
    text: &str,
) -> Result<String, JournalError> {
    let damaged = || {
        let place = place.shown();
        encrypted(
            id,
            &format!("{place} is damaged, or belongs to another run"),
        )
    };
    if !is_sealed(text) {
        return Err(damaged());
    }
    check(cipher, id, text)?;
    let text = cipher.and_then(|cipher| cipher.open(id, place, text));
    text.ok_or_else(damaged)
}

fn encrypted(id: &str, why: &str) -> JournalError {
    JournalError::Encrypted {
        id: id.to_owned(),
        why: why.to_owned(),
    }
}
