//! Connections that say nothing, that end without a word, and that do not read their results.

use std::time::{Duration, Instant};

use crate::error::ensure;
use crate::hostile::time_limits::{LOGIN_TIMEOUT, SEND_TIMEOUT};
use crate::wire::{Wire, frame, query};
use crate::{ServerProcess, Target, TestError};

/// Connections of one kind.
const CONNECTIONS: usize = 50;
/// How long they stay.
const STAY: Duration = Duration::from_secs(3);
/// What the server may need for a client that does not read, in bytes: some batches of rows, and the buffers of its socket.
const SLOW_READER_BYTES_MAX: u64 = 16 << 20;
/// Clients that wait.
const IDLE_CONNECTIONS: u64 = 300;
/// What the server may need for one of them, in bytes.
const IDLE_BYTES_MAX: u64 = 200_000;

/// A result of eight billion rows.
const ENDLESS: &str = "SELECT a.id, b.size, 'some text that fills the buffers of the socket' \
    FROM hostile_row a, hostile_row b, hostile_row c, hostile_row d \
    WHERE a.id >= 0 AND b.id >= 0 AND c.id >= 0 AND d.id >= 0";
/// A statement that runs for minutes without a row.
const SILENT: &str = "SELECT count(*) FROM hostile_row a, hostile_row b, hostile_row c, hostile_row d \
    WHERE a.id >= 0 AND b.id >= 0 AND c.id >= 0 AND d.id >= 0 AND a.size + b.size + c.size + d.size < 0";

/// Connections that send nothing, or half of a message, before and after the login, for a while. Then they are dropped.
pub fn half_open(target: &Target) -> Result<(), TestError> {
    let mut wires = Vec::new();
    for number in 0..CONNECTIONS {
        wires.push(Wire::open(target.loopback()?)?);
        let mut half = Wire::open(target.loopback()?)?;
        half.send(&[0, 0, 0])?;
        wires.push(half);
        let mut wire = Wire::log_in(target)?;
        match number % 3 {
            0 => wire.send(b"Q\0\0")?,
            1 => wire.send(frame(b'P', b"s\0SELECT 1\0\0\0").get(..9).unwrap_or_default())?,
            _ => wire.send(&[query("BEGIN"), query("COPY hostile_row (id, size) FROM STDIN")].concat())?,
        }
        wires.push(wire);
    }
    std::thread::sleep(STAY);
    Ok(())
}

/// A connection that has not logged in is ended by the server.
pub fn without_a_login_they_end(target: &Target) -> Result<(), TestError> {
    let began = Instant::now();
    let mut wires: Vec<Wire> =
        (0..CONNECTIONS).map(|_| Wire::open(target.loopback()?).map_err(TestError::from)).collect::<Result<_, _>>()?;
    for wire in &mut wires {
        wire.read_to_end()?;
    }
    let took = began.elapsed();
    ensure(took < LOGIN_TIMEOUT + STAY, || format!("they ended after {took:?}"))
}

/// Clients that are gone while their statement runs, while rows are sent, in a transaction, and in a COPY. Their sessions must end, too:
/// the caller looks at these.
pub fn vanished(target: &Target) -> Result<(), TestError> {
    for _ in 0..CONNECTIONS / 5 {
        for statements in
            [SILENT, ENDLESS, "BEGIN; SELECT * FROM hostile_row WHERE id = 1", "COPY hostile_row (id, size) FROM STDIN"]
        {
            Wire::log_in(target)?.send(&query(statements))?;
        }
        let mut wire = Wire::log_in(target)?;
        wire.send(&frame(b'P', b"s\0SELECT 1\0\0\0"))?;
    }
    // In the middle of their statements.
    let mut wires = Vec::new();
    for statement in [SILENT, ENDLESS] {
        for _ in 0..5 {
            let mut wire = Wire::log_in(target)?;
            wire.send(&query(statement))?;
            wires.push(wire);
        }
    }
    std::thread::sleep(Duration::from_millis(500));
    Ok(())
}

/// Clients that do not read a result which has no end.
pub fn slow_readers(target: &Target) -> Result<(), TestError> {
    let _wires = readers(target)?;
    std::thread::sleep(STAY);
    Ok(())
}

/// The memory of the server's process while clients do not read.
pub fn memory_of_slow_readers(process: &ServerProcess) -> Result<(), TestError> {
    let before = process.memory_bytes();
    let wires = readers(process.target())?;
    std::thread::sleep(STAY);
    let after = process.memory_bytes();
    drop(wires);
    process.wait_for_sessions(0, STAY)?;
    let (Some(before), Some(after)) = (before, after) else { return Ok(()) };
    let of_each = after.saturating_sub(before) / CONNECTIONS as u64;
    ensure(of_each < SLOW_READER_BYTES_MAX, || format!("{of_each} bytes for each client that does not read"))
}

/// Clients that read nothing keep their results, and with them old rows, for a limited time.
pub fn stalled_readers_end(process: &ServerProcess) -> Result<(), TestError> {
    let began = Instant::now();
    let wires = readers(process.target())?;
    process.wait_for_sessions(0, SEND_TIMEOUT + STAY)?;
    let took = began.elapsed();
    drop(wires);
    ensure(took >= SEND_TIMEOUT, || format!("they ended after {took:?}"))
}

/// The memory of the server's process while clients wait, each after a statement.
pub fn memory_of_idle_clients(process: &ServerProcess) -> Result<(), TestError> {
    let before = process.memory_bytes();
    let mut wires = Vec::new();
    for _ in 0..IDLE_CONNECTIONS {
        let mut wire = Wire::log_in(process.target())?;
        wire.send(&query("SELECT size FROM hostile_row WHERE id = 3"))?;
        wire.read_up_to(|(tag, _)| *tag == b'Z')?;
        wires.push(wire);
    }
    let after = process.memory_bytes();
    drop(wires);
    process.wait_for_sessions(0, STAY)?;
    let (Some(before), Some(after)) = (before, after) else { return Ok(()) };
    let of_each = after.saturating_sub(before) / IDLE_CONNECTIONS;
    ensure(of_each < IDLE_BYTES_MAX, || format!("{of_each} bytes for each client that waits"))
}

/// Clients that have asked for a result, and read its first message only.
fn readers(target: &Target) -> Result<Vec<Wire>, TestError> {
    let mut wires = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut wire = Wire::log_in(target)?;
        wire.send(&query(ENDLESS))?;
        wires.push(wire);
    }
    for wire in &mut wires {
        let first = wire.message()?.map(|(tag, _)| tag);
        ensure(first == Some(b'T'), || format!("the first message is {first:?}"))?;
    }
    Ok(wires)
}
