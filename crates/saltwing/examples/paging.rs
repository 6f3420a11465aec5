//! Pages with tokens: a page ends behind some row, and its token goes on there, whoever sends it and whenever.
//!
//! `cargo run --release -p saltwing --example paging`

use saltwing::{Database, Error, blocking::Connection};

const USER: i64 = 7;
const MESSAGES: i64 = 1000;

fn main() -> Result<(), Error> {
    let connection = inbox()?;
    // The newest messages first: against the order of the key, in a table whose rows are spread over four buckets.
    let newest =
        "SELECT sent, id, subject FROM message WHERE user_id = ? ORDER BY user_id DESC, sent DESC, id DESC LIMIT 20";

    let (mut token, mut seen) = (None, 0);
    loop {
        // A service would send the token to its client, and get it back with the next request.
        let page = connection.query_page::<(String, i64, String)>(newest, (USER,), token.as_deref())?;
        // However many pages came before, a page reads its own rows.
        assert_eq!(page.stats.keys_read, page.rows.len() as u64);
        for (_, id, subject) in &page.rows {
            seen += 1;
            assert_eq!((*id, subject.as_str()), (MESSAGES - seen, format!("message {id}").as_str()));
        }
        token = page.next;
        if token.is_none() {
            break;
        }
    }
    assert_eq!(seen, MESSAGES);

    // A token is of one query: with the values of another one it is refused.
    let first = connection.query_page::<(String, i64, String)>(newest, (USER,), None)?;
    let refused = connection.query_page::<(String, i64, String)>(newest, (USER + 1,), first.next.as_deref());
    println!("{seen} messages; of another user: {}", refused.err().map(|error| error.to_string()).unwrap_or_default());

    // In SQL, `AFTER` takes the token, and NULL for the first page.
    let page = connection.prepare(&format!("{newest} AFTER ?"))?;
    let mut rows = page.query((USER, first.next))?;
    assert_eq!(rows.by_ref().count(), 20);
    assert!(rows.next_page().is_some());
    Ok(())
}

/// Messages of some users.
fn inbox() -> Result<Connection, Error> {
    let connection = Database::memory()?.connect().blocking();
    connection.execute(
        "CREATE TABLE message (user_id BIGINT NOT NULL, sent DATE NOT NULL, id BIGINT NOT NULL, subject VARCHAR,
         CONSTRAINT pk PRIMARY KEY (user_id, sent, id)) SALT_BUCKETS = 4",
        (),
    )?;
    let mut appender = connection.appender("message")?;
    for user in [USER, USER + 1] {
        for id in 0..MESSAGES {
            let sent = format!("2024-05-{:02}", 1 + id / 40);
            appender.append_row((user, sent, id, format!("message {id}")))?;
        }
    }
    appender.close()?;
    Ok(connection)
}
