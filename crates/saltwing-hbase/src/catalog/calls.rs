//! Calls of the servers that have Phoenix's catalog.

use hbase_client::{CallContext, CoprocessorCall, Error as CallError, Scan, Table};
use saltwing_phoenix::{
    CATALOG_FAMILY, CATALOG_TABLE, CATALOG_TABLE_IN_NAMESPACE, CatalogListing, CellRef, DefinitionError,
    LISTED_QUALIFIERS, ListedTable, TableDefinition, TableReply, TableRequest,
};
use saltwing_types::TableName;
use tokio::task::JoinSet;

use crate::HbaseError;
use crate::cluster::Cluster;

/// Where what cannot be read is logged.
pub(super) const LOG_TARGET: &str = "saltwing::hbase";

pub(super) const SERVICE: &str = "MetaDataService";
const METHOD: &str = "getTable";
/// Most definitions that are requested at the same time.
const CALLS_AT_ONCE: usize = 16;
/// Most views over each other.
const VIEWS_MAX: usize = 32;

/// The HBase table with the catalog: its name tells whether schemas are namespaces.
///
/// # Errors
/// [`HbaseError::NoPhoenix`]; errors of calls.
pub(crate) async fn find_catalog_table(cluster: &Cluster, context: &CallContext) -> Result<Table, HbaseError> {
    for name in [CATALOG_TABLE, CATALOG_TABLE_IN_NAMESPACE] {
        let table = cluster.client.table_named(name)?;
        match table.region(context, b"").await {
            Ok(_) => return Ok(table),
            Err(CallError::TableNotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(HbaseError::NoPhoenix { cluster: cluster.address.clone() })
}

/// What the server says of a table; `known` is the time of the definition that is known, 0 for none. A view has all columns that it inherits.
///
/// # Errors
/// [`HbaseError::Definition`]; errors of calls.
pub(super) async fn get_table(
    catalog: &Table,
    name: &TableName,
    known: i64,
    context: &CallContext,
) -> Result<TableReply, HbaseError> {
    match ask(catalog, name, known, context).await? {
        TableReply::Table(definition) => {
            let whole = with_inherited(catalog, *definition, context).await?;
            Ok(TableReply::Table(Box::new(whole)))
        }
        other => Ok(other),
    }
}

/// The call of the server.
async fn ask(catalog: &Table, name: &TableName, known: i64, context: &CallContext) -> Result<TableReply, HbaseError> {
    let schema = name.schema.as_deref().unwrap_or_default();
    let request = TableRequest { tenant: "", schema, name: &name.name, known_timestamp: known };
    let bytes = request.to_bytes();
    let call = CoprocessorCall { service: SERVICE, method: METHOD, request: &bytes, changes: false };
    let reply = catalog.call_coprocessor(context, &request.catalog_row(), call).await.into_result()?;
    Ok(request.read_reply(&reply)?)
}

/// A view with what it has of the views and the table below it.
async fn with_inherited(
    catalog: &Table,
    definition: TableDefinition,
    context: &CallContext,
) -> Result<TableDefinition, HbaseError> {
    let mut views = Vec::new();
    let mut below = definition;
    while let Some(parent) = below.inherits_from() {
        let refused = |what: String| DefinitionError::NotUnderstood { object: below.full_name(), what };
        let (schema, name) = parent.split_once('.').map_or((None, parent), |(schema, name)| (Some(schema), name));
        let parent = TableName { schema: schema.map(str::to_owned), name: name.to_owned() };
        if views.len() == VIEWS_MAX {
            return Err(refused(format!("a view over {VIEWS_MAX} views")).into());
        }
        match ask(catalog, &parent, 0, context).await? {
            TableReply::Table(definition) => views.push(std::mem::replace(&mut below, *definition)),
            TableReply::Unchanged | TableReply::NotFound => {
                return Err(refused(format!("a view over {parent}, which is not in the catalog")).into());
            }
        }
    }
    let inherited = views.into_iter().rev().try_fold(below, |below, view| view.inheriting(&below));
    Ok(inherited?)
}

/// As [`get_table`] for each of these, several at a time, in any order.
///
/// # Errors
/// [`CallError::Task`] if a call was ended from outside.
pub(super) async fn get_tables(
    catalog: Table,
    names: Vec<(TableName, i64)>,
    context: CallContext,
) -> Result<Vec<(TableName, Result<TableReply, HbaseError>)>, HbaseError> {
    let (mut left, mut calls, mut replies) = (names.into_iter(), JoinSet::new(), Vec::new());
    loop {
        while calls.len() < CALLS_AT_ONCE
            && let Some((name, known)) = left.next()
        {
            let (catalog, context) = (catalog.clone(), context.clone());
            calls.spawn(async move {
                let reply = get_table(&catalog, &name, known, &context).await;
                (name, reply)
            });
        }
        match calls.join_next().await {
            None => return Ok(replies),
            Some(Ok(reply)) => replies.push(reply),
            Some(Err(task)) => return Err(CallError::Task { reason: task.to_string() }.into()),
        }
    }
}

/// All tables, views and indexes that are not of a tenant, in the order of their names.
///
/// # Errors
/// Errors of calls. A row of the catalog that cannot be read is logged, and left out.
pub(super) async fn list_tables(catalog: &Table, context: &CallContext) -> Result<Vec<ListedTable>, HbaseError> {
    let damaged = |error| HbaseError::Row { table: catalog.name().to_string(), error };
    let listing = CatalogListing::new().map_err(|error| damaged(error.into()))?;
    let columns = LISTED_QUALIFIERS.iter();
    let column = |scan: Scan, qualifier: &&'static str| scan.column(CATALOG_FAMILY.as_bytes(), qualifier.as_bytes());
    let mut rows = catalog.scan(columns.fold(Scan::all(), column));
    let mut tables = Vec::new();
    while let Some(row) = rows.next_row(context).await? {
        let cells = row.cells().iter().map(|cell| CellRef {
            family: cell.family(),
            qualifier: cell.qualifier(),
            value: cell.value(),
        });
        match listing.read(row.key(), cells) {
            Ok(listed) => tables.extend(listed.filter(|table| table.tenant.is_none())),
            // One damaged row hides one table, and not all of them.
            Err(error) => tracing::warn!(target: LOG_TARGET, %error, "a row of Phoenix's catalog cannot be read"),
        }
    }
    Ok(tables)
}
