//! What is measured, in groups.

mod fresh;
pub mod indexes;
mod load;
mod mixed;
pub mod mobile;
mod plan;
mod reads;
pub mod sizes;
mod states;
mod writes;

use std::path::PathBuf;

use crate::Result;
use crate::bench::{Bench, Effort, Peer, Selection};
use crate::engine::{EngineKind, Opening};
use crate::report::Report;
use crate::rows::{Log, Mix, Urls};

/// Works that run together.
struct Group {
    names: fn() -> Vec<String>,
    /// Whether the engines must have the log.
    needs_log: bool,
    run: fn(&mut Bench) -> Result<()>,
}

/// In the order in which they run: those that only read come first.
const GROUPS: [Group; 10] = [
    Group { names: plan::names, needs_log: false, run: plan::run },
    Group { names: load::names, needs_log: true, run: |_| Ok(()) },
    Group { names: sizes::names, needs_log: true, run: sizes::run },
    Group { names: reads::names, needs_log: true, run: reads::run },
    Group { names: states::names, needs_log: true, run: states::run },
    Group { names: mixed::names, needs_log: true, run: mixed::run },
    Group { names: writes::names, needs_log: true, run: writes::run },
    Group { names: indexes::names, needs_log: false, run: indexes::run },
    Group { names: fresh::names, needs_log: false, run: fresh::run },
    Group { names: mobile::names, needs_log: false, run: mobile::run },
];

/// The options of a run.
pub struct Run {
    /// Rows of the log.
    pub rows: u64,
    /// The works.
    pub selection: Selection,
    /// The engines.
    pub engines: Vec<EngineKind>,
    /// How often things are done.
    pub effort: Effort,
    /// The file for JSON.
    pub json: Option<PathBuf>,
    /// Where databases are made.
    pub folder: Option<PathBuf>,
    /// Memory for each engine's caches.
    pub cache_bytes: Option<u64>,
}

/// The names of all works.
pub fn names() -> Vec<String> {
    GROUPS.iter().flat_map(|group| (group.names)()).collect()
}

/// Runs the works that are wanted.
pub fn run(run: Run) -> Result<()> {
    let folder = match &run.folder {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    let log = Log { rows: run.rows, urls: Urls::Paths };
    let mut bench = Bench {
        peers: Vec::new(),
        log,
        next_row: log.rows,
        selection: run.selection,
        effort: run.effort,
        report: Report::new(run.json.as_deref())?,
        folder: folder.path().to_owned(),
        mix: Mix(42),
        opening: Opening { cache_bytes: run.cache_bytes, keep_recent: false },
    };
    let wanted = GROUPS.iter().filter(|group| (group.names)().iter().any(|name| bench.selection.has(name)));
    let wanted: Vec<&Group> = wanted.collect();
    for kind in &run.engines {
        bench.peers.push(Peer::open(*kind, folder.path(), bench.opening)?);
    }
    if wanted.iter().any(|group| group.needs_log) {
        load::run(&mut bench)?;
    }
    wanted.iter().try_for_each(|group| (group.run)(&mut bench))
}

/// Names from names.
fn owned<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}
