//! CREATE and ALTER of tables: a temporary one of the connection comes before the stored one of its name.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_bind::{resolve, with_dynamic_columns};
use saltwing_catalog::{CatalogError, Dependents, DropList, SessionCatalog};
use saltwing_sql::statement::CreateTable;
use saltwing_sql::{Name, TableRef};
use saltwing_types::{ErrorCode, SequenceDef, TableDef};

use crate::Error;
use crate::session::Session;

/// The temporary tables, if the name is that of one of them.
fn temporary_named<'a>(session: &'a Session, name: &TableRef) -> Option<&'a SessionCatalog> {
    let (schema, bare) = name.parts();
    let tables = &session.own.catalog;
    tables.find(schema, bare).map(|_| tables)
}

/// Whether the table of a CREATE TABLE is there: a temporary one, or a stored one that temporary ones may hide.
pub(crate) fn is_there(session: &Session, create: &CreateTable) -> bool {
    match create.temporary {
        true => temporary_named(session, &create.table).is_some(),
        false => resolve(&*session.shared().catalog.snapshot(), &create.table).is_ok(),
    }
}

/// Adds the table of a CREATE TABLE.
pub(crate) fn add_table(
    session: &Session,
    create: &CreateTable,
    def: TableDef,
    sequences: Vec<SequenceDef>,
) -> Result<(), CatalogError> {
    match create.temporary {
        true => session.own.catalog.create_table(def),
        false => session.shared().catalog.create_table_with(def, sequences).map(drop),
    }
}

/// The name by which statements find the table that a CREATE TABLE has made, though a temporary one may hide it.
pub(crate) fn name_of_new(session: &Session, create: &CreateTable) -> TableRef {
    let mut name = create.table.clone();
    if !create.temporary && name.schema.is_none() && session.catalog().hides(&name.name.text) {
        name.schema = Some(Name { text: String::new(), quoted: true, span: name.name.span });
    }
    name
}

/// Takes back the table that a CREATE TABLE has made. Nothing can use it but a view that came meanwhile.
pub(crate) fn take_back(session: &Session, create: &CreateTable) -> Result<bool, CatalogError> {
    let (schema, name) = create.table.parts();
    match create.temporary {
        true => {
            let names = [(schema, name)];
            let list = DropList { names: &names, if_exists: false, dependents: Dependents::Drop };
            session.own.catalog.drop_tables(&list).map(|left| left.is_empty()).map_err(|listed| listed.error)
        }
        false => session.shared().catalog.drop_table(schema, name, Dependents::Drop),
    }
}

/// Gives a table another definition, as [`Catalog::alter_table`](saltwing_catalog::Catalog::alter_table).
pub(crate) fn change_definition(
    session: &Session,
    name: &TableRef,
    change: impl FnOnce(&Arc<Table>) -> Result<Option<TableDef>, Error>,
) -> Result<(), Error> {
    let (schema, bare) = name.parts();
    match temporary_named(session, name) {
        Some(tables) => tables.alter_table(bare, change),
        None => session.shared().catalog.alter_table(schema, bare, change),
    }
}

/// Gives a table whose dynamic columns are written the hidden column for them, if it has none yet; whether it did.
pub(crate) fn adds_dynamic_columns(session: &Session, name: &TableRef) -> Result<bool, Error> {
    let span = name.span();
    let table = resolve(&*session.catalog(), name)?;
    if with_dynamic_columns(table.def(), span)?.is_none() {
        return Ok(false);
    }
    // An appender is made between the statements of a transaction.
    if session.is_within_transaction() || session.transaction.current().is_some() {
        let text = format!("the first dynamic column of table {name} cannot be written in a transaction");
        let help = "write one before BEGIN: the table gets a hidden column for them";
        return Err(Error::new(ErrorCode::ActiveTransaction, text).with_help(Some(help)).at(Some(span)));
    }
    change_definition(session, name, |table: &Arc<Table>| Ok(with_dynamic_columns(table.def(), span)?))?;
    Ok(true)
}
