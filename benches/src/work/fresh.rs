//! Loads into engines that have nothing yet: addresses that nothing compresses, an appender's rows, and a CSV file.

use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::Result;
use crate::bench::{Bench, Peer};
use crate::engine::EngineKind;
use crate::report::Figures;
use crate::rows::{Log, Urls};
use crate::work::load::{load, same_rows};
use crate::work::sizes::folder_bytes;

/// Rows that are in memory at once before they are loaded.
const ROWS_AT_ONCE: u64 = 1_000_000;

pub fn names() -> Vec<String> {
    super::owned(["load_random", "disk_random", "load_appender", "load_copy"])
}

pub fn run(bench: &mut Bench) -> Result<()> {
    if bench.wants("load_random") || bench.wants("disk_random") {
        run_random(bench)?;
    }
    if bench.wants("load_appender") {
        run_appender(bench)?;
    }
    if bench.wants("load_copy") {
        run_copy(bench)?;
    }
    Ok(())
}

/// Engines in a folder that is removed with it.
fn fresh(bench: &Bench) -> Result<(tempfile::TempDir, Vec<Peer>)> {
    let folder = tempfile::tempdir_in(&bench.folder)?;
    let open = |kind: EngineKind| Peer::open(kind, folder.path(), bench.opening);
    let peers = bench.kinds().into_iter().map(open).collect::<Result<_>>()?;
    Ok((folder, peers))
}

fn run_random(bench: &mut Bench) -> Result<()> {
    let (_folder, mut peers) = fresh(bench)?;
    let log = Log { urls: Urls::Random, ..bench.log };
    let (mut loads, mut disk) = (Vec::new(), Vec::new());
    for peer in &mut peers {
        loads.push((peer.kind, load(peer, log)?.figures(log)));
    }
    same_rows("load_random", &mut peers)?;
    for Peer { kind, folder, engine } in peers {
        drop(engine);
        if kind.is_persistent() {
            disk.push((kind, Figures::of_value(folder_bytes(&folder)? as f64 / 1e6, "MB")));
        }
    }
    for (work, figures) in [("load_random", loads), ("disk_random", disk)] {
        if bench.wants(work) {
            bench.report.work(work, log.rows, figures)?;
        }
    }
    Ok(())
}

fn run_appender(bench: &mut Bench) -> Result<()> {
    let (_folder, mut peers) = fresh(bench)?;
    let (rows, mut figures) = (bench.log.rows, Vec::new());
    for peer in &mut peers {
        let mut time = Duration::ZERO;
        for from in (0..rows).step_by(ROWS_AT_ONCE as usize) {
            let rows = bench.log.rows(from, (from + ROWS_AT_ONCE).min(rows));
            let started = Instant::now();
            if !peer.engine.load_in_bulk(&rows)? {
                break;
            }
            time += started.elapsed();
        }
        if !time.is_zero() {
            figures.push((peer.kind, Figures::default().with_rate(rows, time)));
        }
    }
    peers.retain(|peer| figures.iter().any(|(kind, _)| *kind == peer.kind));
    same_rows("load_appender", &mut peers)?;
    bench.report.work("load_appender", rows, figures)
}

fn run_copy(bench: &mut Bench) -> Result<()> {
    let (folder, mut peers) = fresh(bench)?;
    let file = folder.path().join("log.csv");
    write_csv(bench.log, &file)?;
    let mut figures = Vec::new();
    for peer in &mut peers {
        let started = Instant::now();
        let Some(rows) = peer.engine.load_csv(&file)? else { continue };
        figures.push((peer.kind, Figures::default().with_rate(rows, started.elapsed())));
    }
    peers.retain(|peer| figures.iter().any(|(kind, _)| *kind == peer.kind));
    same_rows("load_copy", &mut peers)?;
    bench.report.work("load_copy", bench.log.rows, figures)
}

fn write_csv(log: Log, file: &Path) -> Result<()> {
    let mut out = BufWriter::new(std::fs::File::create(file)?);
    for index in 0..log.rows {
        let row = log.row(index);
        let [a, b, c, d] = row.numbers;
        writeln!(out, "{},{},{a},{b},{c},{d},{}", row.phone, row.ts, row.url)?;
    }
    // What is not on the disk yet would be written while the first engine loads.
    out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
    Ok(())
}
