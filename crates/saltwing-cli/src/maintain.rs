//! `check`, `salvage`, `backup`, `restore`.
//!
//! Findings go to stdout, one per line, errors to stderr. Ctrl-C ends the process; unfinished output is marked as
//! unfinished.

use std::io::{self, Write};
use std::path::Path;

use saltwing::{CheckReport, Database, Error, SalvageReport};

use crate::args::Maintenance;
use crate::failure::{EXIT_ERROR, EXIT_LOST};
use crate::message::{count, grouped};

/// Runs a subcommand; returns the exit code.
pub(crate) fn run(maintenance: &Maintenance) -> u8 {
    let mut out = io::stdout().lock();
    let done = match maintenance {
        Maintenance::Check { database } => check(database, &mut out),
        Maintenance::Salvage { damaged, target, store } => {
            let mut builder = Database::builder(target);
            if let Some(store) = store {
                builder = builder.store(store.kind());
            }
            builder.salvage(damaged).map(|report| salvaged(&report, target, &mut out))
        }
        Maintenance::Backup { database, target } => backup(database, target, &mut out),
        Maintenance::Restore { backup, database, store } => {
            let mut builder = Database::builder(database);
            if let Some(store) = store {
                builder = builder.store(store.kind());
            }
            let restored = builder.restore(backup).and_then(Database::close);
            restored.map(|()| after_output(writeln!(out, "{} is in {}", backup.display(), database.display()), 0))
        }
    };
    done.unwrap_or_else(|error| {
        eprintln!("{}", error.render(""));
        EXIT_ERROR
    })
}

/// The exit code after the output was written, or its reader has closed the pipe.
fn after_output(written: io::Result<()>, code: u8) -> u8 {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            eprintln!("error[58030 io]: the output cannot be written: {error}");
            EXIT_ERROR
        }
        _ => code,
    }
}

fn check(database: &Path, out: &mut impl Write) -> Result<u8, Error> {
    let report = Database::builder(database).check()?;
    let code = if report.is_sound() { 0 } else { EXIT_ERROR };
    Ok(after_output(checked(&report, out), code))
}

fn checked(report: &CheckReport, out: &mut impl Write) -> io::Result<()> {
    for fault in &report.faults {
        writeln!(out, "fault: {fault}")?;
    }
    let faults = match report.faults.len() as u64 {
        0 => "no fault".to_owned(),
        faults => count(faults, "fault", "faults"),
    };
    let (tables, rows) = (count(report.tables, "table", "tables"), count(report.rows, "row", "rows"));
    let blocks = count(report.blocks, "block", "blocks");
    writeln!(out, "{tables}, {rows}, {blocks}, {} bytes: {faults}", grouped(report.bytes))
}

fn salvaged(report: &SalvageReport, target: &Path, out: &mut impl Write) -> u8 {
    let mut write = || -> io::Result<()> {
        for table in &report.tables {
            writeln!(out, "saved: {}, {}", table.name, count(table.rows, "row", "rows"))?;
        }
        for fault in &report.mended {
            writeln!(out, "mended: {fault}")?;
        }
        for fault in &report.lost {
            writeln!(out, "lost: {fault}")?;
        }
        let tables = count(report.tables.len() as u64, "table", "tables");
        let rows = count(report.tables.iter().map(|table| table.rows).sum(), "row", "rows");
        let lost = match report.lost.len() as u64 {
            0 => "nothing is lost".to_owned(),
            lost => count(lost, "loss", "losses"),
        };
        writeln!(out, "{tables}, {rows} in {}: {lost}", target.display())
    };
    after_output(write(), if report.lost.is_empty() { 0 } else { EXIT_LOST })
}

fn backup(database: &Path, target: &Path, out: &mut impl Write) -> Result<u8, Error> {
    let database = Database::builder(database).readonly(true).create(false).open()?;
    let report = database.backup(target)?;
    let (entries, bytes) = (count(report.entries, "entry", "entries"), grouped(report.bytes));
    Ok(after_output(writeln!(out, "{entries}, {bytes} bytes are in {}", target.display()), 0))
}
