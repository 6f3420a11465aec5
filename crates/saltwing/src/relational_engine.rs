//! The relational engine of a database.

use std::sync::Arc;

use saltwing_access::{Memory, Threads};
use saltwing_datafusion::{Engine, EngineConfig};

use crate::{Builder, Error};

/// The engine of a database.
pub(crate) fn engine(options: &Builder, memory: &Arc<Memory>) -> Result<Arc<Engine>, Error> {
    let Threads { count, rows_min } = options.threads;
    let config = EngineConfig { partitions: count, divided_rows_min: rows_min, memory: memory.clone() };
    Ok(Arc::new(Engine::new(&config)?))
}
