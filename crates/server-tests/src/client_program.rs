//! The program of a client in another language: how it is built and run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::packages::Installed;
use crate::{Packages, Report, TestError, program};

/// How long the program of a client may run.
const CLIENT_MAX: Duration = Duration::from_secs(300);

/// The language of a client's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `client.py`.
    Python,
    /// `client.js`.
    Node,
    /// The class `Client`.
    Java,
    /// The main package.
    Go,
}

impl Language {
    /// Installs the packages that the program in this folder names.
    ///
    /// # Errors
    /// Files of the cache.
    pub fn install(self, folder: &Path, packages: &Packages) -> Result<Installed, TestError> {
        match self {
            Self::Python => packages.python(folder),
            Self::Node => packages.node(folder),
            Self::Java => packages.jars(folder),
            Self::Go => packages.go(folder),
        }
    }
}

/// Builds and runs the program in a client's folder with what was installed for it and these variables of the environment.
///
/// # Errors
/// Files and processes of the tests.
pub fn run_client(
    language: Language,
    folder: &Path,
    installed: &Path,
    variables: &[(&'static str, String)],
) -> Result<Report, TestError> {
    let output = TempDir::new()?;
    let mut build = None;
    let mut command = match language {
        Language::Node => {
            let mut node = Command::new("node");
            node.env("NODE_PATH", installed).arg(folder.join("client.js"));
            node
        }
        Language::Java => {
            let class_path = format!("{}/*", installed.display());
            let mut compiler = Command::new("javac");
            compiler
                .args(["-cp", &class_path, "-d"])
                .arg(output.path())
                .args(sources(folder)?)
                .args(sources(&folder.with_file_name("java"))?);
            build = Some(compiler);
            let mut java = Command::new("java");
            java.args(["-cp", &format!("{class_path}:{}", output.path().display()), "Client"]);
            java
        }
        Language::Go => {
            let mut compiler = Command::new("go");
            compiler.args(["build", "-o"]).arg(output.path().join("client")).arg(".").current_dir(folder);
            build = Some(compiler);
            Command::new(output.path().join("client"))
        }
        Language::Python => {
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
    command.current_dir(folder).envs(variables.iter().map(|(name, value)| (*name, value)));
    let ended = program::run(command, CLIENT_MAX, output.path())?;
    Ok(Report::of_output(&ended.output, ended.is_well))
}

/// The sources of Java in a folder.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, TestError> {
    let failed = |source| TestError::File { path: folder.to_owned(), source };
    let entries = folder.read_dir().map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let mut sources: Vec<PathBuf> = entries.iter().map(|entry| entry.path()).collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "java"));
    Ok(sources)
}
