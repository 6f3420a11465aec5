//! The first packets of a client.

use bytes::Bytes;

use super::cursor::Cursor;
use super::malformed::MalformedMessage;

/// The longest first packet, as in PostgreSQL.
pub(super) const STARTUP_BYTES_MAX: usize = 10_000;

/// A packet before the login. It has no type byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StartupPacket {
    /// The client wants TLS.
    Tls,
    /// The client wants GSSAPI.
    Gss,
    /// Cancels the statement of another connection.
    Cancel {
        /// The number of its session.
        process: u32,
        /// The session's secret.
        secret: Bytes,
    },
    /// Begins a session.
    Start(StartupParameters),
}

/// The parameters of a session's start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StartupParameters {
    /// The minor version of protocol 3 that the client wants.
    pub(crate) minor: u16,
    /// Names and values, in their order.
    pub(crate) values: Vec<(String, String)>,
}

impl StartupParameters {
    /// The value of a parameter.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl StartupPacket {
    /// Decodes the body of a packet, without its length.
    ///
    /// # Errors
    /// [`MalformedMessage`]; [`MalformedMessage::Protocol`] for another major version than 3.
    pub(super) fn decode(body: Bytes) -> Result<Self, MalformedMessage> {
        let mut body = Cursor::new(body);
        match (body.u16()?, body.u16()?) {
            (1234, 5679) => body.end().map(|()| Self::Tls),
            (1234, 5680) => body.end().map(|()| Self::Gss),
            (1234, 5678) => Ok(Self::Cancel { process: body.u32()?, secret: body.rest() }),
            (3, minor) => {
                let mut values = Vec::new();
                loop {
                    let name = body.text()?;
                    if name.is_empty() {
                        break;
                    }
                    values.push((name, body.text()?));
                }
                body.end()?;
                Ok(Self::Start(StartupParameters { minor, values }))
            }
            (major, minor) => Err(MalformedMessage::Protocol { major, minor }),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::{MalformedMessage, StartupPacket};

    fn decode(body: &[u8]) -> Result<StartupPacket, MalformedMessage> {
        StartupPacket::decode(Bytes::copy_from_slice(body))
    }

    #[test]
    fn first_packets_are_told_apart() {
        assert_eq!(decode(&80_877_103_u32.to_be_bytes()), Ok(StartupPacket::Tls));
        assert_eq!(decode(&80_877_104_u32.to_be_bytes()), Ok(StartupPacket::Gss));
        let cancel = StartupPacket::Cancel { process: 7, secret: Bytes::from_static(b"abcd") };
        assert_eq!(decode(b"\x04\xd2\x16\x2e\0\0\0\x07abcd"), Ok(cancel));
        let Ok(StartupPacket::Start(start)) = decode(b"\0\x03\0\x02user\0ann\0database\0\0\0") else { panic!() };
        assert_eq!((start.minor, start.get("user"), start.get("database")), (2, Some("ann"), Some("")));
        assert_eq!(decode(b"\0\x02\0\0"), Err(MalformedMessage::Protocol { major: 2, minor: 0 }));
        assert_eq!(decode(b"\0\x03\0\0user\0ann\0"), Err(MalformedMessage::Truncated));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_packet_or_an_error(body in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = decode(&body);
        }
    }
}
