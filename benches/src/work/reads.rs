//! Questions to a log that nobody writes to.

use crate::Result;
use crate::bench::Bench;
use crate::read::{Read, item_inserts};

const READS: [Read; 16] = [
    Read::Point,
    Read::PointUnprepared,
    Read::Prefix500Arrow,
    Read::Prefix500Rows,
    Read::Agg401,
    Read::Latest10,
    Read::Page1000,
    Read::In100,
    Read::SkipScan,
    Read::Join1k,
    Read::SumAll,
    Read::GroupAll,
    Read::FilterAll,
    Read::JoinAll,
    Read::WindowAll,
    Read::SortAll,
];

pub fn names() -> Vec<String> {
    super::owned(READS.map(Read::name))
}

pub fn run(bench: &mut Bench) -> Result<()> {
    if READS.iter().any(|read| bench.wants(read.name())) {
        bench.warm()?;
    }
    let mut has_items = false;
    for read in READS {
        if !bench.wants(read.name()) {
            continue;
        }
        if read.is_relational() && !cfg!(feature = "datafusion") {
            println!("{} is left out: it needs the relational engine, and this build has none", read.name());
            continue;
        }
        if read.needs_items() && !has_items {
            fill_items(bench)?;
            has_items = true;
        }
        bench.measure(read, read.name())?;
    }
    Ok(())
}

fn fill_items(bench: &mut Bench) -> Result<()> {
    for peer in &mut bench.peers {
        for sql in item_inserts() {
            if !peer.engine.run(&sql)? {
                break;
            }
        }
        peer.engine.settle()?;
    }
    Ok(())
}
