//! The mobile log: a day of a phone is a range of its id, and nothing else is read.

use saltwing::{Database, params};

/// Rows that go in; the benches load two million.
const PHONES: u64 = 40;
const DAYS: u64 = 4;
const ROWS_A_DAY: u64 = 25;

#[test]
fn a_phones_day_reads_only_its_rows() {
    let db = Database::memory().unwrap();
    let connection = db.connect().blocking();
    connection.execute("CREATE TABLE log (id VARCHAR NOT NULL PRIMARY KEY, PHONE_NO VARCHAR, START_TIME DATE, UP_FLOW BIGINT) SALT_BUCKETS = 8, SALT_BY = (id)", ()).unwrap();
    let upsert =
        connection.prepare("UPSERT INTO log VALUES (SUBSTR(MD5(?1), 1, 3) || ?1 || ?2 || ?3, ?1, ?4, ?5)").unwrap();
    for phone in 0..PHONES {
        for row in 0..DAYS * ROWS_A_DAY {
            let (day, nth) = (22 + row / ROWS_A_DAY, row % ROWS_A_DAY);
            let (number, at) = ((18_601_134_200 + phone).to_string(), format!("201406{day:02}12{nth:02}00"));
            let time = format!("2014-06-{day:02} 12:{nth:02}:00");
            upsert.execute(params![number, at, format!("{row:016x}"), time, row as i64]).unwrap();
        }
    }
    let sql = "SELECT PHONE_NO, START_TIME FROM log WHERE id >= SUBSTR(MD5(?1), 1, 3) || ?1 || '20140624' AND id < SUBSTR(MD5(?1), 1, 3) || ?1 || '20140625'";
    let mut rows = connection.query(sql, params!["18601134210"]).unwrap();
    let mut count = 0;
    for row in rows.by_ref() {
        let row = row.unwrap();
        assert_eq!(row.get::<String>(0).unwrap(), "18601134210");
        assert!(row.get::<String>(1).unwrap().starts_with("2014-06-24"));
        count += 1;
    }
    assert_eq!((count, rows.stats().keys_read), (ROWS_A_DAY, ROWS_A_DAY));
}

/// The same log with a key that computes the hash: no statement makes it by hand.
#[test]
fn a_phones_day_needs_no_hash_of_its_own() {
    let connection = Database::memory().unwrap().connect().blocking();
    let sql = "CREATE TABLE log (PHONE_NO VARCHAR, START_TIME DATE, ID VARCHAR, UP_FLOW BIGINT, \
               CONSTRAINT pk PRIMARY KEY (SUBSTR(MD5(PHONE_NO), 1, 3), PHONE_NO, START_TIME, ID)) \
               SALT_BUCKETS = 8, SALT_BY = (PHONE_NO)";
    connection.execute(sql, ()).unwrap();
    let upsert = connection.prepare("UPSERT INTO log VALUES (?, ?, ?, ?)").unwrap();
    for phone in 0..PHONES {
        for row in 0..DAYS * ROWS_A_DAY {
            let (day, nth) = (22 + row / ROWS_A_DAY, row % ROWS_A_DAY);
            let time = format!("2014-06-{day:02} 12:{nth:02}:00");
            upsert
                .execute(params![(18_601_134_200 + phone).to_string(), time, format!("{row:016x}"), row as i64])
                .unwrap();
        }
    }
    let sql = "SELECT PHONE_NO, START_TIME FROM log WHERE PHONE_NO = ? AND START_TIME >= ? AND START_TIME < ?";
    let mut rows = connection.query(sql, params!["18601134210", "2014-06-24", "2014-06-25"]).unwrap();
    let times: Vec<String> = rows.by_ref().map(|row| row.unwrap().get("START_TIME").unwrap()).collect();
    assert!(times.is_sorted() && times.iter().all(|time| time.starts_with("2014-06-24")));
    assert_eq!((times.len() as u64, rows.stats().keys_read), (ROWS_A_DAY, ROWS_A_DAY));
    assert_eq!((rows.stats().seeks, rows.stats().buckets), (1, 1));
}
