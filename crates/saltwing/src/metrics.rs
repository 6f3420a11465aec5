//! Exports the numbers of SHOW STORAGE to the recorder of the crate `metrics` that the program has installed.
//!
//! The metrics have no counters of their own: they are read from the storage on request.

use metrics::{Label, counter, describe_counter, describe_gauge, gauge};
use saltwing_table::StorageStats;

use crate::storage::{Count, Kind, READ, WHOLE, WRITTEN};
use crate::{Database, Error};

impl Database {
    /// Passes the numbers of SHOW STORAGE to the recorder of the crate `metrics`; does nothing if there is no recorder. Programs that
    /// export metrics call this method before each export: `docs/operations.md` lists the metrics.
    ///
    /// The call walks over the recent rows, as SHOW STORAGE does, which takes some milliseconds.
    ///
    /// # Errors
    /// [`ErrorCode::NotSupported`](crate::ErrorCode::NotSupported) over a table store that is not part of this crate.
    pub fn record_metrics(&self) -> Result<(), Error> {
        let stats = self.shared.storage("recording metrics")?.storage_stats();
        let directory = self.shared.directory.as_ref();
        let database = Label::new("database", directory.map_or("memory".into(), |path| path.display().to_string()));
        for Count { name, kind, description, pick } in &WHOLE {
            kind.record(name, description, vec![database.clone()], pick(&stats));
        }
        self.record_tables(&stats, &database)
    }

    fn record_tables(&self, stats: &StorageStats, database: &Label) -> Result<(), Error> {
        for table in self.shared.catalog.snapshot()?.tables()? {
            let def = table.def();
            let Some(storage) = stats.tables.iter().find(|storage| storage.table == def.id) else { continue };
            let labels = vec![database.clone(), Label::new("table", def.name.to_string())];
            for Count { name, kind, description, pick } in WRITTEN.iter().chain(&READ) {
                kind.record(name, description, labels.clone(), pick(storage));
            }
        }
        Ok(())
    }
}

impl Kind {
    fn record(self, name: &str, description: &'static str, labels: Vec<Label>, value: u64) {
        let name = format!("saltwing_{name}");
        match self {
            Self::Counter => {
                describe_counter!(name.clone(), description);
                counter!(name, labels).absolute(value);
            }
            Self::Gauge => {
                describe_gauge!(name.clone(), description);
                gauge!(name, labels).set(value as f64);
            }
        }
    }
}
