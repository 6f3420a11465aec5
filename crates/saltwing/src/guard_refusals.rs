//! What the guard refused lately.
//!
//! A refusal is noted by the shape of its statement, so that neither literals nor parameters are kept. What would allow the statement is
//! computed for a caller who asks, never while a statement runs.

use saltwing_catalog::{CatalogReader, optional};
use saltwing_planner::RefusedScans;
use saltwing_sql::Dialect;
use saltwing_types::{ErrorCode, Privilege};

use crate::heat_relation::name_parts;
use crate::params::Params;
use crate::refused_statements::Refused;
use crate::rights::check_table;
use crate::session::Session;
use crate::statement_cache::CachedStatement;
use crate::statement_shape::statement_shape;
use crate::{Error, Rows};

/// Most refusals whose indexes are computed for one call.
const ADVISED_MAX: usize = 50;

/// Statements of one shape that the guard refused: see [`Connection::guard_refusals`](crate::Connection::guard_refusals).
#[derive(Clone, Debug, PartialEq)]
pub struct GuardRefusal {
    /// The statement with `?` in place of its literals and parameters, at most 2,000 characters.
    pub statement: String,
    /// The tables whose scans were refused, as statements name them.
    pub tables: Vec<String>,
    /// Why, as the last error said.
    pub reason: String,
    /// How often, since the opening of the database.
    pub count: u64,
    /// When it was refused last, in milliseconds since 1970.
    pub last_ms: i64,
    /// What would allow it: an index first, if one would.
    pub fixes: Vec<RefusalFix>,
}

/// Something that would allow a refused statement.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusalFix {
    /// What to do, for people.
    pub text: String,
    /// A statement that does it, if one does.
    pub sql: Option<String>,
    /// The bytes that it stores for each row of the table, before compression, if it is an index and the table has rows.
    pub bytes_per_row: Option<u64>,
}

impl Session {
    /// Notes the error of a statement if it is a refusal of the guard.
    pub(crate) fn note_refusal(&self, error: &Error, statement: &CachedStatement) {
        if error.code() == ErrorCode::FullScanRefused {
            let shape = statement_shape(&statement.text, statement.dialect);
            self.shared().refusals.note(shape, statement.dialect, error, self.shared().options.clock.now_ms());
        }
    }
}

/// What the guard refused lately: see [`blocking::Connection::guard_refusals`].
pub(crate) fn guard_refusals(session: &Session) -> Result<Vec<GuardRefusal>, Error> {
    let catalog = session.catalog()?;
    let mut refusals = Vec::new();
    for (statement, refused) in session.shared().refusals.list() {
        let tables: Vec<String> = refused.scans.tables.iter().map(|table| table.table.clone()).collect();
        if session.user().is_some() && !may_read_all(session, &*catalog, &tables)? {
            continue;
        }
        let is_advised = refused.is_whole && refusals.len() < ADVISED_MAX;
        let indexes = if is_advised { missing_indexes(session, &statement, refused.dialect) } else { Vec::new() };
        let fixes = with_other_fixes(indexes, &refused.scans);
        let Refused { reason, count, last_ms, .. } = refused;
        refusals.push(GuardRefusal { statement, tables, reason, count, last_ms, fixes });
    }
    Ok(refusals)
}

/// Whether the user of the session may read all of these tables, which exist.
fn may_read_all(session: &Session, catalog: &dyn CatalogReader, tables: &[String]) -> Result<bool, Error> {
    for name in tables {
        let parts = name_parts(name, Dialect::Saltwing).unwrap_or_default();
        let table = match parts.as_slice() {
            [table] => optional(catalog.resolve(None, table))?,
            [schema, table] => optional(catalog.resolve(Some(schema), table))?,
            _ => None,
        };
        match table.map(|table| check_table(session, &table, Privilege::Select)) {
            Some(Ok(())) => {}
            Some(Err(error)) if error.code() != ErrorCode::InsufficientPrivilege => return Err(error),
            _ => return Ok(false),
        }
    }
    Ok(!tables.is_empty())
}

/// The indexes that ADVISE names for a shape. A shape that is no statement, for example because a type had a length, has none.
fn missing_indexes(session: &Session, shape: &str, dialect: Dialect) -> Vec<RefusalFix> {
    let session = session.sibling().with_settings(|settings| settings.dialect = dialect);
    let advised = || -> Result<Vec<RefusalFix>, Error> {
        let mut rows = Rows::new(session.query(&format!("ADVISE {shape}"), Params::Positional(Vec::new()))?);
        let mut fixes = Vec::new();
        while let Some(row) = rows.next_blocking()? {
            let Some(sql) = row.get::<Option<String>>("create_index")? else { continue };
            let bytes = row.get::<Option<String>>("bytes_per_row")?.and_then(|bytes| bytes.parse().ok());
            let of_table = row.get::<Option<String>>("table_name")?.unwrap_or_default();
            fixes.push(RefusalFix {
                text: format!("make an index of {of_table} that bounds the scan"),
                sql: Some(sql),
                bytes_per_row: bytes,
            });
        }
        Ok(fixes)
    };
    advised().unwrap_or_else(|error| {
        tracing::debug!(%error, shape, "no advice for a refused statement");
        Vec::new()
    })
}

/// Indexes, and the other fixes after them. A sentence of the guard that ends with one of the indexes says nothing more.
fn with_other_fixes(mut fixes: Vec<RefusalFix>, scans: &RefusedScans) -> Vec<RefusalFix> {
    let mut others = other_fixes(scans);
    let is_named =
        |fix: &RefusalFix| fixes.iter().filter_map(|it| it.sql.as_deref()).any(|sql| fix.text.ends_with(sql));
    others.retain(|fix| !is_named(fix));
    fixes.extend(others);
    fixes
}

/// The fixes that the guard names.
fn other_fixes(scans: &RefusedScans) -> Vec<RefusalFix> {
    let fix = |text: String, sql| RefusalFix { text, sql, bytes_per_row: None };
    let mut fixes = Vec::new();
    for table in &scans.tables {
        let advice = table.refusal.iter().flat_map(|refusal| refusal.fixes.clone());
        fixes.extend(advice.map(|text| fix(text, None)));
        if !table.forbidden && table.takes_option {
            let sql = format!("ALTER TABLE {} SET FULL_SCAN = 'allow'", table.table);
            fixes.push(fix(format!("if {} is small, allow scans of all of it", table.table), Some(sql)));
        }
    }
    fixes.dedup();
    fixes
}
