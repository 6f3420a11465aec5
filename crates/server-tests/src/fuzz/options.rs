use std::time::Duration;

/// How `fuzz` runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FuzzOptions {
    /// Batches begin as long as this; `None` is a fixed number of batches.
    pub time: Option<Duration>,
    /// What all cases follow from.
    pub seed: u64,
    /// The only protocol, by its name.
    pub protocol: Option<String>,
    /// Only this batch.
    pub batch: Option<u64>,
    /// Only this case of each batch.
    pub case: Option<usize>,
}
