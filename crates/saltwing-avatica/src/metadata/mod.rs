//! Metadata: what `java.sql.DatabaseMetaData` and the Python driver's `meta()` ask for.
//!
//! All of it is made from `information_schema` through the connection of the session, so that a user sees the objects on which he has a privilege,
//! and no others. A table without a schema has NULL as its schema.
//!
//! | module | has |
//! |---|---|
//! | `catalog` | the objects of the database, as `information_schema` lists them |
//! | `index_parts` | the columns of an index, out of its text |
//! | `pattern` | patterns for names, and arguments that may be absent |
//! | `schemas`, `tables`, `columns` | the calls of these names |
//! | `keys` | primary keys and indexes |
//! | `types` | the types |
//! | `listing` | rows of metadata, with their columns |

mod catalog;
mod columns;
mod index_parts;
mod keys;
mod listing;
mod pattern;
mod schemas;
mod tables;
mod types;

use saltwing::Value;

use crate::connection::Connection;
use crate::error::AvaticaError;
use crate::executions::ROWS;
use crate::messages::{
    ArgumentType, ColumnsRequest, Frame, MetaDataOperation, MetaDataOperationArgument, QueryState, ResultSetResponse,
    Row, SchemasRequest, TablesRequest,
};
use crate::results::OpenResult;
use crate::signatures::of_columns;
use crate::values;

use self::catalog::Catalog;
use self::listing::Listing;
use self::pattern::{Pattern, given};

impl Connection {
    /// The catalogs: there are none.
    ///
    /// # Errors
    /// [`AvaticaError::TooManyStatements`] if no ids are left.
    pub(crate) fn catalogs(&mut self) -> Result<ResultSetResponse, AvaticaError> {
        self.listed(schemas::catalogs())
    }

    /// The kinds of tables.
    ///
    /// # Errors
    /// As [`Connection::catalogs`].
    pub(crate) fn table_types(&mut self) -> Result<ResultSetResponse, AvaticaError> {
        self.listed(tables::table_types())
    }

    /// The types.
    ///
    /// # Errors
    /// As [`Connection::catalogs`].
    pub(crate) fn type_info(&mut self) -> Result<ResultSetResponse, AvaticaError> {
        self.listed(types::type_info())
    }

    /// The schemas.
    ///
    /// # Errors
    /// Those of `information_schema`; as [`Connection::catalogs`]; a pattern that is too long.
    pub(crate) async fn schemas(&mut self, request: SchemasRequest) -> Result<ResultSetResponse, AvaticaError> {
        let pattern = Pattern::new(given(&request.schema_pattern, request.has_schema_pattern))?;
        let listing = schemas::schemas(&Catalog::of(&self.library), &pattern).await?;
        self.listed(listing)
    }

    /// Tables, views, indexes and sequences.
    ///
    /// # Errors
    /// As [`Connection::schemas`].
    pub(crate) async fn tables(&mut self, request: TablesRequest) -> Result<ResultSetResponse, AvaticaError> {
        let kinds = (request.has_type_list || !request.type_list.is_empty()).then_some(request.type_list);
        let schema = Pattern::new(given(&request.schema_pattern, request.has_schema_pattern))?;
        let name = Pattern::new(given(&request.table_name_pattern, request.has_table_name_pattern))?;
        let listing = tables::tables(&Catalog::of(&self.library), &schema, &name, kinds.as_deref()).await?;
        self.listed(listing)
    }

    /// The columns of tables and views.
    ///
    /// # Errors
    /// As [`Connection::schemas`].
    pub(crate) async fn columns(&mut self, request: ColumnsRequest) -> Result<ResultSetResponse, AvaticaError> {
        let schema = Pattern::new(given(&request.schema_pattern, request.has_schema_pattern))?;
        let table = Pattern::new(given(&request.table_name_pattern, request.has_table_name_pattern))?;
        let column = Pattern::new(given(&request.column_name_pattern, request.has_column_name_pattern))?;
        let listing = columns::columns(&Catalog::of(&self.library), &schema, &table, &column).await?;
        self.listed(listing)
    }

    /// Makes the result of a call for metadata under a statement, from where Fetch reads it. Gives whether there are rows.
    ///
    /// # Errors
    /// [`AvaticaError::Unsupported`] for other calls; [`AvaticaError::NoSuchTable`] for the primary key of a table that does not exist; as
    /// [`Connection::schemas`]; [`AvaticaError::TooManyStatements`]; [`AvaticaError::TooManyCursors`].
    pub(crate) async fn sync_metadata(
        &mut self,
        id: u32,
        state: &QueryState,
        offset: u64,
    ) -> Result<bool, AvaticaError> {
        let listing = self.listing_of(state).await?;
        let types = listing.columns.iter().map(|column| column.ty).collect();
        let mut result = OpenResult::of_rows(types, listing.rows);
        let has_rows = result.has_given_rows() && result.skip_to(offset).await?;
        self.statements.keep(id, result)?;
        Ok(has_rows)
    }

    async fn listing_of(&mut self, state: &QueryState) -> Result<Listing, AvaticaError> {
        let catalog = Catalog::of(&self.library);
        let text = |index: usize| state.args.get(index).and_then(text_argument);
        let pattern = |index: usize| Pattern::new(text(index));
        let operation = MetaDataOperation::try_from(state.op).unwrap_or(MetaDataOperation::Attributes);
        match operation {
            MetaDataOperation::Catalogs => Ok(schemas::catalogs()),
            MetaDataOperation::TableTypes => Ok(tables::table_types()),
            MetaDataOperation::TypeInfo => Ok(types::type_info()),
            MetaDataOperation::Schemas => schemas::schemas(&catalog, &Pattern::new(None)?).await,
            MetaDataOperation::SchemasWithArgs => schemas::schemas(&catalog, &pattern(1)?).await,
            MetaDataOperation::Tables => {
                let kinds = state.args.get(3).and_then(list_argument);
                tables::tables(&catalog, &pattern(1)?, &pattern(2)?, kinds).await
            }
            MetaDataOperation::Columns => columns::columns(&catalog, &pattern(1)?, &pattern(2)?, &pattern(3)?).await,
            MetaDataOperation::PrimaryKeys => keys::primary_keys(&catalog, text(1), text(2)).await,
            MetaDataOperation::IndexInfo => {
                let unique_only = state.args.get(3).is_some_and(|argument| argument.bool_value);
                keys::index_info(&catalog, text(1), text(2), unique_only).await
            }
            MetaDataOperation::Attributes => Err(AvaticaError::Unsupported {
                feature: "this call for metadata",
                help: "ask for schemas, tables, columns, primary keys, indexes or types",
            }),
        }
    }

    /// All rows in one frame.
    fn listed(&mut self, listing: Listing) -> Result<ResultSetResponse, AvaticaError> {
        let row = |row: Vec<Value>| {
            let value = row.into_iter().zip(&listing.columns).map(|(value, column)| values::to_wire(value, column.ty));
            Ok(Row { value: value.collect::<Result<_, AvaticaError>>()? })
        };
        let rows = listing.rows.into_iter().map(row).collect::<Result<_, AvaticaError>>()?;
        Ok(ResultSetResponse {
            connection_id: self.id.clone(),
            statement_id: self.statements.next_id()?,
            // The client closes it together with the result; no statement is kept under the id.
            own_statement: true,
            signature: Some(of_columns(&listing.columns)),
            first_frame: Some(Frame { offset: 0, done: true, rows }),
            update_count: ROWS,
        })
    }
}

fn text_argument(argument: &MetaDataOperationArgument) -> Option<&str> {
    (argument.r#type == ArgumentType::String as i32).then_some(argument.string_value.as_str())
}

fn list_argument(argument: &MetaDataOperationArgument) -> Option<&[String]> {
    (argument.r#type == ArgumentType::RepeatedString as i32).then_some(argument.string_array_values.as_slice())
}
