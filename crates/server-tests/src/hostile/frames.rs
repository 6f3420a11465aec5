//! Wrong lengths, garbage, and messages that break off, before and after the login.

use std::net::SocketAddr;

use crate::error::ensure;
use crate::random::Random;
use crate::wire::{Wire, frame, frame_of_length, query, startup, startup_of_version, untagged};
use crate::{Target, TestError};

/// Connections of one kind of attack.
const TRIES: u64 = 300;
/// Bytes of one try.
const BYTES_MAX: i64 = 2000;

/// Tags of messages that clients send after the login.
const KNOWN_TAGS: &[u8] = b"QPBEDCdcfSHFp";

/// The codes of requests in the place of a version.
const CANCEL: u32 = 80_877_102;
const TLS: u32 = 80_877_103;
const GSSAPI: u32 = 80_877_104;

pub fn garbage_before_the_login(target: &Target) -> Result<(), TestError> {
    garbage(target.loopback()?)
}

/// Bytes of no protocol: each connection ends.
pub fn garbage(address: SocketAddr) -> Result<(), TestError> {
    let mut random = Random::new(1);
    for _ in 0..TRIES {
        let mut wire = Wire::open(address)?;
        wire.send_if_open(&random.bytes(BYTES_MAX))?;
        wire.half_close()?;
        wire.read_to_end()?;
    }
    for text in [
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0",
        "SSH-2.0-OpenSSH\r\n",
        "PROXY TCP4 1 2 3 4\r\n",
    ] {
        let mut wire = Wire::open(address)?;
        wire.send_if_open(text.as_bytes())?;
        wire.half_close()?;
        wire.read_to_end()?;
    }
    Ok(())
}

pub fn startup_cut_off(target: &Target) -> Result<(), TestError> {
    let startup = startup(target);
    for end in 0..startup.len() {
        let mut wire = Wire::open(target.loopback()?)?;
        wire.send(startup.get(..end).unwrap_or_default())?;
        wire.half_close()?;
        wire.read_to_end()?;
    }
    Ok(())
}

/// The connection ends at once: the server does not wait for 2 GB.
pub fn lengths_before_the_login(target: &Target) -> Result<(), TestError> {
    for length in [0, 1, 3, 4, 7, 100_000, 1 << 30, (1 << 31) - 1, 1 << 31, u32::MAX - 1, u32::MAX] {
        for body in [&[][..], &(3_u32 << 16).to_be_bytes(), &TLS.to_be_bytes()] {
            let mut wire = Wire::open(target.loopback()?)?;
            wire.send_if_open(&[&u32::to_be_bytes(length), body].concat())?;
            wire.read_to_end().map_err(|error| TestError::Found(format!("length {length}: {}", error.line())))?;
        }
    }
    Ok(())
}

/// Versions that are not there are answered by an error or by the one that is; none hangs.
pub fn versions(target: &Target) -> Result<(), TestError> {
    for version in [0, 1, 1 << 16, 2 << 16, (3 << 16) + 2, (3 << 16) + 9999, 4 << 16, u32::MAX] {
        let mut wire = Wire::open(target.loopback()?)?;
        wire.send(&startup_of_version(target, version))?;
        wire.half_close()?;
        let answer = wire.read_to_end()?;
        let tag = answer.first().copied();
        ensure(matches!(tag, None | Some(b'E' | b'R' | b'v')), || {
            format!("version {version}: the answer begins with {tag:?}")
        })?;
    }
    Ok(())
}

/// Requests for encryption again and again, and bytes behind one, which must not be taken for encrypted ones.
pub fn requests_for_encryption(target: &Target) -> Result<(), TestError> {
    for code in [TLS, GSSAPI] {
        let mut wire = Wire::open(target.loopback()?)?;
        wire.send_if_open(&untagged(&code.to_be_bytes()).repeat(1000))?;
        wire.half_close()?;
        wire.read_to_end()?;
        let mut wire = Wire::open(target.loopback()?)?;
        wire.send(&untagged(&code.to_be_bytes()))?;
        wire.send_if_open(&query("SELECT 1"))?;
        wire.half_close()?;
        let answer = wire.read_to_end()?;
        ensure(!answer.contains(&b'Z'), || "a statement was taken before the login".to_owned())?;
    }
    Ok(())
}

/// Cancellations with numbers that are guessed do nothing.
pub fn wrong_cancellations(target: &Target) -> Result<(), TestError> {
    let mut random = Random::new(2);
    for number in 0..TRIES {
        let key = random.bytes(64);
        let process = u32::try_from(number).unwrap_or_default().to_be_bytes();
        let mut wire = Wire::open(target.loopback()?)?;
        wire.send_if_open(&untagged(&[&CANCEL.to_be_bytes(), process.as_slice(), &key].concat()))?;
        wire.half_close()?;
        wire.read_to_end()?;
    }
    Ok(())
}

/// Nobody runs a statement before the login, in whatever messages it comes.
pub fn statements_before_the_login(target: &Target) -> Result<(), TestError> {
    let parse = [
        frame(b'P', b"\0SELECT 1\0\0\0"),
        frame(b'B', b"\0\0\0\0\0\0\0\0"),
        frame(b'E', b"\0\0\0\0\0"),
        frame(b'S', b""),
    ];
    for messages in [query("SELECT 1"), parse.concat(), frame(b'F', &[0; 12]), frame(b'X', b""), frame(b'd', b"x")] {
        let mut wire = Wire::open(target.loopback()?)?;
        wire.send(&startup(target))?;
        wire.send_if_open(&messages)?;
        wire.half_close()?;
        while let Some((tag, _)) = wire.message()? {
            ensure(!matches!(tag, b'Z' | b'T' | b'D' | b'C' | b'1'), || format!("an answer {tag} before the login"))?;
        }
    }
    Ok(())
}

/// Lengths that no message has: the connection ends, and the server does not wait for 2 GB.
pub fn lengths_after_the_login(target: &Target) -> Result<(), TestError> {
    for tag in *b"QPBEDCdfSHFpz\0\xff" {
        for length in [0, 3, (1 << 31) - 1, 1 << 31, u32::MAX] {
            let mut wire = Wire::log_in(target)?;
            wire.send_if_open(&frame_of_length(tag, length, b"SELECT 1\0\0"))?;
            wire.read_to_end()
                .map_err(|error| TestError::Found(format!("tag {tag}, length {length}: {}", error.line())))?;
        }
    }
    Ok(())
}

/// Messages of any tag with any body: the server ends the connection, or goes on with the next statement.
pub fn garbage_after_the_login(target: &Target) -> Result<(), TestError> {
    let mut random = Random::new(3);
    let mut wire = Wire::log_in(target)?;
    for number in 0..TRIES {
        let tag =
            if number % 2 == 0 { KNOWN_TAGS[number as usize / 2 % KNOWN_TAGS.len()] } else { random.next() as u8 };
        wire.send_if_open(&frame(tag, &random.bytes(BYTES_MAX)))?;
        if !goes_on(&mut wire).map_err(|error| TestError::Found(format!("tag {tag}: {}", error.line())))? {
            wire = Wire::log_in(target)?;
        }
    }
    Ok(())
}

/// Whether a session takes a next statement. `false`: the connection has ended.
pub fn goes_on(wire: &mut Wire) -> Result<bool, TestError> {
    // A Sync ends what went wrong before; its ReadyForQuery comes before the one of the statement.
    wire.send_if_open(&[frame(b'S', b""), query("SELECT 'still here'")].concat())?;
    let Some(_) = wire.read_up_to(|(tag, body)| *tag == b'D' && body.ends_with(b"still here"))? else {
        return Ok(false);
    };
    Ok(wire.read_up_to(|(tag, _)| *tag == b'Z')?.is_some())
}

/// Messages that break off at each byte.
pub fn messages_cut_off(target: &Target) -> Result<(), TestError> {
    let messages = [
        frame(b'P', b"s\0SELECT size FROM hostile_row WHERE id = $1\0\0\x01\0\0\0\x14"),
        frame(b'B', b"\0s\0\0\x01\0\x01\0\x01\0\0\0\x08\0\0\0\0\0\0\0\x07\0\x01\0\x01"),
        frame(b'D', b"P\0"),
        frame(b'E', b"\0\0\0\0\0"),
        frame(b'S', b""),
        query("SELECT 1"),
    ]
    .concat();
    for end in 0..messages.len() {
        let mut wire = Wire::log_in(target)?;
        wire.send(messages.get(..end).unwrap_or_default())?;
        wire.half_close()?;
        wire.read_to_end().map_err(|error| TestError::Found(format!("after byte {end}: {}", error.line())))?;
    }
    Ok(())
}
