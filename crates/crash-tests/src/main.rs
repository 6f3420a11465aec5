//! What a crash and a disk may do to a database, tried on demand.
//!
//! ```text
//! crash-tests power  --store redb --cuts 1000 --rule ext4,torn,zero,posix,sector,subset --seed 7
//! crash-tests damage --store redb --trials 2000 --left killed --seed 7
//! crash-tests kill   --store redb --rounds 100 --threads 8 --seed 7
//! ```
//!
//! `power` has a writer recorded (`record.c`): every write, sync, rename and unlink, and every acknowledged statement, in one
//! order. It cuts the trace at many places, rebuilds what the disk would have by each rule (`disk.rs`), and opens that: every
//! acknowledged statement is there as a whole, the one in flight as a whole or not at all. Some of these openings are recorded
//! and cut in their turn. `damage` changes one file of a database at a time: the database reports the damage, or the damage
//! has no effect. `kill` kills a process that runs transactions, again and again: snapshot isolation explains what they saw
//! and what is there at the next opening.
//! Checkers are child processes with limits on memory and time.

mod child;
mod damage;
mod disk;
mod kill;
mod power;
mod roles;
mod trace;
mod workload;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use saltwing::StoreKind;

use crate::disk::Rule;
use crate::roles::Setup;

#[derive(Parser)]
#[command(about = "Power cuts rebuilt from a recorded trace, and damaged files")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
    /// The store below the database.
    #[arg(long, global = true, default_value = "redb")]
    store: String,
    /// What statements, places and damages follow from.
    #[arg(long, global = true, default_value_t = 1)]
    seed: u64,
    /// Threads that write.
    #[arg(long, global = true, default_value_t = 4)]
    threads: u64,
}

#[derive(Subcommand)]
enum Task {
    /// Cuts a recorded trace, and opens the database that each cut leaves.
    Power {
        /// Places where the trace is cut, for each rule.
        #[arg(long, default_value_t = 100)]
        cuts: usize,
        /// What a cut leaves.
        #[arg(long, value_delimiter = ',', default_value = "ext4,torn,zero,sector,subset")]
        rule: Vec<Rule>,
        /// Statements of each thread that writes.
        #[arg(long, default_value_t = 1000)]
        statements: usize,
        /// Of this many cuts by a rule, one has the opening of its database recorded and cut, too; 0: none has.
        #[arg(long, default_value_t = 10)]
        opening_of: usize,
    },
    /// Damages files, one at a time.
    Damage {
        /// How many damages.
        #[arg(long, default_value_t = 200)]
        trials: usize,
        /// How the database was left.
        #[arg(long, value_delimiter = ',', default_value = "closed,killed")]
        left: Vec<damage::Left>,
        /// Statements of each thread that writes.
        #[arg(long, default_value_t = 500)]
        statements: usize,
    },
    /// Kills a process that runs transactions, and opens what it leaves.
    Kill {
        /// How often.
        #[arg(long, default_value_t = 20)]
        rounds: u64,
        /// The longest time before it is killed, in seconds.
        #[arg(long, default_value_t = 0.6)]
        seconds: f64,
    },
    /// A child's role: runs transactions.
    #[command(hide = true)]
    Transact {
        database: PathBuf,
        log: PathBuf,
        #[arg(long)]
        transactions: usize,
        #[arg(long)]
        clock: u64,
    },
    /// A child's role: writes.
    #[command(hide = true)]
    Write {
        database: PathBuf,
        log: PathBuf,
        #[arg(long)]
        statements: usize,
        #[arg(long)]
        killed: bool,
    },
    /// A child's role: opens and closes.
    #[command(hide = true)]
    Open { database: PathBuf },
    /// A child's role: holds a database to a log.
    #[command(hide = true)]
    Check { database: PathBuf, log: PathBuf },
    /// A child's role: makes a database of what can be read of another one.
    #[command(hide = true)]
    Salvage { database: PathBuf, target: PathBuf },
    /// A child's role: prints what can be read.
    #[command(hide = true)]
    Read { database: PathBuf },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("crash-tests: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> io::Result<u8> {
    let Arguments { store, seed, threads, task } = arguments;
    let kind = StoreKind::by_name(store).ok_or_else(|| io::Error::other(format!("there is no store {store}")))?;
    let setup = Setup { store: kind, seed: *seed, threads: *threads };
    let (store, seed, threads) = (store.clone(), *seed, *threads);
    let is_well = match task {
        Task::Power { cuts, rule, statements, opening_of } => {
            let (cuts, rules, statements, opening_of) = (*cuts, rule.clone(), *statements, *opening_of);
            let plan = power::Plan { store, seed, threads, cuts, rules, statements, opening_of, shown_max: 3 };
            power::run(&plan, home()?.path())?.unwrap_or(true)
        }
        Task::Damage { trials, left, statements } => {
            let mut is_well = true;
            for left in left {
                let (store, trials, statements) = (store.clone(), *trials, *statements);
                let plan = damage::Plan { store, seed, threads, trials, left: *left, statements };
                is_well &= damage::run(&plan, home()?.path())?;
            }
            is_well
        }
        Task::Kill { rounds, seconds } => {
            let plan = kill::Plan { store, seed, threads, rounds: *rounds, seconds: *seconds };
            kill::run(&plan, home()?.path())?
        }
        Task::Transact { database, log, transactions, clock } => {
            kill::transact(&setup, database, log, *transactions, *clock)?;
            true
        }
        Task::Write { database, log, statements, killed } => {
            roles::write(&setup, database, log, *statements, *killed).map_err(io::Error::other)?;
            true
        }
        Task::Open { database } => {
            roles::open(&setup, database).map_err(io::Error::other)?;
            true
        }
        Task::Check { database, log } => return Ok(roles::check(&setup, database, &roles::log(log)) as u8),
        Task::Salvage { database, target } => return Ok(roles::salvage(&setup, database, target) as u8),
        Task::Read { database } => return Ok(roles::read(&setup, database) as u8),
    };
    Ok(u8::from(!is_well))
}

/// In memory, where there is such a place: directories are rebuilt hundreds of times, and no power is lost here.
fn home() -> io::Result<tempfile::TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())
}
