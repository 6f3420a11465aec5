//! Plans, text in and text out: `testdata/*.txt`. `UPDATE_GOLDEN=1` writes them anew.
//!
//! A case is a key, conditions, optionally `order by ..` (`part0` is the computed part at that place of the key), `limit ..` and lines `at (..)`, a line `----`,
//! and what comes of it. For the row key of a row it shows the stretch that the key lies in, in both directions:
//!
//! ```text
//! ranges key=(host varchar, ts bigint desc, seq int) values=(v double) buckets=4
//! host = 'a' AND ts >= 10 AND v > 0.5
//! order by ts desc
//! limit 10
//! ----
//! span      [('a') .. ('a', 10)]  x4 buckets
//! residual  v > 0.5
//! ```

use std::fmt::Write;

use saltwing_plan::{
    AccessKind, Buckets, Condition, KeyRegion, OrderBy, OrderItem, OrderKind, Request, RowLimit, choose,
};
use saltwing_types::text::hex;
use saltwing_types::{Direction, Expr, SortOrder, Value};

use crate::support::{Table, parser, testdata};

/// The plan of a case as text.
fn plan(lines: &[&str]) -> Result<String, String> {
    let (definition, rest) = lines.split_first().ok_or("an empty case")?;
    let table = parser::ranges(definition)?;
    let (mut texts, mut rows, mut order, mut limit, mut offset) =
        (Vec::new(), Vec::new(), Vec::new(), RowLimit::None, 0);
    for line in rest {
        if let Some(items) = line.strip_prefix("order by ") {
            order = items.split(',').map(|item| order_item(item, &table)).collect::<Result<_, _>>()?;
        } else if let Some(text) = line.strip_prefix("limit ") {
            let (rows, skipped) = text.split_once(" offset ").unwrap_or((text, "0"));
            limit = if rows == "?" { RowLimit::Unknown } else { RowLimit::Rows(rows.parse().map_err(|_| "limit")?) };
            offset = skipped.parse().map_err(|_| "offset")?;
        } else if let Some(row) = line.strip_prefix("at ") {
            rows.push(row);
        } else {
            texts.push(*line);
        }
    }
    let conditions = match texts.join(" ").as_str() {
        "" => Vec::new(),
        text => parser::condition(text, &table)?.into_conjuncts().into_iter().map(Condition::new).collect(),
    };
    let keys = [table.candidate()];
    let request = Request { order: &order, nulls_apart: true, limit, offset, ..Request::new("t", &keys, conditions) };
    let access = choose(request).map_err(|e| e.to_string())?;
    let mut text = format!("kind      {}{}\n", access.kind.as_str(), if access.exact { "" } else { ", loose" });
    let buckets = match (&access.buckets, table.schema.salt) {
        (_, None) => String::new(),
        (Buckets::All, Some(salt)) => format!("  x{} buckets", salt.buckets),
        (Buckets::Some(list), Some(_)) => format!("  in buckets {list:?}"),
    };
    match access.spans() {
        _ if access.kind == AccessKind::Empty => {}
        None => text.push_str("span      unknown\n"),
        Some(spans) => {
            let shown: Vec<&str> = spans.iter().take(12).map(String::as_str).collect();
            let more = access.ranges.total().unwrap() - shown.len() as u128;
            let more = if more > 0 { format!("  and {more} more") } else { String::new() };
            writeln!(text, "span      {}{more}{buckets}", shown.join("  ")).unwrap();
        }
    }
    if let Some(skip) = &access.skip {
        writeln!(text, "skip      {}", skip.text()).unwrap();
        for row in rows {
            let key = row_key(row, &table)?;
            let (mut forward, mut reverse) = (skip.regions(Direction::Forward), skip.regions(Direction::Reverse));
            writeln!(text, "at        {row}: {}, back {}", stretch(forward.at(&key)), stretch(reverse.at(&key)))
                .unwrap();
        }
    }
    if access.order != OrderKind::None || !order.is_empty() {
        writeln!(text, "order     {}", access.order.as_str()).unwrap();
    }
    if let Some([first, second]) = &access.in_turn
        && first.is_known()
        && second.is_known()
    {
        let shown = |ranges: &saltwing_plan::Ranges| ranges.spans(12).unwrap().join("  ");
        writeln!(text, "then      {}\nand       {}", shown(first), shown(second)).unwrap();
    }
    if let Some(limit) = access.limit {
        writeln!(text, "limit     {limit}").unwrap();
    }
    for condition in &access.residual {
        writeln!(text, "residual  {}", condition.text).unwrap();
    }
    for predicate in &access.predicates {
        writeln!(text, "use       {}: {}, {}", predicate.text, predicate.use_.as_str(), predicate.why).unwrap();
    }
    match (&access.verdict.refusal, access.verdict.allowed) {
        (None, _) => writeln!(text, "allowed   {}", access.verdict.rule.as_str()).unwrap(),
        (Some(_), None) => writeln!(text, "open      {}", access.verdict.rule.as_str()).unwrap(),
        (Some(refusal), _) => {
            writeln!(text, "refused   {}", refusal.message()).unwrap();
            refusal.reasons().iter().for_each(|line| writeln!(text, "help      {line}").unwrap());
        }
    }
    Ok(text)
}

/// The logical key of a row, whose key columns are given as literals.
fn row_key(given: &str, table: &Table) -> Result<Vec<u8>, String> {
    let columns: Vec<usize> = table.schema.columns.iter().filter_map(|column| column.column()).collect();
    let names: Vec<&str> = columns.iter().map(|column| table.columns[*column].name.as_str()).collect();
    let mut row = vec![Value::Null; table.columns.len()];
    let mut columns = columns.into_iter();
    parser::condition(&format!("({}) = {given}", names.join(", ")), table)?.walk(&mut |e| {
        if let Expr::Literal(value, _) = e
            && let Some(column) = columns.next()
        {
            row[column] = value.clone();
        }
    });
    let values = table.key_values(&row).ok_or("no row has such a key")?;
    table.codec.encode_logical(&values).map_err(|e| e.to_string())
}

fn stretch(stretch: KeyRegion<'_>) -> String {
    let (is_wanted, place) = match stretch {
        KeyRegion::Match(place) => ("wanted", place),
        KeyRegion::Gap(place) => ("unwanted", place),
    };
    format!("{is_wanted} to {}", place.map_or("the end".into(), hex))
}

fn order_item(text: &str, table: &Table) -> Result<OrderItem, String> {
    let mut words = text.split_whitespace();
    let name = words.next().ok_or("nothing to order by")?;
    let by = match name.strip_prefix("part") {
        Some(position) => OrderBy::KeyPart(position.parse().map_err(|_| "part")?),
        None => OrderBy::Column(table.column_index(name).ok_or("no such column")?),
    };
    let rest: Vec<&str> = words.collect();
    let order = if rest.contains(&"desc") { SortOrder::Desc } else { SortOrder::Asc };
    Ok(OrderItem { by, order, nulls_first: !rest.contains(&"last") })
}

#[test]
fn plans_are_as_written() {
    golden_files::assert_files(&testdata(), |_, text| {
        golden_files::with_outcomes(text, |case| {
            let lines: Vec<&str> = case.lines().collect();
            plan(&lines).unwrap_or_else(|error| format!("error     {error}\n"))
        })
    });
}
