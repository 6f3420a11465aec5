//! Which files COPY may use, and that waiting for one can be stopped.
#![cfg(unix)]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use saltwing::blocking::Connection;
use saltwing::{Builder, Database, Error, FileAccess};

use crate::{code, texts};

struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap() };
        fs::write(home.path("rows.csv"), "7,seven\n").unwrap();
        fs::write(home.path("victim.txt"), "precious\n").unwrap();
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn builder(&self) -> Builder {
        Database::builder(self.path("db"))
    }

    fn fifo(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }
}

fn filled(builder: Builder) -> Connection {
    let connection = builder.open().unwrap().connect().blocking();
    connection.execute("CREATE TABLE IF NOT EXISTS t (k BIGINT NOT NULL PRIMARY KEY, v VARCHAR)", ()).unwrap();
    connection.execute("UPSERT INTO t VALUES (1, 'one')", ()).unwrap();
    connection
}

fn copy_from(connection: &Connection, path: &Path, options: &str) -> Result<u64, Error> {
    Ok(connection.execute(&format!("COPY t FROM '{}' {options}", path.display()), ())?.rows_affected)
}

fn copy_to(connection: &Connection, path: &Path, options: &str) -> Result<u64, Error> {
    Ok(connection.execute(&format!("COPY (SELECT 'x') TO '{}' {options}", path.display()), ())?.rows_affected)
}

fn first_file(directory: &Path) -> PathBuf {
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.is_file()).max().unwrap()
}

#[test]
fn the_database_s_own_files_are_never_reached() {
    let home = Home::new();
    let connection = filled(home.builder());
    let (db, file) = (home.path("db"), first_file(&home.path("db/data")));
    symlink(&file, home.path("link")).unwrap();
    symlink(&db, home.path("directory")).unwrap();
    fs::hard_link(&file, home.path("hard")).unwrap();
    fs::create_dir(home.path("sub")).unwrap();
    let name = file.file_name().unwrap();
    let proc = |path: &Path| PathBuf::from(format!("/proc/self/root{}", path.display()));
    let existing = [
        file.clone(),
        home.path("link"),
        home.path("hard"),
        home.path("directory/data").join(name),
        home.path("sub/../db/data").join(name),
        home.path("db/SALTWING"),
        proc(&file),
    ];
    for path in &existing {
        for options in ["", "WITH (OVERWRITE, SPECIAL)"] {
            assert_eq!(code(copy_to(&connection, path, options)), "file_access_refused", "{}", path.display());
        }
        assert_eq!(code(copy_from(&connection, path, "")), "file_access_refused", "{}", path.display());
    }
    for path in [home.path("db/new.csv"), home.path("directory/data/new.csv"), proc(&home.path("db/new.csv"))] {
        assert_eq!(code(copy_to(&connection, &path, "")), "file_access_refused", "{}", path.display());
    }
    drop(connection);
    let connection = home.builder().create(false).open().unwrap().connect().blocking();
    assert_eq!(texts(&connection, "SELECT k, v FROM t WHERE k = 1").unwrap(), ["1|one"]);
}

#[test]
fn a_file_that_exists_is_replaced_if_the_statement_says_so() {
    let home = Home::new();
    let connection = filled(home.builder());
    let victim = home.path("victim.txt");
    symlink(&victim, home.path("link")).unwrap();
    symlink(home.path("nothing"), home.path("dangling")).unwrap();
    for path in [&victim, &home.path("link")] {
        for options in ["", "WITH (OVERWRITE false)"] {
            assert_eq!(code(copy_to(&connection, path, options)), "file_access_refused");
        }
    }
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious\n");
    assert_eq!(code(copy_to(&connection, &home.path("dangling"), "WITH (OVERWRITE)")), "io");
    assert_eq!(copy_to(&connection, &victim, "WITH (OVERWRITE)").unwrap(), 1);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "x\n");
    assert_eq!(code(copy_from(&connection, &victim, "WITH (OVERWRITE)")), "syntax");
    // A new file needs nothing, and a statement that fails leaves none behind.
    assert_eq!(copy_to(&connection, &home.path("new.csv"), "").unwrap(), 1);
    let failing = format!("COPY (SELECT k / (k - 1) FROM t WHERE k > 0) TO '{}'", home.path("half.csv").display());
    assert_eq!(code(connection.execute(&failing, ())), "division_by_zero");
    assert!(!home.path("half.csv").exists());
    assert_eq!(code(copy_to(&connection, &home.path("none/x.csv"), "")), "io");
    assert_eq!(code(copy_to(&connection, &home.path(""), "")), "io");
    assert_eq!(code(copy_from(&connection, &home.path("none.csv"), "")), "io");
}

#[test]
fn access_to_files_can_be_taken_away_or_confined() {
    let home = Home::new();
    let connection = filled(home.builder().file_access(FileAccess::None));
    assert_eq!(code(copy_from(&connection, &home.path("rows.csv"), "")), "file_access_refused");
    assert_eq!(code(copy_to(&connection, &home.path("new.csv"), "")), "file_access_refused");
    let backup = |connection: &Connection, name: &str| {
        connection.execute(&format!("BACKUP TO '{}'", home.path(name).display()), ()).map(|_| 1)
    };
    assert_eq!(code(backup(&connection, "backup")), "file_access_refused");
    drop(connection);

    fs::create_dir(home.path("files")).unwrap();
    fs::write(home.path("files/rows.csv"), "8,eight\n").unwrap();
    symlink(home.path("rows.csv"), home.path("files/out.csv")).unwrap();
    symlink(home.path("files/rows.csv"), home.path("in.csv")).unwrap();
    let connection = filled(home.builder().file_access(FileAccess::Below(home.path("files"))));
    for inside in ["files/rows.csv", "in.csv", "files/../files/rows.csv"] {
        assert_eq!(copy_from(&connection, &home.path(inside), "").unwrap(), 1, "{inside}");
    }
    for outside in ["rows.csv", "files/out.csv", "files/../rows.csv"] {
        assert_eq!(code(copy_from(&connection, &home.path(outside), "")), "file_access_refused", "{outside}");
        let written = copy_to(&connection, &home.path(outside), "WITH (OVERWRITE)");
        assert_eq!(code(written), "file_access_refused", "{outside}");
    }
    assert_eq!(code(copy_to(&connection, &home.path("files/../new.csv"), "")), "file_access_refused");
    assert_eq!(copy_to(&connection, &home.path("files/new.csv"), "").unwrap(), 1);
    assert_eq!(code(backup(&connection, "backup")), "file_access_refused");
    assert_eq!(backup(&connection, "files/backup").unwrap(), 1);
}

#[test]
fn a_database_that_is_open_for_reading_only_writes_no_files() {
    let home = Home::new();
    drop(filled(home.builder()));
    let connection = home.builder().readonly(true).open().unwrap().connect().blocking();
    assert_eq!(code(copy_to(&connection, &home.path("new.csv"), "")), "read_only");
    assert!(!home.path("new.csv").exists());
}

#[test]
fn pipes_and_devices_are_used_if_the_statement_says_so() {
    let home = Home::new();
    let connection = filled(home.builder());
    let fifo = home.fifo("fifo");
    assert_eq!(code(copy_from(&connection, &fifo, "")), "file_access_refused");
    assert_eq!(code(copy_to(&connection, &fifo, "WITH (OVERWRITE)")), "file_access_refused");
    assert_eq!(code(copy_to(&connection, Path::new("/dev/null"), "")), "file_access_refused");
    assert_eq!(copy_to(&connection, Path::new("/dev/null"), "WITH (SPECIAL)").unwrap(), 1);

    let writer = std::thread::spawn({
        let fifo = fifo.clone();
        move || {
            let mut pipe = fs::OpenOptions::new().write(true).open(fifo).unwrap();
            for row in 100..20_100 {
                writeln!(pipe, "{row},{}", "x".repeat(20)).unwrap();
            }
        }
    });
    assert_eq!(copy_from(&connection, &fifo, "WITH (SPECIAL)").unwrap(), 20_000);
    writer.join().unwrap();
    let reader = std::thread::spawn({
        let fifo = fifo.clone();
        move || {
            let mut text = String::new();
            fs::File::open(fifo).unwrap().read_to_string(&mut text).unwrap();
            text.lines().count()
        }
    });
    let all = format!("COPY t TO '{}' WITH (SPECIAL)", fifo.display());
    assert_eq!(connection.execute(&all, ()).unwrap().rows_affected, 20_001);
    assert_eq!(reader.join().unwrap(), 20_001);
}

#[test]
fn waiting_for_a_pipe_can_be_stopped() {
    let home = Home::new();
    let connection = filled(home.builder());
    let fifo = home.fifo("fifo");
    connection.execute("SET statement_timeout = '100ms'", ()).unwrap();
    assert_eq!(code(copy_from(&connection, &fifo, "WITH (SPECIAL)")), "timeout");
    assert_eq!(code(copy_from(&connection, &fifo, "WITH (SPECIAL, HEADER)")), "timeout");
    assert_eq!(code(copy_to(&connection, &fifo, "WITH (SPECIAL)")), "timeout");
    // Somebody has opened it, and sends or takes nothing more.
    let partner = fs::OpenOptions::new().read(true).write(true).open(&fifo).unwrap();
    assert_eq!(code(copy_from(&connection, &fifo, "WITH (SPECIAL)")), "timeout");
    let many = format!(
        "COPY (SELECT value, repeat('x', 1000) FROM generate_series(1, 1000)) TO '{}' WITH (SPECIAL)",
        fifo.display()
    );
    #[cfg(feature = "datafusion")]
    assert_eq!(code(connection.execute(&many, ())), "timeout");
    drop((partner, many));
}

/// The file that the dropped future was waiting for is a pipe: with a partner it would go on.
#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_future_waits_for_no_pipe() {
    let home = Home::new();
    let database = home.builder().open().unwrap();
    let connection = database.connect();
    connection.execute("CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, v VARCHAR)", ()).await.unwrap();
    let fifo = home.fifo("fifo");
    let copy = format!("COPY t FROM '{}' WITH (SPECIAL)", fifo.display());
    for wait in [Duration::ZERO, Duration::from_millis(50)] {
        assert!(tokio::time::timeout(wait, connection.execute(&copy, ())).await.is_err());
    }
    // The statements hold the database open until they have stopped.
    drop((connection, database));
    let reopened = (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        home.builder().open().is_ok()
    });
    assert!(reopened);
}
