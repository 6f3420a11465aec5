//! A run: the load, then each work in turns.

use std::time::Duration;

use super::args::Args;
use super::log::ClusterLog;
use super::phoenix::{Answer, Phoenix};
use super::question::Work;
use super::saltwing_side::Saltwing;
use crate::Result;
use crate::rows::Mix;

/// One table for the rows that each side loads. Both sides answer the questions over the first one.
const TABLES: [&str; 2] = ["SPEED_SALTWING", "SPEED_PHOENIX"];
const COLUMNS: &str = "(phone VARCHAR NOT NULL, ts BIGINT NOT NULL, up BIGINT, down BIGINT, lac INTEGER, ci INTEGER, url VARCHAR \
                       CONSTRAINT pk PRIMARY KEY (phone, ts DESC)) SALT_BUCKETS = 8";
/// How many times as fast as Phoenix a load is to be.
const LOAD_GOAL: f64 = 4.0;

/// Loads the log, asks, compares, and prints what it took.
///
/// # Errors
/// A cluster that does not answer, and answers that differ.
pub fn run(args: &Args) -> Result<()> {
    let log = ClusterLog::new(args.rows);
    let mut phoenix = Phoenix::start(args)?;
    let is_wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    if !args.keep {
        for table in TABLES {
            phoenix.run(&format!("DROP TABLE IF EXISTS {table}"))?;
            phoenix.run(&format!("CREATE TABLE {table} {COLUMNS}"))?;
        }
    }
    let mut saltwing = Saltwing::open(&args.cluster)?;
    println!(
        "{:<12} {:>12} {:>12} {:>12} {:>12} {:>7} {:>5}",
        "work", "p50 us", "p99 us", "Phoenix p50", "p99", "times", "goal"
    );
    if !args.keep {
        let [ours, theirs] = TABLES;
        let times = [saltwing.load(ours, log)?, phoenix.load(theirs, log)?];
        print("load/1000", times.map(|time| vec![time / (args.rows / 1000) as u32]), LOAD_GOAL);
        for table in TABLES {
            let count = saltwing.query(&Work::CountAll.sql(table), &[])?;
            same("rows that were loaded", count, phoenix.query(&Work::CountAll.sql(table), &[])?)?;
        }
        same(
            "the loads",
            saltwing.query(&Work::GroupBy.sql(ours), &[])?,
            phoenix.query(&Work::GroupBy.sql(theirs), &[])?,
        )?;
    }
    for work in Work::ALL.into_iter().filter(|work| is_wanted(work.name())) {
        let questions = (work.questions() * args.effort / 100).max(1);
        let sql = work.sql(TABLES[0]);
        let (mut mix, mut times) = (Mix(7), [Vec::new(), Vec::new()]);
        // The first ones warm up.
        let warm = questions.div_ceil(10);
        for question in 0..questions + warm {
            let parameters = work.parameters(log, &mut mix);
            let ours = saltwing.query(&sql, &parameters)?;
            let theirs = phoenix.query(&sql, &parameters)?;
            same(work.name(), ours, theirs)?;
            if question >= warm {
                times[0].push(ours.time);
                times[1].push(theirs.time);
            }
        }
        print(work.name(), times, work.goal());
    }
    Ok(())
}

fn same(what: &str, ours: Answer, theirs: Answer) -> Result<()> {
    if (ours.rows, ours.checksum) == (theirs.rows, theirs.checksum) && ours.rows > 0 {
        return Ok(());
    }
    Err(format!("{what}: {ours:?} of Saltwing, {theirs:?} of Phoenix").into())
}

fn print(work: &str, mut times: [Vec<Duration>; 2], goal: f64) {
    let micros = |times: &mut Vec<Duration>, of_hundred: usize| {
        times.sort_unstable();
        let at = (times.len() * of_hundred / 100).min(times.len().saturating_sub(1));
        times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e6)
    };
    let [ours, theirs] = &mut times;
    let (p50, phoenix) = (micros(ours, 50), micros(theirs, 50));
    let (p99, of_phoenix) = (micros(ours, 99), micros(theirs, 99));
    println!(
        "{work:<12} {p50:>12.0} {p99:>12.0} {phoenix:>12.0} {of_phoenix:>12.0} {:>7.1} {goal:>5.0}",
        phoenix / p50
    );
}
