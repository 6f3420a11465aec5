//! Compressed files of COPY: gzip and zstd, written and read as streams.

use std::io::{self, BufRead, BufReader, Read, Write};

use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use saltwing_sql::statement::CopyCompression;

/// Bytes read at once.
pub(crate) const BUFFER_BYTES: usize = 1 << 20;

/// The first bytes of compressed files.
const SIGNATURES: [(&[u8], CopyCompression); 2] =
    [(b"\x1f\x8b", CopyCompression::Gzip), (b"\x28\xb5\x2f\xfd", CopyCompression::Zstd)];

/// File name extensions and their compressions.
const EXTENSIONS: [(&str, CopyCompression); 2] = [(".gz", CopyCompression::Gzip), (".zst", CopyCompression::Zstd)];

/// A file's name without the extension of a compression, and that compression.
pub(crate) fn of_name(path: &str) -> (&str, CopyCompression) {
    let split = |(end, compression)| Some((path.strip_suffix(end)?, compression));
    EXTENSIONS.into_iter().find_map(split).unwrap_or((path, CopyCompression::None))
}

/// The compression of a file that begins with these bytes.
pub(crate) fn of_bytes(begin: &[u8]) -> CopyCompression {
    let found = SIGNATURES.into_iter().find(|(signature, _)| begin.starts_with(signature));
    found.map_or(CopyCompression::None, |(_, compression)| compression)
}

/// The content of a file, which may be several compressed streams, one after the other.
pub(crate) enum Decompressor<R: BufRead> {
    None(R),
    Gzip(BufReader<MultiGzDecoder<R>>),
    Zstd(BufReader<zstd::Decoder<'static, R>>),
}

impl<R: BufRead> Decompressor<R> {
    pub(crate) fn new(input: R, compression: CopyCompression) -> io::Result<Self> {
        Ok(match compression {
            CopyCompression::None => Self::None(input),
            CopyCompression::Gzip => Self::Gzip(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(input))),
            CopyCompression::Zstd => {
                Self::Zstd(BufReader::with_capacity(BUFFER_BYTES, zstd::Decoder::with_buffer(input)?))
            }
            CopyCompression::Lz4 | CopyCompression::Snappy => return Err(inside()),
        })
    }

    fn input(&mut self) -> &mut dyn BufRead {
        match self {
            Self::None(input) => input,
            Self::Gzip(decoder) => decoder,
            Self::Zstd(decoder) => decoder,
        }
    }
}

impl<R: BufRead> Read for Decompressor<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.input().read(bytes)
    }
}

impl<R: BufRead> BufRead for Decompressor<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input().fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.input().consume(bytes);
    }
}

/// The error for a compression that exists only inside a file format.
fn inside() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "a whole file is compressed by gzip or zstd")
}

/// Compresses the bytes that are written to it.
pub(crate) enum Compressor<W: Write> {
    None(W),
    Gzip(GzEncoder<W>),
    Zstd(zstd::Encoder<'static, W>),
}

impl<W: Write> Compressor<W> {
    pub(crate) fn new(out: W, compression: CopyCompression) -> io::Result<Self> {
        Ok(match compression {
            CopyCompression::None => Self::None(out),
            CopyCompression::Gzip => Self::Gzip(GzEncoder::new(out, flate2::Compression::default())),
            CopyCompression::Zstd => Self::Zstd(zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?),
            CopyCompression::Lz4 | CopyCompression::Snappy => return Err(inside()),
        })
    }

    /// Writes the end of the stream.
    pub(crate) fn finish(self) -> io::Result<()> {
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
