//! CSV to Parquet, by way of a table: what a query keeps of a file, in another format.
//!
//! `cargo run --release -p saltwing --example csv_to_parquet`

use std::fmt::Write;
use std::fs;
use std::path::Path;

use saltwing::{Database, Error};

const FLIGHTS: usize = 5000;
const CARRIERS: [&str; 4] = ["AA", "DL", "UA", "WN"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::temp_dir().join(format!("saltwing-csv-to-parquet-{}", std::process::id()));
    fs::create_dir_all(&directory)?;
    let done = convert(&directory);
    fs::remove_dir_all(&directory)?;
    done
}

fn convert(directory: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let csv = directory.join("flights.csv");
    fs::write(&csv, flights())?;
    let connection = Database::memory()?.connect().blocking();
    connection.execute(
        "CREATE TABLE flight (carrier VARCHAR NOT NULL, number INTEGER NOT NULL, day DATE, delay INTEGER,
         CONSTRAINT pk PRIMARY KEY (carrier, number))",
        (),
    )?;

    // Both directions are streams: neither file needs to fit into memory.
    let loaded = connection.execute(&format!("COPY flight FROM '{}' WITH (HEADER, NULL 'NA')", csv.display()), ())?;
    assert_eq!(loaded.rows_affected, FLIGHTS as u64);

    // The file's name says the format, an option the compression.
    let parquet = directory.join("late.parquet");
    let late = "SELECT carrier, number, day, delay FROM flight WHERE carrier IN ('AA', 'UA') AND delay > 30";
    let written = connection.execute(&format!("COPY ({late}) TO '{}' (COMPRESSION zstd)", parquet.display()), ())?;
    assert_eq!(written.rows_affected as usize, expected());
    println!(
        "{} flights in {} bytes of CSV; {} late ones in {} bytes of Parquet",
        loaded.rows_affected,
        fs::metadata(&csv)?.len(),
        written.rows_affected,
        fs::metadata(&parquet)?.len(),
    );

    // The other way round: what was written is read as it was.
    check(&parquet)?;
    Ok(())
}

/// Each flight as a line; some delays are not known.
fn flights() -> String {
    let mut text = "carrier,number,day,delay\n".to_owned();
    for number in 0..FLIGHTS {
        let (carrier, day) = (CARRIERS[number % CARRIERS.len()], 1 + number % 28);
        let delay = if number % 10 == 0 { "NA".to_owned() } else { (number % 60).to_string() };
        // Writing to a String does not fail.
        let _ = writeln!(text, "{carrier},{number},2024-02-{day:02},{delay}");
    }
    text
}

/// How many flights of the two carriers are late.
fn expected() -> usize {
    (0..FLIGHTS).filter(|number| number % 2 == 0 && number % 10 != 0 && number % 60 > 30).count()
}

fn check(parquet: &Path) -> Result<(), Error> {
    let connection = Database::memory()?.connect().blocking();
    connection
        .execute("CREATE TABLE late (number INTEGER PRIMARY KEY, carrier VARCHAR, day DATE, delay INTEGER)", ())?;
    let loaded = connection.execute(&format!("COPY late FROM '{}'", parquet.display()), ())?;
    assert_eq!(loaded.rows_affected as usize, expected());
    let (carrier, day): (String, String) =
        connection.query_one("SELECT carrier, TO_CHAR(day, 'yyyy-MM-dd') FROM late WHERE number = 32", ())?;
    assert_eq!((carrier.as_str(), day.as_str()), ("AA", "2024-02-05"));
    Ok(())
}
