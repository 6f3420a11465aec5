//! Tables that wide keys are made for: an inbox, and points of time series. Each prefix of the key is one range, and the last page
//! costs what the first one does.

use saltwing::blocking::Connection;
use saltwing::{Database, Stats, Value, params};

const DAYS: i64 = 26;
const MESSAGES: i64 = 50;
const ATTACHMENTS: i64 = 4;
const USERS: i64 = 3;
/// Rows of a user.
const ROWS: u64 = (DAYS * MESSAGES * ATTACHMENTS) as u64;

/// Table options; seeks of a range of one user, and of a row.
const SALTS: [(&str, u64); 3] = [("", 1), ("SALT_BUCKETS = 4", 4), ("SALT_BUCKETS = 4, SALT_BY = (user_id)", 1)];

fn day(day: i64) -> String {
    format!("2024-05-{:02}", day + 1)
}

/// Each user has as many messages a day, and each of these as many attachments.
fn inbox(options: &str) -> Connection {
    let connection = Database::memory().unwrap().connect().blocking();
    let table = format!(
        "CREATE TABLE inbox (user_id BIGINT NOT NULL, sent DATE NOT NULL, message_id BIGINT NOT NULL, \
         attachment_id INTEGER NOT NULL, bytes BIGINT, \
         CONSTRAINT pk PRIMARY KEY (user_id, sent, message_id, attachment_id)) {options}"
    );
    connection.execute(&table, ()).unwrap();
    let mut appender = connection.appender("inbox").unwrap();
    for user in 0..USERS {
        for number in 0..DAYS * MESSAGES * ATTACHMENTS {
            let (sent, message) = (day(number / (MESSAGES * ATTACHMENTS)), number / ATTACHMENTS);
            appender.append_row(params![user, sent, message, number % ATTACHMENTS, number]).unwrap();
        }
    }
    appender.close().unwrap();
    connection
}

/// The rows of a query, and what it has read for them.
fn read(connection: &Connection, sql: &str) -> (u64, Stats) {
    let mut rows = connection.query(sql, ()).unwrap();
    let mut count = 0;
    for row in rows.by_ref() {
        row.unwrap();
        count += 1;
    }
    (count, rows.stats())
}

#[test]
fn each_prefix_of_the_key_reads_its_own_rows() {
    for (options, seeks) in SALTS {
        let connection = inbox(options);
        let per_day = (MESSAGES * ATTACHMENTS) as u64;
        let depths = [
            ("user_id = 1", ROWS, seeks),
            ("user_id = 1 AND sent = '2024-05-03'", per_day, seeks),
            ("user_id = 1 AND sent = '2024-05-03' AND message_id = 120", ATTACHMENTS as u64, seeks),
            ("user_id = 1 AND sent = '2024-05-03' AND message_id = 120 AND attachment_id = 2", 1, 1),
            ("user_id = 1 AND sent >= '2024-05-03' AND sent < '2024-05-05'", 2 * per_day, seeks),
        ];
        for (condition, rows, seeks) in depths {
            let found = read(&connection, &format!("SELECT * FROM inbox WHERE {condition}"));
            let buckets = seeks as u32;
            assert_eq!(found, (rows, Stats { keys_read: rows, seeks, buckets }), "{options}: {condition}");
        }
        let missing = read(&connection, "SELECT * FROM inbox WHERE user_id = 1 AND sent = '2024-07-01'");
        assert_eq!(missing, (0, Stats { keys_read: 0, seeks, buckets: seeks as u32 }), "{options}");
    }
}

#[test]
fn the_thousandth_page_costs_what_the_first_one_does() {
    const PAGE: u64 = 5;
    for (options, seeks) in SALTS {
        let connection = inbox(options);
        let order = "ORDER BY user_id, sent, message_id, attachment_id LIMIT 5";
        let pages = connection
            .prepare(&format!(
                "SELECT sent, message_id, attachment_id, bytes FROM inbox \
                 WHERE user_id = ? AND (sent, message_id, attachment_id) > (?, ?, ?) {order}"
            ))
            .unwrap();
        let mut last: [Value; 3] = ["2000-01-01".into(), 0.into(), 0.into()];
        let mut next = 0;
        let mut page_count = 0;
        loop {
            let [sent, message, attachment] = last.clone();
            let mut rows = pages.query(params![1, sent, message, attachment]).unwrap();
            let mut found = 0;
            for row in rows.by_ref() {
                let row = row.unwrap();
                assert_eq!(row.get::<u64>("bytes").unwrap(), next, "{options}");
                last = [0, 1, 2].map(|column: usize| row.get(column).unwrap());
                (next, found) = (next + 1, found + 1);
            }
            if found == 0 {
                break;
            }
            page_count += 1;
            let cost = rows.stats();
            assert_eq!((cost.keys_read, cost.seeks), (PAGE, seeks), "{options}: page {page_count}");
        }
        assert_eq!((page_count, next), (ROWS / PAGE, ROWS), "{options}");
    }
}

/// A million points of a metric would be as many rows; these are few, in the same key.
#[test]
fn one_metrics_range_is_one_seek_in_each_bucket() {
    const HOURS: i64 = 24;
    const HOSTS: i64 = 3;
    const POINTS: i64 = 12;
    for (options, buckets) in [("", 1), ("SALT_BUCKETS = 8", 8), ("SALT_BUCKETS = 8, SALT_BY = (metric)", 1)] {
        let connection = Database::memory().unwrap().connect().blocking();
        let table = format!(
            "CREATE TABLE point (metric VARCHAR NOT NULL, hour DATE NOT NULL, tags VARCHAR NOT NULL, second SMALLINT NOT NULL, \
             value DOUBLE, CONSTRAINT pk PRIMARY KEY (metric, hour, tags, second)) {options}"
        );
        connection.execute(&table, ()).unwrap();
        let mut appender = connection.appender("point").unwrap();
        for metric in ["cpu", "cpu.idle", "disk"] {
            for number in 0..HOURS * HOSTS * POINTS {
                let (hour, host) = (number / (HOSTS * POINTS), number / POINTS % HOSTS);
                let (hour, tags) = (format!("2024-05-01 {hour:02}:00:00"), format!("host=web{host}"));
                let row = params![metric, hour, tags, number % POINTS * 300, number as f64];
                appender.append_row(row).unwrap();
            }
        }
        appender.close().unwrap();
        let in_range = "metric = 'cpu' AND hour >= '2024-05-01 06:00:00' AND hour < '2024-05-01 12:00:00'";
        let rows = (6 * HOSTS * POINTS) as u64;
        let cost = Stats { keys_read: rows, seeks: u64::from(buckets), buckets };
        assert_eq!(read(&connection, &format!("SELECT * FROM point WHERE {in_range}")), (rows, cost), "{options}");
        // Tags that do not stand behind a gap of the key are a filter, or skips inside the same range.
        let one_host = format!("SELECT * FROM point WHERE {in_range} AND tags = 'host=web1'");
        assert_eq!(read(&connection, &one_host).0, rows / HOSTS as u64, "{options}");
        let sums = format!("SELECT sum(value), count(*) FROM point WHERE {in_range}");
        let (sum, count): (f64, u64) = connection.query_one(&sums, ()).unwrap();
        let expected: i64 = (6 * HOSTS * POINTS..12 * HOSTS * POINTS).sum();
        assert_eq!((sum, count), (expected as f64, rows), "{options}");
    }
}
