//! The catalog of a server.

use std::sync::Arc;

use parking_lot::Mutex;
use saltwing::{Connection, Database, ObjectId, key_constraint_shown};

use crate::concern::{Concern, concern, names_sizes};
use crate::definitions::object_oid;
use crate::relation_database::{Login, RelationDatabase};
use crate::translation::{Translated, translate, with_session_values};
use crate::{CatalogError, SessionFacts, SettingChange};

/// The bytes of a query that the log has: a client must not fill the disk with long ones.
const QUERY_LOGGED_MAX: usize = 4000;
/// The users whose relations are kept.
const USERS_MAX: usize = 32;

/// PostgreSQL's catalog over a database: one for each server, and cheap to clone.
#[derive(Clone)]
pub struct PgCatalog {
    shared: Arc<Kept>,
}

struct Kept {
    database: Database,
    /// The relations of users, those used last at the end.
    users: Mutex<Vec<(Login, Arc<RelationDatabase>)>>,
}

/// A query for the catalog in the library's words.
pub struct CatalogQuery {
    /// Where it runs. It has the session's timeout, and an interrupt handle of its own.
    pub connection: Connection,
    /// The query.
    pub sql: String,
    /// For each column the label that the client expects, and the OID of its type where it differs from that of the value's own type: of
    /// numbers of objects (26), `name` (19), `"char"` (18), `text` (25), transaction numbers (28), vectors (22, 30) and arrays of these, instants
    /// of UTC (1184). Names of objects (`regclass` ..) come as `text`. Empty for a query over other tables, whose columns have their own labels and types.
    pub columns: Vec<(String, Option<u32>)>,
    /// The OIDs of the types to which the query casts its parameters, by their numbers from 1: numbers of objects and their arrays are integers in
    /// `sql`, and drivers expect `oid` and `oid[]`.
    pub parameters: Vec<(usize, u32)>,
    /// Settings that the query changes when it runs.
    pub changes: Vec<SettingChange>,
    /// Whether values of the session, such as settings, are in the query: translate it again for a later run.
    pub depends_on_session: bool,
    /// The relations that it reads, and whether numbers of rows and bytes are among them; `None` of a query over other tables.
    relations: Option<(Arc<RelationDatabase>, bool)>,
}

impl CatalogQuery {
    /// A query that the library answers on the session's connection.
    fn of_library(session: &SessionFacts<'_>, sql: String) -> Self {
        let connection = session.connection.clone();
        let (columns, parameters, changes) = Default::default();
        Self { connection, sql, columns, parameters, changes, depends_on_session: false, relations: None }
    }

    /// Brings the relations up to date, for another run of a query that was translated before by a session with this connection. Cheap while no
    /// definition changes.
    ///
    /// # Errors
    /// The database's, among others if the user was dropped, also if another one has the name now.
    pub async fn refresh(&self, session: &Connection) -> Result<(), CatalogError> {
        session.check_user()?;
        match &self.relations {
            Some((relations, needs_sizes)) => relations.refresh(*needs_sizes).await,
            None => Ok(()),
        }
    }
}

impl PgCatalog {
    /// The catalog of a database.
    pub fn new(database: &Database) -> Self {
        Self { shared: Arc::new(Kept { database: database.clone(), users: Mutex::default() }) }
    }

    /// The OID of the relation with this number in the library's catalog, by which result columns name their table; `None` of a relation that the
    /// catalog does not list.
    pub fn relation_oid(table: ObjectId) -> Option<u32> {
        object_oid(i64::from(table.0)).ok().filter(|_| table != ObjectId::NEW)
    }

    /// The name that the catalog has for the constraint of a table's primary key, of the name that it was given: without one `t_pkey`.
    pub fn key_constraint(table: &str, given: Option<&str>) -> String {
        key_constraint_shown(table, given)
    }

    /// Whether a text is a query for PostgreSQL's catalog: one that names relations, types or functions of it, or functions of the session. Such
    /// a query goes to [`PgCatalog::translate`]. Cheap for others: a text is parsed only if it is a query with a word that calls for it.
    pub fn concerns(&self, sql: &str) -> bool {
        concern(sql) != Concern::None
    }

    /// The query in the library's words, with a connection to the relations that it reads. The session prepares, describes and runs it like any
    /// other statement.
    ///
    /// # Errors
    /// [`CatalogError::Syntax`]; what the catalog does not have; what queries over it cannot do, each with its SQLSTATE. A query without an
    /// answer is logged with its text.
    pub async fn translate(&self, sql: &str, session: &SessionFacts<'_>) -> Result<CatalogQuery, CatalogError> {
        let translated = self.try_translate(sql, session).await;
        if let Err(error) = translated.as_ref().map(|_| ())
            && error.is_unanswered()
        {
            let sql = sql.get(..sql.floor_char_boundary(QUERY_LOGGED_MAX)).unwrap_or_default();
            tracing::warn!(target: "saltwing::pg_catalog", sql, %error, "a query for the catalog has no answer");
        }
        translated
    }

    async fn try_translate(&self, sql: &str, session: &SessionFacts<'_>) -> Result<CatalogQuery, CatalogError> {
        let (query, is_of_catalog, is_known_to_library) = match concern(sql) {
            Concern::Catalog { query, is_known_to_library } => (query, true, is_known_to_library),
            Concern::SessionFunctions(query) => (query, false, false),
            Concern::Broken(error) => return Err(CatalogError::Syntax(error)),
            Concern::None => return Err(CatalogError::NotSupported("this statement".to_owned())),
        };
        // Relations are kept by names, and the name of a dropped user may be another one's.
        session.connection.check_user()?;
        let relations = self.relations_of(session).await?;
        let needs_sizes = names_sizes(sql);
        relations.refresh(needs_sizes).await?;
        let lookups = relations.lookups();
        if !is_of_catalog {
            let mut query = *query;
            let (changes, depends_on_session) = with_session_values(&mut query, session, &lookups)?;
            return Ok(CatalogQuery {
                changes,
                depends_on_session,
                ..CatalogQuery::of_library(session, query.to_string())
            });
        }
        let translated = match translate(*query, session, &lookups) {
            // A column of the library's own form.
            Err(CatalogError::NoColumn(_)) if is_known_to_library => {
                return Ok(CatalogQuery::of_library(session, sql.to_owned()));
            }
            translated => translated?,
        };
        let Translated { sql, columns, changes, depends_on_session, parameter_types } = translated;
        let parameters = parameter_types.into_iter().map(|(number, ty)| (number, ty.0)).collect();
        let timeout = session.connection.settings().statement_timeout;
        let connection = relations.connect().with_settings(|settings| settings.statement_timeout = timeout);
        let relations = Some((relations, needs_sizes));
        Ok(CatalogQuery { connection, sql, columns, parameters, changes, depends_on_session, relations })
    }

    /// The relations of a session's user: those that are kept, or new ones.
    async fn relations_of(&self, session: &SessionFacts<'_>) -> Result<Arc<RelationDatabase>, CatalogError> {
        let login =
            Login { name: session.user.to_owned(), is_owner: session.is_owner, database: session.database.to_owned() };
        if let Some(kept) = self.kept(&login) {
            return Ok(kept);
        }
        let new = Arc::new(RelationDatabase::new(self.shared.database.clone(), login.clone()).await?);
        // Another session of the user may have been faster.
        if let Some(kept) = self.kept(&login) {
            return Ok(kept);
        }
        let mut users = self.shared.users.lock();
        if users.len() >= USERS_MAX {
            users.remove(0);
        }
        users.push((login, new.clone()));
        Ok(new)
    }

    fn kept(&self, login: &Login) -> Option<Arc<RelationDatabase>> {
        let mut users = self.shared.users.lock();
        let place = users.iter().position(|(known, _)| known == login)?;
        let found = users.remove(place);
        let relations = found.1.clone();
        users.push(found);
        Some(relations)
    }
}
