//! Errors of names and definitions.

use saltwing_access::TableError;
use saltwing_types::ErrorCode;

use crate::TEMPORARY_SCHEMA;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// No table of this name.
    #[error("no table {name}")]
    NoSuchTable {
        /// The requested name.
        name: String,
        /// The nearest existing name.
        nearest: Option<String>,
    },
    /// A name in the schema of the system tables, where a table is needed.
    #[error("{0} is of the catalog's own schema, whose views can be read, not changed")]
    SystemTable(String),
    /// A view, where a table is needed.
    #[error("{0} is a view, not a table")]
    IsView(String),
    /// No view of this name.
    #[error("no view {name}")]
    NoSuchView {
        /// The requested name.
        name: String,
        /// The nearest existing name.
        nearest: Option<String>,
    },
    /// A table, where a view is needed.
    #[error("{0} is a table, not a view")]
    IsTable(String),
    /// The view exists, perhaps in another case.
    #[error("view {name} exists already{}", .existing.as_ref().map(|e| format!(" as {e}")).unwrap_or_default())]
    DuplicateView {
        /// The requested name.
        name: String,
        /// The spelling in the catalog, if that differs.
        existing: Option<String>,
    },
    /// The index exists, perhaps in another case.
    #[error("index {name} exists already{}", .existing.as_ref().map(|e| format!(" as {e}")).unwrap_or_default())]
    DuplicateIndex {
        /// The requested name.
        name: String,
        /// The spelling in the catalog, if that differs.
        existing: Option<String>,
    },
    /// A view uses the table, the view or the column that a statement would remove.
    #[error("view {view} uses {used}")]
    Used {
        /// The table or view, or `table.column`.
        used: String,
        /// The view.
        view: String,
    },
    /// A view would use itself.
    #[error("view {0} would read itself")]
    RecursiveView(String),
    /// A replaced view would lose a column, or have another column at its position.
    #[error("view {view} has a column {column}, and its new definition has {} in that place", .found.as_deref().unwrap_or("none"))]
    ViewColumnChanged {
        /// The view.
        view: String,
        /// The column, with its type.
        column: String,
        /// The column that would be at its position, with its type.
        found: Option<String>,
    },
    /// No schema of this name.
    #[error("no schema {0}")]
    NoSuchSchema(String),
    /// The table exists, perhaps in another case.
    #[error("table {name} exists already{}", .existing.as_ref().map(|e| format!(" as {e}")).unwrap_or_default())]
    DuplicateTable {
        /// The requested name.
        name: String,
        /// The spelling in the catalog, if that differs.
        existing: Option<String>,
    },
    /// No sequence of this name.
    #[error("no sequence {name}")]
    NoSuchSequence {
        /// The requested name.
        name: String,
        /// The nearest existing name.
        nearest: Option<String>,
    },
    /// The sequence exists, perhaps in another case.
    #[error("sequence {name} exists already{}", .existing.as_ref().map(|e| format!(" as {e}")).unwrap_or_default())]
    DuplicateSequence {
        /// The requested name.
        name: String,
        /// The spelling in the catalog, if that differs.
        existing: Option<String>,
    },
    /// The next value of a sequence would be outside its limits.
    #[error("{value} lies outside MINVALUE {min} and MAXVALUE {max}")]
    SequenceOutside {
        /// The position.
        value: i64,
        /// MINVALUE.
        min: i64,
        /// MAXVALUE.
        max: i64,
    },
    /// The sequence has no more values.
    #[error("sequence {name} has reached its {}", if *.ascends { "MAXVALUE" } else { "MINVALUE" })]
    SequenceLimit {
        /// The sequence.
        name: String,
        /// Whether its values grow.
        ascends: bool,
    },
    /// No user of this name.
    #[error("no user {name}")]
    NoSuchUser {
        /// The requested name.
        name: String,
        /// The nearest existing name.
        nearest: Option<String>,
    },
    /// The user exists, perhaps in another case.
    #[error("user {name} exists already{}", .existing.as_ref().map(|e| format!(" as {e}")).unwrap_or_default())]
    DuplicateUser {
        /// The requested name.
        name: String,
        /// The spelling in the catalog, if that differs.
        existing: Option<String>,
    },
    /// The schema exists.
    #[error("schema {0} exists already")]
    DuplicateSchema(String),
    /// A new schema would have the name of the default schema.
    #[error("schema {0} exists already: it is the default schema")]
    DefaultSchemaExists(String),
    /// The default schema cannot be dropped.
    #[error("{0} is the default schema, which every database has")]
    DefaultSchema(String),
    /// Privileges on all objects of the default schema, which grants do not have.
    #[error("no privileges are granted on the whole default schema {0}")]
    DefaultSchemaGrant(String),
    /// A view of an attached database that cannot be read from outside.
    #[error("{0} is a view of an attached database that reads more than tables and views of its database")]
    AttachedView(String),
    /// A write to an attached database.
    #[error("{0} is in an attached database, which is read and not written")]
    Attached(String),
    /// A name for an attached database that would be read as the name of one of its schemas.
    #[error("a dot parts the name of an attached database from its schemas, and \"{0}\" has one itself")]
    AliasWithDot(String),
    /// No database is attached under this name.
    #[error("no database is attached as {0}")]
    NotAttached(String),
    /// The schema still has tables, sequences or views.
    #[error("schema {name} still has {}", counted(&[(*.tables, "tables"), (*.sequences, "sequences"), (*.views, "views")]))]
    SchemaNotEmpty {
        /// Schema.
        name: String,
        /// The number of tables.
        tables: usize,
        /// The number of sequences.
        sequences: usize,
        /// The number of views.
        views: usize,
    },
    /// A name that is reserved for the catalog itself.
    #[error("{0} is a name of the catalog itself")]
    ReservedName(String),
    /// The state from which a change was made has changed.
    #[error("another statement has changed {0} meanwhile")]
    Changed(String),
    /// A temporary table in a catalog that does not belong to a session.
    #[error("a temporary table belongs to a session, and {0} would have none")]
    NoSession(String),
    /// The catalog was written by a later version.
    #[error("the catalog has format {found}, and this version reads formats up to {supported}")]
    NewerFormat {
        /// The format of this catalog.
        found: String,
        /// The newest readable format.
        supported: u32,
    },
    /// A later version wrote the definition of a table, a sequence, a view or a user.
    #[error("the definition of {what} {name} has record version {found}, and this version reads up to {supported}")]
    NewerRecord {
        /// "table", "sequence", "view" or "user".
        what: &'static str,
        /// Its name.
        name: String,
        /// The version of this record.
        found: u32,
        /// The newest readable version.
        supported: u32,
    },
    /// The definition of a table has an unknown type, function or form.
    #[error("the definition of table {table} cannot be read: {why}")]
    UnreadableDefinition {
        /// Table.
        table: String,
        /// The reason.
        why: String,
    },
    /// The catalog's rows are not valid.
    #[error("the catalog is damaged: {0}")]
    Corrupt(String),
    /// Reading or writing the catalog failed.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// `2 tables and 1 views`: the kinds of objects that exist.
fn counted(objects: &[(usize, &str)]) -> String {
    let found: Vec<String> =
        objects.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    found.join(" and ")
}

impl CatalogError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NoSuchTable { .. } | Self::NoSuchView { .. } => ErrorCode::NoSuchTable,
            Self::IsView(_) | Self::IsTable(_) => ErrorCode::WrongObject,
            Self::Used { .. } => ErrorCode::Dependents,
            Self::SystemTable(_) | Self::Attached(_) => ErrorCode::ReadOnly,
            Self::AttachedView(_) => ErrorCode::NotSupported,
            Self::NoSuchSchema(_) | Self::NotAttached(_) => ErrorCode::NoSuchSchema,
            Self::DuplicateTable { .. } | Self::DuplicateView { .. } | Self::DuplicateIndex { .. } => {
                ErrorCode::DuplicateTable
            }
            Self::RecursiveView(_) | Self::ViewColumnChanged { .. } | Self::SequenceOutside { .. } => {
                ErrorCode::InvalidDefinition
            }
            Self::Changed(_) => ErrorCode::Conflict,
            Self::NoSession(_) | Self::DefaultSchemaGrant(_) => ErrorCode::NotSupported,
            Self::NoSuchSequence { .. } => ErrorCode::NoSuchSequence,
            Self::DuplicateSequence { .. } => ErrorCode::DuplicateSequence,
            Self::SequenceLimit { .. } => ErrorCode::SequenceLimit,
            Self::NoSuchUser { .. } => ErrorCode::NoSuchUser,
            Self::DuplicateUser { .. } => ErrorCode::DuplicateUser,
            Self::DuplicateSchema(_) | Self::DefaultSchemaExists(_) => ErrorCode::DuplicateSchema,
            Self::SchemaNotEmpty { .. } | Self::DefaultSchema(_) | Self::ReservedName(_) | Self::AliasWithDot(_) => {
                ErrorCode::InvalidDefinition
            }
            Self::NewerFormat { .. } | Self::NewerRecord { .. } => ErrorCode::NotSupported,
            Self::UnreadableDefinition { .. } | Self::Corrupt(_) => ErrorCode::Corrupt,
            Self::Table(error) => error.code(),
        }
    }

    /// Whether there is no such object.
    pub fn is_missing(&self) -> bool {
        matches!(
            self,
            Self::NoSuchTable { .. } | Self::NoSuchView { .. } | Self::NoSuchSequence { .. } | Self::NoSuchSchema(_)
        )
    }

    /// Whether the error means that no object of this kind has the name. Other errors leave that unknown.
    pub fn is_absence(&self) -> bool {
        let is_other_kind =
            matches!(self, Self::IsView(_) | Self::IsTable(_) | Self::SystemTable(_) | Self::AttachedView(_));
        self.is_missing() || is_other_kind
    }

    /// The number of the error in Phoenix, if the code alone does not determine it.
    pub fn phoenix(&self) -> Option<u16> {
        match self {
            Self::SequenceLimit { ascends: true, .. } => Some(1212),
            Self::SequenceLimit { ascends: false, .. } => Some(1213),
            Self::SequenceOutside { .. } => Some(1211),
            _ => None,
        }
    }

    /// Advice for the user.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::NoSuchTable { nearest: Some(nearest), .. } => Some(format!("there is {nearest}")),
            Self::NoSuchTable { .. } => Some("SHOW TABLES lists them".into()),
            Self::NoSuchSequence { nearest: Some(nearest), .. }
            | Self::NoSuchView { nearest: Some(nearest), .. }
            | Self::NoSuchUser { nearest: Some(nearest), .. } => Some(format!("there is {nearest}")),
            Self::NoSuchUser { .. } => Some("SHOW USERS lists them".into()),
            Self::NoSuchView { .. } => Some("SHOW VIEWS lists them".into()),
            Self::NoSuchSchema(name) if name.eq_ignore_ascii_case("SYSTEM") => Some(
                "definitions are in information_schema, and in SHOW TABLES, SHOW COLUMNS, SHOW INDEXES and SHOW SEQUENCES".into(),
            ),
            Self::IsView(_) => Some("write or alter the table that it reads; an index of that table serves the view, too".into()),
            Self::NotAttached(_) => Some("SHOW ATTACHED lists them".into()),
            Self::IsTable(name) => Some(format!("DROP TABLE {name}")),
            Self::Used { .. } => Some("drop the view first; DROP TABLE and DROP VIEW do so with CASCADE".into()),
            Self::ViewColumnChanged { view, .. } => {
                Some(format!("new columns stand behind the others; else DROP VIEW {view} first"))
            }
            Self::SequenceOutside { .. } => Some("RESTART WITH n starts inside".into()),
            Self::NoSuchSequence { .. } => Some("SHOW SEQUENCES lists them".into()),
            Self::SequenceLimit { .. } => Some("ALTER SEQUENCE can restart it, move its limit, or let it CYCLE".into()),
            Self::DefaultSchemaGrant(_) => Some("GRANT .. ON t for one object, or ON DATABASE for all".into()),
            Self::ReservedName(name) if name.eq_ignore_ascii_case(TEMPORARY_SCHEMA) => {
                Some("CREATE TEMPORARY TABLE t makes the table temp.t of this session".into())
            }
            Self::NewerFormat { .. } | Self::NewerRecord { .. } => {
                Some("open it with the version that wrote it, or a later one".into())
            }
            _ => None,
        }
    }
}
