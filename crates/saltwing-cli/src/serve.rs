//! `saltwing serve`: opens a database and serves it until a signal ends it.

use std::error::Error as _;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Args, Command, FromArgMatches};
use saltwing::{Database, FileAccess};
use saltwing_server::{Running, Server, ServerError, ServerOptions, config_arguments, handle_signals};
use tracing_subscriber::filter::Targets;

use crate::failure::{EXIT_ERROR, EXIT_USAGE};
use crate::log::{self, Format};
use crate::open::{Opening, directory};

pub(crate) const AFTER_HELP: &str = "\
Prints a line for each listener, with the command that connects; the log goes to
stderr. SIGTERM and Ctrl-C end it in good order, a second one at once; SIGHUP
reads the certificate again. TIME is 500ms, 30s, 10min or 2h; SIZE is 64MB.
Exit codes: 0; 1 an SQL or storage error, or a port that is taken; 2 usage;
130 and 143 a second Ctrl-C or SIGTERM.

  saltwing serve logs
  saltwing serve logs --listen 0.0.0.0 --tls-cert cert.pem --tls-key key.pem";

/// The log of a server, unless the options say otherwise.
const LOG: &str = "warn,saltwing=info";
/// Options that have no place in the file of `--config`.
const NOT_IN_CONFIG: [&str; 2] = ["config", "help"];

/// A server.
#[derive(Clone, Debug, Args)]
pub(crate) struct Serve {
    /// The database: a directory, made if it is not there, or :memory:
    #[arg(value_name = "DB")]
    database: PathBuf,

    /// A file of TOML with these options, such as pg-port = 5433; the command line wins
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(flatten)]
    server: ServerOptions,

    #[command(flatten)]
    opening: Opening,

    /// Let statements of a database without users read and write the files below a directory; otherwise they use none
    #[arg(long, value_name = "DIR")]
    files: Option<PathBuf>,

    /// Log to stderr what happens inside
    #[arg(long, value_name = "FILTER", default_value = LOG)]
    log: Targets,

    /// The form of the log's lines: text json
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true, default_value_t)]
    log_format: Format,
}

impl Serve {
    fn command() -> Command {
        Self::augment_args(Command::new("saltwing serve"))
    }

    /// The options with those of the file of `--config`. `arguments` are those of the command line, which win.
    ///
    /// # Errors
    /// clap's: the file cannot be read, or it has wrong options; the store does not fit the database; the directory of `--files` is not there.
    pub(crate) fn with_config_file(self, arguments: impl Iterator<Item = OsString>) -> Result<Self, clap::Error> {
        let usage = |text: String| Self::command().error(ErrorKind::InvalidValue, text);
        let mut serve = self;
        if let Some(path) = &serve.config {
            let from_file =
                config_arguments(path, &Self::command(), &NOT_IN_CONFIG).map_err(|error| usage(error.to_string()))?;
            let command = Self::command().no_binary_name(true).args_override_self(true);
            let matches = command.try_get_matches_from(from_file.into_iter().chain(arguments))?;
            serve = Self::from_arg_matches(&matches)?;
        }
        serve.opening.check(serve.directory().as_deref()).map_err(|text| usage(text.to_owned()))?;
        match &serve.files {
            Some(files) if !files.is_dir() => {
                Err(usage(format!("--files {}: there is no such directory", files.display())))
            }
            _ => Ok(serve),
        }
    }

    fn directory(&self) -> Option<PathBuf> {
        directory(Some(self.database.clone()))
    }
}

/// Serves until a signal; returns the exit code.
pub(crate) fn run(serve: &Serve) -> u8 {
    log::start(serve.log.clone(), serve.log_format);
    match served(serve) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("{}", rendered(&error));
            if error.is_usage() { EXIT_USAGE } else { EXIT_ERROR }
        }
    }
}

fn served(serve: &Serve) -> Result<(), ServerError> {
    // Before a database is made that nobody can serve.
    serve.server.check()?;
    let files = serve.files.clone().map_or(FileAccess::None, FileAccess::Below);
    let directory = serve.directory();
    let database = serve.opening.open_for_clients(directory.as_deref(), files)?;
    database.notices().iter().for_each(|notice| tracing::warn!(target: "saltwing::server", "{notice}"));
    let user = first_user(&database)?;
    let running = Server::start(database, serve.server.clone())?;
    handle_signals(running.control())?;
    let lines = write_lines(&running, &name(directory.as_deref()), user.as_deref(), &mut io::stdout().lock());
    if let Err(error) = lines {
        // The server is no worse for it: the log has the addresses, too.
        tracing::warn!(target: "saltwing::server", %error, "the lines of the listeners were not written");
    }
    for address in running.addresses() {
        let protocol = address.protocol.as_str();
        tracing::info!(target: "saltwing::server", protocol, address = %address.address, tls = address.is_tls, "listening");
    }
    running.wait()
}

/// A user for the commands that connect; `None` if the database has none.
fn first_user(database: &Database) -> Result<Option<String>, saltwing::Error> {
    let sql = "SELECT user_name FROM information_schema.users ORDER BY user_name LIMIT 1";
    let user: Option<(String,)> = database.connect().blocking().query_opt(sql, ())?;
    Ok(user.map(|(user,)| user))
}

/// The name of the database for clients: that of its directory.
fn name(directory: Option<&Path>) -> String {
    let resolved = directory.map(|directory| std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned()));
    let name = resolved.as_deref().and_then(Path::file_name);
    name.map_or_else(|| "memory".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn write_lines(running: &Running, database: &str, user: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    for address in running.addresses() {
        writeln!(out, "{}", address.line(database, user))?;
    }
    out.flush()
}

/// The error with its causes, and what can be done.
fn rendered(error: &ServerError) -> String {
    if let ServerError::Database(error) = error {
        return error.render("");
    }
    let mut text = format!("error: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    match error.help() {
        Some(help) => format!("{text}\n  help: {help}"),
        None => text,
    }
}
