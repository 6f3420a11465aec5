//! CREATE and ALTER of tables: a temporary table of the connection hides the stored table of the same name.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_bind::{if_bound, resolve, with_dynamic_columns};
use saltwing_catalog::{Applied, CatalogChange, CatalogStore, ChangeError, Dependents, DropList, change};
use saltwing_sql::statement::CreateTable;
use saltwing_sql::{Name, TableRef};
use saltwing_types::{ErrorCode, TableDef};

use crate::Error;
use crate::session::Session;

/// Whether the table of a CREATE TABLE exists: for TEMPORARY a temporary table, else a stored table, even if a temporary one hides it.
pub(crate) fn is_there(session: &Session, create: &CreateTable) -> Result<bool, Error> {
    let (schema, name) = create.table.parts();
    Ok(match create.temporary {
        true => session.own.catalog.find(schema, name).is_some(),
        false => if_bound(resolve(&*session.shared().catalog.snapshot()?, &create.table))?.is_some(),
    })
}

/// The name by which statements find the table that a CREATE TABLE creates, even if a temporary table hides its bare name.
pub(crate) fn name_of_new(session: &Session, create: &CreateTable) -> Result<TableRef, Error> {
    let mut name = create.table.clone();
    if !create.temporary && name.schema.is_none() && session.catalog()?.hides(&name.name.text) {
        name.schema = Some(Name { text: String::new(), quoted: true, span: name.name.span });
    }
    Ok(name)
}

/// The table that a CREATE OR REPLACE TABLE replaces: of the session for TEMPORARY, else a stored one, even if a temporary one hides it.
pub(crate) fn replaced(session: &Session, create: &CreateTable) -> Result<Option<Arc<Table>>, Error> {
    if !create.or_replace {
        return Ok(None);
    }
    let (schema, name) = create.table.parts();
    Ok(match create.temporary {
        true => session.own.catalog.find(schema, name),
        false => if_bound(resolve(&*session.shared().catalog.snapshot()?, &create.table))?,
    })
}

/// Drops the table that a CREATE TABLE has created, by the name from [`name_of_new`]. Only a view that was created meanwhile can use the
/// table, and is dropped with it.
pub(crate) fn take_back(session: &Session, new: &TableRef) -> Result<Applied, ChangeError> {
    let list = DropList { names: &[new.parts()], if_exists: false, dependents: Dependents::Drop };
    session.own.catalog.apply(CatalogChange::DropTables(list))
}

/// Changes a table's definition to the result of `make`; `None` changes nothing. `make` is called again if another change comes
/// first.
pub(crate) fn change_definition(
    session: &Session,
    name: &TableRef,
    mut make: impl FnMut(&Arc<Table>) -> Result<Option<TableDef>, Error>,
) -> Result<(), Error> {
    let (schema, bare) = name.parts();
    change(&session.own.catalog, |catalog| {
        let table = catalog.resolve(schema, bare)?;
        Ok(make(&table)?.map(|new| CatalogChange::AlterTable { old: table.def().clone(), new }))
    })
}

/// Adds the hidden column for dynamic columns to a table that does not have it yet; returns whether it did.
pub(crate) fn adds_dynamic_columns(session: &Session, name: &TableRef) -> Result<bool, Error> {
    let span = name.span();
    let table = resolve(&*session.catalog()?, name)?;
    if with_dynamic_columns(table.def(), span)?.is_none() {
        return Ok(false);
    }
    // An appender is created between the statements of a transaction, so the session is not within a statement of it.
    if session.is_within_transaction() || session.transaction.current().is_some() {
        let text = format!("the first dynamic column of table {name} cannot be written in a transaction");
        let help = "write one before BEGIN: the table gets a hidden column for them";
        return Err(Error::new(ErrorCode::ActiveTransaction, text).with_help(Some(help)).at(Some(span)));
    }
    change_definition(session, name, |table: &Arc<Table>| Ok(with_dynamic_columns(table.def(), span)?))?;
    Ok(true)
}
