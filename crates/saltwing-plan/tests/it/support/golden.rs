//! Files of cases, each with what comes of it.

use std::fs;
use std::path::Path;

/// Holds each file of a folder below `testdata`, folders apart, against what it would be now; `UPDATE_GOLDEN=1` writes them anew.
pub fn assert_files(folder: &str, rewritten: impl Fn(&Path, &str) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(folder);
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut files: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    files.sort();
    let mut wrong = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let now = rewritten(&path, &text);
        if now == text {
            continue;
        }
        if update {
            fs::write(&path, &now).unwrap();
            continue;
        }
        let differing = text.lines().zip(now.lines()).enumerate().find(|(_, (was, is))| was != is);
        wrong.push(format!("{} {differing:#?}", path.display()));
    }
    assert!(wrong.is_empty(), "UPDATE_GOLDEN=1 writes them anew:\n{}", wrong.join("\n"));
}
