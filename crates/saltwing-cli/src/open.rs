//! Opens the database that the arguments name.

use std::path::{Path, PathBuf};

use clap::{ValueEnum, value_parser};
use saltwing::{Builder, Database, Error, FileAccess, StoreKind};

const MB: usize = 1 << 20;

/// How a database is opened, by the shell and by the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct Opening {
    /// The store of a new database; one that is there knows its own
    #[arg(long, value_enum, value_name = "redb|sled|memory", hide_possible_values = true)]
    pub(crate) store: Option<Store>,

    /// Refuse writes
    #[arg(long)]
    pub(crate) readonly: bool,

    /// What becomes of full scans: allow warn error forbid
    #[arg(long, value_enum, value_name = "POLICY", hide_possible_values = true)]
    pub(crate) full_scan: Option<FullScan>,

    #[command(flatten)]
    pub(crate) layout: Layout,
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

    /// Memory for the joins, sorts, groups and large values of running statements, such as 2GB: a quarter of the
    /// machine's unless said otherwise
    #[arg(long, value_name = "SIZE", value_parser = memory_limit)]
    pub(crate) memory_limit: Option<usize>,

    /// The most of this memory for one running statement: all of it, in the server half of it, unless said otherwise
    #[arg(long, value_name = "SIZE", value_parser = memory_limit)]
    pub(crate) statement_memory_limit: Option<usize>,

    /// Threads that merge recent rows into blocks, 1 unless said otherwise
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(1..))]
    pub(crate) merge_threads: Option<u8>,
}

fn memory_limit(text: &str) -> Result<usize, String> {
    let bytes = saltwing::parse_bytes(text).and_then(|bytes| usize::try_from(bytes).ok()).filter(|bytes| *bytes > 0);
    bytes.ok_or_else(|| "a number of bytes, such as 512MB".to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Store {
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

impl Store {
    pub(crate) fn kind(self) -> StoreKind {
        match self {
            Self::Redb => StoreKind::Redb,
            Self::Sled => StoreKind::Sled,
            Self::Memory => StoreKind::Memory,
        }
    }
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

/// What begins the address of a cluster, in place of a directory.
const CLUSTER: &str = "hbase://";

/// The address of the cluster that stands in place of a directory; `None` of a directory.
fn cluster(directory: Option<&Path>) -> Option<&str> {
    directory?.to_str()?.strip_prefix(CLUSTER)
}

/// Checks that this build can open a cluster.
fn check_cluster() -> Result<(), &'static str> {
    match cfg!(feature = "hbase") {
        true => Ok(()),
        false => Err("clusters are not in this build: build saltwing-cli with the feature hbase"),
    }
}

/// The directory of a database; none of one in memory.
pub(crate) fn directory(path: Option<PathBuf>) -> Option<PathBuf> {
    path.filter(|path| path.as_os_str() != ":memory:")
}

impl Opening {
    /// Checks that the store fits the place of the database.
    ///
    /// # Errors
    /// Why it does not.
    pub(crate) fn check(&self, directory: Option<&Path>) -> Result<(), &'static str> {
        match (directory, self.store) {
            (Some(_), Some(_)) if cluster(directory).is_some() => {
                Err("--store is for directories: a cluster has its own")
            }
            (Some(_), None) if cluster(directory).is_some() => check_cluster(),
            (Some(_), Some(Store::Memory)) => Err("--store memory takes no directory: leave DB out"),
            (None, Some(Store::Redb | Store::Sled)) => Err("--store redb and sled need a directory: DB"),
            _ => Ok(()),
        }
    }

    /// Opens the database in a directory, which is made if it is not there, one in memory, or that of a cluster.
    ///
    /// # Errors
    /// The library's: locked, no such directory, no database, another store; those of the cluster.
    pub(crate) fn open(&self, directory: Option<&Path>, files: FileAccess) -> Result<Database, Error> {
        open_with(self.builder(directory, files)?, directory)
    }

    /// As [`Opening::open`], for clients that share the database: unless the options say otherwise, one statement leaves half of the memory to the others.
    ///
    /// # Errors
    /// As [`Opening::open`].
    pub(crate) fn open_for_clients(&self, directory: Option<&Path>, files: FileAccess) -> Result<Database, Error> {
        let builder = self.builder(directory, files)?;
        let half = builder.memory_limit_bytes() / 2;
        let builder = match self.layout.statement_memory_limit {
            None => builder.statement_memory_limit(half.max(1)),
            Some(_) => builder,
        };
        open_with(builder, directory)
    }

    fn builder(&self, directory: Option<&Path>, files: FileAccess) -> Result<Builder, Error> {
        let mut builder = match directory {
            Some(path) if cluster(directory).is_none() => Database::builder(path),
            _ => Database::memory_builder(),
        };
        if let Some(store) = self.store {
            builder = builder.store(store.kind());
        }
        if let Some(policy) = self.full_scan {
            builder = builder.full_scan(policy.as_str())?;
        }
        let Layout { cache_mb, delta_mb, memory_limit, statement_memory_limit, merge_threads } = self.layout;
        if let Some(bytes) = memory_limit {
            builder = builder.memory_limit(bytes);
        }
        if let Some(bytes) = statement_memory_limit {
            builder = builder.statement_memory_limit(bytes);
        }
        if let Some(mb) = cache_mb {
            builder = builder.block_cache_bytes((mb as usize).saturating_mul(MB));
        }
        if let Some(mb) = delta_mb {
            builder = builder.delta_bytes(u64::from(mb).saturating_mul(MB as u64));
        }
        if let Some(threads) = merge_threads {
            builder = builder.merge_threads(threads.into());
        }
        Ok(builder.file_access(files).readonly(self.readonly))
    }
}

/// Opens the database of a builder, or that of a cluster with the builder's other options.
#[cfg(feature = "hbase")]
fn open_with(builder: Builder, directory: Option<&Path>) -> Result<Database, Error> {
    match cluster(directory) {
        None => builder.open(),
        Some(address) => {
            let (tables, catalog) = saltwing_hbase::open(address, saltwing_hbase::Options::default())?;
            builder.open_with_catalog(tables, catalog)
        }
    }
}

/// Opens the database of a builder.
#[cfg(not(feature = "hbase"))]
fn open_with(builder: Builder, _: Option<&Path>) -> Result<Database, Error> {
    builder.open()
}
