//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{ArgAction, ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum, value_parser};

use crate::render::Mode;

const AFTER_HELP: &str = "\
With -c, -f or a stdin that is no terminal it is a batch: statements run in the
order given, on one connection, up to the first error. Results go to stdout, all
else to stderr. The mode is csv in a batch, box in the shell unless said
otherwise. Exit codes: 0, 1 an SQL or storage error, 2 usage, 130 Ctrl-C.

  saltwing demo                             a tour in two minutes
  saltwing logs                             a shell on the database in ./logs
  saltwing logs -f schema.sql -c 'SELECT 1'
  saltwing logs --mode json < query.sql";

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
    /// The database: a directory, made if it is not there, or :memory:
    #[arg(value_name = "DB")]
    database: Option<PathBuf>,

    /// Run SQL or a dot command, and leave; may be repeated
    #[arg(short = 'c', value_name = "SQL", action = ArgAction::Append, allow_hyphen_values = true)]
    command: Vec<String>,

    /// Run a file (- is stdin), and leave; may be repeated
    #[arg(short = 'f', value_name = "FILE", action = ArgAction::Append)]
    file: Vec<PathBuf>,

    /// The store of a new database; one that is there knows its own
    #[arg(long, value_enum, value_name = "fjall|redb|sled|memory", hide_possible_values = true)]
    store: Option<Store>,

    /// How results are shown: table box csv tsv json jsonl markdown line
    #[arg(long, value_enum, hide_possible_values = true)]
    mode: Option<Mode>,

    /// Refuse writes
    #[arg(long)]
    readonly: bool,

    /// What becomes of full scans: allow warn error forbid
    #[arg(long, value_enum, value_name = "POLICY", hide_possible_values = true)]
    full_scan: Option<FullScan>,

    #[command(flatten)]
    layout: Layout,

    #[command(subcommand)]
    subcommand: Option<Word>,
}

/// What the database may take for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct Layout {
    /// Memory for blocks of rows that were read, 256 unless said otherwise
    #[arg(long, value_name = "MB", value_parser = value_parser!(u32).range(1..))]
    pub(crate) cache_mb: Option<u32>,

    /// Memory for recent rows before they are merged into blocks, 128 unless said otherwise
    #[arg(long, value_name = "MB", value_parser = value_parser!(u32).range(1..))]
    pub(crate) delta_mb: Option<u32>,

    /// Threads that merge recent rows into blocks, 1 unless said otherwise
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(1..))]
    pub(crate) merge_threads: Option<u8>,
}

#[derive(Debug, Subcommand)]
enum Word {
    /// A tour in two minutes, on a database of its own
    Demo,
    /// Check a database (not supported yet)
    Check(Rest),
    /// Back a database up (not supported yet)
    Backup(Rest),
    /// Restore a backup (not supported yet)
    Restore(Rest),
}

#[derive(Debug, clap::Args)]
struct Rest {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _rest: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Store {
    Fjall,
    Redb,
    Sled,
    Memory,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FullScan {
    Allow,
    Warn,
    Error,
    Forbid,
}

impl FullScan {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Error => "error",
            Self::Forbid => "forbid",
        }
    }
}

/// What the process was asked to do.
#[derive(Debug)]
pub(crate) enum Invocation {
    Run(Run),
    Demo,
    /// A subcommand that is named, but not there.
    NotYet(&'static str),
}

/// A shell, or a batch.
#[derive(Debug)]
pub(crate) struct Run {
    /// `None` is memory.
    pub(crate) database: Option<PathBuf>,
    /// What to run, in the order given; nothing is stdin.
    pub(crate) inputs: Vec<Input>,
    pub(crate) store: Option<Store>,
    pub(crate) mode: Option<Mode>,
    pub(crate) readonly: bool,
    pub(crate) full_scan: Option<FullScan>,
    pub(crate) layout: Layout,
}

/// A `-c` or a `-f`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Text(String),
    File(PathBuf),
}

/// Reads the arguments, the program's name first.
///
/// # Errors
/// What is wrong with them; help and version, which clap counts as errors.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Invocation, clap::Error> {
    let matches = CommandLine::command().try_get_matches_from(args)?;
    let line = CommandLine::from_arg_matches(&matches)?;
    match line.subcommand {
        Some(Word::Demo) => return Ok(Invocation::Demo),
        Some(Word::Check(_)) => return Ok(Invocation::NotYet("check")),
        Some(Word::Backup(_)) => return Ok(Invocation::NotYet("backup")),
        Some(Word::Restore(_)) => return Ok(Invocation::NotYet("restore")),
        None => {}
    }
    let inputs = inputs(&matches);
    let database = line.database.filter(|path| path.as_os_str() != ":memory:");
    match (&database, line.store) {
        (Some(_), Some(Store::Memory)) => return Err(usage("--store memory takes no directory: leave DB out")),
        (None, Some(Store::Fjall | Store::Redb | Store::Sled)) => {
            return Err(usage("--store fjall, redb and sled need a directory: DB"));
        }
        _ => {}
    }
    Ok(Invocation::Run(Run {
        database,
        inputs,
        store: line.store,
        mode: line.mode,
        readonly: line.readonly,
        full_scan: line.full_scan,
        layout: line.layout,
    }))
}

fn usage(text: &str) -> clap::Error {
    CommandLine::command().error(ErrorKind::ArgumentConflict, text)
}

/// `-c` and `-f` as they were interleaved.
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
        assert_eq!(run(&["--store", "memory"]).store, Some(Store::Memory));
    }

    #[test]
    fn what_the_database_may_take_is_left_to_it_unless_said() {
        assert_eq!(run(&["db"]).layout, Layout::default());
        let layout = Layout { cache_mb: Some(1000), delta_mb: Some(64), merge_threads: Some(2) };
        assert_eq!(run(&["--cache-mb", "1000", "--delta-mb=64", "db", "--merge-threads", "2"]).layout, layout);
    }

    #[test]
    fn words_are_subcommands_and_paths_are_not() {
        assert!(matches!(parsed(&["demo"]).unwrap(), Invocation::Demo));
        assert!(matches!(parsed(&["check", "db", "--deep"]).unwrap(), Invocation::NotYet("check")));
        assert!(matches!(parsed(&["backup", "db", "to"]).unwrap(), Invocation::NotYet("backup")));
        assert!(matches!(parsed(&["restore"]).unwrap(), Invocation::NotYet("restore")));
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
        ] {
            assert_eq!(parsed(&args).unwrap_err().exit_code(), 2, "{args:?}");
        }
        assert_eq!(parsed(&["--help"]).unwrap_err().exit_code(), 0);
        assert_eq!(parsed(&["--version"]).unwrap_err().exit_code(), 0);
    }

    #[test]
    fn the_definition_is_sound() {
        CommandLine::command().debug_assert();
    }
}
