//! fjall's lists of tables, checked before fjall reads them.
//!
//! ```text
//! data/keyspaces/N/current   list number 8 | XXH3 (128 bits) of the list's file 16 | checksum type 1: 0
//! data/keyspaces/N/vM        the list of number M: tables, files of values, the newest order numbers in them
//! ```
//!
//! fjall does not compare the checksum, allocates by unchecked lengths, and panics on some numbers. It also takes a
//! keyspace without `current` for a half-dropped one and deletes it, and deletes all of them if their directory,
//! keyspace 0, has none.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use saltwing_store::StoreError;
use saltwing_store::torn::RESTORE;
use xxhash_rust::xxh3::Xxh3;

pub(crate) const KEYSPACES: &str = "keyspaces";
pub(crate) const CURRENT: &str = "current";
const CURRENT_BYTES: usize = 25;
/// fjall's directory of keyspaces is one itself.
const DIRECTORY_KEYSPACE: u64 = 0;

/// Checks the lists of all keyspaces in `data`, which holds a database. Changes nothing.
///
/// # Errors
/// [`StoreError::Corrupt`], with the file; [`StoreError::Io`].
pub(crate) fn check(data: &Path) -> Result<(), StoreError> {
    let keyspaces = data.join(KEYSPACES);
    let failed = |error| StoreError::io("list the keyspaces in", &keyspaces, error);
    let mut is_directory_there = false;
    for entry in fs::read_dir(&keyspaces).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_file() {
            continue;
        }
        let path = entry.path();
        let Some(number) = number_of(&path) else {
            return Err(corrupt(&path, "not a keyspace, though it lies among them"));
        };
        let has_list = check_keyspace(&path)?;
        is_directory_there |= number == DIRECTORY_KEYSPACE && has_list;
    }
    match is_directory_there {
        true => Ok(()),
        false => {
            Err(corrupt(&keyspaces.join("0").join(CURRENT), "the file is missing, which names the list of keyspaces"))
        }
    }
}

/// Checks one keyspace's list; whether there is one.
fn check_keyspace(path: &Path) -> Result<bool, StoreError> {
    let current = path.join(CURRENT);
    let bytes = match fs::read(&current) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(StoreError::io("read", &current, error)),
    };
    let parts: Option<([u8; 8], [u8; 16])> = (bytes.len() == CURRENT_BYTES && bytes.last() == Some(&0))
        .then(|| Some((bytes.get(..8)?.try_into().ok()?, bytes.get(8..24)?.try_into().ok()?)))
        .flatten();
    let Some((number, checksum)) = parts else {
        return Err(corrupt(&current, "damaged: it does not name a list of tables"));
    };
    let list = list_path(path, u64::from_le_bytes(number));
    let found = match checksum_of(&list) {
        Ok(found) => found,
        // fjall refuses it, unless the keyspace was being dropped.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(StoreError::io("read", &list, error)),
    };
    match found == u128::from_le_bytes(checksum) {
        true => Ok(true),
        false => {
            Err(corrupt(&list, "the list of tables does not have the checksum that `current` says: one is damaged"))
        }
    }
}

/// The file of a list in the folder of its keyspace.
pub(crate) fn list_path(keyspace: &Path, number: u64) -> PathBuf {
    keyspace.join(format!("v{number}"))
}

/// The number of the keyspace with this folder.
fn number_of(folder: &Path) -> Option<u64> {
    folder.file_name()?.to_str()?.parse().ok()
}

/// Whether this is the folder of fjall's directory of keyspaces.
pub(crate) fn is_directory_keyspace(folder: &Path) -> bool {
    number_of(folder) == Some(DIRECTORY_KEYSPACE)
}

pub(crate) fn checksum_of(path: &Path) -> io::Result<u128> {
    let (mut file, mut hasher, mut buffer) = (File::open(path)?, Xxh3::new(), vec![0; 64 << 10]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.digest128()),
            read => hasher.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

fn corrupt(path: &Path, what: &str) -> StoreError {
    StoreError::Corrupt { path: path.to_path_buf(), why: format!("{what}. Nothing was changed; {RESTORE}") }
}
