//! A client's program, with a limit on its time.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::TestError;

/// How often it is looked whether a program has ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The output of a program, and whether it ended in time by exit code 0.
pub struct Ended {
    /// Of both streams, as they came.
    pub output: String,
    /// Exit code 0, and in time.
    pub is_well: bool,
}

/// Runs a program to its end. After the longest time it is killed with the programs that it started.
///
/// # Errors
/// The program is not there; a file of its output.
pub fn run(mut command: Command, time_max: Duration, folder: &Path) -> Result<Ended, TestError> {
    let path = folder.join("output");
    let file = File::create(&path).map_err(|source| TestError::File { path: path.clone(), source })?;
    let errors = file.try_clone()?;
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |source| TestError::Program { program: program.clone(), source };
    command.stdin(Stdio::null()).stdout(file).stderr(errors).process_group(0);
    let mut child = command.spawn().map_err(failed)?;
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break Some(status);
        }
        if began.elapsed() > time_max {
            break None;
        }
        std::thread::sleep(LOOK_EVERY);
    };
    if status.is_none() {
        Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status().map_err(failed)?;
        child.wait().map_err(failed)?;
    }
    let bytes = fs::read(&path).map_err(|source| TestError::File { path, source })?;
    let mut output = String::from_utf8_lossy(&bytes).into_owned();
    if status.is_none() {
        output.push_str(&format!("\nkilled after {time_max:?}\n"));
    }
    Ok(Ended { output, is_well: status.is_some_and(|status| status.success()) })
}

/// Whether a program of this name can be run.
pub fn is_installed(name: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use super::{is_installed, run};

    fn shell(text: &str, time_max: Duration) -> (String, bool) {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        let ended = run(command, time_max, folder.path()).unwrap();
        (ended.output, ended.is_well)
    }

    #[test]
    fn output_and_end_are_known() {
        assert_eq!(shell("echo a; echo b >&2", Duration::from_secs(20)), ("a\nb\n".to_owned(), true));
        assert!(!shell("exit 3", Duration::from_secs(20)).1);
        let (output, is_well) = shell("echo a; sleep 100 & sleep 100", Duration::from_millis(300));
        assert!(!is_well && output.contains("a\n") && output.contains("killed"), "{output}");
    }

    #[test]
    fn programs_are_found_by_name() {
        assert!(is_installed("sh") && !is_installed("no-such-program-here"));
    }
}
