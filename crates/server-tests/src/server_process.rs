//! A `saltwing serve` of our own over a temporary database.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::addresses::{Addresses, addresses};
use crate::{Target, TestError};

/// How long a server may take to serve.
const START_MAX: Duration = Duration::from_secs(60);
/// How long a request for metrics may take.
const METRICS_MAX: Duration = Duration::from_secs(5);
/// Who logs in. It has every right.
const USER: &str = "tester";
/// Its password.
const PASSWORD: &str = "correct-horse";

/// A server's process and its database, which is removed with it.
pub struct ServerProcess {
    binary: PathBuf,
    options: Vec<String>,
    folder: TempDir,
    serving: Serving,
}

/// What one start gave.
struct Serving {
    child: Child,
    addresses: Addresses,
}

impl ServerProcess {
    /// Starts the program over a new database with one user, who has all rights.
    ///
    /// # Errors
    /// [`TestError::Program`], [`TestError::NotServing`], files.
    pub fn start(binary: &Path, options: &[&str]) -> Result<Self, TestError> {
        let user = [format!("CREATE USER {USER} PASSWORD '{PASSWORD}'"), format!("GRANT ALL ON DATABASE TO {USER}")];
        Self::start_after(&user, binary, options)
    }

    /// As [`ServerProcess::start`], over a database without users: every client is the owner.
    ///
    /// # Errors
    /// As [`ServerProcess::start`].
    pub fn start_without_users(binary: &Path, options: &[&str]) -> Result<Self, TestError> {
        Self::start_after(&[], binary, options)
    }

    /// Starts the program over a new database after these statements of its owner.
    fn start_after(statements: &[String], binary: &Path, options: &[&str]) -> Result<Self, TestError> {
        let folder = TempDir::with_prefix("server-tests-")?;
        let mut shell = Command::new(binary);
        // Without a statement it makes the database, and its input ends at once.
        shell.arg(folder.path().join("database"));
        shell.args(statements.iter().flat_map(|statement| ["-c", statement]));
        let ended = crate::program::run(shell, START_MAX, folder.path())?;
        if !ended.is_well {
            return Err(TestError::NotServing { waited: Duration::ZERO, output: ended.output });
        }
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        let serving = Serving::start(binary, folder.path(), &options)?;
        Ok(Self { binary: binary.to_owned(), options, folder, serving })
    }

    /// Where it listens. Other ports after [`ServerProcess::start_again`].
    pub fn target(&self) -> &Target {
        &self.serving.addresses.postgres
    }

    /// Where it listens for Phoenix's thin clients.
    pub fn avatica(&self) -> SocketAddr {
        self.serving.addresses.avatica
    }

    /// Where its console is, with health and metrics.
    pub fn console(&self) -> SocketAddr {
        self.serving.addresses.http
    }

    /// Where it listens by HTTP: for Phoenix's thin clients, and with the console.
    pub fn http_addresses(&self) -> [SocketAddr; 2] {
        [self.avatica(), self.console()]
    }

    /// Ends it by SIGKILL.
    ///
    /// # Errors
    /// Those of the system.
    pub fn kill(&mut self) -> Result<(), TestError> {
        self.serving.child.kill()?;
        self.serving.child.wait()?;
        Ok(())
    }

    /// Starts it over the database that it left.
    ///
    /// # Errors
    /// As [`ServerProcess::start`].
    pub fn start_again(&mut self) -> Result<(), TestError> {
        self.kill()?;
        self.serving = Serving::start(&self.binary, self.folder.path(), &self.options)?;
        Ok(())
    }

    /// Whether its process still runs.
    ///
    /// # Errors
    /// Those of the system.
    pub fn is_running(&mut self) -> Result<bool, TestError> {
        Ok(self.serving.child.try_wait()?.is_none())
    }

    /// The sessions of all protocols that are open, by its metrics.
    ///
    /// # Errors
    /// The request for the metrics; a text without them.
    pub fn sessions(&self) -> Result<u64, TestError> {
        let text = get(self.console(), "/metrics")?;
        let values = text.lines().filter(|line| line.starts_with("saltwing_server_sessions"));
        let values: Vec<f64> = values.filter_map(|line| line.rsplit_once(' ')?.1.parse().ok()).collect();
        if values.is_empty() {
            return Err(TestError::Found(format!("the metrics have no saltwing_server_sessions: {text}")));
        }
        Ok(values.iter().sum::<f64>() as u64)
    }

    /// Waits until no more sessions than these are open.
    ///
    /// # Errors
    /// There are still more after this time; those of [`ServerProcess::sessions`].
    pub fn wait_for_sessions(&self, most: u64, time_max: Duration) -> Result<(), TestError> {
        let began = Instant::now();
        loop {
            let open = self.sessions()?;
            if open <= most {
                return Ok(());
            }
            if began.elapsed() > time_max {
                return Err(TestError::Found(format!("{open} sessions are open after {time_max:?}, expected {most}")));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The memory of its process that is in use, in bytes. `None` where the system does not tell.
    pub fn memory_bytes(&self) -> Option<u64> {
        Some(self.status("VmRSS:")? * 1024)
    }

    /// The threads of its process. `None` where the system does not tell.
    pub fn threads(&self) -> Option<u64> {
        self.status("Threads:")
    }

    /// A number of the system's file about its process.
    fn status(&self, field: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.serving.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(field))?;
        line.split_whitespace().next()?.parse().ok()
    }

    /// The time of processors that its process has used, in the system's ticks of 10 ms. `None` where the system does not tell.
    pub fn processor_ticks(&self) -> Option<u64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.serving.child.id())).ok()?;
        // The name in brackets may have spaces. The fields after it begin with the third.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |index: usize| fields.get(index).and_then(|ticks| ticks.parse::<u64>().ok());
        Some(ticks(11)? + ticks(12)?)
    }

    /// Its log from a byte on, and the byte at which it ends now.
    pub fn log_from(&self, begin: usize) -> (String, usize) {
        let bytes = fs::read(self.folder.path().join("log")).unwrap_or_default();
        (String::from_utf8_lossy(bytes.get(begin..).unwrap_or_default()).into_owned(), bytes.len())
    }

    /// The end of its log.
    pub fn log(&self) -> String {
        let text = fs::read(self.folder.path().join("log")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        lines.get(lines.len().saturating_sub(20)..).unwrap_or_default().join("\n")
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // The database goes with its folder; an error here leaves a process, and there is nobody to tell.
        if let Err(error) = self.kill() {
            eprintln!("server-tests: the server cannot be ended: {}", error.line());
        }
    }
}

impl Serving {
    fn start(binary: &Path, folder: &Path, options: &[String]) -> Result<Self, TestError> {
        let path = folder.join("log");
        let log = File::options().create(true).append(true).open(&path);
        let log = log.map_err(|source| TestError::File { path, source })?;
        let mut child = Command::new(binary)
            .arg("serve")
            .arg(folder.join("database"))
            .args(["--listen", "127.0.0.1", "--pg-port", "0", "--avatica-port", "0", "--http-port", "0"])
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(|source| TestError::Program { program: binary.display().to_string(), source })?;
        match child.stdout.take().map(|stdout| addresses(stdout, (USER, PASSWORD), START_MAX)) {
            Some(Ok(addresses)) => Ok(Self { child, addresses }),
            other => {
                child.kill()?;
                child.wait()?;
                let output = match other {
                    Some(Err(output)) => output,
                    _ => String::new(),
                };
                let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
                Err(TestError::NotServing { waited: START_MAX, output: format!("{output}{log}") })
            }
        }
    }
}

/// The answer to a GET.
fn get(address: SocketAddr, path: &str) -> Result<String, TestError> {
    let mut stream = TcpStream::connect_timeout(&address, METRICS_MAX)?;
    stream.set_read_timeout(Some(METRICS_MAX))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}
