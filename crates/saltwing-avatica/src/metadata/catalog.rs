//! The objects of the database that the user of the session sees, as `information_schema` lists them.

use saltwing::{Connection, Row, SqlType};

use crate::error::AvaticaError;

use super::index_parts::{IndexPart, index_parts};

/// The schema of the tables that show the catalog.
const INFORMATION_SCHEMA: &str = "information_schema";

/// The catalog as a connection sees it.
pub(crate) struct Catalog<'a>(&'a Connection);

/// A table or a view.
pub(crate) struct TableEntry {
    pub(crate) schema: Option<String>,
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) comment: Option<String>,
    /// The query of a view.
    pub(crate) query: Option<String>,
}

/// A column of a table or a view.
pub(crate) struct ColumnEntry {
    pub(crate) schema: Option<String>,
    pub(crate) table: String,
    pub(crate) name: String,
    /// From 1.
    pub(crate) position: i32,
    pub(crate) ty: SqlType,
    pub(crate) nullable: bool,
    pub(crate) default: Option<String>,
    pub(crate) comment: Option<String>,
    pub(crate) family: Option<String>,
    /// From 1; of a column of the primary key.
    pub(crate) key_position: Option<i32>,
    pub(crate) descends: bool,
    pub(crate) is_generated: bool,
    pub(crate) is_identity: bool,
}

/// An index.
pub(crate) struct IndexEntry {
    pub(crate) schema: Option<String>,
    pub(crate) table: String,
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) is_unique: bool,
    pub(crate) parts: Vec<IndexPart>,
    pub(crate) predicate: Option<String>,
    pub(crate) state: Option<String>,
}

impl<'a> Catalog<'a> {
    /// That of a connection.
    pub(crate) fn of(connection: &'a Connection) -> Self {
        Self(connection)
    }

    async fn rows<T>(
        &self,
        sql: &str,
        entry: impl Fn(&Row) -> Result<T, AvaticaError>,
    ) -> Result<Vec<T>, AvaticaError> {
        let mut rows = self.0.query(sql, ()).await?;
        let mut entries = Vec::new();
        while let Some(row) = rows.next().await? {
            entries.push(entry(&row)?);
        }
        Ok(entries)
    }

    /// The schemas.
    ///
    /// # Errors
    /// Those of the query.
    pub(crate) async fn schemas(&self) -> Result<Vec<String>, AvaticaError> {
        self.rows("SELECT schema_name FROM information_schema.schemata", |row| Ok(row.get(0)?)).await
    }

    /// The tables and views.
    ///
    /// # Errors
    /// Those of the queries.
    pub(crate) async fn tables(&self) -> Result<Vec<TableEntry>, AvaticaError> {
        let sql = "SELECT table_schema, table_name, table_type, table_comment FROM information_schema.tables";
        let mut tables = self.rows(sql, table).await?;
        let sql = "SELECT table_schema, table_name, view_definition FROM information_schema.views";
        let views: Vec<(Option<String>, String, String)> = self.rows(sql, |row| Ok(row.to()?)).await?;
        for (schema, name, query) in views {
            let view = tables.iter_mut().find(|table| table.schema == schema && table.name == name);
            if let Some(view) = view {
                view.query = Some(query);
            }
        }
        Ok(tables)
    }

    /// The sequences: schema and name.
    ///
    /// # Errors
    /// Those of the query.
    pub(crate) async fn sequences(&self) -> Result<Vec<(Option<String>, String)>, AvaticaError> {
        let sql = "SELECT sequence_schema, sequence_name FROM information_schema.sequences";
        self.rows(sql, |row| Ok(row.to()?)).await
    }

    /// The columns of all tables and views.
    ///
    /// # Errors
    /// Those of the query; a type that the server cannot read.
    pub(crate) async fn columns(&self) -> Result<Vec<ColumnEntry>, AvaticaError> {
        let sql = "SELECT table_schema, table_name, column_name, ordinal_position, data_type, is_nullable, column_default, column_comment, \
                   column_family, key_position, key_order, is_generated, is_identity FROM information_schema.columns";
        self.rows(sql, column).await
    }

    /// The indexes of all tables.
    ///
    /// # Errors
    /// Those of the query.
    pub(crate) async fn indexes(&self) -> Result<Vec<IndexEntry>, AvaticaError> {
        // KEY is a word of the grammar.
        let sql = "SELECT table_schema, table_name, index_name, kind, is_unique, \"key\", predicate, state FROM information_schema.indexes";
        self.rows(sql, index).await
    }
}

fn is_yes(text: &str) -> bool {
    text == "YES"
}

fn table(row: &Row) -> Result<TableEntry, AvaticaError> {
    let (schema, name, kind, comment): (Option<String>, String, String, Option<String>) = row.to()?;
    let is_system = schema.as_deref() == Some(INFORMATION_SCHEMA);
    let kind = match kind.as_str() {
        _ if is_system => "SYSTEM TABLE",
        "VIEW" => "VIEW",
        "LOCAL TEMPORARY" => "LOCAL TEMPORARY",
        _ => "TABLE",
    };
    Ok(TableEntry { schema, name, kind, comment, query: None })
}

fn column(row: &Row) -> Result<ColumnEntry, AvaticaError> {
    let ty: String = row.get(4)?;
    let ty = ty.parse().map_err(|_| AvaticaError::Bug("a type of information_schema is none"))?;
    let (nullable, generated, identity): (String, String, String) = (row.get(5)?, row.get(11)?, row.get(12)?);
    Ok(ColumnEntry {
        schema: row.get(0)?,
        table: row.get(1)?,
        name: row.get(2)?,
        position: row.get(3)?,
        ty,
        nullable: is_yes(&nullable),
        default: row.get(6)?,
        comment: row.get(7)?,
        family: row.get(8)?,
        key_position: row.get(9)?,
        descends: row.get::<Option<String>>(10)?.as_deref() == Some("DESC"),
        is_generated: generated == "ALWAYS",
        is_identity: is_yes(&identity),
    })
}

fn index(row: &Row) -> Result<IndexEntry, AvaticaError> {
    let (unique, key): (String, String) = (row.get(4)?, row.get(5)?);
    Ok(IndexEntry {
        schema: row.get(0)?,
        table: row.get(1)?,
        name: row.get(2)?,
        kind: row.get(3)?,
        is_unique: is_yes(&unique),
        parts: index_parts(&key),
        predicate: row.get(6)?,
        state: row.get(7)?,
    })
}
