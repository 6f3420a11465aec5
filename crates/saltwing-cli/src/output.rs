//! The destination of results: the standard output, a file (`.output`, `.once`), or a pager.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Bytes of one write to a pager.
const PAGER_BUFFER: usize = 64 << 10;

/// The results' destination.
pub(crate) struct Output<'a> {
    standard: Box<dyn Write + 'a>,
    destination: Destination,
    /// The time that the shell has waited for pagers that have ended.
    waited: Duration,
}

/// The beginning of a statement.
#[derive(Clone, Copy)]
pub(crate) struct Began {
    at: Instant,
    /// The time that the shell had waited for pagers before.
    waited: Duration,
}

enum Destination {
    Standard,
    File {
        file: BufWriter<File>,
        /// The path, as the user gave it.
        path: String,
        /// Whether the file receives only one result.
        once: bool,
    },
    Pager(Pager),
}

/// A result that is held back until it is longer than the screen, and is then sent to a pager.
struct Pager {
    command: String,
    /// The lines of the screen.
    height: usize,
    /// The bytes that are not sent yet.
    held: Vec<u8>,
    lines: usize,
    child: Option<Child>,
    /// Whether the user has left the pager.
    is_closed: bool,
    /// The time that the shell has waited for this pager.
    waited: Duration,
}

impl<'a> Output<'a> {
    pub(crate) fn new(standard: Box<dyn Write + 'a>) -> Self {
        Self { standard, destination: Destination::Standard, waited: Duration::ZERO }
    }

    /// Sends results to a file, which is created or emptied; only one result if `once`.
    ///
    /// # Errors
    /// The file cannot be created.
    pub(crate) fn redirect(&mut self, path: &str, once: bool) -> io::Result<()> {
        let file = BufWriter::new(File::create(path)?);
        self.restore_standard()?;
        self.destination = Destination::File { file, path: path.to_owned(), once };
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

    /// The file to which results are sent.
    pub(crate) fn file(&self) -> Option<&str> {
        match &self.destination {
            Destination::File { path, .. } => Some(path),
            Destination::Standard | Destination::Pager(_) => None,
        }
    }

    /// Records the beginning of a statement.
    pub(crate) fn begin(&self) -> Began {
        Began { at: Instant::now(), waited: self.waited() }
    }

    /// The time that a statement has taken, without the time of waiting for pagers.
    pub(crate) fn time_since(&self, began: Began) -> Duration {
        began.at.elapsed().saturating_sub(self.waited().saturating_sub(began.waited))
    }

    /// The time that the shell has waited for pagers.
    fn waited(&self) -> Duration {
        match &self.destination {
            Destination::Pager(pager) => self.waited + pager.waited,
            Destination::Standard | Destination::File { .. } => self.waited,
        }
    }

    /// Sends the next result through a pager if it is longer than `height` lines, unless results are sent to a file.
    pub(crate) fn page(&mut self, command: &str, height: usize) {
        if matches!(self.destination, Destination::Standard) {
            let pager = Pager {
                command: command.to_owned(),
                height,
                held: Vec::new(),
                lines: 0,
                child: None,
                is_closed: false,
                waited: Duration::ZERO,
            };
            self.destination = Destination::Pager(pager);
        }
    }

    /// Whether the user has left the pager, so that the rest of the result is not needed.
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
            Destination::Pager(pager) => {
                let mut waited = pager.waited;
                let ended = pager.end(&mut self.standard, &mut waited);
                self.waited += waited;
                ended
            }
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
        self.held.extend_from_slice(bytes);
        if self.child.is_none() {
            self.lines += bytes.iter().filter(|byte| **byte == b'\n').count();
            if self.lines >= self.height {
                self.start()?;
            }
        } else if self.held.len() >= PAGER_BUFFER {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn start(&mut self) -> io::Result<()> {
        let shell = if cfg!(windows) { ["cmd", "/C"] } else { ["sh", "-c"] };
        let started = Command::new(shell[0]).args([shell[1], &self.command]).stdin(Stdio::piped()).spawn();
        self.child =
            Some(started.map_err(|error| io::Error::new(error.kind(), format!("pager {}: {error}", self.command)))?);
        self.flush()
    }

    /// Writes the held bytes to the pager. If the user has left the pager, further bytes are dropped.
    fn flush(&mut self) -> io::Result<()> {
        let Some(input) = self.child.as_mut().and_then(|child| child.stdin.as_mut()) else { return Ok(()) };
        if self.is_closed {
            return Ok(());
        }
        let began = Instant::now();
        let sent = input.write_all(&self.held);
        self.waited += began.elapsed();
        self.held.clear();
        match sent {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.is_closed = true,
            done => done?,
        }
        Ok(())
    }

    /// Writes a short result to `standard`. For a long one, waits until the user leaves the pager, and adds that time to `waited`.
    fn end(self, standard: &mut dyn Write, waited: &mut Duration) -> io::Result<()> {
        let Some(mut child) = self.child else {
            standard.write_all(&self.held)?;
            return standard.flush();
        };
        let began = Instant::now();
        drop(child.stdin.take());
        let ended = child.wait().map(drop);
        *waited += began.elapsed();
        ended
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

    /// The time of waiting includes the writes that block because the pipe is full.
    #[test]
    #[cfg(unix)]
    fn the_time_of_readers_is_known() {
        let mut output = Output::new(Box::new(io::sink()));
        assert_eq!((output.waited(), output.file()), (Duration::ZERO, None));
        for command in ["sleep 0.2; cat > /dev/null", "cat > /dev/null; sleep 0.2"] {
            let before = output.waited();
            output.page(command, 2);
            (0..50_000).for_each(|line| writeln!(output, "{line}").unwrap());
            output.end_result().unwrap();
            assert!(output.waited() - before >= Duration::from_millis(190), "{command}");
        }
        let before = output.waited();
        output.page("cat > /dev/null", 9);
        writeln!(output, "short").unwrap();
        output.end_result().unwrap();
        assert_eq!(output.waited(), before);
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
