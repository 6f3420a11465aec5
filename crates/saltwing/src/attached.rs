//! ATTACH and DETACH: other databases in the queries of a connection.
//!
//! An attached database is open for reading, so no process can write it meanwhile. Its rows are read from one snapshot, that of
//! ATTACH: every statement and every transaction sees the same.

use std::path::Path;

use saltwing_bind::attached_view;
use saltwing_catalog::{AttachedTables, CatalogError};
use saltwing_sql::statement::{Attach, CommentObject};
use saltwing_sql::{Dialect, Name, Statement, TableRef, quote_name};
use saltwing_types::ErrorCode;

use crate::copy::{Purpose, file_rules};
use crate::outcome::{ExecResult, Outcome};
use crate::session::Session;
use crate::text_rows::TextRow;
use crate::{Connection, Error, blocking};

pub(crate) fn run_attach(session: &Session, attach: &Attach) -> Result<Outcome, Error> {
    let path = Path::new(&attach.path);
    let notices = attach_directory(session, path, &attach.alias.text).map_err(|error| match error.code() {
        ErrorCode::DuplicateSchema | ErrorCode::InvalidDefinition => error.at(Some(attach.alias.span)),
        _ => error.at(Some(attach.path_span)),
    })?;
    Ok(ExecResult::noticed(notices).into())
}

/// Attaches the database in a directory; what its opening noticed.
fn attach_directory(session: &Session, path: &Path, alias: &str) -> Result<Vec<String>, Error> {
    let shown = path.display().to_string();
    file_rules(session, Purpose::Read).check_named(&shown, "attached")?;
    let mut notices = Vec::new();
    session.own.catalog.attach(alias, || -> Result<_, Error> {
        let options = session.shared().options.clone();
        let database = options.of_other(path).open()?;
        notices.extend(database.notices().iter().cloned());
        // The rows are known by the definitions of the same moment: nobody writes.
        let (rows, catalog) = (database.shared.tables.snapshot()?, database.shared.catalog.snapshot());
        AttachedTables::new(alias, shown, &*catalog, &rows, |view| Ok(attached_view(view, alias)?))
    })?;
    Ok(notices)
}

pub(crate) fn run_detach(session: &Session, alias: &Name) -> Result<Outcome, Error> {
    let detached = session.own.catalog.detach(&alias.text);
    detached.map_err(|error| Error::from(error).at(Some(alias.span)))?;
    // Their plans have its tables, and its files would stay open with them.
    session.own.statements.clear();
    Ok(ExecResult::default().into())
}

pub(crate) fn show_attached(session: &Session) -> Vec<TextRow> {
    let attached = session.own.catalog.attached();
    attached.iter().map(|it| vec![Some(it.alias().to_owned()), Some(it.path().to_owned())]).collect()
}

/// # Errors
/// [`ErrorCode::ReadOnly`] for a statement that would write to an attached database, or make something in it.
pub(crate) fn check_written(session: &Session, statement: &Statement) -> Result<(), Error> {
    if session.own.catalog.is_empty() {
        return Ok(());
    }
    match statement {
        Statement::CreateSchema(create) => check_own(session, Some(&create.name), &create.name),
        Statement::Explain(explain) => check_written(session, &explain.statement),
        other => written(other).into_iter().try_for_each(|name| check_own(session, name.schema.as_ref(), &name.name)),
    }
}

/// # Errors
/// As [`Session::check_written`].
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

/// The tables, views and sequences that a statement writes, makes or drops.
fn written(statement: &Statement) -> Vec<&TableRef> {
    match statement {
        Statement::Upsert(it) | Statement::Insert(it) => vec![&it.table],
        Statement::Update(it) => vec![&it.table],
        Statement::Delete(it) => vec![&it.table],
        Statement::Merge(it) => vec![&it.table],
        Statement::CreateTable(it) => vec![&it.table],
        Statement::CreateTableAs(it) => vec![&it.table.table],
        Statement::AlterTable(it) => vec![&it.table],
        Statement::CreateIndex(it) => vec![&it.table],
        Statement::AlterIndex(it) => vec![&it.table],
        Statement::DropIndex(it) => vec![&it.table],
        Statement::CopyFrom(it) => vec![&it.table],
        Statement::CreateView(it) => vec![&it.name],
        Statement::AlterView(it) => vec![&it.view],
        Statement::CreateSequence(it) => vec![&it.name],
        Statement::AlterSequence(it) => vec![&it.name],
        Statement::DropTable(it) | Statement::DropView(it) => it.names.iter().collect(),
        Statement::DropSequence(it) => it.names.iter().collect(),
        Statement::Truncate(tables) | Statement::Compact(tables) => tables.iter().collect(),
        Statement::Comment(it) => match &it.object {
            CommentObject::Table(name) | CommentObject::View(name) => vec![name],
            CommentObject::Column(_) => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The ATTACH of a directory.
fn attach_text(session: &Session, path: &Path, alias: &str) -> Result<String, Error> {
    let Some(path) = path.to_str() else {
        return Err(Error::new(ErrorCode::BadArgument, format!("{} is no UTF-8", path.display())));
    };
    let mut quoted = path.replace('\'', "''");
    if session.dialect() == Dialect::Phoenix {
        quoted = quoted.replace('\\', "\\\\");
    }
    Ok(format!("ATTACH '{quoted}' AS {}", quote_name(alias)))
}

impl blocking::Connection {
    /// Attaches the database in a directory, for reading, as `ATTACH 'path' AS alias` does: queries of this connection read its table `t` as
    /// `alias.t`.
    ///
    /// ```
    /// # fn main() -> Result<(), saltwing::Error> {
    /// # let folder = std::env::temp_dir().join(format!("saltwing-attach-{}", std::process::id()));
    /// # let path = folder.join("old.db");
    /// # std::fs::create_dir_all(&folder).expect("a folder");
    /// let old = saltwing::Database::open(&path)?;
    /// old.connect().blocking().execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v VARCHAR)", ())?;
    /// old.connect().blocking().execute("UPSERT INTO t VALUES (1, 'one')", ())?;
    /// drop(old);
    /// let connection = saltwing::Database::memory()?.connect().blocking();
    /// connection.attach(&path, "old")?;
    /// assert_eq!(connection.query_one::<(String,)>("SELECT v FROM old.t WHERE k = 1", ())?.0, "one");
    /// # drop(connection);
    /// # let _ = std::fs::remove_dir_all(&folder);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of opening it for reading, such as `locked` while another process has it open for writing; `duplicate_schema` for an alias
    /// that is the name of a schema.
    pub fn attach(&self, path: impl AsRef<Path>, alias: &str) -> Result<(), Error> {
        self.execute(&attach_text(&self.session, path.as_ref(), alias)?, ()).map(drop)
    }
}

impl Connection {
    /// As [`blocking::Connection::attach`].
    ///
    /// # Errors
    /// As there.
    pub async fn attach(&self, path: impl AsRef<Path>, alias: &str) -> Result<(), Error> {
        let sql = attach_text(&self.session, path.as_ref(), alias)?;
        self.execute(&sql, ()).await.map(drop)
    }
}
