//! How long planning takes, and nothing else: no row is read.
//!
//! `plan_X` is from the text: parse, bind, plan, the first range. `plan_X_bind` is the same without parsing.
//! `plan_X_template` is a prepared statement that gets its values, as it does before each execution; `plan_X_filled` is the
//! same if the template's conditions are filled in and planned, as they are if they ask for more than encoding keys.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use saltwing::Value;
use saltwing_access::SystemClock;
use saltwing_bind::{NoEngine, ParamValues, Params, create_table, query};
use saltwing_catalog::{Catalog, CatalogChange, CatalogReader, CatalogStore};
use saltwing_planner::{DirectQuery, PlannedSelect, SelectTemplate, plan_select};
use saltwing_sql::statement::QueryStatement;
use saltwing_sql::{Statement, parse_one};
use saltwing_store::MemoryStore;
use saltwing_table::EmbeddedTables;

use crate::Result;
use crate::bench::Bench;
use crate::engine::EngineKind;
use crate::report::Figures;

const CREATE: &str = "\
CREATE TABLE t (a BIGINT NOT NULL, b BIGINT NOT NULL, c BIGINT NOT NULL, v BIGINT, CONSTRAINT pk PRIMARY KEY (a, b, c))";

/// A condition, with `?` for each value, and how many values there are.
struct Case {
    name: &'static str,
    condition: fn() -> String,
    values: usize,
}

const CASES: [Case; 6] = [
    Case { name: "plan_point", condition: || "a = ? AND b = ? AND c = ?".into(), values: 3 },
    Case { name: "plan_range", condition: || "a >= ? AND a < ?".into(), values: 2 },
    Case { name: "plan_row_range", condition: || "(a, b, c) > (?, ?, ?) AND (a, b, c) <= (?, ?, ?)".into(), values: 6 },
    Case { name: "plan_in500", condition: || format!("(a, b) IN ({})", list("(?, ?)", 500, ", ")), values: 1000 },
    Case {
        name: "plan_product",
        condition: || ["a", "b", "c"].map(|column| format!("{column} IN ({})", list("?", 500, ", "))).join(" AND "),
        values: 1500,
    },
    Case { name: "plan_or200", condition: || list("(a = ? AND b < ?)", 200, " OR "), values: 400 },
];

fn list(item: &str, count: usize, between: &str) -> String {
    vec![item; count].join(between)
}

/// From what a plan is made.
const FROM: [&str; 4] = ["", "_bind", "_template", "_filled"];

pub fn names() -> Vec<String> {
    CASES.iter().flat_map(|case| FROM.map(|from| format!("{}{from}", case.name))).collect()
}

pub fn run(bench: &mut Bench) -> Result<()> {
    let catalog = catalog()?;
    for case in &CASES {
        let open = format!("SELECT v FROM t WHERE {}", (case.condition)());
        let values: Vec<Value> = (0..case.values).map(|i| Value::Int(i as i64 * 37)).collect();
        let text = with_values(&open, &values);
        let parsed = select(&text)?;
        let (template, of_parts) =
            SelectTemplate::new(bound(&select(&open)?, &*catalog, Params::OPEN)?).ok_or("no template")?;
        // One key or one range of a prepared statement is encoded without a plan.
        let filled = || first_range(&template.bind(ParamValues::untyped(&values)).ok_or("no plan")?);
        let from_template = || -> Result<()> {
            if of_parts.is_none() {
                return filled();
            }
            black_box(template.key_access(&values).ok_or("no part of the key")?);
            Ok(())
        };
        measure(bench, case, "", || plan_of(&select(&text)?, &*catalog))?;
        measure(bench, case, "_bind", || plan_of(&parsed, &*catalog))?;
        measure(bench, case, "_template", from_template)?;
        measure(bench, case, "_filled", filled)?;
    }
    Ok(())
}

/// A catalog with one table.
fn catalog() -> Result<Arc<dyn CatalogReader>> {
    let tables = Arc::new(EmbeddedTables::open(Arc::new(MemoryStore::new()), Arc::new(SystemClock))?);
    let catalog = Catalog::boot(tables, false)?;
    let Statement::CreateTable(create) = parse_one(CREATE)?.statement else { return Err("not a table".into()) };
    let def = create_table(&create, None)?.def;
    catalog.apply(CatalogChange::CreateTable { def, sequences: Vec::new(), temporary: false })?;
    Ok(catalog.snapshot()?)
}

/// The text with a number for each `?`.
fn with_values(open: &str, values: &[Value]) -> String {
    let mut values = values.iter();
    let piece = |piece: &str| match values.next() {
        Some(Value::Int(n)) => format!("{piece}{n}"),
        _ => piece.to_owned(),
    };
    open.split('?').map(piece).collect()
}

fn select(text: &str) -> Result<QueryStatement> {
    match parse_one(text)?.statement {
        Statement::Query(query) => Ok(query),
        _ => Err("not a query".into()),
    }
}

fn bound(statement: &QueryStatement, catalog: &dyn CatalogReader, params: Params<'_>) -> Result<DirectQuery> {
    let bound = query(statement, catalog, &NoEngine, params)?;
    Ok(DirectQuery::of(bound.query).ok_or("not a query of one table")?)
}

fn plan_of(statement: &QueryStatement, catalog: &dyn CatalogReader) -> Result<()> {
    let planned = plan_select(bound(statement, catalog, Params::NONE)?)?;
    first_range(&planned.ok_or("the rows would have to be sorted")?)
}

/// Ranges are made as they are read: the first one belongs to planning.
fn first_range(planned: &PlannedSelect) -> Result<()> {
    let first = planned.access.access().ranges.iter().next();
    black_box(first.ok_or("no range")?);
    Ok(())
}

fn measure(bench: &mut Bench, case: &Case, from: &str, plan: impl Fn() -> Result<()>) -> Result<()> {
    let work = format!("{}{from}", case.name);
    if !bench.wants(&work) {
        return Ok(());
    }
    let rounds = bench.effort.of(if case.values > 10 { 200 } else { 2000 });
    plan()?;
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let started = Instant::now();
        plan()?;
        times.push(started.elapsed());
    }
    bench.report.work(&work, 0, vec![(EngineKind::Saltwing, Figures::of_times(times))])
}
