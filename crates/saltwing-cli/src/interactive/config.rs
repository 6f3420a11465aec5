//! The file with statements and commands that a shell at a terminal begins with.

use std::path::PathBuf;

/// Names the file; empty means none.
const VARIABLE: &str = "SALTWING_CONFIG";

/// The file, if it exists: `$SALTWING_CONFIG`, else `saltwing/config` where programs have their configuration.
pub(super) fn file() -> Option<PathBuf> {
    path(|name| std::env::var_os(name).map(PathBuf::from)).filter(|path| path.exists())
}

fn path(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    if let Some(path) = variable(VARIABLE) {
        return (!path.as_os_str().is_empty()).then_some(path);
    }
    let set = |name| variable(name).filter(|path| path.is_absolute());
    let folder = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config"))).or_else(|| set("APPDATA"))?;
    Some(folder.join("saltwing").join("config"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_where_it_was_said_or_where_configuration_is() {
        let with = |set: &[(&str, &str)]| {
            path(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| PathBuf::from(value)))
        };
        assert_eq!(with(&[("HOME", "/h")]), Some("/h/.config/saltwing/config".into()));
        assert_eq!(with(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c")]), Some("/c/saltwing/config".into()));
        assert_eq!(with(&[("HOME", "/h"), (VARIABLE, "x")]), Some("x".into()));
        assert_eq!(with(&[("HOME", "/h"), (VARIABLE, "")]), None);
        assert_eq!(with(&[]), None);
    }
}
