//! The messages of clients after the start.
//!
//! pgwire's decoder of these messages panics on a truncated one, so they are decoded here; messages of the server are pgwire's.

use bytes::Bytes;

use super::cursor::Cursor;
use super::malformed::MalformedMessage;

/// A message of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frontend {
    /// Statements of the simple protocol.
    Query(String),
    /// Prepares a statement.
    Parse {
        /// The statement's name; empty for the unnamed one.
        name: String,
        /// Its text.
        text: String,
        /// The OIDs of its parameters' types, as far as the client states them; 0 leaves a type open.
        types: Vec<u32>,
    },
    /// Makes a portal of a prepared statement and values for its parameters.
    Bind(Bind),
    /// Describes a statement or a portal.
    Describe(Target),
    /// Closes a statement or a portal.
    Close(Target),
    /// Runs a portal.
    Execute {
        /// The portal's name.
        portal: String,
        /// The most rows; 0 is no limit.
        rows_max: u32,
    },
    /// Sends what the server has for the client.
    Flush,
    /// Ends a series of messages of the extended protocol.
    Sync,
    /// Ends the session.
    Terminate,
    /// Bytes of a COPY.
    CopyData(Bytes),
    /// The end of the bytes of a COPY.
    CopyDone,
    /// The client gives up a COPY, for this reason.
    CopyFail(String),
    /// An answer of the login.
    Password(Bytes),
}

/// The length of a value that is NULL.
const NULL_LENGTH: i32 = -1;

/// What Bind has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bind {
    /// The name of the new portal; empty for the unnamed one.
    pub(crate) portal: String,
    /// The statement's name.
    pub(crate) statement: String,
    /// The formats of the values: none, one for all, or one each.
    pub(crate) formats: Vec<i16>,
    /// The values; `None` is NULL.
    pub(crate) values: Vec<Option<Bytes>>,
    /// The formats of the result's columns: none, one for all, or one each.
    pub(crate) result_formats: Vec<i16>,
}

/// What Describe and Close name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A prepared statement.
    Statement(String),
    /// A portal.
    Portal(String),
}

impl Frontend {
    /// Decodes the body of a message of this type.
    ///
    /// # Errors
    /// [`MalformedMessage`]. The bytes of the message are consumed, so the next one can be read.
    pub(crate) fn decode(kind: u8, body: Bytes) -> Result<Self, MalformedMessage> {
        let mut body = Cursor::new(body);
        let message = match kind {
            b'Q' => Self::Query(body.text()?),
            b'P' => {
                let (name, text) = (body.text()?, body.text()?);
                Self::Parse { name, text, types: body.list(4, Cursor::u32)? }
            }
            b'B' => {
                let (portal, statement) = (body.text()?, body.text()?);
                let formats = body.list(2, Cursor::i16)?;
                let values = body.list(4, |body| match body.i32()? {
                    NULL_LENGTH => Ok(None),
                    length => {
                        let length =
                            usize::try_from(length).map_err(|_| MalformedMessage::Length(i64::from(length)))?;
                        body.bytes(length).map(Some)
                    }
                })?;
                Self::Bind(Bind { portal, statement, formats, values, result_formats: body.list(2, Cursor::i16)? })
            }
            b'D' => Self::Describe(target(&mut body)?),
            b'C' => Self::Close(target(&mut body)?),
            b'E' => Self::Execute { portal: body.text()?, rows_max: body.u32()? },
            b'H' => Self::Flush,
            b'S' => Self::Sync,
            b'X' => Self::Terminate,
            b'd' => Self::CopyData(body.rest()),
            b'c' => Self::CopyDone,
            b'f' => Self::CopyFail(body.text()?),
            b'p' => Self::Password(body.rest()),
            other => return Err(MalformedMessage::UnknownType(other)),
        };
        body.end()?;
        Ok(message)
    }
}

fn target(body: &mut Cursor) -> Result<Target, MalformedMessage> {
    match body.u8()? {
        b'S' => Ok(Target::Statement(body.text()?)),
        b'P' => Ok(Target::Portal(body.text()?)),
        other => Err(MalformedMessage::Target(other)),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::{Bind, Frontend, MalformedMessage, Target};

    fn decode(kind: u8, body: &[u8]) -> Result<Frontend, MalformedMessage> {
        Frontend::decode(kind, Bytes::copy_from_slice(body))
    }

    #[test]
    fn messages_have_the_fields_of_the_protocol() {
        assert_eq!(decode(b'Q', b"SELECT 1\0"), Ok(Frontend::Query("SELECT 1".into())));
        let parse = Frontend::Parse { name: "s".into(), text: "q".into(), types: vec![20, 0] };
        assert_eq!(decode(b'P', b"s\0q\0\0\x02\0\0\0\x14\0\0\0\0"), Ok(parse));
        let bind = Bind {
            portal: String::new(),
            statement: "s".into(),
            formats: vec![1],
            values: vec![None, Some(Bytes::from_static(b"ab")), Some(Bytes::new())],
            result_formats: vec![0, 1],
        };
        let body = b"\0s\0\0\x01\0\x01\0\x03\xff\xff\xff\xff\0\0\0\x02ab\0\0\0\0\0\x02\0\0\0\x01";
        assert_eq!(decode(b'B', body), Ok(Frontend::Bind(bind)));
        assert_eq!(decode(b'D', b"Sx\0"), Ok(Frontend::Describe(Target::Statement("x".into()))));
        assert_eq!(decode(b'C', b"P\0"), Ok(Frontend::Close(Target::Portal(String::new()))));
        assert_eq!(decode(b'E', b"p\0\0\0\0\x07"), Ok(Frontend::Execute { portal: "p".into(), rows_max: 7 }));
    }

    #[test]
    fn malformed_messages_are_told_apart() {
        assert_eq!(decode(b'Q', b"SELECT"), Err(MalformedMessage::Truncated));
        assert_eq!(decode(b'Q', b"a\0b"), Err(MalformedMessage::TooMuch));
        assert_eq!(decode(b'Q', b"\xff\0"), Err(MalformedMessage::NotUtf8));
        assert_eq!(decode(b'P', b"\0\0\xff\xff"), Err(MalformedMessage::Truncated));
        assert_eq!(decode(b'B', b"\0\0\0\0\0\x01\x7f\xff\xff\xff"), Err(MalformedMessage::Truncated));
        assert_eq!(decode(b'B', b"\0\0\0\0\0\x01\xff\xff\xff\xfe\0\0"), Err(MalformedMessage::Length(-2)));
        assert_eq!(decode(b'D', b"Q\0"), Err(MalformedMessage::Target(b'Q')));
        assert_eq!(decode(b'F', b""), Err(MalformedMessage::UnknownType(b'F')));
        assert_eq!(decode(b'S', b"x"), Err(MalformedMessage::TooMuch));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_an_error(kind in any::<u8>(), body in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = decode(kind, &body);
        }

        #[test]
        fn a_part_of_a_message_is_an_error(length in 0..39_usize) {
            let body = b"\0s\0\0\x01\0\x01\0\x03\xff\xff\xff\xff\0\0\0\x02ab\0\0\0\0\0\x02\0\0\0\x01";
            prop_assume!(length < body.len());
            prop_assert_eq!(decode(b'B', &body[..length]), Err(MalformedMessage::Truncated));
        }
    }
}
