//! The relational engine of a database.

use std::path::PathBuf;
use std::sync::Arc;

use saltwing_access::Memory;
use saltwing_datafusion::{Engine, EngineConfig};

use crate::{Builder, Error};

/// The engine of a database.
pub(crate) fn engine(
    options: &Builder,
    memory: &Arc<Memory>,
    spill_directory: Option<PathBuf>,
) -> Result<Arc<Engine>, Error> {
    let config = EngineConfig { partitions: options.threads.count, memory: memory.clone(), spill_directory };
    Ok(Arc::new(Engine::new(&config)?))
}
