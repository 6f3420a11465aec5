//! Reading only: beside other readers, without a byte written, and with what a killed process has left in the journal.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use saltwing::{Builder, Database, Error, FileAccess, StoreKind};
use saltwing_store::conformance::Files;

use crate::{code, texts};

const KINDS: [StoreKind; 1] = [StoreKind::Redb];
const ROWS: &str = "SELECT k, v FROM t WHERE k >= 0";

fn reader(path: &Path) -> Builder {
    Database::builder(path).readonly(true)
}

fn opened(builder: Builder) -> Database {
    builder.open().unwrap()
}

fn refused(opened: Result<Database, Error>) -> String {
    let error = opened.err().unwrap();
    assert_eq!(error.code().as_str(), "locked");
    error.to_string()
}

/// A database as a killed process leaves it: of three rows one is in a block, one is recent, and one is nowhere but in the
/// journal of the store. The files are copied from under the process, which has written them.
fn killed(kind: StoreKind, home: &Path) -> std::path::PathBuf {
    let (live, path) = (home.join("live"), home.join("db"));
    // Nothing but the statements writes: files must not change while they are copied.
    let builder = || Database::builder(&live).store(kind).sweep_every(None).merge_when_idle(None);
    let open = || builder().delta_limits(u64::MAX / 4, u64::MAX / 4).open().unwrap();
    let execute = |database: &Database, sql: &str| database.connect().blocking().execute(sql, ()).map(drop).unwrap();
    let database = open();
    execute(&database, "CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, v VARCHAR)");
    execute(&database, "UPSERT INTO t VALUES (1, 'block')");
    execute(&database, "COMPACT t");
    execute(&database, "UPSERT INTO t VALUES (2, 'recent')");
    database.close().unwrap();
    let database = open();
    execute(&database, "UPSERT INTO t VALUES (3, 'journal')");
    // The store's own threads may make and take away files meanwhile: then the copy begins again.
    loop {
        let before = files(&live).unwrap_or_default();
        let copied = copy(&live, &path);
        if copied.is_ok() && files(&live).is_ok_and(|after| after == before) {
            return path;
        }
        fs::remove_dir_all(&path).unwrap();
    }
}

/// The files of a directory, with their sizes.
fn files(of: &Path) -> io::Result<BTreeMap<PathBuf, u64>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(of)? {
        let path = entry?.path();
        match path.is_dir() {
            true => found.extend(files(&path)?),
            false => drop(found.insert(path.clone(), path.metadata()?.len())),
        }
    }
    Ok(found)
}

/// Copies a directory with all that is in it.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target)?,
            false => drop(fs::copy(entry.path(), target)?),
        }
    }
    Ok(())
}

#[test]
fn readers_go_together_and_change_nothing() {
    for kind in KINDS {
        let home = tempfile::tempdir().unwrap();
        let path = killed(kind, home.path());
        let before = Files::of(&path);
        // The limit of recent rows is the reader's own: a writer would merge at its end.
        let first = opened(reader(&path).delta_limits(1, 1));
        let second = opened(reader(&path));
        for database in [&first, &second] {
            assert_eq!(texts(&database.connect().blocking(), ROWS).unwrap(), ["1|block", "2|recent", "3|journal"]);
        }
        assert!(Database::builder(&path).check().unwrap().is_sound());
        first.backup(home.path().join("backup")).unwrap();
        let saved = Database::builder(home.path().join("saved")).salvage(&path).unwrap();
        assert_eq!((saved.tables[0].rows, saved.lost.len()), (3, 0));
        let why = refused(Database::open(&path));
        assert!(why.contains("the database is open for reading"), "{why}");
        first.close().unwrap();
        refused(Database::open(&path));
        drop(second);
        before.assert_unchanged();

        let writer = Database::open(&path).unwrap();
        let why = refused(reader(&path).open());
        assert!(why.contains("the database is open for writing"), "{why}");
        assert_eq!(code(Database::builder(&path).check()), "locked");
        writer.close().unwrap();
        let backup = Database::memory_builder().restore(home.path().join("backup")).unwrap();
        assert_eq!(texts(&backup.connect().blocking(), ROWS).unwrap().len(), 3);
    }
}

#[test]
fn whatever_writes_is_refused() {
    for kind in KINDS {
        let home = tempfile::tempdir().unwrap();
        let path = killed(kind, home.path());
        let (file, other) = (home.path().join("t.csv"), home.path().join("other"));
        fs::write(&file, "7,x\n").unwrap();
        let (file, other) = (file.display(), other.display());
        let before = Files::of(&path);
        let database = opened(reader(&path).file_access(FileAccess::All));
        let connection = database.connect().blocking();
        let statements = [
            "UPSERT INTO t VALUES (1, 'x')",
            "INSERT INTO t VALUES (9, 'x')",
            "UPSERT INTO t SELECT k + 10, v FROM t WHERE k > 0",
            "DELETE FROM t WHERE k = 1",
            "TRUNCATE TABLE t",
            "DROP TABLE t",
            "ALTER TABLE t ADD w INTEGER",
            "CREATE TABLE u (k BIGINT NOT NULL PRIMARY KEY)",
            "CREATE SCHEMA s",
            "COMPACT t",
            &format!("COPY t FROM '{file}'"),
            &format!("COPY t TO '{other}'"),
            &format!("BACKUP TO '{other}'"),
        ];
        for sql in statements {
            let error = connection.execute(sql, ()).err().unwrap_or_else(|| panic!("{sql} was run"));
            assert_eq!((error.code().as_str(), error.code().sqlstate()), ("read_only", "25006"), "{sql}: {error}");
        }
        assert_eq!(texts(&connection, ROWS).unwrap().len(), 3);
        drop((connection, database));
        before.assert_unchanged();
        assert!(!home.path().join("other").exists());
    }
}

/// Damage in the journal that acknowledged rows come after.
#[test]
fn a_damaged_journal_is_refused_and_the_way_out_named() {
    let home = tempfile::tempdir().unwrap();
    let path = killed(StoreKind::Redb, home.path());
    let journal = path.join("data/journal");
    let mut bytes = fs::read(&journal).unwrap();
    let at = bytes.windows(7).rposition(|found| found == b"journal").unwrap();
    bytes[at] ^= 1;
    fs::write(&journal, bytes).unwrap();
    let before = Files::of(&path);
    let error = reader(&path).open().err().unwrap();
    assert_eq!(error.code().as_str(), "corrupt");
    let why = error.to_string();
    assert!(why.contains("journal") && why.contains("saltwing salvage"), "{why}");
    before.assert_unchanged();
}

/// What has no lock file is not read: nobody could tell whether it is being written.
#[test]
fn a_directory_without_its_lock_file_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let path = killed(StoreKind::Redb, home.path());
    fs::remove_file(path.join("LOCK")).unwrap();
    let before = Files::of(&path);
    let error = reader(&path).open().err().unwrap();
    assert!(error.to_string().contains("its file LOCK is missing"), "{error}");
    before.assert_unchanged();
}
