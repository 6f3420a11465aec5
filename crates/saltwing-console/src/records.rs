//! Small results as objects of JSON: of each row its values by the labels of the columns.

use saltwing::{Connection, Error, Value as Cell, text};
use serde_json::{Map, Value};

/// Rows that are read: more tables than anybody looks through.
const RECORDS_MAX: usize = 10_000;

/// The rows of a query. Values are texts as the library writes them, or null.
///
/// # Errors
/// The library's.
pub(crate) async fn records(connection: &Connection, sql: &str) -> Result<Vec<Map<String, Value>>, Error> {
    let mut rows = connection.query(sql, ()).await?;
    let mut records = Vec::new();
    while let Some(row) = rows.next().await? {
        let mut record = Map::new();
        for (place, column) in row.columns().iter().enumerate() {
            let text = text::format(&row.get::<Cell>(place)?, column.ty);
            record.insert(column.label.clone(), text.map_or(Value::Null, Value::String));
        }
        records.push(record);
        if records.len() >= RECORDS_MAX {
            break;
        }
    }
    Ok(records)
}
