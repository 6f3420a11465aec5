//! What a settled log takes: on the disk, to be opened, in memory.

use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::bench::Bench;
use crate::engine::{EngineKind, Opening};
use crate::process;
use crate::read::Read;
use crate::report::Figures;
use crate::rows::{Log, Mix, Urls};

const MB: f64 = 1e6;

pub fn names() -> Vec<String> {
    super::owned(["disk", "open", "memory"])
}

/// Each engine is closed, looked at, and opened again.
pub fn run(bench: &mut Bench) -> Result<()> {
    let (mut disk, mut open, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    let rows = bench.log.rows;
    for (place, kind) in bench.kinds().into_iter().enumerate() {
        let (mut bytes, mut resident, mut times) = (0, None, Vec::new());
        let probed = bench.wants("memory");
        let looked_at = bench.reopen(place, bench.opening, |folder| {
            bytes = folder_bytes(folder)?;
            resident = if probed { memory_of(kind, folder, rows)? } else { None };
            Ok(())
        })?;
        if looked_at.is_none() {
            continue;
        }
        for _ in 0..bench.effort.of(5) {
            times.extend(bench.reopen(place, bench.opening, |_| Ok(()))?);
        }
        times.sort_unstable();
        let median_ms = times.get(times.len() / 2).map(|time| time.as_secs_f64() * 1e3);
        disk.push((kind, Figures::of_value(bytes as f64 / MB, "MB")));
        open.extend(median_ms.map(|ms| (kind, Figures::of_value(ms, "ms"))));
        memory.extend(resident.map(|bytes| (kind, Figures::of_value(bytes as f64 / MB, "MB"))));
    }
    for (work, figures) in [("disk", disk), ("open", open), ("memory", memory)] {
        if bench.wants(work) {
            bench.report.work(work, rows, figures)?;
        }
    }
    Ok(())
}

/// What all files of a folder take on the disk.
pub fn folder_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { folder_bytes(&entry.path())? } else { bytes_on_disk(&metadata) };
    }
    Ok(bytes)
}

/// Space that a store has reserved and not used yet may be a hole of the file.
#[cfg(unix)]
fn bytes_on_disk(metadata: &std::fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    metadata.blocks() * 512
}

#[cfg(not(unix))]
fn bytes_on_disk(metadata: &std::fs::Metadata) -> u64 {
    metadata.len()
}

/// What a process has in memory that has nothing but this engine, and has read from it: [`probe_memory`].
fn memory_of(kind: EngineKind, folder: &Path, rows: u64) -> Result<Option<u64>> {
    let probe = Command::new(std::env::current_exe()?)
        .args(["--engines", kind.name(), "--rows", &rows.to_string(), "--probe-memory"])
        .arg(folder)
        .output()?;
    if !probe.status.success() {
        return Err(format!("memory of {}: {}", kind.name(), String::from_utf8_lossy(&probe.stderr)).into());
    }
    Ok(String::from_utf8_lossy(&probe.stdout).trim().parse().ok())
}

/// Opens an engine, reads all of it once and parts of it often, and prints the memory that the process has then.
pub fn probe_memory(kind: EngineKind, folder: &Path, rows: u64) -> Result<()> {
    let log = Log { rows, urls: Urls::Paths };
    let mut engine = kind.open(folder, Opening::default())?;
    let mut mix = Mix(7);
    for (read, times) in [(Read::SumAll, 1), (Read::Prefix500Rows, 1000), (Read::Point, 10_000)] {
        let argument_lists: Vec<_> = (0..times).map(|_| read.arguments(log, &mut mix)).collect();
        engine.ask(read, &argument_lists)?;
    }
    match process::resident_bytes() {
        Some(bytes) => println!("{bytes}"),
        None => println!("unknown"),
    }
    Ok(())
}
