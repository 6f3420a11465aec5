//! A case on a real socket.

use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use super::case::{Case, End, Port, Step, TOKEN};
use crate::wire::{Wire, frame, is_end, query, untagged};
use crate::{Target, TestError};

/// How long a server may be silent while the client waits. Its statements end after less than a second.
const SILENCE_MAX: Duration = Duration::from_secs(30);
/// How long a client that does not read waits for room to write.
const WRITE_MAX: Duration = Duration::from_secs(1);
/// After this silence a client of HTTP, whose last request may be broken, sends no more.
const HTTP_SILENCE: Duration = Duration::from_secs(2);
/// The code of a request to cancel.
const CANCEL: u32 = 80_877_102;
/// What the last statement of a session gives.
const STILL_HERE: &[u8] = b"still here, after all of that";
/// The SQLSTATE of bugs.
const BUG: &[u8] = b"XX000";
/// The longest of what is looked for.
const LOOKED_FOR_MAX: usize = 64;

/// Where a server listens, and who is logged in at its console.
pub struct Place<'a> {
    /// For PostgreSQL's clients.
    pub target: &'a Target,
    /// For Phoenix's clients, and the console.
    pub http: [SocketAddr; 2],
    /// The token of a login of the console.
    pub token: &'a str,
}

/// What a reader has seen.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    /// The last statement's row.
    StillHere,
    /// An error that tells of a bug, with the bytes around it.
    Bug(String),
    /// The end of the connection.
    End,
}

/// Sends a case, and checks how the server takes it.
///
/// # Errors
/// [`TestError::Found`]: the server is silent, or tells of a bug.
pub fn hold(case: &Case, place: &Place<'_>) -> Result<(), TestError> {
    let mut wire = match case.port {
        Port::Postgres => Wire::open(place.target.loopback()?)?,
        Port::Session => Wire::log_in(place.target)?,
        Port::Avatica => Wire::open(place.http[0])?,
        Port::Console => Wire::open(place.http[1])?,
    };
    wire.wait_at_most(SILENCE_MAX, if case.reads { SILENCE_MAX } else { WRITE_MAX })?;
    let (sender, seen) = mpsc::channel();
    if case.reads {
        let stream = wire.try_clone()?;
        std::thread::spawn(move || {
            // A conversation that has ended needs no news.
            let _ = sender.send(read(stream));
        });
    }
    for step in &case.steps {
        match step {
            Step::Send(bytes) => send(&mut wire, &with_token(case, bytes, place.token), case.reads)?,
            Step::Pause(milliseconds) => std::thread::sleep(Duration::from_millis(*milliseconds)),
            Step::Cancel => cancel(&wire, place)?,
        }
    }
    match case.end {
        End::Vanish => return Ok(()),
        End::HalfClose if matches!(case.port, Port::Avatica | Port::Console) => {
            if let Ok(seen) = seen.recv_timeout(HTTP_SILENCE) {
                return judged(seen);
            }
            wire.half_close()?;
        }
        End::HalfClose => wire.half_close()?,
        End::GoesOn => {
            let last = format!("SELECT '{}'", String::from_utf8_lossy(STILL_HERE));
            let end = [frame(b'f', b"\0"), frame(b'S', b""), query("ROLLBACK"), query(&last)].concat();
            send(&mut wire, &end, true)?;
        }
    }
    judge(&seen)
}

fn send(wire: &mut Wire, bytes: &[u8], must_be_taken: bool) -> Result<(), TestError> {
    match wire.send_if_open(bytes) {
        Err(_) if !must_be_taken => Ok(()),
        Err(error) => Err(TestError::Found(format!("the server does not read: {error}"))),
        Ok(()) => Ok(()),
    }
}

/// The bytes with the token of a login in the place of [`TOKEN`].
fn with_token(case: &Case, bytes: &[u8], token: &str) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let place = TOKEN.as_bytes();
    let mut at = 0;
    while let Some(found) = find(out.get(at..).unwrap_or_default(), place).filter(|_| case.port == Port::Console) {
        out.splice(at + found..at + found + place.len(), token.bytes());
        at += found + token.len();
    }
    out
}

fn cancel(wire: &Wire, place: &Place<'_>) -> Result<(), TestError> {
    let mut other = Wire::open(place.target.loopback()?)?;
    other.send_if_open(&untagged(&[&CANCEL.to_be_bytes(), wire.cancel_key()].concat()))?;
    Ok(())
}

fn judge(seen: &Receiver<Result<Seen, TestError>>) -> Result<(), TestError> {
    // The reader has its own limit.
    judged(seen.recv().map_err(|_| TestError::Found("the reader has ended".to_owned()))?)
}

fn judged(seen: Result<Seen, TestError>) -> Result<(), TestError> {
    match seen? {
        Seen::StillHere | Seen::End => Ok(()),
        Seen::Bug(text) => Err(TestError::Found(format!("an error that tells of a bug: {text}"))),
    }
}

/// Reads up to the end, the last statement's row, or a bug.
fn read(mut stream: TcpStream) -> Result<Seen, TestError> {
    let (mut kept, mut buffer) = (Vec::new(), [0; 16_384]);
    loop {
        let count = match stream.read(&mut buffer) {
            Ok(0) => return Ok(Seen::End),
            Ok(count) => count,
            Err(error) if is_end(&error) => return Ok(Seen::End),
            Err(error) => return Err(TestError::Found(format!("the server is silent: {error}"))),
        };
        kept.extend_from_slice(buffer.get(..count).unwrap_or_default());
        if let Some(at) = find(&kept, BUG) {
            let around = kept.get(at.saturating_sub(LOOKED_FOR_MAX)..).unwrap_or_default();
            return Ok(Seen::Bug(around.get(..500.min(around.len())).unwrap_or_default().escape_ascii().to_string()));
        }
        if find(&kept, STILL_HERE).is_some() {
            return Ok(Seen::StillHere);
        }
        let passed = kept.len().saturating_sub(LOOKED_FOR_MAX);
        kept.drain(..passed);
    }
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}
