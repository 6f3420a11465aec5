//! EXPLAIN of table accesses: `docs/contracts.md#explain-format-json`.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use saltwing_access::Counters;
use saltwing_plan::{Access, Buckets, LISTED_MAX, OrderKind, PredicateUse, Use, Verdict};
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
    access.key().columns.iter().map(column).collect()
}

fn residual_text(access: &TableAccess) -> Option<String> {
    let residual = access.access.residual.iter().map(|c| c.text.as_str());
    let texts: Vec<&str> = residual.chain(access.opaque.iter().map(String::as_str)).collect();
    (!texts.is_empty()).then(|| texts.join(" AND "))
}

/// The buckets read, and how many there are; a table without salt has none.
fn buckets(access: &TableAccess) -> (Vec<u8>, u16) {
    let Some(salt) = access.key().salt else { return (Vec::new(), 0) };
    match &access.access.buckets {
        Buckets::All => ((0..salt.buckets).map(|b| b as u8).collect(), salt.buckets),
        Buckets::Some(list) => (list.clone(), salt.buckets),
    }
}

fn report_json(report: &AccessReport) -> Json {
    let (table_access, plan) = (&report.access, &report.access.access);
    let def = table_access.table.def();
    let (bucket_list, buckets_total) = buckets(table_access);
    let ranges = plan.ranges.first(LISTED_MAX).filter(|_| table_access.union.is_empty()).map(|ranges| {
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
        "index": table_access.index().map(|index| index.def().name.clone()),
        "kind": plan.kind.as_str(),
        "key": key_columns(table_access),
        "spans": plan.spans().filter(|_| table_access.union.is_empty()),
        "ranges": ranges,
        "ranges_total": plan.ranges.total().filter(|_| table_access.union.is_empty()).map(|n| u64::try_from(n).unwrap_or(u64::MAX)),
        "exact": plan.exact,
        "buckets": bucket_list,
        "buckets_total": buckets_total,
        "order": plan.order.as_str(),
        "limit": plan.limit,
        "residual": residual_text(table_access).filter(|_| table_access.union.is_empty()),
        "predicates": predicates,
        "verdict": { "allowed": plan.verdict.allowed, "rule": plan.verdict.rule.as_str() },
    });
    if let (true, Some(object)) = (!plan.lost.is_empty(), object.as_object_mut()) {
        let lost = table_access
            .lost()
            .map(|(index, loss)| json!({ "index": index.map(|index| &index.def().name), "why": loss.as_str() }));
        object.insert("lost".into(), lost.collect());
        object.insert("covering".into(), json!(plan.covering));
    }
    if let (Some(skip), Some(object)) = (&plan.skip, object.as_object_mut()) {
        object.insert("skip".into(), json!(skip.text()));
    }
    for (name, parts) in [("union", &table_access.union), ("intersected", &table_access.intersected)] {
        if let (false, Some(object)) = (parts.is_empty(), object.as_object_mut()) {
            object.insert(name.into(), reports_of_parts(parts, report).iter().map(report_json).collect());
        }
    }
    if let (Some(counters), Some(object)) = (&report.counters, object.as_object_mut()) {
        object.extend(counted_json(&report.counted(counters)));
        if let Some(fetched) = counters.fetched() {
            object.insert("fetched".into(), Json::Object(counted_json(&counted(fetched)).collect()));
        }
    }
    object
}

/// The accesses that are united or intersected in one, with their counters.
fn reports_of_parts(parts: &[TableAccess], whole: &AccessReport) -> Vec<AccessReport> {
    let counters = whole.counters.as_ref().map(|counters| counters.branches()).unwrap_or_default();
    let report = |(place, access): (usize, &TableAccess)| AccessReport {
        access: access.clone(),
        counters: counters.get(place).cloned(),
    };
    parts.iter().enumerate().map(report).collect()
}

fn counted_json(counted: &Counted) -> impl Iterator<Item = (String, Json)> {
    counted.iter().map(|(name, count)| ((*name).to_owned(), json!(count)))
}

fn counted_text(counted: &Counted) -> String {
    counted.each_ref().map(|(name, count)| format!("{name} {count}")).join(", ")
}

/// The counters of a scan, by name.
type Counted = [(&'static str, u64); 8];

impl AccessReport {
    /// The counters of the access, and those of the parts of a union together.
    fn counted(&self, counters: &Counters) -> Counted {
        let mut sum = counted(counters);
        for part in counters.branches().iter().filter(|_| !self.access.union.is_empty()) {
            sum.iter_mut().zip(counted(part)).for_each(|((_, sum), (_, count))| *sum += count);
        }
        sum
    }
}

fn counted(counters: &Counters) -> Counted {
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
        let _ = write_report(&mut out, report, "");
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

/// One access; each of its lines begins with `indent`.
fn write_report(out: &mut String, report: &AccessReport, indent: &str) -> std::fmt::Result {
    if !report.access.union.is_empty() {
        return write_union(out, report, indent);
    }
    let (table_access, plan) = (&report.access, &report.access.access);
    write_keys(out, table_access, indent)?;
    plan.predicates.iter().try_for_each(|predicate| write_predicate(out, predicate, indent))?;
    if plan.order != OrderKind::None {
        let order = if plan.order == OrderKind::Key { "as the key" } else { "against the key" };
        writeln!(out, "{indent}  order     {order}, nothing is sorted")?;
    }
    if let Some(limit) = plan.limit {
        writeln!(out, "{indent}  limit     stops after {limit} rows")?;
    }
    for other in reports_of_parts(&table_access.intersected, report) {
        writeln!(out, "{indent}  intersected with the rows of these entries:")?;
        let deeper = format!("{indent}    ");
        write_keys(out, &other.access, &deeper)?;
        let in_ranges = other.access.access.predicates.iter().filter(|predicate| predicate.use_ != Use::Residual);
        in_ranges.into_iter().try_for_each(|predicate| write_predicate(out, predicate, &deeper))?;
        write_counters(out, &other, &deeper)?;
    }
    if table_access.index().is_some() {
        let fetch = if plan.covering { "nothing: entries have all columns" } else { "the rows of the entries" };
        writeln!(out, "{indent}  fetch     {fetch}")?;
    }
    for (index, loss) in table_access.lost() {
        let key = index.map_or_else(|| "the key of the table".into(), |index| format!("index {}", index.def().name));
        writeln!(out, "{indent}  not read  {key}: {}", loss.as_str())?;
    }
    writeln!(out, "{indent}  verdict   {}", verdict_text(&plan.verdict))?;
    write_counters(out, report, indent)
}

/// The keys that an access reads.
fn write_keys(out: &mut String, table_access: &TableAccess, indent: &str) -> std::fmt::Result {
    let plan = &table_access.access;
    let alias = table_access.alias.as_ref().map(|a| format!(" as {a}")).unwrap_or_default();
    let kind = plan.kind.as_str().replace('_', " ");
    let by = table_access.index().map(|index| format!(", index {}", index.def().name)).unwrap_or_default();
    writeln!(
        out,
        "{indent}{kind} of {}{alias}{by}, key ({})",
        table_access.table.def().name,
        key_columns(table_access).join(", ")
    )?;
    match plan.spans() {
        None => writeln!(out, "{indent}  spans     known when it runs, by {}", open_text(plan))?,
        Some(spans) => {
            for span in spans.iter().take(SHOWN_MAX) {
                writeln!(out, "{indent}  span      {span}")?;
            }
            let total = plan.ranges.total().unwrap_or_default();
            if total > SHOWN_MAX as u128 {
                writeln!(out, "{indent}            … {total} in all")?;
            }
        }
    }
    if let Some(skip) = &plan.skip {
        writeln!(out, "{indent}  skip      {}", skip.text())?;
    }
    writeln!(out, "{indent}            {}", if plan.exact { "exact" } else { "loose: holds other rows too" })?;
    let (bucket_list, total) = buckets(table_access);
    if total > 0 {
        let list: Vec<String> = bucket_list.iter().take(SHOWN_MAX).map(u8::to_string).collect();
        let which = if bucket_list.len() == usize::from(total) { "all".into() } else { list.join(", ") };
        writeln!(out, "{indent}  buckets   {} of {total}: {which}", bucket_list.len())?;
    }
    Ok(())
}

fn write_predicate(out: &mut String, predicate: &PredicateUse, indent: &str) -> std::fmt::Result {
    writeln!(out, "{indent}  {:<9} {}  -- {}", predicate.use_.as_str(), predicate.text, predicate.why)
}

fn write_counters(out: &mut String, report: &AccessReport, indent: &str) -> std::fmt::Result {
    let Some(counters) = &report.counters else { return Ok(()) };
    writeln!(out, "{indent}  counted   {}", counted_text(&report.counted(counters)))?;
    match counters.fetched() {
        Some(fetched) => writeln!(out, "{indent}  fetched   {}", counted_text(&counted(fetched))),
        None => Ok(()),
    }
}

/// The alternatives of an OR, each with a key of its own.
fn write_union(out: &mut String, report: &AccessReport, indent: &str) -> std::fmt::Result {
    let (table_access, plan) = (&report.access, &report.access.access);
    let alias = table_access.alias.as_ref().map(|a| format!(" as {a}")).unwrap_or_default();
    writeln!(out, "{indent}union of {}{alias}", table_access.table.def().name)?;
    if plan.order != OrderKind::None {
        writeln!(out, "{indent}  order     that of the parts, nothing is sorted")?;
    }
    if let Some(limit) = plan.limit {
        writeln!(out, "{indent}  limit     stops after {limit} rows")?;
    }
    for part in reports_of_parts(&table_access.union, report) {
        write_report(out, &part, &format!("{indent}  "))?;
    }
    writeln!(out, "{indent}  verdict   {}", verdict_text(&plan.verdict))?;
    write_counters(out, report, indent)
}
