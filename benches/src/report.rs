//! Figures as a table, and as JSON lines.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// One measure of one engine.
pub struct Measure {
    /// What was done.
    pub work: &'static str,
    /// By whom.
    pub engine: &'static str,
    /// On how many rows.
    pub rows: u64,
    /// Times of single runs, sorted.
    pub times: Vec<Duration>,
    /// Things done in a second, for loads.
    pub per_s: Option<f64>,
}

impl Measure {
    fn at(&self, share: f64) -> Option<f64> {
        let place = ((self.times.len().checked_sub(1)?) as f64 * share).round() as usize;
        self.times.get(place).map(|t| t.as_secs_f64() * 1e6)
    }
}

/// Prints the measures, engines of one work side by side.
pub fn print(measures: &[Measure]) {
    println!("{:<18} {:<10} {:>10} {:>12} {:>12} {:>12}", "work", "engine", "rows", "median us", "p99 us", "per s");
    for m in measures {
        let figure = |value: Option<f64>| value.map_or_else(|| "-".into(), |v| format!("{v:.1}"));
        println!(
            "{:<18} {:<10} {:>10} {:>12} {:>12} {:>12}",
            m.work,
            m.engine,
            m.rows,
            figure(m.at(0.5)),
            figure(m.at(0.99)),
            figure(m.per_s)
        );
    }
}

/// Writes one object a measure and line.
pub fn write_json(measures: &[Measure], path: &Path) -> std::io::Result<()> {
    let mut file = std::fs::File::create(path)?;
    for m in measures {
        let line = serde_json::json!({
            "work": m.work, "engine": m.engine, "rows": m.rows,
            "median_us": m.at(0.5), "p99_us": m.at(0.99), "per_s": m.per_s, "value": null, "unit": null,
        });
        writeln!(file, "{line}")?;
    }
    Ok(())
}
