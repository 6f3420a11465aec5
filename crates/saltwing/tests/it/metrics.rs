//! Metrics: what a recorder gets is what SHOW STORAGE shows, and the page lists it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use metrics::{Counter, CounterFn, Gauge, GaugeFn, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use saltwing::Database;

use crate::pages::{read, rows};

/// Metrics by name and labels.
#[derive(Clone, Default)]
struct Recorded {
    values: Arc<Mutex<BTreeMap<String, u64>>>,
    described: Arc<Mutex<BTreeMap<String, (&'static str, String)>>>,
}

struct Value(String, Recorded);

impl Value {
    fn set_to(&self, value: u64) {
        self.1.values.lock().unwrap().insert(self.0.clone(), value);
    }
}

impl CounterFn for Value {
    fn increment(&self, _: u64) {
        unimplemented!("counters are absolute")
    }

    fn absolute(&self, value: u64) {
        self.set_to(value);
    }
}

impl GaugeFn for Value {
    fn increment(&self, _: f64) {
        unimplemented!("gauges are set")
    }

    fn decrement(&self, _: f64) {
        unimplemented!("gauges are set")
    }

    fn set(&self, value: f64) {
        self.set_to(value as u64);
    }
}

impl Recorded {
    fn value(&self, key: &Key) -> Arc<Value> {
        let labels: Vec<String> = key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        Arc::new(Value(format!("{}{{{}}}", key.name(), labels.join(",")), self.clone()))
    }

    fn describe(&self, name: &KeyName, kind: &'static str, description: SharedString) {
        self.described.lock().unwrap().insert(name.as_str().to_owned(), (kind, description.into_owned()));
    }
}

impl Recorder for Recorded {
    fn describe_counter(&self, name: KeyName, _: Option<Unit>, description: SharedString) {
        self.describe(&name, "counter", description);
    }

    fn describe_gauge(&self, name: KeyName, _: Option<Unit>, description: SharedString) {
        self.describe(&name, "gauge", description);
    }

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.value(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.value(key))
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

fn recorded(database: &Database) -> Recorded {
    let recorded = Recorded::default();
    metrics::with_local_recorder(&recorded, || database.record_metrics()).unwrap();
    recorded
}

#[test]
fn a_recorder_gets_what_show_storage_shows() {
    let database = Database::memory_builder().merge_when_idle(None).open().unwrap();
    let connection = database.connect().blocking();
    connection.execute("CREATE TABLE app.t (k BIGINT PRIMARY KEY, v VARCHAR)", ()).unwrap();
    let rows: Vec<String> = (1..=1000).map(|k| format!("({k}, 'x')")).collect();
    connection.execute(&format!("UPSERT INTO app.t VALUES {}", rows.join(", ")), ()).unwrap();
    connection.execute("COMPACT app.t", ()).unwrap();
    connection.execute("UPSERT INTO app.t VALUES (1, 'y'), (2, 'y')", ()).unwrap();
    let values = recorded(&database).values.lock().unwrap().clone();
    let shown = |column: &str| {
        let mut listing = connection.query("SHOW STORAGE FOR app.t", ()).unwrap();
        let index = listing.columns().iter().position(|known| known.label == column).unwrap();
        let row = listing.next().unwrap().unwrap();
        row.get::<i64>(index).unwrap() as u64
    };
    for column in ["delta_rows", "block_rows", "written_rows", "written_bytes", "merged_rows", "merge_step_count"] {
        let value = values.get(&format!("saltwing_{column}{{database=memory,table=app.t}}"));
        assert_eq!(value, Some(&shown(column)), "{column}");
    }
    assert_eq!(shown("delta_rows"), 2);
    assert!(values["saltwing_merge_count{database=memory}"] >= 1);
}

#[test]
fn every_metric_has_its_row() {
    let database = Database::memory().unwrap();
    database.connect().blocking().execute("CREATE TABLE t (k BIGINT PRIMARY KEY)", ()).unwrap();
    let described = recorded(&database).described.lock().unwrap().clone();
    let is_metric = |row: &Vec<String>| row.get(1).is_some_and(|kind| ["counter", "gauge"].contains(&kind.as_str()));
    let documented: BTreeMap<String, (String, String)> = rows(&read("docs/operations.md"))
        .into_iter()
        .filter(is_metric)
        .map(|row| (row[0].trim_matches('`').to_owned(), (row[1].clone(), row[2].clone())))
        .collect();
    let known: BTreeMap<String, (String, String)> =
        described.into_iter().map(|(name, (kind, what))| (name, (kind.to_owned(), what))).collect();
    assert_eq!(documented, known);
}
