//! Bytes that are not what the protocol says.

/// Why bytes are not a frame, a message or a cell, or why none can be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// A frame is longer than the reader takes.
    #[error("a frame of {frame_bytes} bytes is longer than the limit of {frame_bytes_max}{}", other_protocol(*frame_bytes))]
    FrameTooLarge {
        /// The length that the frame says.
        frame_bytes: u64,
        /// The limit of the reader.
        frame_bytes_max: u64,
    },
    /// A frame ends before its parts do.
    #[error("the frame ends inside its {part}")]
    Truncated {
        /// The part: `header`, `message`, `cell block`.
        part: &'static str,
    },
    /// A frame goes on after its parts.
    #[error("{surplus_bytes} bytes follow the parts of the frame")]
    Surplus {
        /// The number of bytes that belong to no part.
        surplus_bytes: usize,
    },
    /// A message is not protobuf of its type.
    #[error("a {message} can't be decoded: {source}")]
    Message {
        /// The type of the message.
        message: &'static str,
        /// What the decoder says.
        source: prost::DecodeError,
    },
    /// A connection begins with other bytes than those of HBase.
    #[error("the connection does not begin with HBase's preamble")]
    Preamble,
    /// A connection asks for an authentication other than SIMPLE.
    #[error("the connection asks for the authentication {auth_method}, not for SIMPLE (80)")]
    Authentication {
        /// The byte of the method.
        auth_method: u8,
    },
    /// A cell's lengths do not fit each other or the bytes that are there.
    #[error("the lengths of a cell do not fit its {cell_bytes} bytes")]
    Cell {
        /// The number of bytes that the cell has, or could have.
        cell_bytes: usize,
    },
    /// A message counts more cells than the cell block has.
    #[error("the message counts {cells_missing} cells more than its cell block has")]
    MissingCells {
        /// The number of cells that are missing.
        cells_missing: u64,
    },
    /// A row key is empty or longer than HBase takes.
    #[error("a row key has {row_bytes} bytes; 1 to 32767 are allowed")]
    RowLength {
        /// The number of bytes.
        row_bytes: usize,
    },
    /// A family's name is longer than HBase takes.
    #[error("the name of a column family has {family_bytes} bytes; 0 to 127 are allowed")]
    FamilyLength {
        /// The number of bytes.
        family_bytes: usize,
    },
    /// A cell is longer than its lengths can say.
    #[error("a cell of {cell_bytes} bytes is longer than 2 GiB")]
    CellLength {
        /// The number of bytes.
        cell_bytes: usize,
    },
}

/// What stands there instead of a length if the server speaks another protocol.
fn other_protocol(frame_bytes: u64) -> &'static str {
    match u32::try_from(frame_bytes).map(u32::to_be_bytes) {
        Ok([b'H', b'T', b'T', b'P']) => {
            ": the server speaks HTTP, so this is the port of a web page, not that of calls"
        }
        Ok([0x15, 3, ..]) => ": the server speaks TLS, which this client does not",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_protocols_are_named() {
        let text = |first: &[u8; 4]| {
            let frame_bytes = u64::from(u32::from_be_bytes(*first));
            WireError::FrameTooLarge { frame_bytes, frame_bytes_max: 1 << 28 }.to_string()
        };
        assert!(text(b"HTTP").ends_with("the port of a web page, not that of calls"));
        assert!(text(b"\x15\x03\x03\0").contains("TLS"));
        assert!(text(b"\x7f\xff\xff\xff").ends_with("268435456"));
    }
}
