//! The command line.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgAction, ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use saltwing::{Database, Error, FileAccess};
use tracing_subscriber::filter::Targets;

use crate::open::{Opening, Store, directory};
use crate::render::Mode;
#[cfg(feature = "server")]
use crate::serve::{self, Serve};
use crate::vocabulary::STATEMENTS;

const AFTER_HELP: &str = "\
With -c, -f or a stdin that is no terminal it is a batch: statements run in the
order given, on one connection, up to the first error. Results go to stdout, all
else to stderr. The mode is csv in a batch, box in the shell unless said
otherwise. Exit codes: 0, 1 an SQL or storage error, 2 usage, 130 Ctrl-C.
check: 1 when something is damaged; salvage: 3 when something is lost.

  saltwing demo                             a tour in two minutes
  saltwing logs                             a shell on the database in ./logs
  saltwing logs -f schema.sql -c 'SELECT 1'
  saltwing logs --mode json < query.sql
  saltwing backup logs logs-monday          and back: saltwing restore logs-monday logs";

/// SQL over sorted keys: a shell.
#[derive(Debug, Parser)]
#[command(
    name = "saltwing",
    version,
    about = "SQL over sorted keys",
    after_help = AFTER_HELP,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
struct CommandLine {
    #[command(flatten)]
    run: Run,

    #[command(subcommand)]
    subcommand: Option<Word>,
}

/// A shell, or a batch.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Run {
    /// The database: a directory, made if it is not there; :memory:; or hbase://HOST,..[/NODE], the servers of a cluster's ZooKeeper
    #[arg(value_name = "DB")]
    pub(crate) database: Option<PathBuf>,

    /// Run SQL or a dot command, and leave; may be repeated
    #[arg(short = 'c', value_name = "SQL", action = ArgAction::Append, allow_hyphen_values = true)]
    command: Vec<String>,

    /// Run a file (- is stdin), and leave; may be repeated
    #[arg(short = 'f', value_name = "FILE", action = ArgAction::Append)]
    file: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) opening: Opening,

    /// How results are shown: table box csv tsv json jsonl markdown line
    #[arg(long, value_enum, hide_possible_values = true)]
    pub(crate) mode: Option<Mode>,

    /// Let no statement read or write files; STDIN and STDOUT are left
    #[arg(long)]
    pub(crate) no_file_access: bool,

    /// Begin without the file saltwing/config of the user's configuration
    #[arg(long)]
    pub(crate) no_config: bool,

    /// Log to stderr what happens inside, such as saltwing=debug, saltwing::compaction=debug or error
    #[arg(long, value_name = "FILTER")]
    pub(crate) log: Option<Targets>,

    /// The inputs to run, in the given order; if there are none, stdin.
    #[arg(skip)]
    pub(crate) inputs: Vec<Input>,
}

impl Run {
    /// The same arguments for another database, without a choice of the store.
    pub(crate) fn with_database(&self, path: impl Into<PathBuf>) -> Self {
        let opening = Opening { store: None, ..self.opening.clone() };
        Self { database: directory(Some(path.into())), opening, ..self.clone() }
    }

    /// Opens the database.
    ///
    /// # Errors
    /// As [`Opening::open`].
    pub(crate) fn open(&self) -> Result<Database, Error> {
        let files = if self.no_file_access { FileAccess::None } else { FileAccess::All };
        self.opening.open(self.database.as_deref(), files)
    }
}

#[derive(Debug, Subcommand)]
enum Word {
    /// A tour in two minutes, on a database of its own
    Demo,
    /// Print what makes a command shell complete saltwing's arguments
    Completions {
        /// The command shell
        #[arg(value_enum, value_name = "bash|zsh|fish", hide_possible_values = true)]
        shell: CommandShell,
    },
    /// Print the manual page, for man -l
    Man,
    #[command(flatten)]
    Maintain(Maintenance),
    /// Serve a database to PostgreSQL's and Phoenix's clients
    #[cfg(feature = "server")]
    #[command(after_help = serve::AFTER_HELP)]
    Serve(Box<Serve>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CommandShell {
    Bash,
    Zsh,
    Fish,
}

/// A subcommand that keeps databases.
#[derive(Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum Maintenance {
    /// Read all of a database that nobody has open, and say what is damaged
    Check {
        /// The database
        #[arg(value_name = "DIR")]
        database: PathBuf,
    },
    /// Copy what can be read of a damaged database into a new one, and say what is lost
    Salvage {
        /// The damaged database; it is left as it is
        #[arg(value_name = "DIR")]
        damaged: PathBuf,
        /// The new one: a directory that is not there yet
        #[arg(value_name = "NEWDIR")]
        target: PathBuf,
        /// The store of the new one; the damaged one's unless said otherwise
        #[arg(long, value_enum, value_name = "redb|sled", hide_possible_values = true)]
        store: Option<Store>,
    },
    /// Copy a database into a backup; of an open one, run BACKUP TO 'target' where it is open
    Backup {
        /// The database
        #[arg(value_name = "DIR")]
        database: PathBuf,
        /// The backup: a directory that is not there yet
        #[arg(value_name = "TARGET")]
        target: PathBuf,
    },
    /// Make a new database of a backup
    Restore {
        /// The backup
        #[arg(value_name = "BACKUP")]
        backup: PathBuf,
        /// The new database: a directory that is not there yet
        #[arg(value_name = "DIR")]
        database: PathBuf,
        /// The store of the new database, redb unless said otherwise
        #[arg(long, value_enum, value_name = "redb|sled", hide_possible_values = true)]
        store: Option<Store>,
    },
}

/// The parsed command line.
#[derive(Debug)]
pub(crate) enum Invocation {
    Run(Run),
    Demo,
    /// Texts about the program itself.
    Completions(CommandShell),
    Man,
    /// Keeping a database.
    Maintain(Maintenance),
    /// A server.
    #[cfg(feature = "server")]
    Serve(Box<Serve>),
}

/// A `-c` or a `-f`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Text(String),
    File(PathBuf),
}

/// Parses the arguments, of which the first is the program's name.
///
/// # Errors
/// Errors of clap: invalid arguments, and also help and version.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Invocation, clap::Error> {
    let args: Vec<OsString> = args.into_iter().collect();
    let matches = CommandLine::command().try_get_matches_from(&args).map_err(|error| with_advice(error, &args))?;
    let CommandLine { mut run, subcommand } = CommandLine::from_arg_matches(&matches)?;
    match subcommand {
        Some(Word::Demo) => return Ok(Invocation::Demo),
        Some(Word::Completions { shell }) => return Ok(Invocation::Completions(shell)),
        Some(Word::Man) => return Ok(Invocation::Man),
        Some(Word::Maintain(
            Maintenance::Salvage { store: Some(Store::Memory), .. }
            | Maintenance::Restore { store: Some(Store::Memory), .. },
        )) => return Err(usage("--store memory is gone with the process: redb or sled")),
        Some(Word::Maintain(maintenance)) => return Ok(Invocation::Maintain(maintenance)),
        #[cfg(feature = "server")]
        Some(Word::Serve(serve)) => {
            let arguments = args.iter().skip(2).cloned();
            return serve.with_config_file(arguments).map(|serve| Invocation::Serve(Box::new(serve)));
        }
        None => {}
    }
    run.inputs = inputs(&matches);
    if let Some(sql) = run.database.as_ref().and_then(|path| path.to_str()).filter(|path| is_statement(path)) {
        return Err(usage(&for_statement(sql)));
    }
    run.database = directory(run.database);
    run.opening.check(run.database.as_deref()).map_err(usage)?;
    Ok(Invocation::Run(run))
}

/// Writes the completions of a command shell.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn write_completions(shell: CommandShell, out: &mut dyn Write) -> io::Result<()> {
    let shell = match shell {
        CommandShell::Bash => clap_complete::Shell::Bash,
        CommandShell::Zsh => clap_complete::Shell::Zsh,
        CommandShell::Fish => clap_complete::Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "saltwing", &mut script);
    out.write_all(&script)
}

/// Writes the manual page.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn write_manual(out: &mut dyn Write) -> io::Result<()> {
    clap_mangen::Man::new(CommandLine::command()).render(out)
}

fn usage(text: &str) -> clap::Error {
    CommandLine::command().error(ErrorKind::ArgumentConflict, text)
}

/// The error of arguments in which a statement stands by itself, or an option is misspelt.
fn with_advice(error: clap::Error, args: &[OsString]) -> clap::Error {
    if error.exit_code() == 0 {
        return error;
    }
    let texts = args.iter().skip(1).filter_map(|arg| arg.to_str());
    let is_unknown = matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand);
    let is_second = is_unknown || error.kind() == ErrorKind::ArgumentConflict;
    if let Some(sql) = texts.clone().find(|text| is_second && is_statement(text)) {
        return usage(&for_statement(sql));
    }
    let unknown = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) if error.kind() == ErrorKind::UnknownArgument => option,
        _ => return error,
    };
    let program = CommandLine::command();
    let word = texts.clone().next().and_then(|first| program.find_subcommand(first));
    let command = word.unwrap_or(&program);
    let options: Vec<String> =
        command.get_arguments().filter_map(|arg| Some(format!("--{}", arg.get_long()?))).collect();
    let is_prefix = |option: &&String| option.starts_with(unknown.as_str());
    let near = options.iter().find(is_prefix).map(String::as_str);
    let near = near.or_else(|| saltwing::suggest(unknown, options.iter().map(String::as_str)));
    match near {
        Some(near) => CommandLine::command()
            .error(ErrorKind::UnknownArgument, format!("there is no option {unknown}; did you mean {near}?")),
        None => error,
    }
}

fn for_statement(sql: &str) -> String {
    format!("-c runs SQL: saltwing DB -c \"{sql}\"")
}

/// Whether an argument is SQL rather than a likely name of a directory.
fn is_statement(text: &str) -> bool {
    let is_first = |word: &str| STATEMENTS.iter().any(|first| word.eq_ignore_ascii_case(first));
    text.trim().split_once(char::is_whitespace).is_some_and(|(first, _)| is_first(first)) && !Path::new(text).exists()
}

/// The values of `-c` and `-f` in their common order.
fn inputs(matches: &ArgMatches) -> Vec<Input> {
    let indices = |id| matches.indices_of(id).into_iter().flatten();
    let texts = matches.get_many::<String>("command").into_iter().flatten().cloned().map(Input::Text);
    let files = matches.get_many::<PathBuf>("file").into_iter().flatten().cloned().map(Input::File);
    let mut all: Vec<(usize, Input)> = indices("command").zip(texts).chain(indices("file").zip(files)).collect();
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, input)| input).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::Layout;

    fn parsed(args: &[&str]) -> Result<Invocation, clap::Error> {
        parse(std::iter::once("saltwing").chain(args.iter().copied()).map(OsString::from))
    }

    fn run(args: &[&str]) -> Run {
        match parsed(args).unwrap() {
            Invocation::Run(run) => run,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn commands_and_files_keep_their_order() {
        let text = |t: &str| Input::Text(t.into());
        let file = |t: &str| Input::File(t.into());
        let args = ["-c", "1", "-f", "a.sql", "db", "-c", "2", "-c", "3", "-f", "b.sql", "-c4"];
        let all = run(&args);
        assert_eq!(all.inputs, [text("1"), file("a.sql"), text("2"), text("3"), file("b.sql"), text("4")]);
        assert_eq!(all.database, Some("db".into()));
    }

    #[test]
    fn a_command_may_begin_with_a_comment() {
        assert_eq!(run(&["-c", "-- x\nSELECT 1"]).inputs, [Input::Text("-- x\nSELECT 1".into())]);
    }

    #[test]
    fn memory_is_the_default_and_has_a_name() {
        assert_eq!(run(&[]).database, None);
        assert_eq!(run(&[":memory:"]).database, None);
        assert_eq!(run(&["--store", "memory"]).opening.store, Some(Store::Memory));
    }

    #[test]
    fn what_the_database_may_take_is_left_to_it_unless_given() {
        assert_eq!(run(&["db"]).opening.layout, Layout::default());
        let (memory_limit, statement_memory_limit) = (Some(2 << 30), Some(1 << 30));
        let layout = Layout {
            cache_mb: Some(1000),
            delta_mb: Some(64),
            memory_limit,
            statement_memory_limit,
            merge_threads: Some(2),
        };
        let memory = ["--memory-limit", "2GB", "--statement-memory-limit", "1GB"];
        let others = ["--cache-mb", "1000", "--delta-mb=64", "db", "--merge-threads", "2"];
        assert_eq!(run(&[others.as_slice(), &memory].concat()).opening.layout, layout);
    }

    #[test]
    fn words_are_subcommands_and_paths_are_not() {
        assert!(matches!(parsed(&["demo"]).unwrap(), Invocation::Demo));
        let maintained = |args: &[&str]| match parsed(args).unwrap() {
            Invocation::Maintain(maintenance) => maintenance,
            other => panic!("{other:?}"),
        };
        assert_eq!(maintained(&["check", "db"]), Maintenance::Check { database: "db".into() });
        let backup = Maintenance::Backup { database: "db".into(), target: "to".into() };
        assert_eq!(maintained(&["backup", "db", "to"]), backup);
        let (backup, database, store) = ("b".into(), "db".into(), Some(Store::Sled));
        assert_eq!(
            maintained(&["restore", "b", "db", "--store", "sled"]),
            Maintenance::Restore { backup, database, store }
        );
        let (damaged, target) = ("a".into(), "b".into());
        assert_eq!(maintained(&["salvage", "a", "b"]), Maintenance::Salvage { damaged, target, store: None });
        assert_eq!(run(&["./demo"]).database, Some("./demo".into()));
        assert_eq!(run(&["help"]).database, Some("help".into()));
    }

    #[test]
    fn usage_errors_exit_with_two() {
        for args in [
            vec!["--mode", "xml"],
            vec!["--full-scan", "maybe"],
            vec!["--store", "oracle"],
            vec!["a", "b"],
            vec!["-c"],
            vec!["--what"],
            vec!["db", "--store", "memory"],
            vec!["--store", "sled"],
            vec!["--store", "redb"],
            vec!["--cache-mb", "0"],
            vec!["--delta-mb", "1GB"],
            vec!["--merge-threads", "0"],
            vec!["check"],
            vec!["check", "a", "b"],
            vec!["backup", "a"],
            vec!["restore", "a", "b", "--store", "memory"],
            vec!["--memory-limit", "much"],
        ] {
            assert_eq!(parsed(&args).unwrap_err().exit_code(), 2, "{args:?}");
        }
        assert_eq!(parsed(&["--help"]).unwrap_err().exit_code(), 0);
        assert_eq!(parsed(&["--version"]).unwrap_err().exit_code(), 0);
    }

    #[test]
    fn a_statement_by_itself_is_refused_with_its_option() {
        for args in [&["db", "select 1"][..], &["select 1"], &["db", "--mode", "csv", "UPDATE t SET a = 1"]] {
            let error = parsed(args).unwrap_err();
            let text = error.to_string();
            assert!(text.contains("-c runs SQL: saltwing DB -c \"") && error.exit_code() == 2, "{text}");
        }
        assert_eq!(run(&["db", "-c", "select 1"]).inputs.len(), 1);
        assert_eq!(run(&["select"]).database, Some("select".into()));
    }

    #[test]
    fn a_misspelt_option_is_refused_with_the_near_one() {
        for (arg, near) in
            [("--mod", "--mode"), ("--mdoe", "--mode"), ("--read-only", "--readonly"), ("--cache", "--cache-mb")]
        {
            let text = parsed(&[arg, "csv"]).unwrap_err().to_string();
            assert!(text.contains(near) && !text.contains("as a value"), "{text}");
        }
        assert!(parsed(&["--xyzzy"]).unwrap_err().to_string().contains("--xyzzy"));
    }

    #[test]
    fn the_definition_is_sound() {
        CommandLine::command().debug_assert();
    }
}
