//! Reads Arrow IPC files and streams.
//!
//! A file is a stream between a signature and a footer, so both forms are read from beginning to end, also through pipes and compression:
//!
//! ```text
//! file:    ARROW1 0 0 .. | stream | footer | its length | ARROW1
//! stream:  (continuation | length | metadata | body) ..  (continuation | 0)
//! ```

use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary};
use arrow_ipc::{Message, MessageHeader, MetadataVersion, root_as_message};

use super::{BatchError, BatchReader, guarded};

const SIGNATURE: &[u8] = b"ARROW1";
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Most words of four zeros after the signature: no alignment is larger than 4 KB.
const PADDING_WORDS_MAX: usize = 1024;
/// Most bytes of the metadata of a message.
const METADATA_BYTES_MAX: usize = 64 << 20;
/// Most bytes of a batch, also after its buffers are decompressed: the offsets of columns have no room for more.
const BATCH_BYTES_MAX: u64 = 2 << 30;
/// Most rows of a batch.
const ROWS_MAX: i64 = i32::MAX as i64;

/// Reads the batches of a stream or a file.
pub(crate) struct IpcReader<R> {
    input: R,
    schema: SchemaRef,
    version: MetadataVersion,
    dictionaries: HashMap<i64, ArrayRef>,
    projection: Option<Vec<usize>>,
    is_file: bool,
    bytes: u64,
}

impl<R: Read> IpcReader<R> {
    /// Reads the schema.
    ///
    /// # Errors
    /// The input is not Arrow IPC, or cannot be read.
    pub(crate) fn open(mut input: R) -> Result<Self, BatchError> {
        let mut begin = [0; 4];
        let read = read_up_to(&mut input, &mut begin)?;
        let is_file = SIGNATURE.starts_with(&begin);
        if is_file {
            let mut rest = [0; 4];
            read_up_to(&mut input, &mut rest)?;
            if !rest.starts_with(b"W1") {
                return Err(BatchError::damaged("it does not begin as Arrow IPC does"));
            }
        }
        let mut reader = Self {
            input,
            schema: SchemaRef::new(arrow::datatypes::Schema::empty()),
            version: MetadataVersion::V5,
            dictionaries: HashMap::new(),
            projection: None,
            is_file,
            bytes: read as u64,
        };
        let first = match is_file {
            true => reader.behind_padding()?,
            false if read == begin.len() => begin,
            false => return Err(BatchError::damaged("it is too short for Arrow IPC")),
        };
        let metadata = reader.metadata(Some(first))?.ok_or_else(|| BatchError::damaged("it has no schema"))?;
        let message = parsed(&metadata)?;
        let schema = message.header_as_schema().ok_or_else(|| BatchError::damaged("its first part is no schema"))?;
        reader.version = message.version();
        reader.body(&message)?;
        let schema = guarded(|| Ok::<_, BatchError>(arrow_ipc::convert::fb_to_schema(schema)))?;
        reader.schema = Arc::new(schema);
        Ok(reader)
    }

    /// The first word after the signature of a file, which writers pad to a multiple of their alignment.
    fn behind_padding(&mut self) -> Result<[u8; 4], BatchError> {
        for _ in 0..PADDING_WORDS_MAX {
            let word = self.word()?.ok_or_else(ends_early)?;
            if word != [0; 4] {
                return Ok(word);
            }
        }
        Err(BatchError::damaged("it has no schema"))
    }

    /// The metadata of the next message; `None` at the end. `first` are the first four bytes, if they are already read.
    fn metadata(&mut self, first: Option<[u8; 4]>) -> Result<Option<Vec<u8>>, BatchError> {
        let word = match first {
            Some(word) => Some(word),
            None => self.word()?,
        };
        let length = match word {
            // Old writers put no continuation marker before a length.
            Some(CONTINUATION) => self.word()?.ok_or_else(ends_early)?,
            Some(word) => word,
            // A stream may end after any message.
            None if self.is_file => return Err(ends_early()),
            None => return Ok(None),
        };
        let length = u32::from_le_bytes(length) as usize;
        if length == 0 {
            self.check_end()?;
            return Ok(None);
        }
        if length > METADATA_BYTES_MAX {
            return Err(BatchError::Damaged(format!("the metadata of a batch would have {length} bytes")));
        }
        self.read_exactly(length as u64).map(Some)
    }

    /// The body that follows the metadata of a message.
    fn body(&mut self, message: &Message<'_>) -> Result<Buffer, BatchError> {
        let length = u64::try_from(message.bodyLength()).ok().filter(|length| *length <= BATCH_BYTES_MAX);
        let wrong = || BatchError::Damaged(format!("a batch would have {} bytes", message.bodyLength()));
        self.read_exactly(length.ok_or_else(wrong)?).map(Buffer::from_vec)
    }

    /// Reads `length` bytes. Memory grows with the bytes that are read, not with the length that the file states.
    fn read_exactly(&mut self, length: u64) -> Result<Vec<u8>, BatchError> {
        let mut bytes = Vec::new();
        let read = self.input.by_ref().take(length).read_to_end(&mut bytes)? as u64;
        self.bytes += read;
        if read == length { Ok(bytes) } else { Err(ends_early()) }
    }

    /// Four bytes; `None` at the end of the input.
    fn word(&mut self) -> Result<Option<[u8; 4]>, BatchError> {
        let mut word = [0; 4];
        let read = read_up_to(&mut self.input, &mut word)?;
        self.bytes += read as u64;
        match read {
            0 => Ok(None),
            4 => Ok(Some(word)),
            _ => Err(ends_early()),
        }
    }

    /// Checks that a file ends with its signature, so that a file that is cut off after a batch is an error.
    fn check_end(&mut self) -> Result<(), BatchError> {
        if !self.is_file {
            return Ok(());
        }
        let mut footer = Vec::new();
        let limit = METADATA_BYTES_MAX as u64;
        self.bytes += self.input.by_ref().take(limit).read_to_end(&mut footer)? as u64;
        if footer.ends_with(SIGNATURE) || footer.len() as u64 == limit { Ok(()) } else { Err(ends_early()) }
    }

    fn batch(&mut self, message: &Message<'_>, body: &Buffer) -> Result<RecordBatch, BatchError> {
        let batch = message.header_as_record_batch().ok_or_else(|| BatchError::damaged("a batch without columns"))?;
        check(&batch, body)?;
        let decoder = || {
            RecordBatchDecoder::try_new(body, batch, self.schema.clone(), &self.dictionaries, &self.version)?
                .with_projection(self.projection.as_deref())
                .read_record_batch()
        };
        guarded(decoder)
    }

    fn dictionary(&mut self, message: &Message<'_>, body: &Buffer) -> Result<(), BatchError> {
        let without = || BatchError::damaged("a dictionary without values");
        let dictionary = message.header_as_dictionary_batch().ok_or_else(without)?;
        check(&dictionary.data().ok_or_else(without)?, body)?;
        guarded(|| read_dictionary(body, dictionary, &self.schema, &mut self.dictionaries, &self.version))
    }
}

impl<R: Read> BatchReader for IpcReader<R> {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn project(&mut self, columns: &[usize]) {
        self.projection = Some(columns.to_vec());
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, BatchError> {
        while let Some(metadata) = self.metadata(None)? {
            let message = parsed(&metadata)?;
            let body = self.body(&message)?;
            match message.header_type() {
                MessageHeader::RecordBatch => return self.batch(&message, &body).map(Some),
                MessageHeader::DictionaryBatch => self.dictionary(&message, &body)?,
                MessageHeader::Schema => return Err(BatchError::damaged("it has two schemas")),
                _ => {}
            }
        }
        Ok(None)
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}

fn parsed(metadata: &[u8]) -> Result<Message<'_>, BatchError> {
    root_as_message(metadata).map_err(|error| BatchError::Damaged(format!("the metadata of a batch: {error}")))
}

/// Checks what the decoder assumes: that the buffers are inside the body, and that their decompressed sizes are within the limits.
fn check(batch: &arrow_ipc::RecordBatch<'_>, body: &[u8]) -> Result<(), BatchError> {
    let nodes = batch.nodes().into_iter().flatten().map(|node| (node.length(), node.null_count()));
    for (rows, nulls) in nodes.chain([(batch.length(), 0)]) {
        if !(0..=ROWS_MAX).contains(&rows) || !(0..=rows).contains(&nulls) {
            return Err(BatchError::Damaged(format!("a column would have {rows} rows and {nulls} NULLs")));
        }
    }
    let is_compressed = batch.compression().is_some();
    let mut decompressed = 0u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let range = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let bytes = range.and_then(|(offset, length)| body.get(offset..offset.checked_add(length)?));
        let bytes = bytes.ok_or_else(|| BatchError::damaged("a column lies outside of its batch"))?;
        if is_compressed && !bytes.is_empty() {
            let length = bytes.first_chunk().map(|length| i64::from_le_bytes(*length));
            // -1 means that this buffer is not compressed.
            let length = length.and_then(|length| u64::try_from(length.max(0)).ok().filter(|_| length >= -1));
            let length = length.ok_or_else(|| BatchError::damaged("a compressed column without its length"))?;
            decompressed = decompressed.saturating_add(length);
        }
    }
    if decompressed > BATCH_BYTES_MAX {
        return Err(BatchError::Damaged(format!("a batch would have {decompressed} bytes")));
    }
    Ok(())
}

fn ends_early() -> BatchError {
    BatchError::damaged("it ends in the middle")
}

/// Fills the buffer as far as the input has bytes.
fn read_up_to(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match input.read(rest) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
