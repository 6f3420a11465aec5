//! Creates a table, writes, reads, scans and deletes it again: `first_steps HOST:PORT`, of a master or region server.

use std::time::Duration;

use hbase_client::{
    Action, CallContext, Client, Condition, Delete, Error, Family, Filter, Get, Increment, Put, Registry, RowRange,
    Scan, TableDescriptor,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = std::env::args().nth(1).ok_or("first_steps HOST:PORT | zk:HOST:PORT")?;
    let registry = match server.strip_prefix("zk:") {
        Some(server) => Registry::zookeeper([server])?,
        None => Registry::servers([server.as_str()])?,
    };
    let client = Client::new(registry);
    let admin = client.admin();
    let context = CallContext::within(Duration::from_secs(60));

    let table = client.table_named("first_steps")?;
    if admin.descriptor(&context, table.name()).await?.is_some() {
        if admin.is_enabled(&context, table.name()).await? {
            admin.disable_table(&context, table.name()).await?;
        }
        admin.delete_table(&context, table.name()).await?;
    }
    let descriptor = TableDescriptor::new(table.name(), [Family::new("f")]);
    admin.create_table(&context, &descriptor, ["h".into(), "p".into()]).await?;
    println!("regions: {:?}", table.regions(&context).await?);

    // Single rows.
    let put = Put::new("apple")?.column(b"f", b"colour", b"red")?;
    table.mutate(&context, put).await.into_result()?;
    let row = table.get(&context, Get::new("apple").column("f", "colour")).await?;
    println!("apple: {:?}", row.value(b"f", b"colour").map(<[u8]>::escape_ascii));
    println!("pear exists: {}", table.exists(&context, Get::new("pear")).await?);

    // A condition, and a counter.
    let put = Put::new("apple")?.column(b"f", b"colour", b"green")?;
    let condition = Condition::equals("f", "colour", "red");
    let outcome = table.check_and_mutate(&context, condition, vec![put.into()]).await;
    println!("red apples become green: {outcome:?}");
    let put = Put::new("apple")?.column(b"f", b"colour", b"blue")?;
    let outcome = table.check_and_mutate(&context, Condition::absent("f", "colour"), vec![put.into()]).await;
    println!("apples without a colour become blue: {outcome:?}");
    let sum = table.increment(&context, Increment::new("apple")?.column(b"f", b"count", 5)?).await.into_result()?;
    println!("count: {:?}", sum.value(b"f", b"count"));

    // Many rows.
    let mut actions = Vec::new();
    for number in 0..26 {
        let row = [b'a' + number, b'0'];
        actions.push(Action::from(Put::new(row.to_vec())?.column(b"f", b"n", &[number])?));
    }
    let done = table.multi(&context, actions).await.iter().filter(|outcome| outcome.is_done()).count();
    println!("rows written: {done}");
    let mut writer = table.buffered_writer().batch_rows(100);
    for number in 0..1_000_u32 {
        let row = format!("z{number:04}");
        writer.write(&context, Put::new(row)?.column(b"f", b"n", &number.to_be_bytes())?).await;
    }
    let written = writer.flush(&context).await;
    println!("rows written in batches: {}, failures: {}", written.rows, written.failures.len());

    // Scans.
    println!("all rows: {}", count(&table, &context, Scan::all()).await?);
    println!("all rows reversed: {}", count(&table, &context, Scan::all().reversed()).await?);
    println!("d to k: {}", count(&table, &context, Scan::range(&b"d"[..]..&b"k"[..])).await?);
    println!("the last three: {}", count(&table, &context, Scan::all().reversed().limit(3)).await?);
    let ranges = [RowRange::new(&b"b"[..]..&b"d"[..]), RowRange::new(&b"z0010"[..]..=&b"z0020"[..])];
    println!("two ranges: {}", count(&table, &context, Scan::all().filter(Filter::row_ranges(ranges))).await?);
    let keys = Filter::all([Filter::first_key_only(), Filter::key_only()]);
    println!(
        "keys with z: {}",
        count(&table, &context, Scan::all().filter(Filter::all([Filter::prefix("z"), keys]))).await?
    );

    table.mutate(&context, Delete::new("apple")?).await.into_result()?;
    println!("apple is empty: {}", table.get(&context, Get::new("apple")).await?.is_empty());
    admin.disable_table(&context, table.name()).await?;
    match table.get(&CallContext::within(Duration::from_secs(20)), Get::new("a0")).await {
        Err(error @ Error::TableNotEnabled { .. }) => println!("as expected: {error}"),
        other => println!("not as expected: {other:?}"),
    }
    admin.delete_table(&context, table.name()).await?;
    println!("tables: {:?}", admin.table_names(&context).await?.len());
    Ok(())
}

async fn count(table: &hbase_client::Table, context: &CallContext, scan: Scan) -> Result<String, Error> {
    let mut scanner = table.scan(scan);
    let mut rows = 0;
    while let Some(_row) = scanner.next_row(context).await? {
        rows += 1;
    }
    Ok(format!("{rows} ({:?})", scanner.counts()))
}
