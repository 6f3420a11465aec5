//! A database with sessions that ask for the catalog.

use saltwing::{Connection, Database, Value};
use saltwing_pg_catalog::{CatalogQuery, NamedStatement, PgCatalog, SessionFacts};

use crate::answer::Answer;

/// The version that sessions show.
pub(crate) const VERSION: &str = "15.8 (Saltwing)";

/// A database and its catalog.
pub(crate) struct Server {
    pub(crate) database: Database,
    pub(crate) catalog: PgCatalog,
}

/// A session of a user or of the owner.
pub(crate) struct Session<'s> {
    server: &'s Server,
    pub(crate) connection: Connection,
    user: String,
    is_owner: bool,
}

impl Server {
    pub(crate) fn new() -> Self {
        Self::over(Database::memory().unwrap())
    }

    pub(crate) fn over(database: Database) -> Self {
        Self { catalog: PgCatalog::new(&database), database }
    }

    /// One over these definitions.
    pub(crate) fn with(script: &str) -> Self {
        let server = Self::new();
        server.run(script);
        server
    }

    /// Runs statements as the owner.
    pub(crate) fn run(&self, script: &str) {
        let run = self.database.connect().blocking().execute_batch(script);
        run.unwrap_or_else(|error| panic!("{}", error.render(script)));
    }

    pub(crate) fn owner(&self) -> Session<'_> {
        Session { server: self, connection: self.database.connect(), user: "postgres".to_owned(), is_owner: true }
    }

    pub(crate) fn user(&self, name: &str) -> Session<'_> {
        let connection = self.database.connect_as(name).unwrap();
        Session { server: self, connection, user: name.to_owned(), is_owner: false }
    }
}

fn setting(name: &str) -> Option<String> {
    let value = match name.to_ascii_lowercase().as_str() {
        "search_path" => "\"$user\", public",
        "server_version" => VERSION,
        "server_version_num" => "150008",
        "standard_conforming_strings" => "on",
        "client_encoding" | "server_encoding" => "UTF8",
        "application_name" => "test",
        "max_index_keys" => "32",
        "timezone" => "UTC",
        "jit" => "off",
        _ => return None,
    };
    Some(value.to_owned())
}

impl Session<'_> {
    /// A query as the server prepares it.
    pub(crate) async fn translate(&self, sql: &str) -> Result<CatalogQuery, String> {
        let facts = SessionFacts {
            connection: &self.connection,
            user: &self.user,
            is_owner: self.is_owner,
            database: "likedb",
            process: 7,
            server_version: VERSION,
            setting: &setting,
            statements: &[NamedStatement {
                name: "one's",
                text: "PREPARE \"one's\" AS SELECT $1, ''",
                prepared_ms: 1_700_000_000_123,
                parameter_types: vec![20, 25],
                is_from_sql: true,
            }],
            cursors: &[],
        };
        let translated = self.server.catalog.translate(sql, &facts).await;
        translated.map_err(|error| format!("{} {error}", error.sqlstate()))
    }

    /// The answer to a query with parameters.
    pub(crate) async fn ask_with(&self, sql: &str, parameters: Vec<Value>) -> Result<Answer, String> {
        let query = self.translate(sql).await?;
        let failed = |error: saltwing::Error| format!("{} {error}\n  in {}", error.sqlstate(), query.sql);
        let statement = query.connection.prepare(&query.sql).await.map_err(failed)?;
        Answer::read(&query, &statement, parameters).await.map_err(failed)
    }

    pub(crate) async fn try_ask(&self, sql: &str) -> Result<Answer, String> {
        self.ask_with(sql, Vec::new()).await
    }

    /// The rows of a query that has an answer, each as its values with bars between.
    pub(crate) async fn rows(&self, sql: &str) -> Vec<String> {
        let answer = self.try_ask(sql).await;
        answer.unwrap_or_else(|error| panic!("{sql}\n{error}")).rows
    }

    /// The only value of a query.
    pub(crate) async fn value(&self, sql: &str) -> String {
        let rows = self.rows(sql).await;
        assert_eq!(rows.len(), 1, "{sql}: {rows:?}");
        rows.into_iter().next().unwrap_or_default()
    }
}
