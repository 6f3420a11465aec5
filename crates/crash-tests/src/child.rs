//! Child processes: this program in another role, with a limit on memory and on time.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Address space of a checker, in KB: an allocation by a damaged length fails in it.
const MEMORY_KB: u64 = 4 << 20;

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Code(i32),
    /// By a signal: an abort, most likely.
    Signal,
    /// Not in time.
    Late,
}

/// This program in a role.
///
/// # Errors
/// Where this program lies is not known.
pub fn role(role: &str, store: &str, seed: u64, threads: u64, database: &Path) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(role).arg(database).args(["--store", store]);
    command.args(["--seed", &seed.to_string(), "--threads", &threads.to_string()]);
    Ok(command)
}

/// Runs a role with limits; returns how it ended, and the text of stdout and stderr.
///
/// # Errors
/// Those of processes.
pub fn watched(command: Command, home: &Path, time: Duration) -> io::Result<(Ended, String)> {
    let output = home.join("output");
    let file = File::create(&output)?;
    let limited = format!("ulimit -v {MEMORY_KB} -c 0 2>/dev/null; exec \"$0\" \"$@\"");
    let mut child = Command::new("sh")
        .args(["-c", &limited])
        .arg(command.get_program())
        .args(command.get_args())
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        .spawn()?;
    let started = Instant::now();
    let ended = loop {
        if let Some(status) = child.try_wait()? {
            break status
                .code()
                .map_or(Ended::Signal, |code| if code >= 128 { Ended::Signal } else { Ended::Code(code) });
        }
        if started.elapsed() > time {
            child.kill()?;
            child.wait()?;
            break Ended::Late;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    Ok((ended, String::from_utf8_lossy(&fs::read(&output)?).into_owned()))
}
