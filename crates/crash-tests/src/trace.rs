//! The trace of a process: compiles the recorder, runs a process with it, reads what it wrote.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = include_str!("record.c");

/// One thing that the process did; `record.c` says which.
pub struct Record {
    pub kind: char,
    pub inode: u64,
    pub number: u64,
    pub text: Vec<u8>,
}

/// Compiles the recorder; `None` where there is no C compiler.
pub fn compile(home: &Path) -> Option<PathBuf> {
    let (source, library) = (home.join("record.c"), home.join("record.so"));
    fs::write(&source, SOURCE).ok()?;
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source).args(["-ldl", "-lpthread"]);
    let is_compiled = cfg!(target_os = "linux") && compiler.status().is_ok_and(|status| status.success());
    is_compiled.then_some(library)
}

/// Has a command recorded: its calls on files below `root`, and the lines that it appends to the file `log`.
pub fn recorded<'c>(
    command: &'c mut Command,
    library: &Path,
    root: &Path,
    log: &Path,
    trace: &Path,
) -> &'c mut Command {
    command.env("LD_PRELOAD", library).env("CRASH_ROOT", root).env("CRASH_LOG", log).env("CRASH_TRACE", trace)
}

/// All records of a trace.
///
/// # Errors
/// Those of reading the file; [`io::ErrorKind::InvalidData`] for one that ends inside a record.
pub fn read(path: &Path) -> io::Result<Vec<Record>> {
    let bytes = fs::read(path)?;
    let mut rest = bytes.as_slice();
    let mut records = Vec::new();
    while !rest.is_empty() {
        let (record, left) = parse(rest).ok_or(io::ErrorKind::InvalidData)?;
        records.push(record);
        rest = left;
    }
    Ok(records)
}

fn parse(bytes: &[u8]) -> Option<(Record, &[u8])> {
    let (head, rest) = bytes.split_at_checked(21)?;
    let number = |at: usize| head.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
    let length = u32::from_le_bytes(head.get(17..)?.try_into().ok()?);
    let (text, rest) = rest.split_at_checked(length as usize)?;
    let record =
        Record { kind: char::from(*head.first()?), inode: number(1)?, number: number(9)?, text: text.to_vec() };
    Some((record, rest))
}
