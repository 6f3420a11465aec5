//! Batches of cases against servers of our own, and the search for the case that broke one.

use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use tokio::runtime::Runtime;

use super::avatica_case;
use super::conversation::{Place, hold};
use super::corpus::Corpus;
use super::generator::{Generator, Protocol};
use super::health::{Health, exchange};
use super::http_framing::last_request;
use super::options::FuzzOptions;
use super::sql;
use crate::random::Random;
use crate::{Report, ServerProcess, TestError};

/// Cases of a batch.
const CASES: usize = 120;
/// Conversations at once.
const CLIENTS: usize = 6;
/// Batches of each protocol without a limit of time.
const BATCHES: u64 = 1;
/// A server is started anew, over a new database, after this number of batches.
const BATCHES_OF_A_SERVER: u64 = 40;
/// A campaign ends after this number of failures.
const FAILURES_MAX: usize = 20;
/// The most characters of a case that a failure shows.
const SHOWN_MAX: usize = 6000;

/// What keeps a random statement short and a server small.
const OPTIONS: &[&str] = &[
    "--statement-timeout",
    "500ms",
    "--idle-timeout",
    "3s",
    "--idle-in-transaction-timeout",
    "3s",
    "--login-timeout",
    "5s",
    "--max-message",
    "4MB",
    "--memory-limit",
    "200MB",
    "--cache-mb",
    "32",
    "--delta-mb",
    "32",
    "--log",
    "warn",
    "--slow-ms",
    "0",
];

/// Runs batches, in turn of each protocol and on servers with users and without.
///
/// # Errors
/// A server cannot be started; files of the repository.
pub fn run(binary: &Path, runtime: &Runtime, options: &FuzzOptions) -> Result<Report, TestError> {
    let (corpus, began, mut report) = (Corpus::read()?, Instant::now(), Report::default());
    let chosen = |name: &str| options.protocol.as_deref().is_none_or(|only| only == name);
    let protocols: Vec<Protocol> = [("postgres", Protocol::Postgres), ("http", Protocol::Http)]
        .into_iter()
        .filter(|(name, _)| chosen(name))
        .map(|(_, protocol)| protocol)
        .collect();
    let mut server: Option<Server> = None;
    let mut batch = options.batch.unwrap_or(0);
    loop {
        let goes_on = match options.time {
            Some(time) => began.elapsed() < time,
            None => batch < options.batch.unwrap_or(0) + BATCHES,
        };
        if !goes_on || report.failures.len() >= FAILURES_MAX {
            return Ok(report);
        }
        // Users come and go with the server.
        let has_users = (batch / BATCHES_OF_A_SERVER).is_multiple_of(2);
        if batch.is_multiple_of(BATCHES_OF_A_SERVER) || options.batch.is_some() {
            server = None;
        }
        for protocol in &protocols {
            let mut current = match server.take() {
                Some(server) => server,
                None => Server::start(binary, runtime, has_users)?,
            };
            let generator =
                Generator { seed: options.seed, corpus: &corpus, target: &current.process.target().clone(), has_users };
            let mut failures = current.batch(runtime, &generator, *protocol, batch, options.case);
            let place = format!("seed {}, {protocol:?}, batch {batch}", options.seed);
            let memory = current.process.memory_bytes().map_or(0, |bytes| bytes >> 20);
            println!("{place}: {} failures, {memory} MB", failures.len());
            if current.is_sound {
                server = Some(current);
            } else if options.case.is_none() {
                drop(current);
                let mut again = Server::start(binary, runtime, has_users)?;
                failures.extend(again.culprit(&generator, *protocol, batch)?);
            }
            report.passed += usize::from(failures.is_empty());
            for failure in failures {
                println!("{place}: {failure}");
                report.failures.push(format!("{place}: {failure}"));
            }
        }
        batch += 1;
    }
}

/// A server and what holds for it.
struct Server {
    process: ServerProcess,
    health: Health,
    has_users: bool,
    is_sound: bool,
}

impl Server {
    fn start(binary: &Path, runtime: &Runtime, has_users: bool) -> Result<Self, TestError> {
        let scans = if has_users { "allow" } else { "error" };
        let options = [OPTIONS, &["--full-scan", scans]].concat();
        let process = match has_users {
            true => ServerProcess::start(binary, &options)?,
            false => ServerProcess::start_without_users(binary, &options)?,
        };
        runtime.block_on(async {
            let client = process.target().connect().await?;
            // The time limit is for statements of the cases.
            client.batch_execute("SET statement_timeout = 0").await?;
            client.batch_execute("CREATE TABLE witness (id BIGINT PRIMARY KEY, size INTEGER)").await?;
            client.batch_execute("INSERT INTO witness VALUES (7, 7)").await?;
            for statement in sql::SET_UP {
                client.batch_execute(statement).await?;
            }
            Ok::<_, TestError>(())
        })?;
        let health = Health::of(&process);
        Ok(Self { process, health, has_users, is_sound: true })
    }

    /// Runs a batch, and gives what went wrong.
    fn batch(
        &mut self,
        runtime: &Runtime,
        generator: &Generator<'_>,
        protocol: Protocol,
        batch: u64,
        only: Option<usize>,
    ) -> Vec<String> {
        let (failures, next) = (Mutex::new(Vec::new()), Mutex::new(0..CASES));
        let token = self.log_in_at_the_console().unwrap_or_default();
        let place = Place { target: self.process.target(), http: self.process.http_addresses(), token: &token };
        std::thread::scope(|scope| {
            for _ in 0..CLIENTS {
                scope.spawn(|| {
                    loop {
                        let number = next.lock().ok().and_then(|mut next| next.next());
                        let Some(number) = number else { return };
                        if only.is_some_and(|only| only != number) {
                            continue;
                        }
                        let case = generator.case(protocol, batch, number);
                        if let Err(error) = hold(&case, &place)
                            && let Ok(mut failures) = failures.lock()
                        {
                            let shown: String = case.shown().chars().take(SHOWN_MAX).collect();
                            failures.push(format!("case {number}: {}\n{shown}", error.line()));
                        }
                    }
                });
            }
        });
        let mut failures = failures.into_inner().unwrap_or_default();
        self.leave_http(&token);
        if let Some(problem) = self.health.problem(&mut self.process, runtime, self.has_users) {
            self.is_sound = false;
            failures.push(format!("after the batch: {problem}"));
        }
        failures
    }

    /// The first case of a batch after which the log tells of a bug, if the cases run one after the other; `None`: there is none.
    fn culprit(
        &mut self,
        generator: &Generator<'_>,
        protocol: Protocol,
        batch: u64,
    ) -> Result<Option<String>, TestError> {
        for number in 0..CASES {
            let case = generator.case(protocol, batch, number);
            let token = self.log_in_at_the_console().unwrap_or_default();
            let place = Place { target: self.process.target(), http: self.process.http_addresses(), token: &token };
            // What is wrong with the conversation itself was found before.
            let _ = hold(&case, &place);
            if let Some(panics) = self.health.panics(&mut self.process)? {
                let shown: String = case.shown().chars().take(SHOWN_MAX).collect();
                return Ok(Some(format!("alone, case {number}: {panics}\n{shown}")));
            }
            self.leave_http(&token);
        }
        Ok(None)
    }

    /// The token of a login at the console.
    fn log_in_at_the_console(&self) -> Result<String, TestError> {
        let login = if self.has_users { "{\"user\": \"tester\", \"password\": \"correct-horse\"}" } else { "{}" };
        let answer = exchange(self.process.http_addresses()[1], &console_call("login", "", login))?;
        let token = answer.split("saltwing=").nth(1).and_then(|rest| rest.split(';').next());
        token.map(str::to_owned).ok_or_else(|| TestError::Found(format!("no login at the console: {answer}")))
    }

    /// Closes what the cases have left open. A server that does not answer is found by what follows.
    fn leave_http(&self, token: &str) {
        let [avatica, console] = self.process.http_addresses();
        let close = avatica_case::closing(&mut Random::new(0), self.has_users);
        let _ = exchange(avatica, &[close, last_request()].concat());
        let _ = exchange(console, &console_call("logout", token, "{}"));
    }
}

/// A call of the console that ends its connection.
fn console_call(call: &str, token: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST /api/{call} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\nCookie: saltwing={token}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}
