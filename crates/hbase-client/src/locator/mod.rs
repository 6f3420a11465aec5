//! Where the regions of tables are: a cache over `hbase:meta`.

mod cache;
mod entries;
mod look_up;
mod meta;

pub(crate) use cache::Side;
#[cfg(test)]
pub(crate) use entries::Entry;
pub(crate) use look_up::Locator;
