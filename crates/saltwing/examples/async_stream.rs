//! Async calls: rows are streamed, and dropping a result stops its statement.
//!
//! `cargo run --release -p saltwing --example async_stream`

use saltwing::{Database, Error, Params, Value};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let db = Database::memory()?;
    let connection = db.connect();
    connection
        .execute("CREATE TABLE reading (sensor INTEGER NOT NULL, at BIGINT NOT NULL, value DOUBLE, CONSTRAINT pk PRIMARY KEY (sensor, at))", ())
        .await?;
    let upsert = connection.prepare("UPSERT INTO reading VALUES (:sensor, :at, :value)").await?;
    for at in 0..1000i64 {
        let value = (at as f64 / 100.0).sin();
        let params = Params::named([("sensor", Value::from(at % 4)), ("at", at.into()), ("value", value.into())]);
        upsert.execute(params).await?;
    }
    let mut rows = connection.query("SELECT at, value FROM reading WHERE sensor = 1 AND at >= 500", ()).await?;
    let mut peak = f64::MIN;
    while let Some(row) = rows.next().await? {
        peak = peak.max(row.get::<f64>("value")?);
    }
    println!("peak of sensor 1 from 500 on: {peak:.3}; keys read: {}", rows.stats().keys_read);
    Ok(())
}
