//! What is measured.

use std::time::{Duration, Instant};

use crate::engine::{Engine, Saltwing, Sqlite};
use crate::mobile;
use crate::report::Measure;
use crate::rows::{Mix, ROWS_A_PHONE, log_row, phone, phones};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Rows of one durable batch.
const BATCH_ROWS: u64 = 1000;

/// One question, asked of each engine in turn with the same random choice.
type Question = (&'static str, fn(&mut dyn Engine, &Choice) -> Result<i64>);

struct Choice {
    phone: String,
    /// The time of one of its rows.
    ts: i64,
}

const QUESTIONS: [Question; 5] = [
    ("point", |e, c| e.point(&c.phone, c.ts)),
    ("point_unprepared", |e, c| e.point_unprepared(&c.phone, c.ts)),
    ("prefix500_rows", |e, c| e.prefix500(&c.phone)),
    ("latest10", |e, c| e.latest10(&c.phone)),
    ("count401", |e, c| e.count_range(&c.phone, c.ts, c.ts + 401 * 10 * ROWS_A_PHONE as i64)),
];

/// Loads both engines, asks every question `rounds` times, compares the answers.
pub fn run(rows: u64, only: Option<&str>, rounds: usize) -> Result<Vec<Measure>> {
    let folder = tempfile::tempdir()?;
    let mut engines: Vec<Box<dyn Engine>> =
        vec![Box::new(Saltwing::create(&folder.path().join("saltwing"))?), Box::new(Sqlite::create(folder.path())?)];
    let mut measures = Vec::new();
    if only == Some("mobile_day") {
        mobile::run(rows, rounds, folder.path(), &mut measures)?;
        return Ok(measures);
    }
    load(&mut engines, rows, &mut measures)?;
    let mut mix = Mix(42);
    for (work, ask) in QUESTIONS {
        if only.is_some_and(|name| name != work) {
            continue;
        }
        let mut times: Vec<Vec<Duration>> = engines.iter().map(|_| Vec::with_capacity(rounds)).collect();
        for _ in 0..rounds {
            let index = mix.below(rows);
            let choice = Choice { phone: phone(index % phones(rows)), ts: log_row(index, rows).ts };
            let mut answers = Vec::new();
            for (engine, times) in engines.iter_mut().zip(&mut times) {
                // Once to warm what the other engine's turn has cooled, once to measure.
                ask(engine.as_mut(), &choice)?;
                let started = Instant::now();
                answers.push(ask(engine.as_mut(), &choice)?);
                times.push(started.elapsed());
            }
            if answers.windows(2).any(|pair| pair[0] != pair[1]) {
                return Err(format!("{work}: the answers differ: {answers:?}").into());
            }
        }
        for (engine, mut times) in engines.iter().zip(times) {
            times.sort();
            measures.push(Measure { work, engine: engine.name(), rows, times, per_s: None });
        }
    }
    if only.is_none_or(|name| name == "upsert1") {
        upsert(&mut engines, rows, rounds, &mut measures)?;
    }
    if only.is_none() {
        mobile::run(rows, rounds, folder.path(), &mut measures)?;
    }
    Ok(measures)
}

/// Durable batches, the engines taking turns.
fn load(engines: &mut [Box<dyn Engine>], rows: u64, measures: &mut Vec<Measure>) -> Result<()> {
    let mut spent = vec![Duration::ZERO; engines.len()];
    let mut next = 0;
    while next < rows {
        let end = (next + BATCH_ROWS).min(rows);
        let batch: Vec<_> = (next..end).map(|index| log_row(index, rows)).collect();
        for (engine, spent) in engines.iter_mut().zip(&mut spent) {
            let started = Instant::now();
            engine.load(&batch)?;
            *spent += started.elapsed();
        }
        next = end;
    }
    for (engine, spent) in engines.iter().zip(spent) {
        let per_s = Some(rows as f64 / spent.as_secs_f64());
        measures.push(Measure { work: "load", engine: engine.name(), rows, times: Vec::new(), per_s });
    }
    Ok(())
}

fn upsert(engines: &mut [Box<dyn Engine>], rows: u64, rounds: usize, measures: &mut Vec<Measure>) -> Result<()> {
    for engine in engines {
        let mut times = Vec::with_capacity(rounds);
        for index in 0..rounds as u64 {
            let row = log_row(rows + index, rows);
            let started = Instant::now();
            engine.upsert1(&row)?;
            times.push(started.elapsed());
        }
        times.sort();
        measures.push(Measure { work: "upsert1", engine: engine.name(), rows, times, per_s: None });
    }
    Ok(())
}
