//! Why bytes are no message.

/// Why bytes are no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MalformedMessage {
    /// The message ends too early.
    #[error("the message ends before its last field")]
    Truncated,
    /// The message has more bytes than its fields.
    #[error("the message has bytes after its last field")]
    TooMuch,
    /// A text is not UTF-8.
    #[error("invalid byte sequence for encoding \"UTF8\"")]
    NotUtf8,
    /// The type is unknown.
    #[error("invalid frontend message type {0}")]
    UnknownType(u8),
    /// The length cannot be.
    #[error("invalid message length {0}")]
    Length(i64),
    /// The message is longer than the limit.
    #[error("the message has {length} bytes, and the limit is {max}")]
    TooLong {
        /// Its length in bytes.
        length: usize,
        /// The limit.
        max: usize,
    },
    /// A target of Describe or Close that is neither a statement nor a portal.
    #[error("invalid target type {0} of Describe or Close")]
    Target(u8),
    /// The first packet is of no known protocol.
    #[error("unsupported frontend protocol {major}.{minor}: the server supports 3.0 to 3.2")]
    Protocol {
        /// The major version.
        major: u16,
        /// The minor version.
        minor: u16,
    },
}

impl MalformedMessage {
    /// Five characters.
    pub(crate) fn sqlstate(&self) -> &'static str {
        match self {
            Self::NotUtf8 => "22021",
            Self::TooLong { .. } => "54000",
            Self::Protocol { .. } => "0A000",
            _ => "08P01",
        }
    }
}
