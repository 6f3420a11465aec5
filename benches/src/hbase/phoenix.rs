//! Phoenix, in a process of Java.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use super::args::Args;
use super::log::{ClusterLog, ROWS_A_COMMIT, ROWS_A_PHONE};
use super::question::Parameter;
use crate::Result;

/// The program in Java.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/phoenix/PhoenixSpeed.java");

/// What a question came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    pub time: Duration,
    pub rows: u64,
    pub checksum: u64,
}

/// A process with Phoenix's driver. It ends when this is dropped.
pub struct Phoenix {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Drop for Phoenix {
    fn drop(&mut self) {
        // It is nobody's any more, and has nothing to save.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Phoenix {
    pub fn start(args: &Args) -> Result<Self> {
        let mut process = Command::new("java")
            .args(args.java_options.split_whitespace())
            .args(["-cp", &args.classpath, PROGRAM, &args.cluster])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let commands = process.stdin.take().ok_or("Java has no standard input")?;
        let answers = BufReader::new(process.stdout.take().ok_or("Java has no standard output")?);
        Ok(Self { process, commands, answers })
    }

    pub fn run(&mut self, sql: &str) -> Result<()> {
        self.ask(&format!("run\t{sql}")).map(|_| ())
    }

    pub fn query(&mut self, sql: &str, parameters: &[Parameter]) -> Result<Answer> {
        let field = |parameter: &Parameter| match parameter {
            Parameter::Text(text) => format!("\ts{text}"),
            Parameter::Int(n) => format!("\ti{n}"),
        };
        self.ask(&format!("query\t{sql}{}", parameters.iter().map(field).collect::<String>()))
    }

    pub fn load(&mut self, table: &str, log: ClusterLog) -> Result<Duration> {
        Ok(self.ask(&format!("load\t{table}\t{}\t{ROWS_A_PHONE}\t{ROWS_A_COMMIT}", log.rows()))?.time)
    }

    fn ask(&mut self, command: &str) -> Result<Answer> {
        writeln!(self.commands, "{command}")?;
        self.commands.flush()?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let fields: Vec<&str> = line.trim_end().split('\t').collect();
        match fields.as_slice() {
            ["ok", nanoseconds, rows, checksum] => Ok(Answer {
                time: Duration::from_nanos(nanoseconds.parse()?),
                rows: rows.parse()?,
                checksum: checksum.parse()?,
            }),
            _ => Err(format!("Phoenix answers {line:?} to {command:.200}").into()),
        }
    }
}
