//! The paths that match a pattern.
//!
//! The walk is our own, because a walk through a large tree must end when its statement is stopped. The crate `glob` matches single names.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use glob::Pattern;
use saltwing_access::ScanContext;
use saltwing_types::ErrorCode;

use crate::Error;

/// A part of a pattern, between slashes.
enum Part<'p> {
    /// This name.
    Name(&'p str),
    /// Names that match a pattern.
    Matching(Pattern),
    /// `**`: any number of directories.
    Directories,
}

/// The files whose paths match a pattern of `*`, `?`, `[..]` and `**`, in the order of their paths. Directories match no pattern, and `**`
/// follows no links.
///
/// # Errors
/// A pattern that is not valid; a directory that cannot be read; the statement was stopped.
pub(crate) fn matching(pattern: &str, context: &ScanContext) -> Result<BTreeSet<PathBuf>, Error> {
    let parts = parts_of(pattern)?;
    let begin = if pattern.starts_with('/') { PathBuf::from("/") } else { PathBuf::new() };
    let mut found = BTreeSet::new();
    let mut open = vec![(begin, 0)];
    while let Some((place, at)) = open.pop() {
        context.check()?;
        let is_last = at + 1 >= parts.len();
        let mut add = |path: PathBuf, is_directory: bool| match (is_last, is_directory) {
            (true, false) => drop(found.insert(path)),
            (false, true) => open.push((path, at + 1)),
            _ => {}
        };
        match parts.get(at) {
            None => {}
            Some(Part::Name(name)) => {
                let path = place.join(name);
                if let Ok(metadata) = fs::metadata(&path) {
                    add(path, metadata.is_dir());
                }
            }
            Some(Part::Matching(name)) => {
                for path in entries(&place)? {
                    context.check()?;
                    if path.file_name().is_some_and(|found| name.matches(&found.to_string_lossy())) {
                        let is_directory = path.is_dir();
                        add(path, is_directory);
                    }
                }
            }
            Some(Part::Directories) => {
                for path in entries(&place)? {
                    context.check()?;
                    match fs::symlink_metadata(&path) {
                        Ok(metadata) if metadata.is_dir() => open.push((path, at)),
                        Ok(_) if is_last && !path.is_dir() => drop(found.insert(path)),
                        _ => {}
                    }
                }
                if !is_last {
                    open.push((place, at + 1));
                }
            }
        }
    }
    Ok(found)
}

fn parts_of(pattern: &str) -> Result<Vec<Part<'_>>, Error> {
    let bad = |error: glob::PatternError| Error::new(ErrorCode::BadArgument, format!("{pattern}: {error}"));
    // The whole pattern is checked, too, because its error has the position of the fault.
    Pattern::new(pattern).map_err(bad)?;
    let part = |part| match part {
        "**" => Ok(Part::Directories),
        name if !name.contains(['*', '?', '[']) => Ok(Part::Name(name)),
        name => Pattern::new(name).map(Part::Matching).map_err(bad),
    };
    pattern.split('/').filter(|part| !part.is_empty()).map(part).collect()
}

/// The entries of a directory; empty if the directory does not exist or is not a directory.
fn entries(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let read = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let names = fs::read_dir(read).and_then(|entries| {
        entries.map(|entry| Ok(directory.join(entry?.file_name()))).collect::<io::Result<Vec<_>>>()
    });
    match names {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(Vec::new()),
        names => {
            names.map_err(|error| Error::new(ErrorCode::Io, format!("{} cannot be read: {error}", read.display())))
        }
    }
}

#[cfg(test)]
mod tests {
    use saltwing_access::Budget;

    use super::*;

    fn found(folder: &Path, pattern: &str) -> Vec<String> {
        let context = ScanContext::new(Budget::default());
        let paths = matching(&format!("{}/{pattern}", folder.display()), &context).unwrap();
        paths.iter().map(|path| path.strip_prefix(folder).unwrap().display().to_string()).collect()
    }

    #[test]
    fn patterns_match_as_in_a_shell() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["a/1.csv", "a/2.csv", "a/b/3.csv", "a/b/c/4.csv", "a/b.csv/5.csv", "x-y/1.csv", "x/[1].csv"] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        for (pattern, files) in [
            ("a/*.csv", vec!["a/1.csv", "a/2.csv"]),
            ("*/1.csv", vec!["a/1.csv", "x-y/1.csv"]),
            ("a/**/*.csv", vec!["a/1.csv", "a/2.csv", "a/b/3.csv", "a/b/c/4.csv", "a/b.csv/5.csv"]),
            ("**/c/*", vec!["a/b/c/4.csv"]),
            ("a/b/**", vec!["a/b/3.csv", "a/b/c/4.csv"]),
            ("a/[2-9].csv", vec!["a/2.csv"]),
            ("a/?/3.csv", vec!["a/b/3.csv"]),
            ("x/[[]1].csv", vec!["x/[1].csv"]),
            ("none/*.csv", vec![]),
            ("a/1.csv/*", vec![]),
            ("a//b/../*.csv", vec!["a/b/../1.csv", "a/b/../2.csv"]),
        ] {
            assert_eq!(found(folder.path(), pattern), files, "{pattern}");
        }
        let context = ScanContext::new(Budget::default());
        assert_eq!(matching("a**", &context).unwrap_err().code(), ErrorCode::BadArgument);
        context.cancel();
        assert!(matching("/**", &context).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_parent_is_no_endless_tree() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("1.csv"), "").unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).unwrap();
        assert_eq!(found(folder.path(), "**/*.csv"), ["1.csv"]);
        assert_eq!(found(folder.path(), "again/*.csv"), ["again/1.csv"]);
    }
}
