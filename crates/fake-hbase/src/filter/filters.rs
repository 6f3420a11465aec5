//! Filters, and lists of them.

use bytes::Bytes;
use hbase_client::WireError;
use hbase_client::cell::{Cell, CellParts};
use hbase_client::proto::{self, FilterListOperator};
use prost::Message;

use super::class;
use super::column_filter::ColumnFilter;
use super::row_ranges::RowRanges;
use crate::exception::Exception;

/// A filter with what it has seen.
#[derive(Clone, Debug)]
pub(crate) enum Filter {
    Prefix {
        prefix: Bytes,
        is_passed: bool,
    },
    Page {
        rows_max: i64,
        rows: i64,
    },
    KeyOnly {
        with_length: bool,
    },
    FirstKeyOnly {
        found: bool,
    },
    RowRanges(RowRanges),
    Column(ColumnFilter),
    /// Of all or of one; each with whether it dropped the row.
    List {
        all: bool,
        filters: Vec<(Filter, bool)>,
    },
}

fn decode<M: Message + Default>(bytes: Bytes) -> Result<M, Exception> {
    M::decode(bytes).map_err(|error| Exception::do_not_retry(format!("DeserializationException: {error}")))
}

impl Filter {
    /// The filter of a message.
    ///
    /// # Errors
    /// `DoNotRetryIOException` with a `ClassNotFoundException` for classes other than these.
    pub(crate) fn decode(message: &proto::Filter) -> Result<Self, Exception> {
        let bytes = message.serialized_filter.clone().unwrap_or_default();
        Ok(match class::name_of(&message.name) {
            Some("PrefixFilter") => {
                let prefix = decode::<proto::PrefixFilter>(bytes)?.prefix.unwrap_or_default();
                Self::Prefix { prefix, is_passed: false }
            }
            Some("PageFilter") => Self::Page { rows_max: decode::<proto::PageFilter>(bytes)?.page_size, rows: 0 },
            Some("KeyOnlyFilter") => Self::KeyOnly { with_length: decode::<proto::KeyOnlyFilter>(bytes)?.len_as_val },
            Some("FirstKeyOnlyFilter") => Self::FirstKeyOnly { found: false },
            Some("MultiRowRangeFilter") => Self::RowRanges(RowRanges::new(decode(bytes)?)),
            Some("SingleColumnValueFilter") => Self::Column(ColumnFilter::new(decode(bytes)?)?),
            Some("FilterList") => {
                let list: proto::FilterList = decode(bytes)?;
                let filters = list.filters.iter().map(|filter| Ok((Self::decode(filter)?, false)));
                let all = list.operator == FilterListOperator::MustPassAll as i32;
                Self::List { all, filters: filters.collect::<Result<_, Exception>>()? }
            }
            _ => return Err(class::not_found(&message.name)),
        })
    }

    /// Before each row.
    pub(crate) fn reset(&mut self) {
        match self {
            Self::FirstKeyOnly { found } => *found = false,
            Self::Column(filter) => filter.reset(),
            Self::List { filters, .. } => {
                for (filter, dropped) in filters {
                    filter.reset();
                    *dropped = false;
                }
            }
            _ => {}
        }
    }

    /// Whether no row follows that it lets through.
    pub(crate) fn is_done(&self) -> bool {
        match self {
            Self::Prefix { is_passed, .. } => *is_passed,
            Self::Page { rows_max, rows } => rows >= rows_max,
            Self::RowRanges(ranges) => ranges.is_done(),
            Self::List { all: true, filters } => filters.iter().any(|(filter, _)| filter.is_done()),
            Self::List { all: false, filters } => {
                !filters.is_empty() && filters.iter().all(|(filter, _)| filter.is_done())
            }
            Self::KeyOnly { .. } | Self::FirstKeyOnly { .. } | Self::Column(_) => false,
        }
    }

    /// Whether it decides when it has the whole row: such scans give no partial rows.
    pub(crate) fn is_of_rows(&self) -> bool {
        match self {
            Self::Page { .. } | Self::Column(_) => true,
            Self::List { filters, .. } => filters.iter().any(|(filter, _)| filter.is_of_rows()),
            _ => false,
        }
    }

    /// Whether a row is left out for its key.
    pub(crate) fn drops_key(&mut self, row: &[u8], is_reversed: bool) -> bool {
        match self {
            Self::Prefix { prefix, is_passed } => {
                let Some(head) = row.get(..prefix.len()) else { return true };
                *is_passed |= if is_reversed { head < &prefix[..] } else { head > &prefix[..] };
                head != prefix
            }
            Self::RowRanges(ranges) => ranges.drops(row, is_reversed),
            Self::List { all, filters } => {
                for (filter, dropped) in &mut *filters {
                    *dropped = filter.is_done() || filter.drops_key(row, is_reversed);
                }
                let mut dropped = filters.iter().map(|(_, dropped)| *dropped);
                if *all { dropped.any(|is| is) } else { !filters.is_empty() && dropped.all(|is| is) }
            }
            _ => false,
        }
    }

    /// The cell as it is handed out; `None` if it is left out.
    pub(crate) fn cell(&mut self, cell: &Cell) -> Result<Option<Cell>, WireError> {
        Ok(match self {
            Self::KeyOnly { with_length } => {
                let length = (cell.value().len() as u32).to_be_bytes();
                let value = if *with_length { &length[..] } else { &[] };
                Some(Cell::new(CellParts { value, ..cell.parts() })?)
            }
            Self::FirstKeyOnly { found } => {
                let is_first = !std::mem::replace(found, true);
                is_first.then(|| cell.clone())
            }
            Self::Column(filter) => (!filter.drops_cell(cell)).then(|| cell.clone()),
            Self::List { all: true, filters } => {
                let mut whole = Some(cell.clone());
                for (filter, _) in filters {
                    whole = match whole {
                        Some(cell) => filter.cell(&cell)?,
                        None => None,
                    };
                }
                whole
            }
            Self::List { all: false, filters } => {
                let mut first = filters.is_empty().then(|| cell.clone());
                for (filter, dropped) in filters {
                    if !*dropped {
                        first = first.or(filter.cell(cell)?);
                    }
                }
                first
            }
            Self::Prefix { .. } | Self::Page { .. } | Self::RowRanges(_) => Some(cell.clone()),
        })
    }

    /// Whether a row with cells is left out. A list asks its filters in their order, and no more after the answer is clear: a page
    /// counts the rows that came through the filters before it.
    pub(crate) fn drops_row(&mut self) -> bool {
        match self {
            Self::Page { rows_max, rows } => {
                *rows += 1;
                rows > rows_max
            }
            Self::Column(filter) => filter.drops_row(),
            Self::List { all: true, filters } => filters.iter_mut().any(|(filter, _)| filter.drops_row()),
            Self::List { all: false, filters } => {
                !filters.is_empty() && filters.iter_mut().all(|(filter, dropped)| *dropped || filter.drops_row())
            }
            _ => false,
        }
    }
}
