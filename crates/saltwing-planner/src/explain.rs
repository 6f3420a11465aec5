//! EXPLAIN of table accesses: `docs/contracts.md#explain-format-json`.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use saltwing_access::Counters;
use saltwing_plan::{Access, Buckets, LISTED_MAX, OrderKind, Verdict};
use saltwing_types::{SortOrder, text};
use serde_json::{Value as Json, json};

use crate::access::TableAccess;
use crate::direct::DirectPlan;

/// An access, with its counters if it ran.
pub struct AccessReport {
    /// The access.
    pub access: TableAccess,
    /// Its counters, for EXPLAIN ANALYZE.
    pub counters: Option<Arc<Counters>>,
}

/// The one object of EXPLAIN (FORMAT JSON). `plan` is that of a SELECT on the direct path, `effects` what the statement does
/// beside reading.
pub fn explain_json<'a>(
    executor: &str,
    plan: Option<&DirectPlan>,
    reports: impl IntoIterator<Item = &'a AccessReport>,
    effects: &[(&'static str, String)],
) -> String {
    let accesses: Vec<Json> = reports.into_iter().map(report_json).collect();
    let mut object = json!({ "executor": executor, "accesses": accesses });
    if let (Some(plan), Some(object)) = (plan, object.as_object_mut()) {
        object.insert("plan".into(), json!(plan.as_str()));
        if !plan.sorted().is_empty() {
            object.insert("sort".into(), json!(sort_items(plan)));
        }
    }
    if let (false, Some(object)) = (effects.is_empty(), object.as_object_mut()) {
        let effects = effects.iter().map(|(name, effect)| ((*name).to_owned(), json!(effect)));
        object.insert("effects".into(), Json::Object(effects.collect()));
    }
    object.to_string()
}

fn sort_items(plan: &DirectPlan) -> Vec<String> {
    plan.sorted().iter().map(ToString::to_string).collect()
}

fn key_columns(access: &TableAccess) -> Vec<String> {
    let column = |k: &saltwing_types::KeyColumn| match k.order {
        SortOrder::Asc => k.name.clone(),
        SortOrder::Desc => format!("{} desc", k.name),
    };
    access.table.def().key.columns.iter().map(column).collect()
}

fn residual_text(access: &TableAccess) -> Option<String> {
    let residual = access.access.residual.iter().map(|c| c.text.as_str());
    let texts: Vec<&str> = residual.chain(access.opaque.iter().map(String::as_str)).collect();
    (!texts.is_empty()).then(|| texts.join(" AND "))
}

/// The buckets read, and how many there are; a table without salt has none.
fn buckets(access: &TableAccess) -> (Vec<u8>, u16) {
    let Some(salt) = access.table.def().key.salt else { return (Vec::new(), 0) };
    match &access.access.buckets {
        Buckets::All => ((0..salt.buckets).map(|b| b as u8).collect(), salt.buckets),
        Buckets::Some(list) => (list.clone(), salt.buckets),
    }
}

fn report_json(report: &AccessReport) -> Json {
    let (table_access, plan) = (&report.access, &report.access.access);
    let def = table_access.table.def();
    let (bucket_list, buckets_total) = buckets(table_access);
    let ranges = plan.ranges.first(LISTED_MAX).map(|ranges| {
        let hex = |range: &saltwing_rowkey::KeyRange| {
            json!([text::hex(range.start()), range.end().map_or_else(String::new, text::hex)])
        };
        ranges.iter().map(hex).collect::<Vec<_>>()
    });
    let predicates: Vec<Json> = plan
        .predicates
        .iter()
        .map(|p| json!({ "text": p.text, "use": p.use_.as_str(), "column": p.column, "why": p.why }))
        .collect();
    let mut object = json!({
        "table": def.name.to_string(),
        "alias": table_access.alias,
        "index": null,
        "kind": plan.kind.as_str(),
        "key": key_columns(table_access),
        "spans": plan.spans(),
        "ranges": ranges,
        "ranges_total": plan.ranges.total().map(|n| u64::try_from(n).unwrap_or(u64::MAX)),
        "exact": plan.exact,
        "buckets": bucket_list,
        "buckets_total": buckets_total,
        "order": plan.order.as_str(),
        "limit": plan.limit,
        "residual": residual_text(table_access),
        "predicates": predicates,
        "verdict": { "allowed": plan.verdict.allowed, "rule": plan.verdict.rule.as_str() },
    });
    if let (Some(skip), Some(object)) = (&plan.skip, object.as_object_mut()) {
        object.insert("skip".into(), json!(skip.text()));
    }
    if let (Some(counters), Some(object)) = (&report.counters, object.as_object_mut()) {
        for (name, count) in counted(counters) {
            object.insert(name.into(), json!(count));
        }
    }
    object
}

fn counted(counters: &Counters) -> [(&'static str, u64); 8] {
    [
        ("keys_read", counters.keys_read.load(Relaxed)),
        ("seeks", counters.seeks.load(Relaxed)),
        ("rows_out", counters.rows_out.load(Relaxed)),
        ("bytes_read", counters.bytes_read.load(Relaxed)),
        ("blocks_read", counters.blocks_read.load(Relaxed)),
        ("blocks_skipped", counters.blocks_skipped.load(Relaxed)),
        ("batches", counters.batches.load(Relaxed)),
        ("micros", counters.micros.load(Relaxed)),
    ]
}

/// EXPLAIN as text: a paragraph for each access. `plan` is that of a SELECT on the direct path.
pub fn explain_text(executor: &str, plan: Option<&DirectPlan>, reports: &[AccessReport]) -> String {
    let mut out = format!("executor  {executor}\n");
    if let Some(plan) = plan {
        out += &format!("plan      {}\n", plan.as_str().replace('_', " "));
        if !plan.sorted().is_empty() {
            out += &format!("sort      groups by {}\n", sort_items(plan).join(", "));
        }
    }
    for report in reports {
        // Writing to a string cannot fail.
        let _ = write_report(&mut out, report);
    }
    out
}

/// The verdict and its rule; for a refusal also the missing condition.
fn verdict_text(verdict: &Verdict) -> String {
    let rule = verdict.rule.as_str();
    match (verdict.allowed, &verdict.refusal) {
        (Some(true), _) => format!("allowed: {rule}"),
        (None, _) => format!("known with LIMIT's parameter: {rule}"),
        (Some(false), Some(refusal)) => format!("{rule}: {}", refusal.message()),
        (Some(false), None) => rule.to_owned(),
    }
}

/// The conditions whose values only execution knows.
fn open_text(access: &Access) -> String {
    let open: Vec<&str> = access.predicates.iter().filter(|p| p.open).map(|p| p.text.as_str()).collect();
    open.join(", ")
}

/// Spans and conditions shown to people.
const SHOWN_MAX: usize = 8;

fn write_report(out: &mut String, report: &AccessReport) -> std::fmt::Result {
    let (table_access, plan) = (&report.access, &report.access.access);
    let alias = table_access.alias.as_ref().map(|a| format!(" as {a}")).unwrap_or_default();
    let kind = plan.kind.as_str().replace('_', " ");
    writeln!(
        out,
        "{kind} of {}{alias}, key ({})",
        table_access.table.def().name,
        key_columns(table_access).join(", ")
    )?;
    match plan.spans() {
        None => writeln!(out, "  spans     known when it runs, by {}", open_text(plan))?,
        Some(spans) => {
            for span in spans.iter().take(SHOWN_MAX) {
                writeln!(out, "  span      {span}")?;
            }
            let total = plan.ranges.total().unwrap_or_default();
            if total > SHOWN_MAX as u128 {
                writeln!(out, "            … {total} in all")?;
            }
        }
    }
    if let Some(skip) = &plan.skip {
        writeln!(out, "  skip      {}", skip.text())?;
    }
    writeln!(out, "            {}", if plan.exact { "exact" } else { "loose: holds other rows too" })?;
    let (bucket_list, total) = buckets(table_access);
    if total > 0 {
        let list: Vec<String> = bucket_list.iter().take(SHOWN_MAX).map(u8::to_string).collect();
        let which = if bucket_list.len() == usize::from(total) { "all".into() } else { list.join(", ") };
        writeln!(out, "  buckets   {} of {total}: {which}", bucket_list.len())?;
    }
    for predicate in &plan.predicates {
        writeln!(out, "  {:<9} {}  -- {}", predicate.use_.as_str(), predicate.text, predicate.why)?;
    }
    if plan.order != OrderKind::None {
        writeln!(
            out,
            "  order     {}, nothing is sorted",
            if plan.order == OrderKind::Key { "as the key" } else { "against the key" }
        )?;
    }
    if let Some(limit) = plan.limit {
        writeln!(out, "  limit     stops after {limit} rows")?;
    }
    writeln!(out, "  verdict   {}", verdict_text(&plan.verdict))?;
    if let Some(counters) = &report.counters {
        let text: Vec<String> = counted(counters).iter().map(|(name, count)| format!("{name} {count}")).collect();
        writeln!(out, "  counted   {}", text.join(", "))?;
    }
    Ok(())
}
