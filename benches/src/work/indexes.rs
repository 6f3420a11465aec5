//! Secondary indexes: reads by them, and loads of tables that have some. Engines without SQL take no part.

use crate::Result;
use crate::bench::{Bench, Peer};
use crate::engine::EngineKind;
use crate::read::Read;
use crate::work::load::{load, same_rows};

const READS: [Read; 3] = [Read::IndexPoint, Read::IndexCovered, Read::Index500];

/// The two indexes that reads use come first; each with Saltwing's option by which the first column tells the bucket of an
/// entry, as that of the log does. Without it a lookup would seek in each bucket.
pub const INDEXES: [(&str, &str); 4] = [
    ("CREATE INDEX log_a ON log (a)", " SALT_BY = (a)"),
    ("CREATE INDEX log_c ON log (c, b)", " SALT_BY = (c)"),
    ("CREATE INDEX log_d ON log (d)", " SALT_BY = (d)"),
    ("CREATE INDEX log_url ON log (url)", " SALT_BY = (url)"),
];

/// Each load, with the number of indexes of the table.
const LOADS: [(&str, usize); 4] =
    [("load_indexes0", 0), ("load_indexes1", 1), ("load_indexes2", 2), ("load_indexes4", 4)];

pub fn names() -> Vec<String> {
    super::owned(READS.map(Read::name).into_iter().chain(LOADS.map(|(name, _)| name)))
}

pub fn run(bench: &mut Bench) -> Result<()> {
    for (work, count) in LOADS {
        if bench.wants(work) {
            run_load(bench, work, count)?;
        }
    }
    if READS.iter().any(|read| bench.wants(read.name())) {
        run_reads(bench)?;
    }
    Ok(())
}

/// Opens the engines that have SQL, in a new folder, and creates the first `count` of [`INDEXES`]. The tables have no rows.
/// The folder is removed when it is dropped.
fn indexed(bench: &Bench, count: usize) -> Result<(tempfile::TempDir, Vec<Peer>)> {
    let folder = tempfile::tempdir_in(&bench.folder)?;
    let with_sql = |kind: &EngineKind| *kind != EngineKind::Redb;
    let mut peers = Vec::new();
    for kind in bench.kinds().into_iter().filter(with_sql) {
        let mut peer = Peer::open(kind, folder.path(), bench.opening)?;
        for (sql, option) in INDEXES.iter().take(count) {
            let option = if kind == EngineKind::Sqlite { "" } else { option };
            peer.engine.run(&format!("{sql}{option}"))?;
        }
        peers.push(peer);
    }
    Ok((folder, peers))
}

/// Durable batches of 1,000 rows.
fn run_load(bench: &mut Bench, work: &str, count: usize) -> Result<()> {
    let (_folder, mut peers) = indexed(bench, count)?;
    let mut figures = Vec::new();
    for peer in &mut peers {
        figures.push((peer.kind, load(peer, bench.log)?.figures(bench.log)));
    }
    same_rows(work, &mut peers)?;
    bench.report.work(work, bench.log.rows, figures)
}

fn run_reads(bench: &mut Bench) -> Result<()> {
    let (_folder, mut peers) = indexed(bench, 2)?;
    for peer in &mut peers {
        load(peer, bench.log)?;
    }
    // The engines of the run wait meanwhile.
    std::mem::swap(&mut bench.peers, &mut peers);
    let by_entries = [Read::FirstEntries, Read::SecondEntries];
    let warm = bench.warm().and_then(|()| by_entries.into_iter().try_for_each(|read| bench.warm_by(read)));
    let measured = warm.and_then(|()| READS.iter().try_for_each(|read| bench.measure(*read, read.name())));
    std::mem::swap(&mut bench.peers, &mut peers);
    measured
}
