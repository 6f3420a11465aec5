//! What goes wrong with queries for the catalog.

/// Why a query for PostgreSQL's catalog has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// The text is no statement of PostgreSQL.
    #[error("syntax: {0}")]
    Syntax(String),
    /// The catalog has no such relation.
    #[error("relation \"{0}\" does not exist")]
    NoRelation(String),
    /// The relations of a query have no such column.
    #[error("column \"{0}\" does not exist")]
    NoColumn(String),
    /// There is no such function, or it takes other arguments.
    #[error("function {name} with {arguments} arguments does not exist")]
    NoFunction {
        /// As the query writes it.
        name: String,
        /// How many arguments it has there.
        arguments: usize,
    },
    /// There is no such type.
    #[error("type \"{0}\" does not exist")]
    NoType(String),
    /// There is no object of this name.
    #[error("{kind} \"{name}\" does not exist")]
    NoObject {
        /// Its kind: `relation`, `type`, `role` ..
        kind: &'static str,
        /// As the query writes it.
        name: String,
    },
    /// Something that PostgreSQL has and queries for this catalog do not.
    #[error("queries for pg_catalog do not have {0}")]
    NotSupported(String),
    /// A query reads the catalog and tables of the database at once.
    #[error("a query for pg_catalog cannot read {0} as well")]
    OtherTable(String),
    /// An object's number is beyond what an OID holds.
    #[error("the object number {0} has no OID")]
    NoOid(i64),
    /// The database's own.
    #[error(transparent)]
    Database(#[from] saltwing::Error),
    /// A broken invariant.
    #[error("bug: {0}")]
    Bug(String),
}

impl CatalogError {
    /// The SQLSTATE.
    pub fn sqlstate(&self) -> &str {
        match self {
            Self::Syntax(_) => "42601",
            Self::NoRelation(_) => "42P01",
            Self::NoColumn(_) => "42703",
            Self::NoFunction { .. } => "42883",
            Self::NoType(_) => "42704",
            Self::NoObject { kind: "relation", .. } => "42P01",
            Self::NoObject { kind: "function", .. } => "42883",
            Self::NoObject { kind: "schema", .. } => "3F000",
            Self::NoObject { .. } => "42704",
            Self::NotSupported(_) | Self::OtherTable(_) => "0A000",
            Self::NoOid(_) => "54000",
            Self::Database(error) => error.sqlstate(),
            Self::Bug(_) => "XX000",
        }
    }

    /// Whether a client asks for something that a later version may answer.
    pub(crate) fn is_unanswered(&self) -> bool {
        !matches!(self, Self::Database(_) | Self::NoObject { .. })
    }

    /// A broken invariant, which stops a debug build at once.
    pub(crate) fn bug(text: String) -> Self {
        debug_assert!(false, "{text}");
        Self::Bug(text)
    }
}
