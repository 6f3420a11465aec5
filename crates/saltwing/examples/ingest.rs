//! Time series: several threads append points, each through an appender of its own, and a query reads one metric's hours.
//!
//! `cargo run --release -p saltwing --example ingest`

use saltwing::{Database, Error};

const HOSTS: i64 = 4;
const HOURS: i64 = 24;
/// One each ten seconds.
const POINTS_AN_HOUR: i64 = 360;

fn main() -> Result<(), Error> {
    let database = Database::memory()?;
    let connection = database.connect().blocking();
    // As in OpenTSDB: the points of an hour lie together, and eight buckets spread the writes of one moment.
    connection.execute(
        "CREATE TABLE point (metric VARCHAR NOT NULL, hour DATE NOT NULL, host VARCHAR NOT NULL, second SMALLINT NOT NULL,
         value DOUBLE, CONSTRAINT pk PRIMARY KEY (metric, hour, host, second)) SALT_BUCKETS = 8",
        (),
    )?;

    let written = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..HOSTS)
            .map(|host| {
                scope.spawn({
                    let database = &database;
                    move || ingest(database, host)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or(Ok(0))).sum::<Result<u64, Error>>()
    })?;
    assert_eq!(written as i64, 2 * HOSTS * HOURS * POINTS_AN_HOUR);

    // One metric, two hours: a range in each bucket, and nothing else is read.
    let mut rows = connection.query(
        "SELECT host, count(*), avg(value) FROM point
         WHERE metric = 'load' AND hour >= '2024-05-01 06:00:00' AND hour < '2024-05-01 08:00:00' GROUP BY host ORDER BY host",
        (),
    )?;
    let mut hosts = 0;
    for row in rows.by_ref() {
        let (host, points, mean): (String, i64, f64) = row?.to()?;
        println!("{host}: {points} points, mean {mean:.3}");
        assert_eq!((host, points), (format!("web-{hosts}"), 2 * POINTS_AN_HOUR));
        hosts += 1;
    }
    assert_eq!((hosts, rows.stats().keys_read as i64), (HOSTS, HOSTS * 2 * POINTS_AN_HOUR));
    println!("{written} points written; {} keys read in {} buckets", rows.stats().keys_read, rows.stats().buckets);
    Ok(())
}

/// Appends a day's points of a host; how many.
fn ingest(database: &Database, host: i64) -> Result<u64, Error> {
    let mut appender = database.connect().blocking().appender("point")?;
    let name = format!("web-{host}");
    for second in (0..HOURS * 3600).step_by((3600 / POINTS_AN_HOUR) as usize) {
        let hour = format!("2024-05-01 {:02}:00:00", second / 3600);
        let load = (second as f64 / 3600.0 + host as f64).sin().abs();
        appender.append_row(("load", hour.as_str(), name.as_str(), second % 3600, load))?;
        appender.append_row(("temperature", hour.as_str(), name.as_str(), second % 3600, 40.0 + 10.0 * load))?;
    }
    // Rows are durable as parts are written; all of them are when this returns.
    appender.close()
}
