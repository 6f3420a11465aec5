//! ATTACH and DETACH: other databases in the queries of a connection.
//!
//! An attached database is open for reading, so no process can write to it meanwhile. Its rows are read from the snapshot at
//! ATTACH: every statement and every transaction sees the same rows.

use std::path::Path;

use saltwing_catalog::{AttachedTables, CatalogError};
use saltwing_sql::{Dialect, Name, TableRef, quote_name};
use saltwing_types::ErrorCode;

use crate::Error;
use crate::files::file::Purpose;
use crate::files::rules::file_rules;
use crate::session::Session;

/// Attaches the database in a directory; returns the notices of its opening.
pub(crate) fn attach_directory(session: &Session, path: &Path, alias: &str) -> Result<Vec<String>, Error> {
    let shown = path.display().to_string();
    file_rules(session, Purpose::Read)?.check_named(&shown, "attached")?;
    let mut notices = Vec::new();
    session.own.catalog.attach(alias, || -> Result<_, Error> {
        let options = session.shared().options.clone();
        let database = options.of_other(path).open()?;
        notices.extend(database.notices().iter().cloned());
        // The rows and the catalog fit each other, because no process writes.
        let (rows, catalog) = (database.shared.tables.snapshot()?, database.shared.catalog.snapshot()?);
        Ok::<_, Error>(AttachedTables::new(alias, shown, &*catalog, &rows)?)
    })?;
    Ok(notices)
}

/// # Errors
/// As `statement::describing::check_written`.
pub(crate) fn check_own(session: &Session, schema: Option<&Name>, name: &Name) -> Result<(), Error> {
    match schema.filter(|schema| session.own.catalog.is_attached(&schema.text)) {
        None => Ok(()),
        Some(schema) => {
            let named = TableRef { schema: Some(schema.clone()), name: name.clone() };
            let text = if schema == name { schema.text.clone() } else { named.to_name().to_string() };
            Err(Error::from(CatalogError::Attached(text)).at(Some(named.span())))
        }
    }
}

/// The text of an ATTACH of a directory.
pub(crate) fn attach_text(session: &Session, path: &Path, alias: &str) -> Result<String, Error> {
    let Some(path) = path.to_str() else {
        return Err(Error::new(ErrorCode::BadArgument, format!("{} is no UTF-8", path.display())));
    };
    let mut quoted = path.replace('\'', "''");
    if session.dialect() == Dialect::Phoenix {
        quoted = quoted.replace('\\', "\\\\");
    }
    Ok(format!("ATTACH '{quoted}' AS {}", quote_name(alias)))
}
