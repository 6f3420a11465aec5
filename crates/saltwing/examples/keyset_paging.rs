//! Pages by key: each page is one range that starts behind the last row of the page before.
//!
//! `cargo run --release -p saltwing --example keyset_paging`

use saltwing::{Database, Error, params};

fn main() -> Result<(), Error> {
    let connection = Database::memory()?.connect().blocking();
    connection.execute(
        "CREATE TABLE message (room VARCHAR NOT NULL, id BIGINT NOT NULL, text VARCHAR, CONSTRAINT pk PRIMARY KEY (room, id))",
        (),
    )?;
    let rows: Vec<String> = (1..=25).map(|id| format!("('rust', {id}, 'message {id}')")).collect();
    connection.execute(&format!("UPSERT INTO message VALUES {}", rows.join(", ")), ())?;

    let page =
        connection.prepare("SELECT id, text FROM message WHERE room = ? AND id > ? ORDER BY room, id LIMIT 10")?;
    let mut last = 0;
    loop {
        let mut rows = page.query(params!["rust", last])?;
        let ids = rows.by_ref().map(|row| row?.get::<i64>("id")).collect::<Result<Vec<_>, _>>()?;
        let Some(newest) = ids.last() else { return Ok(()) };
        println!("{} messages up to {newest}, {} keys read", ids.len(), rows.stats().keys_read);
        last = *newest;
    }
}
