use std::net::SocketAddr;
use std::path::Path;

use tokio::runtime::Runtime;

use crate::client_program::{Language, run_client};
use crate::packages::{Installed, needs};
use crate::{FuzzOptions, Kind, Packages, Report, ServerProcess, Target, TestError, fuzz, hostile, kill, tokio_client};

/// One of the clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    name: &'static str,
    about: &'static str,
    driven_by: DrivenBy,
}

/// What runs a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DrivenBy {
    /// The program in `clients/NAME`.
    Program(Language),
    /// As `Program`, in Python, beside another program that must be installed.
    PythonWith(&'static str),
    /// As `Program`, in Python, with the console's page in a browser that must be installed.
    Browser,
    /// As `Program`, by Avatica, with a server that it has for itself besides.
    Phoenix(Language, OwnServer),
    /// This program.
    TokioPostgres,
    /// This program, against servers that it starts itself.
    Hostile,
    /// As `Hostile`.
    Kill,
    /// As `Hostile`.
    Fuzz,
}

/// A server that a client has for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OwnServer {
    options: &'static [&'static str],
    has_users: bool,
}

const CLIENTS: &[Client] = &[
    client("psql", "psql, its commands for the catalog, at a terminal too", DrivenBy::PythonWith("psql")),
    client("psycopg", "psycopg 3", DrivenBy::Program(Language::Python)),
    client("asyncpg", "asyncpg", DrivenBy::Program(Language::Python)),
    client("sqlalchemy", "SQLAlchemy 2 over psycopg", DrivenBy::Program(Language::Python)),
    client("pandas", "pandas over SQLAlchemy", DrivenBy::Program(Language::Python)),
    client("pgjdbc", "PostgreSQL's JDBC driver", DrivenBy::Program(Language::Java)),
    client("pgx", "pgx 5 and database/sql of Go", DrivenBy::Program(Language::Go)),
    client("node-pg", "pg of Node.js, pg-cursor, pg-copy-streams", DrivenBy::Program(Language::Node)),
    client("tokio-postgres", "tokio-postgres of Rust", DrivenBy::TokioPostgres),
    client("duckdb", "DuckDB's extension for PostgreSQL", DrivenBy::Program(Language::Python)),
    client("phoenixdb", "Phoenix's package for Python, and the tests that it ships", PHOENIXDB),
    client("phoenix-jdbc", "Phoenix's thin JDBC driver", PHOENIX_JDBC),
    client("avatica-go", "Avatica's driver for Go, and its own tests", AVATICA_GO),
    client("console", "the console's page in a headless Chromium", DrivenBy::Browser),
    client("hostile", "what breaks the protocol, floods it, guesses passwords", DrivenBy::Hostile),
    client("fuzz", "random conversations, valid, hostile and damaged", DrivenBy::Fuzz),
    client("kill", "a server that is killed while 16 clients write", DrivenBy::Kill),
];

const PHOENIXDB: DrivenBy =
    DrivenBy::Phoenix(Language::Python, OwnServer { options: &["--full-scan", "allow"], has_users: true });

/// Its own server closes connections so soon that the program sees it.
const PHOENIX_JDBC: DrivenBy =
    DrivenBy::Phoenix(Language::Java, OwnServer { options: &["--idle-timeout", "1s"], has_users: true });

/// The URLs of its own tests have no place for a password.
const AVATICA_GO: DrivenBy =
    DrivenBy::Phoenix(Language::Go, OwnServer { options: &["--full-scan", "allow"], has_users: false });

const fn client(name: &'static str, about: &'static str, driven_by: DrivenBy) -> Client {
    Client { name, about, driven_by }
}

/// How the run of a client ended.
pub enum Run {
    /// With these checks.
    Checked(Report),
    /// It cannot be run here, for this reason.
    Skipped(String),
}

/// What a client is run against, and with.
pub struct Surroundings<'a> {
    /// The server.
    pub target: &'a Target,
    /// Where it listens for Phoenix's clients. `None` for a server that runs somewhere else.
    pub avatica: Option<SocketAddr>,
    /// Where its console is. `None` for a server that runs somewhere else.
    pub console: Option<SocketAddr>,
    /// Its kind.
    pub kind: Kind,
    /// The program of which some clients start servers of their own. `None` for a server that runs somewhere else.
    pub saltwing: Option<&'a Path>,
    /// Packages of the clients' programs.
    pub packages: &'a Packages,
    /// Runs the clients of Rust.
    pub runtime: &'a Runtime,
    /// How `fuzz` runs.
    pub fuzz: FuzzOptions,
}

impl Client {
    /// All, in the order in which they are run.
    pub fn all() -> &'static [Self] {
        CLIENTS
    }

    /// The client of this name.
    pub fn named(name: &str) -> Option<Self> {
        CLIENTS.iter().copied().find(|client| client.name == name)
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it is, in a few words.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Whether it is run against the server of all clients, and not against one of its own.
    pub fn shares_the_server(&self) -> bool {
        !matches!(self.driven_by, DrivenBy::Hostile | DrivenBy::Fuzz | DrivenBy::Kill)
    }

    /// Runs it.
    ///
    /// # Errors
    /// Files and processes of the tests. What goes wrong between client and server is in the report.
    pub fn run(&self, around: &Surroundings<'_>) -> Result<Run, TestError> {
        let language = match self.driven_by {
            DrivenBy::Program(language) => language,
            DrivenBy::Phoenix(language, own) => return self.run_beside_its_own_server(language, own, around),
            DrivenBy::PythonWith(other) => match needs(other) {
                Some(missing) => return Ok(Run::Skipped(missing)),
                None => Language::Python,
            },
            DrivenBy::Browser if around.console.is_none() => {
                return Ok(Run::Skipped("only a server of its own tells where its console is".to_owned()));
            }
            DrivenBy::Browser => match ["chromium", "chromedriver"].iter().find_map(|program| needs(program)) {
                Some(missing) => return Ok(Run::Skipped(missing)),
                None => Language::Python,
            },
            DrivenBy::TokioPostgres => {
                return Ok(Run::Checked(around.runtime.block_on(tokio_client::run(around.target, around.kind))));
            }
            DrivenBy::Hostile if around.saltwing.is_none() => {
                return hostile::run_against(around.target, around.runtime).map(Run::Checked);
            }
            DrivenBy::Hostile => return around.own_servers(|binary| hostile::run(binary, around.runtime)),
            DrivenBy::Fuzz => return around.own_servers(|binary| fuzz::run(binary, around.runtime, &around.fuzz)),
            DrivenBy::Kill => return around.own_servers(|binary| kill::run(binary, around.runtime)),
        };
        self.run_program(language, &[], around)
    }

    fn run_beside_its_own_server(
        &self,
        language: Language,
        own: OwnServer,
        around: &Surroundings<'_>,
    ) -> Result<Run, TestError> {
        let Some(binary) = around.saltwing else {
            return Ok(Run::Skipped("only a server of its own tells where Phoenix's clients connect".to_owned()));
        };
        let start = if own.has_users { ServerProcess::start } else { ServerProcess::start_without_users };
        let server = start(binary, own.options)?;
        self.run_program(language, &[("OWN_AVATICA", format!("http://{}/", server.avatica()))], around)
    }

    /// Runs the program in the client's folder, with these variables besides those of all programs.
    fn run_program(
        &self,
        language: Language,
        more: &[(&'static str, String)],
        around: &Surroundings<'_>,
    ) -> Result<Run, TestError> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(self.name);
        match language.install(&folder, around.packages)? {
            Installed::At(path) => {
                let variables = [around.variables(), more.to_vec()].concat();
                run_client(language, &folder, &path, &variables).map(Run::Checked)
            }
            Installed::Missing(why) => Ok(Run::Skipped(why)),
        }
    }
}

impl Surroundings<'_> {
    /// What every program finds in its environment.
    fn variables(&self) -> Vec<(&'static str, String)> {
        let url = |address| format!("http://{address}/");
        let mut variables = vec![("SERVER_URL", self.target.url()), ("SERVER_KIND", self.kind.name().to_owned())];
        variables.extend(self.avatica.map(|address| ("SERVER_AVATICA", url(address))));
        variables.extend(self.console.map(|address| ("SERVER_CONSOLE", url(address))));
        variables
    }

    fn own_servers(&self, run: impl FnOnce(&Path) -> Result<Report, TestError>) -> Result<Run, TestError> {
        match self.saltwing {
            Some(binary) => run(binary).map(Run::Checked),
            None => Ok(Run::Skipped("it starts and kills servers of its own".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Path;

    use super::Client;

    #[test]
    fn each_client_has_a_name_and_each_folder_a_client() {
        let names: HashSet<&str> = Client::all().iter().map(Client::name).collect();
        assert_eq!(names.len(), Client::all().len());
        for folder in Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").read_dir().unwrap() {
            let name = folder.unwrap().file_name().into_string().unwrap();
            assert!(["python", "java"].contains(&name.as_str()) || Client::named(&name).is_some(), "{name}");
        }
        assert_eq!(Client::named("none"), None);
    }
}
