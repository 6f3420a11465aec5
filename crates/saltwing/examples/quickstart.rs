//! A table in a directory, blocking calls.
//!
//! `cargo run --release -p saltwing --example quickstart`

use saltwing::{Database, Error, params};

fn main() -> Result<(), Error> {
    let path = std::env::temp_dir().join(format!("saltwing-quickstart-{}", std::process::id()));
    let db = Database::open(&path)?;
    let connection = db.connect().blocking();
    connection.execute(
        "CREATE TABLE log (host VARCHAR NOT NULL, ts DATE NOT NULL, level VARCHAR, message VARCHAR,
         CONSTRAINT pk PRIMARY KEY (host, ts DESC)) SALT_BUCKETS = 4, SALT_BY = (host)",
        (),
    )?;
    let upsert = connection.prepare("UPSERT INTO log VALUES (?, ?, ?, ?)")?;
    for minute in 0..60 {
        let at = format!("2024-05-01 10:{minute:02}:00");
        upsert.execute(params![
            "web-1",
            at,
            if minute % 20 == 0 { "ERROR" } else { "INFO" },
            format!("message {minute}")
        ])?;
    }

    println!("the latest three of web-1:");
    let latest = "SELECT ts, message FROM log WHERE host = ? ORDER BY host, ts DESC LIMIT 3";
    let mut rows = connection.query(latest, params!["web-1"])?;
    for row in rows.by_ref() {
        let row = row?;
        println!("  {}  {}", row.get::<String>("ts")?, row.get::<String>("message")?);
    }
    println!("keys read: {}", rows.stats().keys_read);

    let refused = "SELECT * FROM log WHERE level = 'ERROR'";
    if let Err(error) = connection.query(refused, ()) {
        println!("\n{}", error.render(refused));
    }
    drop((rows, upsert, connection));
    db.close()?;
    let _ = std::fs::remove_dir_all(path);
    Ok(())
}
