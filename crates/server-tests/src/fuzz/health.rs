//! What must hold after a batch.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use super::avatica_case::message;
use super::http_framing::{Request, request};
use super::protobuf::bytes;
use crate::random::Random;
use crate::{ServerProcess, Target, TestError};

/// How long another client may wait.
const ANSWER_MAX: Duration = Duration::from_secs(15);
/// How soon after a batch its sessions, threads and statements must be gone.
const SETTLED_MAX: Duration = Duration::from_secs(45);
/// The memory of the process, in bytes: that of its database with its limits, and of its buffers.
const MEMORY_MAX: u64 = 3 << 29;
/// Threads above those after the start. The runtime keeps some for ten seconds.
const THREADS_MORE: u64 = 12;
/// How long it is looked at the use of processors, and how many ticks of 10 ms it may have in it.
const IDLE_LOOK: (Duration, u64) = (Duration::from_millis(500), 15);

/// What was so before a batch.
pub struct Health {
    threads: Option<u64>,
    log_end: usize,
}

impl Health {
    /// Of a server that has just been started.
    pub fn of(process: &ServerProcess) -> Self {
        Self { threads: process.threads(), log_end: process.log_from(0).1 }
    }

    /// What is wrong after a batch. `None`: nothing.
    pub fn problem(&mut self, process: &mut ServerProcess, runtime: &Runtime, has_users: bool) -> Option<String> {
        self.check(process, runtime, has_users).err().map(|error| error.line())
    }

    fn check(&mut self, process: &mut ServerProcess, runtime: &Runtime, has_users: bool) -> Result<(), TestError> {
        let found = |text: String| Err(TestError::Found(text));
        if let Some(panics) = self.panics(process)? {
            return found(panics);
        }
        runtime.block_on(answered(process.target()))?;
        answered_by_http(process.http_addresses(), has_users)?;
        match process.memory_bytes() {
            Some(memory) if memory > MEMORY_MAX => found(format!("the server has {} MB", memory >> 20)),
            _ => self.settled(process),
        }
    }

    /// What tells of a bug in the log since the last look; `None`: nothing.
    pub fn panics(&mut self, process: &mut ServerProcess) -> Result<Option<String>, TestError> {
        let (log, end) = process.log_from(self.log_end);
        self.log_end = end;
        if !process.is_running()? {
            return Ok(Some(format!("the server has ended: {log}")));
        }
        let is_bug = |line: &&str| line.contains("panicked") || line.contains(" ERROR ");
        let bugs: Vec<&str> = log.lines().filter(is_bug).collect();
        Ok((!bugs.is_empty()).then(|| format!("panics in the log: {}", bugs.join("\n"))))
    }

    /// Waits until sessions, threads and statements of the batch are gone.
    fn settled(&self, process: &ServerProcess) -> Result<(), TestError> {
        let began = Instant::now();
        loop {
            let sessions = process.sessions()?;
            let before = process.processor_ticks();
            std::thread::sleep(IDLE_LOOK.0);
            let ticks = process.processor_ticks().zip(before).map(|(now, before)| now.saturating_sub(before));
            let more = process.threads().zip(self.threads).map_or(0, |(now, base)| now.saturating_sub(base));
            let is_busy = ticks.is_some_and(|ticks| ticks > IDLE_LOOK.1);
            if sessions == 0 && more <= THREADS_MORE && !is_busy {
                return Ok(());
            }
            if began.elapsed() > SETTLED_MAX {
                let text = format!(
                    "after {SETTLED_MAX:?}: {sessions} sessions, {more} more threads, {ticks:?} ticks of processors"
                );
                return Err(TestError::Found(text));
            }
        }
    }
}

/// A client of PostgreSQL logs in and gets an answer.
async fn answered(target: &Target) -> Result<(), TestError> {
    let witness = async {
        let client = target.connect().await?;
        client.query_one("SELECT size FROM witness WHERE id = 7", &[]).await?;
        Ok::<_, TestError>(())
    };
    let late = || TestError::Found(format!("another client has no answer after {ANSWER_MAX:?}"));
    tokio::time::timeout(ANSWER_MAX, witness).await.map_err(|_| late())?
}

/// The server is ready, and opens a connection of Phoenix's clients.
fn answered_by_http([avatica, console]: [SocketAddr; 2], has_users: bool) -> Result<(), TestError> {
    let ready = exchange(console, b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut open = Vec::new();
    for name in ["OpenConnectionRequest", "CloseConnectionRequest"] {
        let body = message(name, &bytes(1, b"witness"));
        let headers = if name.starts_with("Close") { "Connection: close\r\n" } else { "" };
        let one = Request { path: "/", headers, has_password: has_users, body: &body };
        open.extend_from_slice(&request(&mut Random::new(0), &one));
    }
    let opened = exchange(avatica, &open)?;
    let oks = |text: &str| text.matches("HTTP/1.1 200").count();
    match (oks(&ready), oks(&opened)) {
        (1, 2) => Ok(()),
        _ => Err(TestError::Found(format!("other clients of HTTP got {ready:?} and {opened:?}"))),
    }
}

/// The answer to requests, of which the last one ends the connection.
pub fn exchange(address: SocketAddr, bytes: &[u8]) -> Result<String, TestError> {
    let mut stream = TcpStream::connect_timeout(&address, ANSWER_MAX)?;
    stream.set_read_timeout(Some(ANSWER_MAX))?;
    stream.write_all(bytes)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
