use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::packages::{Installed, needs};
use crate::program;
use crate::{FuzzOptions, Kind, Packages, Report, Target, TestError, fuzz, hostile, kill, tokio_client};

/// How long the program of a client may run.
const CLIENT_MAX: Duration = Duration::from_secs(300);

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
    /// `clients/NAME/client.py`.
    Python,
    /// As `Python`, beside another program that must be installed.
    PythonWith(&'static str),
    /// As `Python`, with the console's page in a browser that must be installed.
    Browser,
    /// `clients/NAME/client.js`.
    Node,
    /// The class `Client` of `clients/NAME`.
    Java,
    /// The program in `clients/NAME`.
    Go,
    /// This program.
    TokioPostgres,
    /// This program, against servers that it starts itself.
    Hostile,
    /// As `Hostile`.
    Kill,
    /// As `Hostile`.
    Fuzz,
}

const CLIENTS: &[Client] = &[
    client("psql", "psql, its commands for the catalog, at a terminal too", DrivenBy::PythonWith("psql")),
    client("psycopg", "psycopg 3", DrivenBy::Python),
    client("asyncpg", "asyncpg", DrivenBy::Python),
    client("sqlalchemy", "SQLAlchemy 2 over psycopg", DrivenBy::Python),
    client("pandas", "pandas over SQLAlchemy", DrivenBy::Python),
    client("pgjdbc", "PostgreSQL's JDBC driver", DrivenBy::Java),
    client("pgx", "pgx 5 and database/sql of Go", DrivenBy::Go),
    client("node-pg", "pg of Node.js, pg-cursor, pg-copy-streams", DrivenBy::Node),
    client("tokio-postgres", "tokio-postgres of Rust", DrivenBy::TokioPostgres),
    client("duckdb", "DuckDB's extension for PostgreSQL", DrivenBy::Python),
    client("console", "the console's page in a headless Chromium", DrivenBy::Browser),
    client("hostile", "what breaks the protocol, floods it, guesses passwords", DrivenBy::Hostile),
    client("fuzz", "random conversations, valid, hostile and damaged", DrivenBy::Fuzz),
    client("kill", "a server that is killed while 16 clients write", DrivenBy::Kill),
];

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
    /// Where its console is. `None` for a server that runs somewhere else.
    pub console: Option<SocketAddr>,
    /// Its kind.
    pub kind: Kind,
    /// The program of which `hostile`, `fuzz` and `kill` start servers. `None` for a server that runs somewhere else.
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
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(self.name);
        let installed = match self.driven_by {
            DrivenBy::PythonWith(other) => match needs(other) {
                Some(missing) => missing,
                None => around.packages.python(&folder)?,
            },
            DrivenBy::Browser if around.console.is_none() => {
                return Ok(Run::Skipped("only a server of its own tells where its console is".to_owned()));
            }
            DrivenBy::Browser => match ["chromium", "chromedriver"].iter().find_map(|program| needs(program)) {
                Some(missing) => missing,
                None => around.packages.python(&folder)?,
            },
            DrivenBy::Python => around.packages.python(&folder)?,
            DrivenBy::Node => around.packages.node(&folder)?,
            DrivenBy::Java => around.packages.jars(&folder)?,
            DrivenBy::Go => around.packages.go(&folder)?,
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
        match installed {
            Installed::At(path) => self.run_program(&folder, &path, around).map(Run::Checked),
            Installed::Missing(why) => Ok(Run::Skipped(why)),
        }
    }

    /// Runs the program in a client's folder with what was installed for it.
    fn run_program(&self, folder: &Path, installed: &Path, around: &Surroundings<'_>) -> Result<Report, TestError> {
        let output = TempDir::new()?;
        let mut build = None;
        let mut command = match self.driven_by {
            DrivenBy::Node => {
                let mut node = Command::new("node");
                node.env("NODE_PATH", installed).arg(folder.join("client.js"));
                node
            }
            DrivenBy::Java => {
                let class_path = format!("{}/*", installed.display());
                let mut compiler = Command::new("javac");
                compiler.args(["-cp", &class_path, "-d"]).arg(output.path()).args(sources(folder)?);
                build = Some(compiler);
                let mut java = Command::new("java");
                java.args(["-cp", &format!("{class_path}:{}", output.path().display()), "Client"]);
                java
            }
            DrivenBy::Go => {
                let mut compiler = Command::new("go");
                compiler.args(["build", "-o"]).arg(output.path().join("client")).arg(".").current_dir(folder);
                build = Some(compiler);
                Command::new(output.path().join("client"))
            }
            _ => {
                let mut python = Command::new(installed);
                python.env("PYTHONPATH", folder.with_file_name("python")).env("PYTHONDONTWRITEBYTECODE", "1");
                python.arg(folder.join("client.py"));
                python
            }
        };
        if let Some(build) = build {
            let ended = program::run(build, CLIENT_MAX, output.path())?;
            if !ended.is_well {
                return Ok(Report::of_output(&ended.output, false));
            }
        }
        if let Some(console) = around.console {
            command.env("SERVER_CONSOLE", format!("http://{console}/"));
        }
        command.env("SERVER_URL", around.target.url()).env("SERVER_KIND", around.kind.name());
        let ended = program::run(command, CLIENT_MAX, output.path())?;
        Ok(Report::of_output(&ended.output, ended.is_well))
    }
}

impl Surroundings<'_> {
    fn own_servers(&self, run: impl FnOnce(&Path) -> Result<Report, TestError>) -> Result<Run, TestError> {
        match self.saltwing {
            Some(binary) => run(binary).map(Run::Checked),
            None => Ok(Run::Skipped("it starts and kills servers of its own".to_owned())),
        }
    }
}

/// The sources of Java in a folder.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, TestError> {
    let failed = |source| TestError::File { path: folder.to_owned(), source };
    let entries = folder.read_dir().map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let mut sources: Vec<PathBuf> = entries.iter().map(|entry| entry.path()).collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "java"));
    Ok(sources)
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
            assert!(name == "python" || Client::named(&name).is_some(), "{name}");
        }
        assert_eq!(Client::named("none"), None);
    }
}
