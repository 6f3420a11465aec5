//! Reads the definitions from `information_schema` and SHOW, on a connection of the user whose view they are.

use std::collections::HashMap;

use saltwing::syntax::quote_name;
use saltwing::{Connection, Row};

use super::index_parts::{column_name, elements, index_parts};
use super::objects::{
    Column, Definitions, Function, Grant, GrantedObject, Identity, Index, Schema, Sequence, Size, Table, User, View,
};
use super::oids::{function_oid, object_oid};
use super::signature::read_signature;
use super::table_text::{TableText, read_table_text};
use crate::CatalogError;

/// The schema of objects that have none.
const PUBLIC_NAME: &str = "public";

/// Reads all that the user of the connection sees.
///
/// # Errors
/// The database's; [`CatalogError::NoOid`]; a column of an unknown type is a bug.
pub(crate) async fn read(
    connection: &Connection,
    database: &str,
    owner: &str,
    user: Option<&str>,
) -> Result<Definitions, CatalogError> {
    let mut tables = tables(connection).await?;
    let views = views(connection).await?;
    for table in &mut tables {
        table.view = views.get(&(table.schema.clone(), table.name.clone())).cloned();
    }
    columns(connection, &mut tables).await?;
    for table in tables.iter_mut().filter(|table| table.view.is_none()) {
        let path = path(&table.schema, &table.name);
        // The statements of indexes and comments follow.
        let statements = rows(connection, &format!("SHOW CREATE TABLE {path}")).await?;
        let text: String = statements.first().map(|row| row.get(0)).transpose()?.unwrap_or_default();
        add_table_text(table, read_table_text(&text));
    }
    let (indexes, sequences) = (indexes(connection).await?, sequences(connection).await?);
    let mut definitions = Definitions {
        database: database.to_owned(),
        owner: owner.to_owned(),
        user: user.map(str::to_owned),
        schemas: schemas(connection).await?,
        tables,
        indexes,
        sequences,
        users: users(connection).await?,
        grants: grants(connection).await?,
        functions: functions(connection).await?,
        sizes: HashMap::new(),
    };
    definitions.sizes = sizes(connection, &definitions).await?;
    Ok(definitions)
}

/// A table's name in a statement.
fn path(schema: &str, name: &str) -> String {
    match schema {
        PUBLIC_NAME => quote_name(name),
        _ => format!("{}.{}", quote_name(schema), quote_name(name)),
    }
}

/// All rows of a query.
async fn rows(connection: &Connection, sql: &str) -> Result<Vec<Row>, CatalogError> {
    let mut read = Vec::new();
    let mut rows = connection.query(sql, ()).await?;
    while let Some(row) = rows.next().await? {
        read.push(row);
    }
    Ok(read)
}

fn schema_of(row: &Row, column: &str) -> Result<String, CatalogError> {
    Ok(row.get::<Option<String>>(column)?.unwrap_or_else(|| PUBLIC_NAME.to_owned()))
}

fn is_yes(row: &Row, column: &str) -> Result<bool, CatalogError> {
    Ok(row.get::<String>(column)? == "YES")
}

async fn schemas(connection: &Connection) -> Result<Vec<Schema>, CatalogError> {
    let rows = rows(connection, "SELECT schema_name, object_id FROM information_schema.schemata").await?;
    let mut schemas = Vec::new();
    for row in rows {
        let name: String = row.get("schema_name")?;
        // A schema of the name would have the objects without a schema, too.
        if let Some(id) = row.get::<Option<i64>>("object_id")?.filter(|_| name != PUBLIC_NAME) {
            schemas.push(Schema { oid: object_oid(id)?, name });
        }
    }
    Ok(schemas)
}

async fn tables(connection: &Connection) -> Result<Vec<Table>, CatalogError> {
    let sql = "SELECT table_schema, table_name, table_comment, object_id FROM information_schema.tables WHERE object_id IS NOT NULL";
    let table = |row: Row| {
        Ok(Table {
            oid: object_oid(row.get("object_id")?)?,
            schema: schema_of(&row, "table_schema")?,
            name: row.get("table_name")?,
            comment: row.get("table_comment")?,
            columns: Vec::new(),
            view: None,
            key: None,
            checks: Vec::new(),
        })
    };
    rows(connection, sql).await?.into_iter().map(table).collect()
}

async fn views(connection: &Connection) -> Result<HashMap<(String, String), View>, CatalogError> {
    let sql = "SELECT table_schema, table_name, view_definition, is_updatable FROM information_schema.views";
    let view = |row: Row| {
        let view = View { query: row.get("view_definition")?, is_updatable: is_yes(&row, "is_updatable")? };
        Ok(((schema_of(&row, "table_schema")?, row.get("table_name")?), view))
    };
    rows(connection, sql).await?.into_iter().map(view).collect()
}

async fn columns(connection: &Connection, tables: &mut [Table]) -> Result<(), CatalogError> {
    let places: HashMap<(String, String), usize> =
        tables.iter().enumerate().map(|(place, it)| ((it.schema.clone(), it.name.clone()), place)).collect();
    for row in rows(connection, "SELECT * FROM information_schema.columns").await? {
        let of: (String, String) = (schema_of(&row, "table_schema")?, row.get("table_name")?);
        // Views of the session's temporary tables, and tables that came meanwhile, have no place.
        let Some(table) = places.get(&of).and_then(|place| tables.get_mut(*place)) else { continue };
        table.columns.push(column(&row)?);
    }
    for table in tables {
        table.columns.sort_by_key(|column| column.number);
    }
    Ok(())
}

fn column(row: &Row) -> Result<Column, CatalogError> {
    let (name, ty): (String, String) = (row.get("column_name")?, row.get("data_type")?);
    let ty = ty.parse().map_err(|_| CatalogError::bug(format!("column {name} has the unknown type {ty}")))?;
    let is_descending = row.get::<Option<String>>("key_order")?.is_some_and(|order| order == "DESC");
    let identity = match is_yes(row, "is_identity")? {
        true => {
            let is_always = row.get::<Option<String>>("identity_generation")?.is_some_and(|it| it == "ALWAYS");
            Some(Identity { is_always, sequence: None })
        }
        false => None,
    };
    Ok(Column {
        number: row.get("ordinal_position")?,
        is_nullable: is_yes(row, "is_nullable")?,
        default: row.get("column_default")?,
        generated: row.get("generation_expression")?,
        identity,
        key: row.get::<Option<i32>>("key_position")?.map(|place| (place, is_descending)),
        comment: row.get("column_comment")?,
        name,
        ty,
    })
}

fn add_table_text(table: &mut Table, text: TableText) {
    table.key = text.key;
    table.checks = text.checks;
    for (column, schema, name) in text.identities {
        let sequence = (schema.unwrap_or_else(|| PUBLIC_NAME.to_owned()), name);
        let found = table.columns.iter_mut().find(|known| known.name == column);
        if let Some(identity) = found.and_then(|column| column.identity.as_mut()) {
            identity.sequence = Some(sequence);
        }
    }
}

async fn indexes(connection: &Connection) -> Result<Vec<Index>, CatalogError> {
    let index = |row: Row| {
        let included: Option<String> = row.get("include")?;
        let included = included.unwrap_or_default();
        Ok(Index {
            oid: object_oid(row.get("object_id")?)?,
            schema: schema_of(&row, "table_schema")?,
            name: row.get("index_name")?,
            table: row.get("table_name")?,
            is_unique: is_yes(&row, "is_unique")?,
            parts: index_parts(&row.get::<String>("key")?),
            included: elements(&included).into_iter().filter_map(column_name).collect(),
            predicate: row.get("predicate")?,
            is_ready: matches!(row.get::<String>("state")?.as_str(), "ready" | "rebuilding"),
        })
    };
    rows(connection, "SELECT * FROM information_schema.indexes").await?.into_iter().map(index).collect()
}

async fn sequences(connection: &Connection) -> Result<Vec<Sequence>, CatalogError> {
    let sequence = |row: Row| {
        Ok(Sequence {
            oid: object_oid(row.get("object_id")?)?,
            schema: schema_of(&row, "sequence_schema")?,
            name: row.get("sequence_name")?,
            start: row.get("start_value")?,
            min: row.get("minimum_value")?,
            max: row.get("maximum_value")?,
            increment: row.get("increment")?,
            cache: row.get("cache_size")?,
            cycles: is_yes(&row, "cycle_option")?,
        })
    };
    rows(connection, "SELECT * FROM information_schema.sequences").await?.into_iter().map(sequence).collect()
}

async fn users(connection: &Connection) -> Result<Vec<User>, CatalogError> {
    let user = |row: Row| Ok(User { oid: object_oid(row.get("object_id")?)?, name: row.get("user_name")? });
    rows(connection, "SELECT * FROM information_schema.users").await?.into_iter().map(user).collect()
}

async fn grants(connection: &Connection) -> Result<Vec<Grant>, CatalogError> {
    let grant = |row: Row| {
        let object = match row.get::<String>("object_type")?.as_str() {
            "DATABASE" => GrantedObject::Database,
            "SCHEMA" => GrantedObject::Schema(schema_of(&row, "object_schema")?),
            _ => GrantedObject::Relation { schema: schema_of(&row, "object_schema")?, name: row.get("object_name")? },
        };
        let privileges: String = row.get("privileges")?;
        let privileges = privileges.split(',').map(|privilege| privilege.trim().to_owned()).collect();
        Ok(Grant { user: row.get("user_name")?, object, privileges })
    };
    rows(connection, "SELECT * FROM information_schema.grants").await?.into_iter().map(grant).collect()
}

async fn functions(connection: &Connection) -> Result<Vec<Function>, CatalogError> {
    let function = |(place, row): (usize, Row)| {
        let kind = match row.get::<String>("kind")?.as_str() {
            "aggregate" => 'a',
            "window" => 'w',
            _ => 'f',
        };
        let volatility = match row.get::<Option<String>>("volatility")?.unwrap_or_default().to_lowercase().as_str() {
            "immutable" => 'i',
            "stable" => 's',
            _ => 'v',
        };
        let signature: Option<String> = row.get("signature")?;
        let (arguments, result) = read_signature(&signature.unwrap_or_default());
        Ok(Function {
            oid: function_oid(place)?,
            name: row.get::<String>("name")?.to_lowercase(),
            kind,
            arguments,
            result,
            volatility,
            description: row.get::<Option<String>>("description")?.unwrap_or_default(),
        })
    };
    rows(connection, "SHOW FUNCTIONS").await?.into_iter().enumerate().map(function).collect()
}

/// Rows and bytes of all tables and indexes.
///
/// # Errors
/// The database's.
pub(crate) async fn sizes(
    connection: &Connection,
    definitions: &Definitions,
) -> Result<HashMap<u32, Size>, CatalogError> {
    let tables = definitions.tables.iter().map(|table| ((table.schema.as_str(), table.name.as_str()), table.oid));
    let indexes = definitions.indexes.iter().map(|index| ((index.schema.as_str(), index.name.as_str()), index.oid));
    let oids: HashMap<(&str, &str), u32> = tables.chain(indexes).collect();
    let mut sizes = HashMap::new();
    for row in rows(connection, "SHOW STORAGE").await? {
        let Some(name) = row.get::<Option<String>>("table_name")? else { continue };
        let schema = schema_of(&row, "table_schema")?;
        let Some(oid) = oids.get(&(schema.as_str(), name.as_str())) else { continue };
        let sum = |columns: [&str; 3]| -> Result<i64, CatalogError> {
            let values = columns.map(|column| row.get::<Option<i64>>(column));
            values.into_iter().try_fold(0_i64, |sum, value| Ok(sum.saturating_add(value?.unwrap_or(0))))
        };
        let rows = sum(["delta_rows", "block_rows", "run_rows"])?;
        let bytes = sum(["delta_bytes", "block_raw_bytes", "run_raw_bytes"])?;
        sizes.insert(*oid, Size { rows, bytes });
    }
    Ok(sizes)
}
