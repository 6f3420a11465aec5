//! ADVISE: the key or the index with which a statement reads each of its tables, or the index that it lacks.

use std::sync::Arc;

use saltwing_access::{Index, KeySet, ScanContext, ScanRoute, ScanSpec, Table, snapshot_of};
use saltwing_expr::value_at;
use saltwing_plan::Access;
use saltwing_planner::{IndexAdvice, TableAccess};
use saltwing_types::Value;

use crate::Error;
use crate::session::Session;
use crate::text_rows::TextRow;

/// The columns of the result.
pub(crate) const COLUMNS: [&str; 5] = ["table_name", "key", "ranges", "create_index", "bytes_per_row"];

/// Most ranges that are shown.
const SHOWN_MAX: usize = 4;
/// Rows that are read to estimate the bytes of entries.
const SAMPLE_ROWS: u64 = 1000;

/// The advice for one access: a row for each key that it reads or needs.
///
/// # Errors
/// Errors of the store.
pub(crate) fn advice(session: &Session, access: &TableAccess) -> Result<Vec<TextRow>, Error> {
    let def = access.table().def();
    let table = Some(def.name.to_string());
    let missing = |advice: &Arc<IndexAdvice>| {
        let index = Index::new(def, &advice.index)?;
        let (key, bytes) = (format!("index {}", advice.index.name), entry_bytes(session, access.table(), &index)?);
        Ok(vec![table.clone(), Some(key), ranges(&advice.access), Some(advice.statement.clone()), bytes])
    };
    if !access.advice().is_empty() {
        return access.advice().iter().map(missing).collect();
    }
    access.keys_read().map(|access| advice_for_key(session, access)).collect()
}

/// The advice for an access that reads one key.
fn advice_for_key(session: &Session, access: &TableAccess) -> Result<TextRow, Error> {
    let table = Some(access.table().def().name.to_string());
    if let Some(index) = access.index() {
        let bytes = entry_bytes(session, access.table(), index)?;
        return Ok(vec![table, Some(format!("index {}", index.def().name)), ranges(access.access()), None, bytes]);
    }
    let is_bounded = access.access().verdict.allowed == Some(true);
    let key = if is_bounded { "primary key" } else { "none: no index would bound it" };
    Ok(vec![table, Some(key.to_owned()), ranges(access.access()), None, None])
}

/// The mean bytes of an index entry, key and values before compression, computed from the first rows.
/// `None` for a table without rows.
fn entry_bytes(session: &Session, table: &Arc<Table>, index: &Index) -> Result<Option<String>, Error> {
    let snapshot = snapshot_of(table, session.snapshot()?)?;
    let spec = ScanSpec::new(table, (0..table.width()).collect(), Vec::new())?;
    let route = ScanRoute { limit: Some(SAMPLE_ROWS), ..ScanRoute::of(KeySet::all()) };
    let mut scan = snapshot.scan(&spec, route, ScanContext::of_look_up())?;
    let (mut entries, mut bytes) = (0u64, 0u64);
    while let Some((columns, rows)) = scan.next_columns()? {
        for row in 0..rows {
            let values = columns.iter().enumerate();
            let values = values.map(|(column, array)| value_at(array, row, table.column_type(column)));
            let values = values.collect::<Result<Vec<Value>, _>>()?;
            // A row that the index would refuse is left out.
            let Some(entry) = index.entry(&values).ok().flatten() else { continue };
            let Ok(key) = index.entries().row_key(&entry) else { continue };
            entries += 1;
            bytes += key.len() as u64 + entry.iter().map(value_bytes).sum::<u64>();
        }
    }
    Ok(bytes.checked_div(entries).map(|bytes| bytes.to_string()))
}

fn ranges(access: &Access) -> Option<String> {
    let spans = access.spans()?;
    let shown: Vec<&str> = spans.iter().take(SHOWN_MAX).map(String::as_str).collect();
    let more = spans.len().saturating_sub(SHOWN_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(shown.join(" ") + &more)
}

fn value_bytes(value: &Value) -> u64 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Text(text) => text.len() as u64,
        Value::Bytes(bytes) => bytes.len() as u64,
        Value::Array(elements) => elements.iter().map(value_bytes).sum(),
        Value::Timestamp(_) | Value::Decimal(_) | Value::Interval(_) => 12,
        Value::Float(_) => 4,
        Value::Int(_) | Value::Double(_) | Value::Date(_) => 8,
    }
}
