//! Measures the client on a real cluster: `speed HOST:PORT [ROWS] [SECONDS]`. `Speed.java` does the same with HBase's own client.
//!
//! It writes a table of 8 regions in batches, reads rows at random with several calls in flight, and scans regions side by side.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hbase_client::{
    CallContext, Client, Error, Family, Get, Put, Region, Registry, Scan, ScanCounts, Table, TableDescriptor,
};

type AnyError = Box<dyn std::error::Error + Send + Sync>;

const REGIONS: u64 = 8;
const COLUMNS: u8 = 5;
const VALUE_BYTES: usize = 30;

fn context() -> CallContext {
    CallContext::within(Duration::from_secs(600))
}

fn key(row: u64) -> String {
    format!("{row:08}")
}

fn put(row: u64) -> Result<Put, Error> {
    let mut put = Put::new(key(row))?;
    for column in 0..COLUMNS {
        let value = [b'a' + ((row + u64::from(column)) % 26) as u8; VALUE_BYTES];
        put = put.column(b"f", &[b'0' + column], &value)?;
    }
    Ok(put)
}

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    let mut arguments = std::env::args().skip(1);
    let server = arguments.next().ok_or("speed HOST:PORT [ROWS] [SECONDS]")?;
    let rows: u64 = arguments.next().map_or(Ok(200_000), |text| text.parse())?;
    let seconds: u64 = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let client = Client::new(Registry::servers([server.as_str()])?);
    let table = client.table_named("speed")?;

    for in_flight in [1, 4, 8] {
        create(&client, &table, rows).await?;
        let begun = Instant::now();
        let mut writer = table.buffered_writer().batch_rows(1_000).batches_in_flight(in_flight);
        for row in 0..rows {
            // Neighbours go to different regions, so that a batch is spread over the servers.
            let row = row % REGIONS * (rows / REGIONS) + row / REGIONS;
            writer.write(&context(), put(row)?).await;
        }
        let written = writer.flush(&context()).await;
        if written.rows != rows {
            return Err(format!("{} rows were written, {:?}", written.rows, written.failures.first()).into());
        }
        report(&format!("puts, {in_flight} batches in flight"), rows, begun);
    }
    for in_flight in [1, 8, 64] {
        let done = Arc::new(AtomicU64::new(0));
        let begun = Instant::now();
        let until = begun + Duration::from_secs(seconds);
        let readers: Vec<_> = (0..in_flight)
            .map(|number| tokio::spawn(read(table.clone(), rows, number, until, Arc::clone(&done))))
            .collect();
        for reader in readers {
            reader.await??;
        }
        report(&format!("gets, {in_flight} in flight"), done.load(Ordering::Relaxed), begun);
    }
    let regions = table.regions(&context()).await?;
    for side_by_side in [1, 2, 8] {
        let begun = Instant::now();
        let (mut sum, mut calls, mut ahead) = (0, 0, 0);
        for some in regions.chunks(side_by_side) {
            let scans: Vec<_> = some.iter().map(|region| tokio::spawn(scan(table.clone(), region.clone()))).collect();
            for scan in scans {
                let (rows, counts) = scan.await??;
                (sum, calls, ahead) = (sum + rows, calls + counts.calls, ahead + counts.ahead);
            }
        }
        if sum != rows {
            return Err(format!("{sum} rows were read").into());
        }
        report(&format!("scan, {side_by_side} regions side by side"), sum, begun);
        println!("{:<34} {calls:>9} calls, {ahead} of them while the caller worked", "");
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("memory is not known"));
    Ok(())
}

async fn create(client: &Client, table: &Table, rows: u64) -> Result<(), AnyError> {
    let admin = client.admin();
    if admin.descriptor(&context(), table.name()).await?.is_some() {
        admin.disable_table(&context(), table.name()).await?;
        admin.delete_table(&context(), table.name()).await?;
    }
    let split_keys = (1..REGIONS).map(|region| key(region * (rows / REGIONS)).into());
    admin.create_table(&context(), &TableDescriptor::new(table.name(), [Family::new("f")]), split_keys).await?;
    Ok(())
}

async fn read(table: Table, rows: u64, number: u64, until: Instant, done: Arc<AtomicU64>) -> Result<(), AnyError> {
    let mut random = fastrand::Rng::with_seed(number);
    let context = context();
    while Instant::now() < until {
        let row = table.get(&context, Get::new(key(random.u64(..rows)))).await?;
        if row.cells().len() != usize::from(COLUMNS) {
            return Err(format!("a row has {} cells", row.cells().len()).into());
        }
        done.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

async fn scan(table: Table, region: Region) -> Result<(u64, ScanCounts), AnyError> {
    let mut scanner = table.scan(Scan::range(&region.start()[..]..&region.end()[..]));
    let (context, mut rows) = (context(), 0);
    loop {
        let some = scanner.next_rows(&context).await?;
        if some.is_empty() {
            return Ok((rows, scanner.counts()));
        }
        rows += some.iter().filter(|row| row.value(b"f", b"4").is_some()).count() as u64;
    }
}

fn report(what: &str, rows: u64, begun: Instant) {
    println!("{what:<34} {:>9.0} rows/s", rows as f64 / begun.elapsed().as_secs_f64());
}
