//! Reads and writes at an offset of a file, independent of the file's own position.

pub(crate) use imp::{read, write};

/// Bytes of a page of redb's.
pub(crate) const PAGE: u64 = 4096;

#[cfg(unix)]
mod imp {
    use std::fs::File;
    use std::io::Result;
    use std::os::unix::fs::FileExt;

    pub(crate) fn read(file: &File, at: u64, out: &mut [u8]) -> Result<()> {
        file.read_exact_at(out, at)
    }

    pub(crate) fn write(file: &File, at: u64, data: &[u8]) -> Result<()> {
        file.write_all_at(data, at)
    }
}

#[cfg(windows)]
mod imp {
    use std::fs::File;
    use std::io::{Error, ErrorKind, Result};
    use std::os::windows::fs::FileExt;

    pub(crate) fn read(file: &File, at: u64, out: &mut [u8]) -> Result<()> {
        let mut done = 0;
        while done < out.len() {
            match file.seek_read(&mut out[done..], at + done as u64)? {
                0 => return Err(Error::from(ErrorKind::UnexpectedEof)),
                read => done += read,
            }
        }
        Ok(())
    }

    pub(crate) fn write(file: &File, at: u64, data: &[u8]) -> Result<()> {
        let mut done = 0;
        while done < data.len() {
            match file.seek_write(&data[done..], at + done as u64)? {
                0 => return Err(Error::from(ErrorKind::WriteZero)),
                written => done += written,
            }
        }
        Ok(())
    }
}
