//! Two processes. The second one is the test's own program again. An environment
//! variable makes it run only this test, as the other side of it.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use crate::{Direction, Durability, KeyBounds, OrderedKv, Space, StoreError, WriteBatch, WriteStall};

pub(super) const OTHER_SIDE: &str = "SALTWING_TEST_DATABASE";
pub(super) const ACKNOWLEDGED_MIN: u64 = 40;
const PIECES: u8 = 20;
pub(super) const COUNTER: Space = Space::new(0);
const PIECE: Space = Space::new(1);

type Opened = Result<Arc<dyn OrderedKv>, StoreError>;

/// A writing process is killed; afterwards every acknowledged batch is present, every batch is whole, and none is
/// present without those before it.
///
/// `test` is the calling test's full name, `home` an empty directory; the test
/// must do nothing else.
pub fn survives_kill(test: &str, home: &Path, open: impl Fn(&Path) -> Opened) {
    if let Some(path) = other_side() {
        return write_for_ever(&*open(&path).unwrap());
    }
    let path = home.join("db");
    let acknowledged = kill_after(test, &path, ACKNOWLEDGED_MIN);
    assert_whole(&*open(&path).unwrap(), acknowledged);
}

/// Every batch up to the last one is whole, and the last one is not older than the last acknowledged.
pub(super) fn assert_whole(store: &dyn OrderedKv, acknowledged: u64) {
    let counter = store.get(COUNTER, b"last").unwrap().unwrap();
    let last = u64::from_be_bytes(counter[..].try_into().unwrap());
    assert!(last >= acknowledged, "{acknowledged} was acknowledged, {last} is the last one there");
    let mut pieces = store.cursor(PIECE, KeyBounds::all(), Direction::Forward).unwrap();
    for number in 0..=last {
        for piece in 0..PIECES {
            let (key, value) = pieces.next().unwrap().unwrap();
            assert_eq!(key, piece_key(number, piece));
            assert_eq!(value, vec![piece; 700]);
        }
    }
    assert!(pieces.next().unwrap().is_none(), "a batch after {last} is there in part");
}

/// A process that fills two spaces by turns, and clears the one while the other is filled, is killed; afterwards
/// nothing acknowledged is missing, and nothing of a cleared turn is there among rows of a later one.
///
/// Parameters as for [`survives_kill`].
pub fn clears_survive_kill(test: &str, home: &Path, open: impl Fn(&Path) -> Opened) {
    if let Some(path) = other_side() {
        return fill_by_turns(&*open(&path).unwrap());
    }
    let path = home.join("db");
    let acknowledged = kill_after(test, &path, TURNS_MIN);
    let store = open(&path).unwrap();
    let counter = store.get(COUNTER, b"turn").unwrap().unwrap();
    let turn = u64::from_be_bytes(counter[..].try_into().unwrap());
    assert!(turn >= acknowledged, "turn {acknowledged} was acknowledged, {turn} is the last one there");
    let rows = |space| {
        let mut cursor = store.cursor(space, KeyBounds::all(), Direction::Forward).unwrap();
        std::iter::from_fn(|| cursor.next().unwrap())
            .map(|(_, value)| u64::from_be_bytes(value[..8].try_into().unwrap()))
            .collect::<Vec<_>>()
    };
    // The turn that the counter names was filled before it was counted; the one before may be cleared in part.
    assert_eq!(rows(turn_space(turn)), vec![turn; TURN_ROWS]);
    let other = rows(turn_space(turn + 1));
    let left = |of| other.iter().all(|found| *found == of);
    assert!(turn > 0 && left(turn - 1) || left(turn + 1), "rows of several turns, or of an old one: {other:?}");
    assert!(other.len() <= TURN_ROWS);
}

/// Rows of a turn: more than a store may think few.
const TURN_ROWS: usize = 17_000;
const TURNS_MIN: u64 = 4;

fn turn_space(turn: u64) -> Space {
    Space::new(2 + (turn % 2) as u8)
}

fn fill_by_turns(store: &dyn OrderedKv) {
    for turn in 0_u64.. {
        // In many batches, the last of which counts the turn.
        for first in (0..TURN_ROWS).step_by(1_000) {
            let mut batch = WriteBatch::new();
            for row in first..first + 1_000 {
                let value = [&turn.to_be_bytes()[..], &[7; 90]].concat();
                batch.put(turn_space(turn), (row as u64).to_be_bytes(), value);
            }
            if first + 1_000 == TURN_ROWS {
                batch.put(COUNTER, b"turn", turn.to_be_bytes());
            }
            store.write(batch, Durability::Buffered).unwrap();
        }
        store.clear(turn_space(turn + 1)).unwrap();
        store.sync().unwrap();
        say(&format!("acknowledged {turn}"));
    }
}

/// A process that puts large values, deletes most of them again and has the store reclaim what they took, is killed;
/// afterwards exactly the batches up to one that is not older than the last acknowledged are there.
///
/// Parameters as for [`survives_kill`].
pub fn reclaims_survive_kill(test: &str, home: &Path, open: impl Fn(&Path) -> Opened) {
    if let Some(path) = other_side() {
        return replace_for_ever(&*open(&path).unwrap());
    }
    let path = home.join("db");
    // Twice: the second process continues where the first one was killed.
    for least in [RECLAIMS_MIN, 2 * RECLAIMS_MIN] {
        let acknowledged = kill_after(test, &path, least);
        let store = open(&path).unwrap();
        let last = last_batch(&*store).unwrap();
        assert!(last >= acknowledged, "{acknowledged} was acknowledged, {last} is the last one there");
        assert_batches(&*store, last);
        store.reclaim(WriteStall::Allowed).unwrap();
        assert_batches(&*store, last);
    }
}

const RECLAIMS_MIN: u64 = 40;
/// Values of a batch, and their bytes: more than a store may keep together with its keys.
const LARGE_VALUES: u64 = 20;
const LARGE_BYTES: usize = 6_000;

/// The number of batches after which the values of batch `number` are deleted.
fn dies_after(number: u64) -> u64 {
    if number.is_multiple_of(10) { u64::MAX } else { 1 + number * 7 % 5 }
}

fn large_value(number: u64) -> Vec<u8> {
    (0..LARGE_BYTES as u64 / 8)
        .flat_map(|i| (number + i * 31).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes())
        .collect()
}

fn last_batch(store: &dyn OrderedKv) -> Option<u64> {
    let counter = store.get(COUNTER, b"last").unwrap()?;
    Some(u64::from_be_bytes(counter[..].try_into().unwrap()))
}

fn replace_for_ever(store: &dyn OrderedKv) {
    for number in last_batch(store).map_or(0, |last| last + 1).. {
        let mut batch = WriteBatch::new();
        batch.put(COUNTER, b"last", number.to_be_bytes());
        for value in number * LARGE_VALUES..(number + 1) * LARGE_VALUES {
            batch.put(PIECE, value.to_be_bytes(), large_value(value));
        }
        let dying = (0..number * LARGE_VALUES).filter(|value| dies_after(*value) == number - value / LARGE_VALUES);
        dying.for_each(|value| batch.delete(PIECE, value.to_be_bytes()));
        store.write(batch, Durability::Synced).unwrap();
        say(&format!("acknowledged {number}"));
        if number % 4 == 3 {
            store.reclaim(WriteStall::Allowed).unwrap();
        }
    }
}

fn assert_batches(store: &dyn OrderedKv, last: u64) {
    let mut found = store.cursor(PIECE, KeyBounds::all(), Direction::Forward).unwrap();
    for value in 0..(last + 1) * LARGE_VALUES {
        if last - value / LARGE_VALUES < dies_after(value) {
            let (key, bytes) = found.next().unwrap().unwrap();
            assert_eq!(key, value.to_be_bytes().to_vec());
            assert!(bytes == large_value(value), "value {value} is another one");
        }
    }
    assert!(found.next().unwrap().is_none(), "more than the batches up to {last}");
}

/// While one process has a database open, another gets [`StoreError::Locked`].
///
/// Parameters as for [`survives_kill`].
pub fn second_process_is_refused(test: &str, home: &Path, open: impl Fn(&Path) -> Opened) {
    if let Some(path) = other_side() {
        let code = open(&path).map_or_else(|error| error.code(), |_| "opened");
        return say(&format!("got {code}"));
    }
    let path = home.join("db");
    let store = open(&path).unwrap();
    let ask = || {
        let output = start_other_side(test, &path).wait_with_output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let while_open = ask();
    assert!(while_open.contains("got locked"), "{while_open}");
    drop(store);
    let afterwards = ask();
    assert!(afterwards.contains("got opened"), "{afterwards}");
}

/// A write that the system refuses half-way: its error says that the outcome is
/// unknown, and the errors of later writes that the store must be opened again;
/// nothing acknowledged is lost, and the batch is there whole or not at all. The
/// store decides what can be read until then.
///
/// The process is given a limit on the size of files, for want of a full disk; does
/// nothing where there is no `sh` to set it. Parameters as for [`survives_kill`].
pub fn failed_write_is_reported(test: &str, home: &Path, open: impl Fn(&Path) -> Opened) {
    if let Some(path) = other_side() {
        return write_too_much(&*open(&path).unwrap());
    }
    let path = home.join("db");
    // `sh` counts in units of 512 bytes: 66 MiB, more than a store may preallocate.
    let limit = "trap '' XFSZ; ulimit -f 135168 || exit 0; exec \"$0\" \"$@\"";
    let output = Command::new("sh")
        .args(["-c", limit])
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(OTHER_SIDE, &path)
        .output();
    let printed = match output {
        Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
        Err(_) => String::new(),
    };
    if printed.is_empty() {
        eprintln!("skipped: no limit on the size of files can be set here");
        return;
    }
    assert!(printed.contains("got commit_unknown, io, io\n"), "{printed}");
    let store = open(&path).unwrap();
    assert_eq!(store.get(COUNTER, b"last").unwrap().unwrap(), b"acknowledged");
    let mut pieces = store.cursor(PIECE, KeyBounds::all(), Direction::Forward).unwrap();
    let there = std::iter::from_fn(|| pieces.next().unwrap()).count();
    assert!([0, TOO_MUCH].contains(&there), "{there} of {TOO_MUCH}");
    store.write(one_put(), Durability::Synced).unwrap();
}

/// Watched from outside: between a write and its acknowledgement the process has
/// called the system's sync, and the call has returned.
///
/// Does nothing where there is no `strace`. Parameters as for [`survives_kill`].
pub fn sync_is_a_system_call(test: &str, home: &Path, open: impl Fn(&Path) -> Opened) {
    if let Some(path) = other_side() {
        let store = open(&path).unwrap();
        say("ready");
        for number in 0..SYNCS_WATCHED {
            store.write(one_put(), Durability::Synced).unwrap();
            say(&format!("acknowledged {number}"));
        }
        return;
    }
    let log = home.join("strace.log");
    let traced = Command::new("strace")
        .args(["-f", "-e", "trace=fsync,fdatasync,sync_file_range,write", "-o"])
        .arg(&log)
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(OTHER_SIDE, home.join("db"))
        .stdout(Stdio::null())
        .status();
    if !traced.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no process can be traced here");
        return;
    }
    let log = std::fs::read_to_string(log).unwrap();
    let (_, after_ready) = log.split_once("\"ready").unwrap();
    let mut acknowledged = 0;
    let mut synced = false;
    for line in after_ready.lines() {
        // `fdatasync(5) = 0`, or `<... fdatasync resumed>) = 0` when threads met.
        synced |= line.contains("sync") && line.trim_end().ends_with("= 0");
        if line.contains("\"acknowledged") {
            assert!(synced, "acknowledged before it was synced:\n{after_ready}");
            synced = false;
            acknowledged += 1;
        }
    }
    assert_eq!(acknowledged, SYNCS_WATCHED);
}

const SYNCS_WATCHED: u32 = 5;

/// Values of 4 KiB, 72 MiB together.
const TOO_MUCH: usize = 72 << 8;

pub(super) fn one_put() -> WriteBatch {
    let mut batch = WriteBatch::new();
    batch.put(COUNTER, b"last", b"acknowledged");
    batch
}

fn write_too_much(store: &dyn OrderedKv) {
    store.write(one_put(), Durability::Synced).unwrap();
    // Not to be compressed; shared, so that only the store copies it.
    let value: Vec<u8> = (0..512_u64).flat_map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()).collect();
    let value = crate::Bytes::from(value);
    let mut batch = WriteBatch::new();
    for number in 0..TOO_MUCH as u64 {
        batch.put(PIECE, number.to_be_bytes(), value.clone());
    }
    let code = |outcome: Result<(), StoreError>| outcome.map_or_else(|error| error.code(), |()| "done");
    let first = code(store.write(batch, Durability::Synced));
    let second = code(store.write(one_put(), Durability::Buffered));
    let third = code(store.sync());
    say(&format!("got {first}, {second}, {third}"));
}

pub(super) fn write_for_ever(store: &dyn OrderedKv) {
    for number in 0.. {
        let mut batch = WriteBatch::new();
        batch.put(COUNTER, b"last", u64::to_be_bytes(number));
        for piece in 0..PIECES {
            batch.put(PIECE, piece_key(number, piece), vec![piece; 700]);
        }
        // Every other one is not synced: those must not overtake.
        let synced = number % 2 == 0;
        let durability = if synced { Durability::Synced } else { Durability::Buffered };
        store.write(batch, durability).unwrap();
        if synced {
            say(&format!("acknowledged {number}"));
        }
    }
}

fn piece_key(number: u64, piece: u8) -> Vec<u8> {
    [&number.to_be_bytes()[..], &[piece]].concat()
}

/// Kills the other process after this many acknowledgements; returns the acknowledged ones.
pub(super) fn kill_after(test: &str, path: &Path, least: u64) -> u64 {
    let mut child = start_other_side(test, path);
    let acknowledged = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| line.split("acknowledged ").nth(1)?.parse::<u64>().ok())
        .find(|&number| number >= least);
    child.kill().unwrap();
    child.wait().unwrap();
    acknowledged.unwrap()
}

pub(super) fn other_side() -> Option<PathBuf> {
    std::env::var_os(OTHER_SIDE).map(PathBuf::from)
}

fn start_other_side(test: &str, path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(OTHER_SIDE, path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// To the other side, a line at a time; when it is gone there is nobody to tell.
pub(super) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
