//! Databases that earlier versions wrote: this version opens them and reads what they hold, or refuses them clearly.
//!
//! `tests/fixtures/README.md` says how a fixture is made, and when a new one is due.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use saltwing::Database;
use saltwing::blocking::Connection;
use saltwing_store::conformance::Files;

use crate::texts;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// The archive as a directory below `parent`.
fn unpacked(archive: &str, parent: &Path) -> PathBuf {
    let to = parent.join(archive.trim_end_matches(".zip"));
    zip::ZipArchive::new(File::open(folder().join(archive)).unwrap()).unwrap().extract(&to).unwrap();
    to
}

/// Each question, followed by the rows that answer it.
fn answers(connection: &Connection) -> String {
    let questions = fs::read_to_string(folder().join("questions.sql")).unwrap();
    connection.execute("SET full_scan = 'allow'", ()).unwrap();
    let answer = |sql: &str| match texts(connection, sql) {
        Ok(rows) => rows.join("\n"),
        Err(error) => format!("error {}: {error}", error.code().as_str()),
    };
    questions.lines().map(|sql| format!("{sql}\n{}\n\n", answer(sql))).collect()
}

/// Opens the database, compares its answers, writes to it, merges it, and compares again behind another opening.
fn holds(archive: &str) {
    let temporary = tempfile::tempdir().unwrap();
    let path = unpacked(archive, temporary.path());
    let expected = fs::read_to_string(folder().join("answers.txt")).unwrap();
    if !archive.contains("sled") {
        let before = Files::of(&path);
        let reader = Database::builder(&path).readonly(true).open().unwrap();
        assert_eq!(answers(&reader.connect().blocking()), expected, "{archive}, for reading only");
        reader.close().unwrap();
        before.assert_unchanged();
    }
    let database = Database::open(&path).unwrap();
    let connection = database.connect().blocking();
    assert_eq!(answers(&connection), expected, "{archive}");
    connection.execute("UPSERT INTO many VALUES (10000, 1, 'later')", ()).unwrap();
    connection.execute("CREATE TABLE later (k BIGINT NOT NULL PRIMARY KEY)", ()).unwrap();
    connection.execute("COMPACT many, log, later", ()).unwrap();
    connection.execute("DELETE FROM many WHERE k = 10000", ()).unwrap();
    connection.execute("DROP TABLE later", ()).unwrap();
    drop((connection, database));
    let database = Database::open(&path).unwrap();
    assert_eq!(answers(&database.connect().blocking()), expected, "{archive}, written to and opened again");
}

/// The store is gone: the error says how the database moves to another.
#[test]
fn version_0_1_on_fjall_is_refused_with_the_way_out() {
    for archive in ["0.1-fjall-closed.zip", "0.1-fjall-killed.zip"] {
        let folder = tempfile::tempdir().unwrap();
        let path = unpacked(archive, folder.path());
        let error = Database::open(&path).err().unwrap();
        assert_eq!(error.code().as_str(), "not_supported", "{archive}: {error}");
        assert!(error.help().is_some_and(|help| help.contains("saltwing restore")), "{archive}: {error}");
    }
}

#[test]
#[cfg(feature = "sled")]
fn version_0_1_on_sled_closed() {
    holds("0.1-sled-closed.zip");
}

#[test]
#[cfg(feature = "redb")]
fn version_0_1_on_redb_closed() {
    holds("0.1-redb-closed.zip");
}

/// Its process was killed: all rows are in the journal alone.
#[test]
#[cfg(feature = "redb")]
fn version_0_1_on_redb_killed() {
    holds("0.1-redb-killed.zip");
}

/// Its catalog holds definitions as records: format 5.
#[test]
#[cfg(feature = "redb")]
fn format_5_on_redb_closed() {
    holds("0.1-format5-redb-closed.zip");
}

/// Its process was killed: all rows are in the journal alone.
#[test]
#[cfg(feature = "redb")]
fn format_5_on_redb_killed() {
    holds("0.1-format5-redb-killed.zip");
}
