//! The user's files of the shell: configuration and history.

use std::path::PathBuf;

/// A file of the user: at the path in a variable, or else in the user's directory for files of this purpose.
pub(super) struct UserFile {
    /// The variable with the path of the file; if the variable is empty, there is no file.
    variable: &'static str,
    /// The variable of the directory for such files.
    directory: &'static str,
    /// The directory for such files below the home directory, if that variable is not set.
    below_home: &'static str,
    /// The variable of the directory on Windows.
    on_windows: &'static str,
    name: &'static str,
}

/// Statements and commands that run at the start of an interactive shell.
pub(super) const CONFIG: UserFile = UserFile {
    variable: "SALTWING_CONFIG",
    directory: "XDG_CONFIG_HOME",
    below_home: ".config",
    on_windows: "APPDATA",
    name: "config",
};

/// The typed lines of earlier sessions.
pub(super) const HISTORY: UserFile = UserFile {
    variable: "SALTWING_HISTORY",
    directory: "XDG_STATE_HOME",
    below_home: ".local/state",
    on_windows: "LOCALAPPDATA",
    name: "history",
};

impl UserFile {
    /// The path, whether or not the file exists; `None` if the environment names no directory.
    pub(super) fn path(&self) -> Option<PathBuf> {
        self.path_by(|name| std::env::var_os(name).map(PathBuf::from))
    }

    fn path_by(&self, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
        if let Some(path) = variable(self.variable) {
            return (!path.as_os_str().is_empty()).then_some(path);
        }
        let set = |name| variable(name).filter(|path| path.is_absolute());
        let directory = set(self.directory)
            .or_else(|| Some(set("HOME")?.join(self.below_home)))
            .or_else(|| set(self.on_windows))?;
        Some(directory.join("saltwing").join(self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(file: &UserFile, set: &[(&str, &str)]) -> Option<PathBuf> {
        file.path_by(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| PathBuf::from(value)))
    }

    #[test]
    fn a_file_is_where_its_variable_says_or_where_such_files_are() {
        for (file, below_home) in
            [(CONFIG, "/h/.config/saltwing/config"), (HISTORY, "/h/.local/state/saltwing/history")]
        {
            assert_eq!(with(&file, &[("HOME", "/h")]), Some(below_home.into()));
            let in_directory = format!("/d/saltwing/{}", file.name);
            assert_eq!(with(&file, &[("HOME", "/h"), (file.directory, "/d")]), Some(in_directory.into()));
            assert_eq!(with(&file, &[("HOME", "/h"), (file.variable, "x")]), Some("x".into()));
            assert_eq!(with(&file, &[("HOME", "/h"), (file.variable, "")]), None);
            assert_eq!(with(&file, &[]), None);
        }
    }
}
