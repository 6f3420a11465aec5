//! Runs real clients against the server, a line for each. See the library's documentation.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use server_tests::{Client, FuzzOptions, Kind, Packages, Run, ServerProcess, Surroundings, Target, TestError};
use tokio::runtime::Runtime;

/// How soon after its end a client's sessions must be gone.
const SESSIONS_END_MAX: Duration = Duration::from_secs(5);

#[derive(Parser)]
#[command(about = "Runs real clients against the server")]
struct Arguments {
    /// Runs this client only; may be repeated.
    #[arg(long, value_name = "NAME")]
    client: Vec<String>,
    /// Does not start a server: postgresql://user:password@host:port/database.
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// The program whose `serve` is started; otherwise the one beside this program.
    #[arg(long, value_name = "PATH")]
    saltwing: Option<PathBuf>,
    /// How long `fuzz` runs; otherwise it has a fixed number of cases.
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// What the cases of `fuzz` follow from.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// The only protocol of `fuzz`: postgres or http.
    #[arg(long, value_name = "NAME", value_parser = ["postgres", "http"])]
    protocol: Option<String>,
    /// The only batch of `fuzz`.
    #[arg(long, value_name = "NUMBER")]
    batch: Option<u64>,
    /// The only case of each batch of `fuzz`.
    #[arg(long, value_name = "NUMBER")]
    case: Option<usize>,
    /// Lists the clients.
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.list {
        Client::all().iter().for_each(|client| println!("{:<16}{}", client.name(), client.about()));
        return ExitCode::SUCCESS;
    }
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("server-tests: {}", error.line());
            ExitCode::FAILURE
        }
    }
}

/// Runs the chosen clients; whether none failed.
fn run(arguments: &Arguments) -> Result<bool, TestError> {
    let chosen = chosen(&arguments.client)?;
    let runtime = Runtime::new()?;
    let binary = match (&arguments.server, &arguments.saltwing) {
        (Some(_), _) => None,
        (None, Some(path)) => Some(path.clone()),
        (None, None) => Some(std::env::current_exe()?.with_file_name("saltwing")),
    };
    let shares = chosen.iter().any(Client::shares_the_server);
    let mut server = match &binary {
        Some(binary) if shares => Some(ServerProcess::start(binary, &[])?),
        _ => None,
    };
    let packages = Packages::in_users_cache();
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for client in chosen {
        let (target, kind) = match (&server, &arguments.server) {
            (Some(server), _) => (server.target().clone(), Kind::Saltwing),
            (None, Some(url)) => {
                let target = Target::parse(url)?;
                let kind = runtime.block_on(target.kind())?;
                (target, kind)
            }
            // The client starts its servers itself.
            (None, None) => (Target::parse("postgresql://nobody@127.0.0.1:1/none")?, Kind::Saltwing),
        };
        let around = Surroundings {
            target: &target,
            avatica: server.as_ref().map(ServerProcess::avatica),
            console: server.as_ref().map(ServerProcess::console),
            kind,
            saltwing: binary.as_deref(),
            packages: &packages,
            runtime: &runtime,
            fuzz: FuzzOptions {
                time: arguments.seconds.map(Duration::from_secs),
                seed: arguments.seed,
                protocol: arguments.protocol.clone(),
                batch: arguments.batch,
                case: arguments.case,
            },
        };
        let began = Instant::now();
        match client.run(&around)? {
            Run::Skipped(why) => {
                skipped += 1;
                println!("skipped {}: {why}", client.name());
            }
            Run::Checked(mut report) => {
                if let Some(server) = &mut server
                    && client.shares_the_server()
                {
                    report.failures.extend(after_a_client(server)?);
                }
                if report.failures.is_empty() {
                    passed += 1
                } else {
                    failed += 1
                }
                println!("{}", report.line(client.name(), began.elapsed()));
            }
        }
    }
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    Ok(failed == 0)
}

fn chosen(names: &[String]) -> Result<Vec<Client>, TestError> {
    if names.is_empty() {
        return Ok(Client::all().to_vec());
    }
    let named =
        |name: &String| Client::named(name).ok_or_else(|| TestError::Found(format!("no client {name}: see --list")));
    names.iter().map(named).collect()
}

/// What is wrong with the server after a client has ended. A server that has ended is started again for the next client.
fn after_a_client(server: &mut ServerProcess) -> Result<Option<String>, TestError> {
    if !server.is_running()? {
        let log = server.log();
        server.start_again()?;
        return Ok(Some(format!("the server has ended:\n{log}")));
    }
    Ok(server.wait_for_sessions(0, SESSIONS_END_MAX).err().map(|error| error.line()))
}
