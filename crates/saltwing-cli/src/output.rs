//! Where results go: the standard output, a file (`.output`, `.once`), or a pager.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::{Child, Command, Stdio};

/// The results' destination.
pub(crate) struct Output<'a> {
    standard: Box<dyn Write + 'a>,
    destination: Destination,
}

enum Destination {
    Standard,
    File {
        file: BufWriter<File>,
        /// Whether it takes one result only.
        once: bool,
    },
    Pager(Pager),
}

/// A result that is held back until it is longer than the screen, and then goes to a pager.
struct Pager {
    command: String,
    /// Lines that the screen has room for.
    height: usize,
    held: Vec<u8>,
    lines: usize,
    child: Option<Child>,
    /// Whether its reader has left it.
    is_closed: bool,
}

impl<'a> Output<'a> {
    pub(crate) fn new(standard: Box<dyn Write + 'a>) -> Self {
        Self { standard, destination: Destination::Standard }
    }

    /// Sends results to a file, which is made or emptied; one result only if `once`.
    ///
    /// # Errors
    /// The file cannot be made.
    pub(crate) fn redirect(&mut self, path: &str, once: bool) -> io::Result<()> {
        let file = BufWriter::new(File::create(path)?);
        self.restore_standard()?;
        self.destination = Destination::File { file, once };
        Ok(())
    }

    /// Sends results to the standard output again.
    ///
    /// # Errors
    /// The last bytes cannot be written.
    pub(crate) fn restore_standard(&mut self) -> io::Result<()> {
        self.flush()?;
        self.destination = Destination::Standard;
        Ok(())
    }

    /// Whether results go to a file.
    pub(crate) fn is_file(&self) -> bool {
        matches!(self.destination, Destination::File { .. })
    }

    /// Sends the result that follows through a pager if it is longer than `height` lines, unless it goes to a file.
    pub(crate) fn page(&mut self, command: &str, height: usize) {
        if matches!(self.destination, Destination::Standard) {
            let pager = Pager {
                command: command.to_owned(),
                height,
                held: Vec::new(),
                lines: 0,
                child: None,
                is_closed: false,
            };
            self.destination = Destination::Pager(pager);
        }
    }

    /// Whether nobody reads the rest of the result.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(&self.destination, Destination::Pager(pager) if pager.is_closed)
    }

    /// Ends a result: waits for the pager, and closes a file of one result.
    ///
    /// # Errors
    /// The last bytes cannot be written.
    pub(crate) fn end_result(&mut self) -> io::Result<()> {
        self.flush()?;
        match std::mem::replace(&mut self.destination, Destination::Standard) {
            Destination::Standard | Destination::File { once: true, .. } => Ok(()),
            Destination::Pager(pager) => pager.end(&mut self.standard),
            file @ Destination::File { .. } => {
                self.destination = file;
                Ok(())
            }
        }
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.destination {
            Destination::Standard => self.standard.write(bytes),
            Destination::File { file, .. } => file.write(bytes),
            Destination::Pager(pager) => pager.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.destination {
            Destination::Standard => self.standard.flush(),
            Destination::File { file, .. } => file.flush(),
            Destination::Pager(pager) => pager.flush(),
        }
    }
}

impl Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_closed {
            return Ok(bytes.len());
        }
        if self.child.is_none() {
            self.held.extend_from_slice(bytes);
            self.lines += bytes.iter().filter(|byte| **byte == b'\n').count();
            if self.lines >= self.height {
                self.start()?;
            }
            return Ok(bytes.len());
        }
        self.send(bytes)?;
        Ok(bytes.len())
    }

    fn start(&mut self) -> io::Result<()> {
        let shell = if cfg!(windows) { ["cmd", "/C"] } else { ["sh", "-c"] };
        let started = Command::new(shell[0]).args([shell[1], &self.command]).stdin(Stdio::piped()).spawn();
        self.child =
            Some(started.map_err(|error| io::Error::new(error.kind(), format!("pager {}: {error}", self.command)))?);
        let held = std::mem::take(&mut self.held);
        self.send(&held)
    }

    /// Writes to the pager; one that its reader has left takes no more.
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(input) = self.child.as_mut().and_then(|child| child.stdin.as_mut()) else { return Ok(()) };
        match input.write_all(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.is_closed = true,
            done => done?,
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.child.as_mut().and_then(|child| child.stdin.as_mut()) {
            Some(input) if !self.is_closed => input.flush(),
            _ => Ok(()),
        }
    }

    /// Writes a short result to `standard`; waits until the reader of a long one leaves.
    fn end(self, standard: &mut dyn Write) -> io::Result<()> {
        let Some(mut child) = self.child else {
            standard.write_all(&self.held)?;
            return standard.flush();
        };
        drop(child.stdin.take());
        child.wait().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_takes_all_results_or_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let mut standard = Vec::new();
        let mut output = Output::new(Box::new(&mut standard));
        output.redirect(&path("once"), true).unwrap();
        writeln!(output, "a").unwrap();
        output.end_result().unwrap();
        writeln!(output, "b").unwrap();
        output.redirect(&path("all"), false).unwrap();
        for text in ["c", "d"] {
            writeln!(output, "{text}").unwrap();
            output.end_result().unwrap();
        }
        output.restore_standard().unwrap();
        writeln!(output, "e").unwrap();
        drop(output);
        assert_eq!(standard, b"b\ne\n");
        assert_eq!(std::fs::read_to_string(path("once")).unwrap(), "a\n");
        assert_eq!(std::fs::read_to_string(path("all")).unwrap(), "c\nd\n");
    }

    #[test]
    #[cfg(unix)]
    fn a_pager_gets_what_is_longer_than_the_screen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("paged");
        let command = format!("cat > '{}'", path.display());
        let mut standard = Vec::new();
        let mut output = Output::new(Box::new(&mut standard));
        for lines in [2, 4] {
            output.page(&command, 4);
            (0..lines).for_each(|line| writeln!(output, "{lines}.{line}").unwrap());
            output.end_result().unwrap();
        }
        drop(output);
        assert_eq!(standard, b"2.0\n2.1\n");
        assert_eq!(std::fs::read_to_string(path).unwrap(), "4.0\n4.1\n4.2\n4.3\n");
    }

    #[test]
    #[cfg(unix)]
    fn a_pager_that_was_left_ends_the_result() {
        let mut output = Output::new(Box::new(io::sink()));
        output.page("head -c 1 > /dev/null", 1);
        let line = vec![b'x'; 1 << 16];
        let mut written = 0;
        while !output.is_closed() && written < 1000 {
            writeln!(output, "{}", line.len()).unwrap();
            output.write_all(&line).unwrap();
            written += 1;
        }
        assert!(output.is_closed());
        output.end_result().unwrap();
        assert!(!output.is_closed());
    }
}
