//! Tables with their keys, indexes, options and storage.

use saltwing::syntax::quote_name;
use saltwing::{Connection, Error, ErrorCode};
use serde_json::{Map, Value, json};

use crate::body::Body;
use crate::error::ConsoleError;
use crate::login::Login;
use crate::records::records;

type Record = Map<String, Value>;

const TABLES: &str = "SELECT table_schema, table_name, table_type, table_comment FROM information_schema.tables \
                      WHERE coalesce(table_schema, '') <> 'information_schema'";
const INDEXES: &str =
    "SELECT table_schema, table_name, index_name, kind, is_unique, key, state FROM information_schema.indexes";

/// All tables and views that the user sees, with the rows of SHOW STORAGE for those that are stored. What the user may not see is null.
///
/// # Errors
/// The library's.
pub(crate) async fn list(login: &Login) -> Result<Value, ConsoleError> {
    let connection = &login.session.catalog;
    let mut tables = records(connection, TABLES).await?;
    let mut indexes = records(connection, INDEXES).await?;
    tables.iter_mut().for_each(|table| name_relation(table, None));
    indexes.iter_mut().for_each(|index| name_relation(index, index_name(index)));
    let storage = permitted(records(connection, "SHOW STORAGE").await)?;
    Ok(json!({ "tables": tables, "indexes": indexes, "storage": storage }))
}

/// One table or view.
///
/// # Errors
/// The library's, also for one that does not exist.
pub(crate) async fn table(login: &Login, body: &Body) -> Result<Value, ConsoleError> {
    let name = quoted(body.optional_text("schema")?, body.text("name")?);
    let connection = &login.session.catalog;
    let described = records(connection, &format!("DESCRIBE {name}")).await?;
    let created = permitted(records(connection, &format!("SHOW CREATE TABLE {name}")).await)?;
    let statements: Option<Vec<Value>> =
        created.map(|rows| rows.into_iter().flat_map(|row| row.into_iter().map(|(_, value)| value)).collect());
    let (indexes, storage) = match body.optional_text("type")? {
        Some("VIEW") => (None, None),
        _ => (
            of_table(connection, "SHOW INDEXES FROM", &name).await?,
            of_table(connection, "SHOW STORAGE FOR", &name).await?,
        ),
    };
    Ok(json!({ "name": name, "described": described, "create": statements, "indexes": indexes, "storage": storage }))
}

/// The name of the index that a record is of.
fn index_name(record: &Record) -> Option<String> {
    Some(record.get("index_name")?.as_str()?.to_owned())
}

/// Adds the name of the table, or of its index, as statements and the heat map write it.
fn name_relation(record: &mut Record, index: Option<String>) {
    let text = |name: &str| record.get(name).and_then(Value::as_str);
    let table = quoted(text("table_schema"), text("table_name").unwrap_or_default());
    let name = index.map_or_else(|| table.clone(), |index| format!("{table}.{}", quote_name(&index)));
    record.insert("relation".to_owned(), name.into());
}

async fn of_table(connection: &Connection, show: &str, name: &str) -> Result<Option<Vec<Record>>, Error> {
    permitted(records(connection, &format!("{show} {name}")).await)
}

/// `None` for what the user has no right to see, or what this kind of object does not have.
fn permitted<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.code(), ErrorCode::InsufficientPrivilege) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A name as statements write it.
fn quoted(schema: Option<&str>, name: &str) -> String {
    let name = quote_name(name);
    schema.map_or_else(|| name.to_string(), |schema| format!("{}.{name}", quote_name(schema)))
}
