//! What happens to tables, regions and servers, as the master does it.

mod assignment;
mod deaths;
mod merges;
mod procedures;
mod splits;
mod tables;

pub(crate) use assignment::{
    any_server, close_region, finish_opening, move_region, open_regions, region_of, tell_catalog,
};
pub(crate) use deaths::{kill, recover};
pub(crate) use merges::begin_merge;
pub(crate) use procedures::{finish_all, poll, submit};
pub(crate) use splits::{begin_split, clean_catalog};
pub(crate) use tables::{create_table, delete_table, disable_table, enable_table, move_meta};
