//! The columns of a table whose COPY lists none.

use saltwing::syntax::quote_name;
use saltwing::{Connection, Error, SqlType, Value};

use crate::copy::{CopyColumn, CopyTable, ReadColumn};

/// The name of the default schema in statements, unless the database has a schema of this name. Lists of the library show no schema for it.
const DEFAULT_SCHEMA: &str = "public";

/// A column of a COPY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// As lists of the library have it: the name, and the type of a dynamic column.
    pub(super) declared: String,
    /// As expressions have it.
    pub(super) sql: String,
    /// Its name.
    pub(super) name: String,
}

/// The columns of a COPY: those of its list, or those of the table that are not computed. None, if the table is not among those that the library
/// lists, such as a system table.
///
/// # Errors
/// Those of the query for the columns.
pub(super) async fn columns_of(connection: &Connection, table: &CopyTable) -> Result<Vec<Column>, Error> {
    if let Some(columns) = &table.columns {
        let column = |column: &CopyColumn| {
            let (declared, sql, name) = (column.declared(), column.sql.clone(), column.name.clone());
            Column { declared, sql, name }
        };
        return Ok(columns.iter().map(column).collect());
    }
    let (schema, name) = match &table.parts[..] {
        [name] => (None, name),
        [schema, name] => (Some(schema), name),
        // The name of a table of an attached database: the library says what it allows.
        _ => return Ok(Vec::new()),
    };
    let mut named = listed(connection, schema.map(String::as_str), name).await?;
    if named.is_empty() && schema.is_some_and(|schema| schema.eq_ignore_ascii_case(DEFAULT_SCHEMA)) {
        named = listed(connection, None, name).await?;
    }
    let is_ambiguous =
        |name: &str| named.iter().filter(|(other, _)| other.to_lowercase() == name.to_lowercase()).count() > 1;
    let column = |(name, family): &(String, Option<String>)| {
        let sql = match family {
            Some(family) if is_ambiguous(name) => format!("{}.{}", quote_name(family), quote_name(name)),
            _ => quote_name(name),
        };
        Column { declared: sql.clone(), sql, name: name.clone() }
    };
    Ok(named.iter().map(column).collect())
}

/// The names and families of the columns of a table that are not computed. Without a schema it is a table of the default schema.
async fn listed(
    connection: &Connection,
    schema: Option<&str>,
    table: &str,
) -> Result<Vec<(String, Option<String>)>, Error> {
    let of_schema = if schema.is_some() { "lower(table_schema) = lower(?)" } else { "table_schema IS NULL" };
    let sql = format!(
        "SELECT column_name, column_family FROM information_schema.columns \
         WHERE lower(table_name) = lower(?) AND is_generated = 'NEVER' AND {of_schema} ORDER BY ordinal_position"
    );
    let params: Vec<Value> = std::iter::once(table).chain(schema).map(Value::from).collect();
    let mut rows = connection.query_as::<(String, Option<String>)>(&sql, saltwing::Params::Positional(params)).await?;
    let mut columns = Vec::new();
    while let Some(column) = rows.next().await? {
        columns.push(column);
    }
    Ok(columns)
}

/// The columns with the types that a COPY FROM gives to their values.
///
/// # Errors
/// A table or a column that is not there, or that the user must not write.
pub(super) async fn read_columns(
    connection: &Connection,
    table: &CopyTable,
    columns: &[Column],
) -> Result<Vec<ReadColumn>, Error> {
    let list: Vec<&str> = columns.iter().map(|column| column.declared.as_str()).collect();
    let values = vec!["?"; columns.len()];
    let (table, list, values) = (&table.sql, list.join(", "), values.join(", "));
    let sql = format!("UPSERT INTO {table} ({list}) OVERRIDING SYSTEM VALUE VALUES ({values})");
    let prepared = connection.prepare(&sql).await?;
    let types = &prepared.description().parameters;
    let typed = |(place, column): (usize, &Column)| ReadColumn {
        name: column.name.clone(),
        ty: types.get(place).copied().flatten().filter(|ty| *ty != SqlType::Null),
    };
    Ok(columns.iter().enumerate().map(typed).collect())
}
