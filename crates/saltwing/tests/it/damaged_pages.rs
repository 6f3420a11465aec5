//! A damaged page of redb's file costs the rows in it: in a running process, in a check and in a salvage.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use saltwing::blocking::Connection;
use saltwing::{Database, Loss};

use crate::readers::copy;
use crate::{code, texts};

const ROWS: i64 = 12_000;
const PAGE: u64 = 4096;
/// Bytes that are overwritten.
const OVERWRITTEN: usize = 40;
/// Rows of a block. A block of these tables is larger than a page, so that a page has rows of two at most.
const BLOCK_ROWS: u64 = 256;

/// A table of several hundred pages, a small one, and their counts.
fn make(path: &Path) {
    let database = Database::builder(path).open().unwrap();
    let connection = database.connect().blocking();
    for table in ["large", "small", "other"] {
        let sql =
            format!("CREATE TABLE {table} (k BIGINT NOT NULL PRIMARY KEY, n BIGINT, s VARCHAR) FULL_SCAN = 'allow'");
        connection.execute(&sql, ()).unwrap();
    }
    let mut rows = connection.appender("large").unwrap();
    for k in 0..ROWS {
        rows.append_row((k, k * 7 % 1000, text_of(k))).unwrap();
    }
    rows.close().unwrap();
    for table in ["small", "other"] {
        connection.execute(&format!("INSERT INTO {table} VALUES (1, 2, 'three'), (4, 5, 'six')"), ()).unwrap();
    }
    connection.execute("COMPACT large, small, other", ()).unwrap();
    database.close().unwrap();
}

/// 60 bytes that do not pack well.
fn text_of(k: i64) -> String {
    (0..4)
        .map(|part| {
            format!(
                "{:015}",
                (k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64).wrapping_mul(part + 3).unsigned_abs()
                    % 1_000_000_000_000_000
            )
        })
        .collect()
}

/// A copy of a database below `home`, with this name.
fn copied(database: &Path, home: &Path, name: usize) -> PathBuf {
    let path = home.join(name.to_string());
    copy(database, &path).unwrap();
    path
}

fn damage(database: &Path, at: u64, bytes: &[u8]) {
    let file = fs::File::options().write(true).open(database.join("data/pages")).unwrap();
    file.write_all_at(bytes, at).unwrap();
}

/// Offsets in the file of pages, at equal distances in the list of its used pages: one for each of `parts`.
fn places(database: &Path, parts: usize) -> Vec<u64> {
    let bytes = fs::read(database.join("data/pages")).unwrap();
    let is_used = |page: &u64| bytes[(page * PAGE) as usize..].iter().take(PAGE as usize).any(|byte| *byte != 0);
    let used: Vec<u64> = (0..bytes.len() as u64 / PAGE).filter(is_used).collect();
    (0..parts).map(|part| used[part * used.len() / parts] * PAGE + 1000).collect()
}

/// The rows of the large table that can be read by their keys; all are right.
fn readable(connection: &Connection) -> u64 {
    let sql = "SELECT k, n, s FROM large WHERE k BETWEEN ? AND ?";
    let mut found = 0;
    for first in (0..ROWS).step_by(50) {
        let rows = connection.query_as::<(i64, i64, String)>(sql, (first, first + 49));
        let Ok(rows) = rows.and_then(|rows| rows.collect::<Result<Vec<_>, _>>()) else { continue };
        assert_eq!(rows.len(), 50, "rows from {first} on are missing without an error");
        for (k, n, s) in rows {
            assert_eq!((n, s), (k * 7 % 1000, text_of(k)), "row {k}");
            found += 1;
        }
    }
    found
}

/// In every third copy zeros overwrite a whole page, in the others 40 bytes change.
#[test]
#[cfg_attr(debug_assertions, ignore = "for blocks of the standard size")]
fn damage_all_over_the_file_costs_the_rows_of_its_page() {
    let home = tempfile::tempdir().unwrap();
    let base = home.path().join("base");
    make(&base);
    let mut lossy = 0;
    for (number, at) in places(&base, 48).into_iter().enumerate() {
        let (path, saved) = (copied(&base, home.path(), number), home.path().join(format!("saved {number}")));
        match number % 3 {
            0 => damage(&path, at / PAGE * PAGE, &[0; PAGE as usize]),
            _ => damage(&path, at, &[0x5a; OVERWRITTEN]),
        }
        let check = Database::builder(&path).check().unwrap();
        let report = Database::builder(&saved).salvage(&path).unwrap();
        let rows = |name: &str| report.tables.iter().find(|table| table.name == name).map_or(0, |table| table.rows);
        assert_eq!((rows("small"), rows("other")), (2, 2), "{at}: {:?}", report.lost);
        let lost = ROWS as u64 - rows("large");
        assert!(lost <= 2 * BLOCK_ROWS, "{at}: {lost} rows: {:?}", report.lost);
        let told: u64 =
            report.lost.iter().map(|fault| if let Loss::Rows { count, .. } = fault.loss { count } else { 0 }).sum();
        assert_eq!(told, lost, "{at}: {:?}", report.lost);
        // One page, and the blocks in it.
        assert!(check.faults.len() <= 5, "{at}: {:?}", check.faults);
        assert_eq!((check.tables, check.rows), (3, ROWS as u64 + 4 - lost), "{at}");
        let texts: Vec<String> = check.faults.iter().map(ToString::to_string).collect();
        assert!(texts.iter().all(|text| text.contains("of data/pages does not have its checksum")), "{texts:?}");
        lossy += u64::from(lost > 0);
    }
    assert!(lossy >= 6, "{lossy}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "for blocks of the standard size")]
fn a_running_process_goes_on_with_what_is_not_damaged() {
    let home = tempfile::tempdir().unwrap();
    let base = home.path().join("base");
    make(&base);
    let mut lossy = 0;
    for (number, at) in places(&base, 24).into_iter().enumerate() {
        let path = copied(&base, home.path(), number);
        let database = Database::builder(&path).open().unwrap();
        let connection = database.connect().blocking();
        // Nothing of the large table is in memory; of the small ones there is in every other round.
        if number % 2 == 0 {
            texts(&connection, "SELECT * FROM small").unwrap();
        }
        damage(&path, at, &[0x5a; OVERWRITTEN]);
        let found = readable(&connection);
        assert!(found + 2 * BLOCK_ROWS + 100 >= ROWS as u64, "{at}: {found}");
        if found < ROWS as u64 {
            lossy += 1;
            assert_eq!(code(texts(&connection, "SELECT sum(n), max(s) FROM large")), "corrupt");
            let storage = texts(&connection, "SHOW STORAGE").unwrap();
            let has = |line: &&String| line.contains("of data/pages does not have its checksum");
            assert_eq!(storage.iter().filter(has).count(), 2, "the table and the total: {storage:?}");
            assert!(storage.iter().filter(has).any(|line| line.contains("|large|") && line.contains("block ")));
        }
        for table in ["small", "other"] {
            assert_eq!(texts(&connection, &format!("SELECT k, s FROM {table}")).unwrap(), ["1|three", "4|six"]);
            connection.execute(&format!("INSERT INTO {table} VALUES (7, 8, 'nine')"), ()).unwrap();
        }
        // New rows in the keys of the damaged block, too: a merge puts them above it.
        for k in (0..ROWS).step_by(20) {
            connection.execute("UPSERT INTO large VALUES (?, -1, 'new')", (k,)).unwrap();
        }
        connection.execute("COMPACT small, other", ()).unwrap();
        drop(connection);
        database.close().unwrap();
        let database = Database::builder(&path).open().unwrap();
        let connection = database.connect().blocking();
        assert_eq!(texts(&connection, "SELECT k FROM other").unwrap(), ["1", "4", "7"]);
        let news = (0..ROWS).step_by(20).filter(|k| {
            texts(&connection, &format!("SELECT s FROM large WHERE k = {k}")).is_ok_and(|rows| rows == ["new"])
        });
        assert_eq!(news.count() as i64, ROWS / 20);
    }
    assert!(lossy >= 3, "{lossy}");
}

/// A page and its checksum in zeros: what a device leaves that has lost the end of a file.
#[test]
fn zeros_over_the_end_of_the_file_are_told() {
    let home = tempfile::tempdir().unwrap();
    let (path, saved) = (home.path().join("db"), home.path().join("saved"));
    make(&path);
    let len = fs::metadata(path.join("data/pages")).unwrap().len();
    damage(&path, len / 2, &vec![0; (len - len / 2) as usize]);
    let report = Database::builder(&saved).salvage(&path);
    let lost = report.map_or(ROWS as u64, |report| {
        let rows = report.tables.iter().find(|table| table.name == "large").map_or(0, |table| table.rows);
        assert!(rows == ROWS as u64 || !report.lost.is_empty());
        ROWS as u64 - rows
    });
    let Ok(database) = Database::builder(&path).open() else { return };
    let found = readable(&database.connect().blocking());
    assert!(found <= ROWS as u64 - lost + BLOCK_ROWS, "{found}, {lost} lost");
}
