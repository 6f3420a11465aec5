//! Many connections in a short time, and the table that all attacks use.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use futures::future::try_join_all;

use crate::error::{ensure, equal};
use crate::{Target, TestError};

/// In this time.
const TIME_MAX: Duration = Duration::from_secs(60);
/// At once.
const CLIENTS: usize = 24;

/// Makes the table: rows from 0 on, whose size is their number.
pub async fn set_up(target: &Target) -> Result<(), TestError> {
    let client = target.connect().await?;
    client.batch_execute("DROP TABLE IF EXISTS hostile_row").await?;
    client.batch_execute("CREATE TABLE hostile_row (id BIGINT PRIMARY KEY, size INTEGER)").await?;
    let rows: Vec<String> = (0..300).map(|number| format!("({number}, {number})")).collect();
    Ok(client.batch_execute(&format!("INSERT INTO hostile_row VALUES {}", rows.join(", "))).await?)
}

/// Drops the table. No row of an attack is in it.
pub async fn tear_down(target: &Target) -> Result<(), TestError> {
    let client = target.connect().await?;
    let row = client.query_one("SELECT count(*), sum(size) FROM hostile_row WHERE id >= 0", &[]).await?;
    equal(&(row.try_get::<_, i64>(0)?, row.try_get::<_, i64>(1)?), &(300, 44_850))?;
    Ok(client.batch_execute("DROP TABLE hostile_row").await?)
}

/// Logs in, runs a statement and leaves, so many times in a minute.
pub async fn many_connections(target: &Target, connections: usize) -> Result<(), TestError> {
    let (began, next) = (Instant::now(), Arc::new(AtomicUsize::new(0)));
    let client = |_| {
        let (target, next) = (target.clone(), next.clone());
        tokio::spawn(async move {
            while next.fetch_add(1, SeqCst) < connections && began.elapsed() < TIME_MAX {
                let client = target.connect().await?;
                let row = client.query_one("SELECT size FROM hostile_row WHERE id = 9", &[]).await?;
                equal(&row.try_get::<_, i32>(0)?, &9)?;
            }
            Ok::<_, TestError>(())
        })
    };
    let ended = try_join_all((0..CLIENTS).map(client)).await;
    ended.map_err(|error| TestError::Found(error.to_string()))?.into_iter().collect::<Result<(), _>>()?;
    let (made, took) = (next.load(SeqCst).min(connections), began.elapsed());
    ensure(made == connections && took <= TIME_MAX, || format!("{made} connections in {took:?}"))
}
