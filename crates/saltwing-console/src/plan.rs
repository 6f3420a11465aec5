//! The plan of a statement, and where the keys of its tables begin and end.

use saltwing::Connection;
use saltwing::syntax::quote_name;
use serde_json::{Map, Value, json};

use crate::body::Body;
use crate::error::ConsoleError;
use crate::explain;
use crate::failed::Failed;
use crate::failure;
use crate::login::Login;
use crate::records::records;
use crate::text_place::Part;

/// The plan of the statement in `sql` as EXPLAIN (FORMAT JSON) gives it, with the first and the last key of each table that it reads by the primary key.
///
/// # Errors
/// Those of the body. A statement that cannot be planned is an answer with an error.
pub(crate) async fn plan(login: &Login, body: &Body) -> Result<Value, ConsoleError> {
    let text = body.text("sql")?.trim().trim_end_matches(';');
    let connection = login.session.connection();
    let mut plan = match explain::explained(connection, text).await {
        Ok(plan) => plan,
        Err(error) => {
            // The error's place is in the text after the line of EXPLAIN.
            let part = Part::whole(&format!("{}\n{text}", explain::EXPLAIN));
            let failed = Failed::Database(error);
            return Ok(json!({ "error": failure::described(&login.session, &part, &failed).await }));
        }
    };
    for access in plan.get_mut("accesses").and_then(Value::as_array_mut).into_iter().flatten() {
        let edges = match access.as_object() {
            Some(fields) => edges(connection, fields).await,
            None => None,
        };
        if let Some(fields) = access.as_object_mut() {
            fields.insert("edges".to_owned(), json!(edges));
        }
    }
    Ok(json!({ "plan": plan }))
}

/// The first and the last key of a table: in hex without the bucket's byte, and the texts of its columns. `None` for an index, whose keys no statement shows, for a table
/// without rows, and for one that cannot be read at this moment: the picture then has no ends.
async fn edges(connection: &Connection, access: &Map<String, Value>) -> Option<[Value; 2]> {
    if !access.get("index")?.is_null() {
        return None;
    }
    let table = access.get("table")?.as_str()?;
    let key: Vec<&str> = access.get("key")?.as_array()?.iter().filter_map(Value::as_str).collect();
    let digits = if access.get("buckets_total").and_then(Value::as_u64)? > 0 { 2 } else { 0 };
    let first = edge(connection, table, &key, false, digits).await?;
    Some([first, edge(connection, table, &key, true, digits).await?])
}

/// The name of a part of a key, and whether it descends.
fn part<'a>(text: &&'a str) -> (&'a str, bool) {
    text.strip_suffix(" desc").map_or((*text, false), |name| (name, true))
}

/// One end; `digits` are those of the bucket.
async fn edge(connection: &Connection, table: &str, key: &[&str], is_last: bool, digits: usize) -> Option<Value> {
    let names: Vec<String> = key.iter().map(|it| quote_name(part(it).0).to_string()).collect();
    let order = key.iter().zip(&names).map(|(it, name)| {
        let order = if part(it).1 == is_last { "ASC" } else { "DESC" };
        format!("{name} {order}")
    });
    let order: Vec<String> = order.collect();
    let sql = format!("SELECT _row_key, {} FROM {table} ORDER BY {} LIMIT 1", names.join(", "), order.join(", "));
    match records(connection, &sql).await {
        Ok(rows) => {
            let row = rows.first()?;
            let hex = row.get("_row_key")?.as_str()?.get(digits..)?;
            let texts: Vec<Option<&Value>> = key.iter().map(|it| row.get(part(it).0)).collect();
            Some(json!({ "key": hex, "values": texts }))
        }
        Err(error) => {
            tracing::debug!(target: "saltwing::console", %error, sql, "the ends of a key are not known");
            None
        }
    }
}
