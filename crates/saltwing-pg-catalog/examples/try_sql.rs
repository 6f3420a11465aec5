//! Scratch: try_sql SETUP QUERIES; queries are separated by lines "----- name", a line "-- params: a|b" gives parameters.
use saltwing::{Params, Value};
use saltwing_pg_catalog::{PgCatalog, SessionFacts};
use std::fmt::Write;
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let db = saltwing::Database::memory()?;
    let connection = db.connect();
    connection.execute_batch(&std::fs::read_to_string(&args[1])?).await?;
    let catalog = PgCatalog::new(&db);
    let setting = |name: &str| {
        Some(
            match name {
                "search_path" => "\"$user\", public",
                "jit" => "off",
                "server_version" => "15.8",
                "default_table_access_method" => "heap",
                "max_index_keys" => "32",
                _ => return None,
            }
            .to_owned(),
        )
    };
    let facts = SessionFacts {
        connection: &connection,
        user: "postgres",
        is_owner: true,
        database: "demo",
        process: 7,
        server_version: "15.8 (Saltwing 0.1.0)",
        setting: &setting,
    };
    let text = std::fs::read_to_string(&args[2])?;
    let verbose = args.len() > 3;
    let (mut good, mut bad) = (0, 0);
    for part in text.split("-----").skip(1) {
        let (name, rest) = part.split_once('\n').unwrap_or((part, ""));
        let (params, sql) = match rest.strip_prefix("-- params: ") {
            Some(rest) => {
                let (p, sql) = rest.split_once('\n').unwrap();
                (
                    p.split('|')
                        .map(|p| match p {
                            "NULL" => Value::Null,
                            p if p.starts_with('[') => Value::Array(
                                p[1..p.len() - 1].split(',').map(|n| Value::Int(n.parse().unwrap())).collect(),
                            ),
                            p => p.parse::<i64>().map(Value::Int).unwrap_or_else(|_| Value::text(p)),
                        })
                        .collect(),
                    sql,
                )
            }
            None => (vec![], rest),
        };
        let sql = sql.trim().trim_end_matches(';');
        if sql.is_empty() {
            continue;
        }
        println!("----- {name}");
        if !catalog.concerns(sql) {
            println!("NOT CONCERNED: {}", &sql[..sql.len().min(100)]);
            continue;
        }
        let started = std::time::Instant::now();
        let query = match catalog.translate(sql, &facts).await {
            Ok(q) => q,
            Err(e) => {
                bad += 1;
                println!("TRANSLATE {} {e}\n   {}", e.sqlstate(), sql.replace('\n', "\n   "));
                continue;
            }
        };
        let translated = started.elapsed();
        if verbose && args[3] == "v" {
            println!("=> {}", query.sql);
        }
        let mut out = String::new();
        let run = async {
            let statement = query.connection.prepare(&query.sql).await?;
            let mut rows = statement.query(Params::Positional(params)).await?;
            let labels: Vec<String> = query
                .columns
                .iter()
                .map(|(l, o)| match o {
                    Some(o) => format!("{l}:{o}"),
                    None => l.clone(),
                })
                .collect();
            writeln!(out, "{}", labels.join(" | ")).ok();
            if rows.columns().len() != query.columns.len() && !query.columns.is_empty() {
                writeln!(out, "MISMATCH {} {}", rows.columns().len(), query.columns.len()).ok();
            }
            let mut n = 0;
            while let Some(row) = rows.next().await? {
                n += 1;
                if n <= 40 || verbose {
                    let v: Vec<String> = row
                        .values()?
                        .iter()
                        .map(|v| match v {
                            Value::Text(t) => t.clone(),
                            Value::Null => "∅".into(),
                            Value::Int(i) => i.to_string(),
                            Value::Bool(b) => b.to_string(),
                            v => format!("{v:?}"),
                        })
                        .collect();
                    writeln!(out, "{}", v.join(" | ")).ok();
                }
            }
            writeln!(out, "({n} rows)").ok();
            Ok::<_, saltwing::Error>(())
        }
        .await;
        match run {
            Ok(()) => {
                good += 1;
                println!("{out}[{translated:?} {:?}]", started.elapsed())
            }
            Err(e) => {
                bad += 1;
                println!(
                    "RUN {} {e} {:?}\n   {}\n   => {}",
                    e.sqlstate(),
                    e.help(),
                    sql.replace('\n', "\n   "),
                    query.sql
                )
            }
        }
    }
    println!("good {good} bad {bad}");
    Ok(())
}
