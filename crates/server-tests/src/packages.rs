//! The packages of the clients' programs: installed by the registries' own clients into a cache outside the repository.
//! The programs' folders name their versions.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::TestError;
use crate::program::{self, is_installed};

/// How long an installation may take.
const INSTALL_MAX: Duration = Duration::from_secs(600);

/// Where packages are.
pub struct Packages {
    cache: PathBuf,
}

/// What came of an installation.
pub enum Installed {
    /// The folder or program that it made.
    At(PathBuf),
    /// A runtime or a registry is not there: why the client cannot be run.
    Missing(String),
}

impl Packages {
    /// In `saltwing-server-tests` under `$XDG_CACHE_HOME`, else `~/.cache`, else the folder for temporary files.
    pub fn in_users_cache() -> Self {
        let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
        Self { cache: cache.unwrap_or_else(std::env::temp_dir).join("saltwing-server-tests") }
    }

    /// Python with the packages of `requirements.txt` in the folder of a client, if it has one.
    ///
    /// # Errors
    /// Files of the cache.
    pub fn python(&self, client: &Path) -> Result<Installed, TestError> {
        let requirements = client.join("requirements.txt");
        if !requirements.is_file() {
            return Ok(needs("python3").map_or_else(|| Installed::At("python3".into()), Installed::Missing));
        }
        let installed = self.install("python", &["python3"], &requirements, |folder| {
            let mut environment = Command::new("python3");
            environment.args(["-m", "venv"]).arg(folder.join("venv"));
            let mut packages = Command::new(folder.join("venv/bin/python"));
            packages.args(["-m", "pip", "install", "--quiet", "--no-deps", "--requirement"]).arg(&requirements);
            vec![environment, packages]
        })?;
        Ok(installed.map(|folder| folder.join("venv/bin/python")))
    }

    /// The folder `node_modules` of the packages of `package.json` in the folder of a client.
    ///
    /// # Errors
    /// Files of the cache.
    pub fn node(&self, client: &Path) -> Result<Installed, TestError> {
        let manifest = client.join("package.json");
        let installed = self.install("node", &["node", "npm"], &manifest, |folder| {
            let mut copy = Command::new("cp");
            copy.arg(&manifest).arg(folder);
            let mut packages = Command::new("npm");
            packages.args(["install", "--silent", "--no-package-lock", "--no-audit", "--no-fund"]).current_dir(folder);
            vec![copy, packages]
        })?;
        Ok(installed.map(|folder| folder.join("node_modules")))
    }

    /// The folder of the jars of `artifacts.txt` in the folder of a client, a line `group:name:version` each.
    ///
    /// # Errors
    /// Files of the cache.
    pub fn jars(&self, client: &Path) -> Result<Installed, TestError> {
        let artifacts = client.join("artifacts.txt");
        let text =
            fs::read_to_string(&artifacts).map_err(|source| TestError::File { path: artifacts.clone(), source })?;
        self.install("java", &["java", "javac", "mvn"], &artifacts, |folder| {
            let copy = |artifact: &str| {
                let mut maven = Command::new("mvn");
                maven.args(["--quiet", "--batch-mode", "dependency:copy", &format!("-Dartifact={artifact}")]);
                maven.arg(format!("-DoutputDirectory={}", folder.display())).current_dir(folder);
                maven
            };
            text.lines().map(copy).collect()
        })
    }

    /// The modules that `go.mod` in the folder of a client names are in Go's own cache; the folder is for the program.
    ///
    /// # Errors
    /// Files of the cache.
    pub fn go(&self, client: &Path) -> Result<Installed, TestError> {
        self.install("go", &["go"], &client.join("go.sum"), |_| {
            let mut download = Command::new("go");
            download.args(["mod", "download"]).current_dir(client);
            vec![download]
        })
    }

    /// Runs the commands that fill a new folder, unless it was filled before. Another file of requirements gets another folder.
    fn install(
        &self,
        runtime: &str,
        programs: &[&str],
        requirements: &Path,
        commands: impl FnOnce(&Path) -> Vec<Command>,
    ) -> Result<Installed, TestError> {
        if let Some(missing) = programs.iter().find_map(|program| needs(program)) {
            return Ok(Installed::Missing(missing));
        }
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| TestError::File { path, source }
        };
        let text = fs::read(requirements).map_err(at(requirements))?;
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let folder = self.cache.join(format!("{runtime}-{:016x}", hasher.finish()));
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        // Another run of these tests may install the same packages. The lock ends with the file.
        let lock = File::create(folder.join("lock")).map_err(at(&folder))?;
        lock.lock().map_err(at(&folder))?;
        let complete = folder.join("complete");
        if complete.is_file() {
            return Ok(Installed::At(folder));
        }
        for command in commands(&folder) {
            let ended = program::run(command, INSTALL_MAX, &folder)?;
            if !ended.is_well {
                let last = ended.output.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no output").to_owned();
                return Ok(Installed::Missing(format!("its packages cannot be installed: {last}")));
            }
        }
        fs::write(&complete, text).map_err(at(&complete))?;
        Ok(Installed::At(folder))
    }
}

impl Installed {
    fn map(self, change: impl FnOnce(PathBuf) -> PathBuf) -> Self {
        match self {
            Self::At(path) => Self::At(change(path)),
            missing => missing,
        }
    }
}

/// Why a program is missing, if it is.
pub fn needs(program: &str) -> Option<String> {
    (!is_installed(program)).then(|| format!("{program} is not installed"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::{Installed, Packages};

    fn shell(text: &str) -> Vec<Command> {
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        vec![command]
    }

    #[test]
    fn packages_are_installed_once_for_each_file_of_requirements() {
        let home = tempfile::tempdir().unwrap();
        let packages = Packages { cache: home.path().join("cache") };
        let (requirements, log) = (home.path().join("requirements.txt"), home.path().join("log"));
        let install = |text: &str, command: &str| {
            fs::write(&requirements, text).unwrap();
            packages
                .install("x", &["sh"], &requirements, |_| shell(&command.replace("LOG", log.to_str().unwrap())))
                .unwrap()
        };
        assert!(
            matches!(install("a", "echo one >> LOG; echo why; exit 1"), Installed::Missing(why) if why.ends_with(": why"))
        );
        let Installed::At(first) = install("a", "echo two >> LOG") else { panic!("it is missing") };
        assert!(matches!(install("a", "echo three >> LOG"), Installed::At(folder) if folder == first));
        assert!(matches!(install("b", "echo four >> LOG"), Installed::At(folder) if folder != first));
        assert_eq!(fs::read_to_string(&log).unwrap(), "one\ntwo\nfour\n");
    }

    #[test]
    fn a_runtime_that_is_not_there_is_named() {
        let packages = Packages { cache: "/nowhere".into() };
        let installed =
            packages.install("x", &["no-such-program-here"], "/nowhere/at all".as_ref(), |_| Vec::new()).unwrap();
        assert!(matches!(installed, Installed::Missing(why) if why == "no-such-program-here is not installed"));
    }
}
