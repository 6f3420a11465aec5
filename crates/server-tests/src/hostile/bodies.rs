//! Messages of the right length whose fields are wrong.

use crate::error::ensure;
use crate::hostile::frames::goes_on;
use crate::wire::{Wire, frame, query};
use crate::{Target, TestError};

/// A Parse of a statement with one parameter and two columns, under the name `s`.
fn parse() -> Vec<u8> {
    frame(b'P', b"s\0SELECT id, size FROM hostile_row WHERE id = $1\0\0\0")
}

/// A Bind of `s`, from its format codes on.
fn bind(rest: &[u8]) -> Vec<u8> {
    [parse(), frame(b'B', &[b"\0s\0", rest].concat())].concat()
}

/// A name, and messages that PostgreSQL answers by an error, too.
fn wrong() -> Vec<(&'static str, Vec<u8>)> {
    let value = b"\0\0\0\x017";
    let text = |body: &[u8]| frame(b'P', &[b"t\0", body].concat());
    vec![
        ("Query without its end", frame(b'Q', b"SELECT 1")),
        ("an empty Query", frame(b'Q', b"")),
        ("Query that is no UTF-8", frame(b'Q', b"SELECT '\xff\xfe'\0")),
        ("Parse without its end", frame(b'P', b"t\0SELECT 1")),
        ("Parse that is no UTF-8", text(b"SELECT '\xc3\x28'\0\0\0")),
        ("Parse with types that are missing", text(b"SELECT 1\0\xff\xff")),
        ("Parse with a type that is not there", text(b"SELECT $1\0\0\x01\x7f\xff\xff\xff")),
        ("Parse with bytes behind it", text(b"SELECT 1\0\0\0more")),
        ("Parse of two statements", text(b"SELECT 1; SELECT 2\0\0\0")),
        (
            "Bind with three formats for one parameter",
            bind(&[b"\0\x03\0\0\0\0\0\0\0\x01", value.as_slice(), b"\0\0"].concat()),
        ),
        ("Bind with a format that is not there", bind(&[b"\0\x01\0\x07\0\x01", value.as_slice(), b"\0\0"].concat())),
        ("Bind with 65,535 formats", bind(b"\xff\xff")),
        ("Bind with 65,535 parameters", bind(b"\0\0\xff\xff")),
        ("Bind with no parameter", bind(b"\0\0\0\0\0\0")),
        ("Bind with two parameters", bind(&[b"\0\0\0\x02", value.as_slice(), value, b"\0\0"].concat())),
        ("Bind with a value of length -2", bind(b"\0\0\0\x01\xff\xff\xff\xfe\0\0")),
        ("Bind with a value of 2 GB", bind(b"\0\0\0\x01\x7f\xff\xff\xff\0\0")),
        ("Bind with a value that is cut off", bind(b"\0\0\0\x01\0\0\0\x087")),
        (
            "Bind with three formats for two columns",
            bind(&[b"\0\0\0\x01", value.as_slice(), b"\0\x03\0\0\0\0\0\0"].concat()),
        ),
        (
            "Bind with a column's format that is not there",
            [bind(&[b"\0\0\0\x01", value.as_slice(), b"\0\x01\0\x09"].concat()), frame(b'E', b"\0\0\0\0\0")].concat(),
        ),
        ("Bind with a binary value of the wrong length", bind(b"\0\x01\0\x01\0\x01\0\0\0\x03abc\0\0")),
        ("Bind of a statement that is not there", frame(b'B', b"\0nothing\0\0\0\0\0\0\0")),
        ("Bind without its end", frame(b'B', b"portal")),
        ("Describe of a kind that is not there", frame(b'D', b"Qs\0")),
        ("Describe of a portal that is not there", frame(b'D', b"Pnothing\0")),
        ("Describe without its end", frame(b'D', b"S")),
        ("an empty Describe", frame(b'D', b"")),
        ("Close of a kind that is not there", frame(b'C', b"Qs\0")),
        ("Execute of a portal that is not there", frame(b'E', b"nothing\0\0\0\0\0")),
        ("Execute without its end", frame(b'E', b"\0\0\0")),
        ("a call of a function", frame(b'F', b"\0\0\0\x01\0\0\0\0\0\0")),
        ("a password after the login", frame(b'p', b"secret\0")),
    ]
}

/// The server answers each by an error, and goes on or ends the connection.
pub fn wrong_bodies(target: &Target) -> Result<(), TestError> {
    for (name, messages) in wrong() {
        let named = |error: TestError| TestError::Found(format!("{name}: {}", error.line()));
        let mut wire = Wire::log_in(target)?;
        wire.send_if_open(&[messages, frame(b'S', b"")].concat())?;
        let tags = wire.read_up_to(|(tag, _)| matches!(tag, b'E' | b'Z')).map_err(|error| named(error.into()))?;
        ensure(tags.as_ref().is_none_or(|tags| tags.last() == Some(&b'E')), || {
            format!("{name}: no error, but {tags:?}")
        })?;
        goes_on(&mut wire).map_err(named)?;
    }
    // What is right, though seldom: negative limits mean all rows, and fewer formats than columns is one for all.
    let mut wire = Wire::log_in(target)?;
    let right = [
        bind(b"\0\0\0\x01\0\0\0\x017\0\x01\0\x01"),
        frame(b'E', b"\0\xff\xff\xff\xff"),
        frame(b'H', b""),
        frame(b'S', b""),
    ];
    wire.send(&right.concat())?;
    let tags = wire.read_up_to(|(tag, _)| *tag == b'Z')?;
    ensure(tags.as_deref() == Some(b"12DCZ"), || format!("a right message got {tags:?}"))
}

/// Messages that do not belong into a COPY, and data that is none.
pub fn wrong_bodies_in_copy(target: &Target) -> Result<(), TestError> {
    let copy = query("COPY hostile_row (id, size) FROM STDIN");
    let binary = query("COPY hostile_row (id, size) FROM STDIN (FORMAT binary)");
    let header = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
    let data = |bytes: &[u8]| [frame(b'd', bytes), frame(b'c', b"")].concat();
    let wrong = [
        ("garbage as text", [copy.clone(), data(b"\xff\xfe\0\t\n")].concat()),
        ("a line without its columns", [copy.clone(), data(b"5000")].concat()),
        ("a Parse inside", [copy.clone(), frame(b'P', b"\0SELECT 1\0\0\0"), frame(b'f', b"left\0")].concat()),
        ("CopyFail without its end", [copy.clone(), frame(b'f', b"left")].concat()),
        ("garbage as binary", [binary.clone(), data(b"no signature at all")].concat()),
        ("an extension of 2 GB", [binary.clone(), data(b"PGCOPY\n\xff\r\n\0\0\0\0\0\x7f\xff\xff\xff")].concat()),
        ("a row of 65,535 columns", [binary.clone(), data(&[header.as_slice(), b"\x7f\xff"].concat())].concat()),
        ("a value of 2 GB", [binary.clone(), data(&[header.as_slice(), b"\0\x02\x7f\xff\xff\xff"].concat())].concat()),
        ("a value of length -2", [binary, data(&[header.as_slice(), b"\0\x02\xff\xff\xff\xfe"].concat())].concat()),
    ];
    for (name, messages) in wrong {
        let mut wire = Wire::log_in(target)?;
        wire.send_if_open(&messages)?;
        let tags = wire.read_up_to(|(tag, _)| matches!(tag, b'E' | b'C'))?;
        ensure(tags.as_ref().is_none_or(|tags| tags.last() == Some(&b'E')), || {
            format!("{name}: no error, but {tags:?}")
        })?;
        goes_on(&mut wire).map_err(|error| TestError::Found(format!("{name}: {}", error.line())))?;
    }
    let mut wire = Wire::log_in(target)?;
    wire.send(&[frame(b'd', b"5000\t1\n"), frame(b'c', b"")].concat())?;
    ensure(goes_on(&mut wire)?, || "data outside of a COPY ends the connection".to_owned())
}
