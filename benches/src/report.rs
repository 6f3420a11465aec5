//! Figures as a table, and as JSON lines.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use crate::Result;
use crate::engine::EngineKind;
use crate::goals::{Goal, goal};

/// What was measured of one engine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Of the times of single runs.
    pub median_us: Option<f64>,
    /// The same.
    pub p99_us: Option<f64>,
    /// Things done in a second.
    pub per_s: Option<f64>,
    /// A size or count, and of what.
    pub value: Option<(f64, &'static str)>,
}

impl Figures {
    /// Of the times of single runs, in any order.
    pub fn of_times(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |share: f64| {
            let place = ((times.len().checked_sub(1)?) as f64 * share).round() as usize;
            times.get(place).map(|time| time.as_secs_f64() * 1e6)
        };
        Self { median_us: at(0.5), p99_us: at(0.99), ..Self::default() }
    }

    /// Of so many things done in a time.
    pub fn with_rate(self, count: u64, time: Duration) -> Self {
        Self { per_s: Some(count as f64 / time.as_secs_f64().max(1e-9)), ..self }
    }

    /// A size or count.
    pub fn of_value(value: f64, unit: &'static str) -> Self {
        Self { value: Some((value, unit)), ..Self::default() }
    }

    /// How many times better than another engine: faster, or smaller.
    fn times(&self, other: &Self) -> Option<f64> {
        let ratio = |a: f64, b: f64| (b > 0.0).then(|| a / b);
        match (self.per_s, other.per_s) {
            (Some(ours), Some(theirs)) => ratio(ours, theirs),
            _ => match (self.median_us, other.median_us) {
                (Some(ours), Some(theirs)) => ratio(theirs, ours),
                _ => ratio(other.value?.0, self.value?.0),
            },
        }
    }
}

/// Where figures go: printed at once, and to a file if one is given.
pub struct Report {
    json: Option<File>,
    headed: bool,
}

impl Report {
    /// A report, also to this file.
    pub fn new(json: Option<&Path>) -> Result<Self> {
        Ok(Self { json: json.map(File::create).transpose()?, headed: false })
    }

    /// Reports a work's figures, engine by engine.
    pub fn work(&mut self, work: &str, rows: u64, figures: Vec<(EngineKind, Figures)>) -> Result<()> {
        if !std::mem::replace(&mut self.headed, true) {
            println!(
                "{:<24} {:<15} {:>10} {:>11} {:>11} {:>11} {:>12} {:>8} {:>8}",
                "work", "engine", "rows", "median us", "p99 us", "per s", "value", "x SQLite", "goal"
            );
        }
        let sqlite = figures.iter().find(|(kind, _)| *kind == EngineKind::Sqlite).map(|(_, figures)| figures.clone());
        for (kind, figures) in &figures {
            let is_ours = !matches!(kind, EngineKind::Sqlite | EngineKind::Redb);
            let number = |value: Option<f64>| value.map_or_else(|| "-".into(), shown);
            let value = figures.value.map_or_else(|| "-".into(), |(value, unit)| format!("{} {unit}", shown(value)));
            println!(
                "{work:<24} {:<15} {rows:>10} {:>11} {:>11} {:>11} {value:>12} {:>8} {:>8}",
                kind.name(),
                number(figures.median_us),
                number(figures.p99_us),
                number(figures.per_s),
                number(sqlite.as_ref().and_then(|sqlite| figures.times(sqlite))),
                goal(work).filter(|_| is_ours).map_or_else(|| "-".into(), |goal| goal_text(&goal)),
            );
        }
        self.write_json(work, rows, &figures)
    }

    fn write_json(&mut self, work: &str, rows: u64, figures: &[(EngineKind, Figures)]) -> Result<()> {
        let Some(file) = &mut self.json else { return Ok(()) };
        for (kind, figures) in figures {
            let line = serde_json::json!({
                "work": work, "engine": kind.name(), "rows": rows,
                "median_us": figures.median_us, "p99_us": figures.p99_us, "per_s": figures.per_s,
                "value": figures.value.map(|(value, _)| value), "unit": figures.value.map(|(_, unit)| unit),
            });
            writeln!(file, "{line}")?;
        }
        Ok(())
    }
}

/// Three digits that matter, or whole numbers.
fn shown(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

fn goal_text(goal: &Goal) -> String {
    match goal {
        Goal::TimesSqlite(times) => format!("{times}x"),
        Goal::AtMost(most) => format!("<= {most}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_of_the_sorted_times() {
        let figures = Figures::of_times((1..=101).rev().map(Duration::from_micros).collect());
        assert_eq!((figures.median_us, figures.p99_us), (Some(51.0), Some(100.0)));
        assert_eq!(Figures::of_times(Vec::new()), Figures::default());
    }

    #[test]
    fn better_is_faster_more_or_smaller() {
        let time = |us| Figures::of_times(vec![Duration::from_micros(us)]);
        let rate = |count| Figures::default().with_rate(count, Duration::from_secs(1));
        assert_eq!(time(2).times(&time(6)), Some(3.0));
        assert_eq!(rate(20).times(&rate(10)), Some(2.0));
        assert_eq!(Figures::of_value(5.0, "MB").times(&Figures::of_value(10.0, "MB")), Some(2.0));
        assert_eq!(time(1).times(&Figures::default()), None);
    }
}
