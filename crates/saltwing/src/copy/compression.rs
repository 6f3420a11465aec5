//! Compressed files of COPY: gzip and zstd, written and read as streams.

use std::io::{self, BufRead, BufReader, Write};

use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use saltwing_sql::statement::CopyCompression;

/// Bytes read at once.
pub(super) const BUFFER_BYTES: usize = 1 << 20;

/// The first bytes of compressed files.
const SIGNATURES: [(&[u8], CopyCompression); 2] =
    [(b"\x1f\x8b", CopyCompression::Gzip), (b"\x28\xb5\x2f\xfd", CopyCompression::Zstd)];

/// The compression that the ends of file names stand for.
const EXTENSIONS: [(&str, CopyCompression); 2] = [(".gz", CopyCompression::Gzip), (".zst", CopyCompression::Zstd)];

/// A file's name without the end that stands for a compression, and that compression.
pub(super) fn of_name(path: &str) -> (&str, CopyCompression) {
    let split = |(end, compression)| Some((path.strip_suffix(end)?, compression));
    EXTENSIONS.into_iter().find_map(split).unwrap_or((path, CopyCompression::None))
}

/// The compression of a file that begins with these bytes.
pub(super) fn of_bytes(begin: &[u8]) -> CopyCompression {
    let found = SIGNATURES.into_iter().find(|(signature, _)| begin.starts_with(signature));
    found.map_or(CopyCompression::None, |(_, compression)| compression)
}

/// What a file holds; it may be several compressed streams, one behind the other.
pub(super) fn decompressed<'r>(
    input: impl BufRead + 'r,
    compression: CopyCompression,
) -> io::Result<Box<dyn BufRead + 'r>> {
    Ok(match compression {
        CopyCompression::None => Box::new(input),
        CopyCompression::Gzip => Box::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(input))),
        CopyCompression::Zstd => Box::new(BufReader::with_capacity(BUFFER_BYTES, zstd::Decoder::with_buffer(input)?)),
        CopyCompression::Lz4 | CopyCompression::Snappy => return Err(inside()),
    })
}

/// The formats that have these compressions have them inside.
fn inside() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "a whole file is compressed by gzip or zstd")
}

/// Compresses what is written.
pub(super) enum Compressor<W: Write> {
    None(W),
    Gzip(GzEncoder<W>),
    Zstd(zstd::Encoder<'static, W>),
}

impl<W: Write> Compressor<W> {
    pub(super) fn new(out: W, compression: CopyCompression) -> io::Result<Self> {
        Ok(match compression {
            CopyCompression::None => Self::None(out),
            CopyCompression::Gzip => Self::Gzip(GzEncoder::new(out, flate2::Compression::default())),
            CopyCompression::Zstd => Self::Zstd(zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?),
            CopyCompression::Lz4 | CopyCompression::Snappy => return Err(inside()),
        })
    }

    /// Writes the end of the stream.
    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Self::None(out) => Ok(out),
            Self::Gzip(encoder) => encoder.finish(),
            Self::Zstd(encoder) => encoder.finish(),
        }?
        .flush()
    }

    fn out(&mut self) -> &mut dyn Write {
        match self {
            Self::None(out) => out,
            Self::Gzip(encoder) => encoder,
            Self::Zstd(encoder) => encoder,
        }
    }
}

impl<W: Write> Write for Compressor<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out().flush()
    }
}
