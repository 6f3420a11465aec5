//! Which key is chosen, and what only the whole request decides.

use std::sync::Arc;

use saltwing_plan::{
    AccessKind, CandidateKey, Condition, IndexTraits, OrderBy, OrderItem, PlanError, Request, RowLimit, Rule, choose,
};
use saltwing_rowkey::RowKeyCodec;
use saltwing_types::{KeyColumn, KeySchema, KeySource, Position, SortOrder, Span, SqlType};

use crate::support::{Table, parser};

/// `log (host, ts)` with indexes on `v` and on `w`.
fn log() -> (Table, Vec<(KeySchema, Arc<RowKeyCodec>)>) {
    let table = parser::ranges("ranges key=(host varchar, ts bigint) values=(v int, w varchar)").unwrap();
    let key = |column: usize, ty, nullable| {
        let name = table.columns[column].name.clone();
        KeyColumn { source: KeySource::Column(column), name, ty, order: SortOrder::Asc, nullable }
    };
    let index = |first: KeyColumn| {
        let columns = vec![first, key(0, SqlType::Varchar(None), true), key(1, SqlType::BigInt, false)];
        let schema = KeySchema { columns, salt: None };
        let codec = Arc::new(RowKeyCodec::new(&schema).unwrap());
        (schema, codec)
    };
    let indexes = vec![index(key(2, SqlType::Decimal(None), true)), index(key(3, SqlType::Varchar(None), true))];
    (table, indexes)
}

fn chosen(text: &str) -> (usize, AccessKind, Rule) {
    let (table, indexes) = log();
    let mut keys = vec![table.candidate()];
    keys.extend(
        indexes.iter().map(|(schema, codec)| CandidateKey::of_index("i", schema, codec, IndexTraits::default())),
    );
    let conditions =
        parser::condition(text, &table).unwrap().into_conjuncts().into_iter().map(Condition::new).collect();
    let access = choose(Request::new("log", &keys, conditions)).unwrap();
    (access.key_index, access.kind, access.verdict.rule)
}

#[test]
fn the_key_that_is_bound_most_is_chosen() {
    for (text, expected) in [
        ("host = 'a' AND ts = 1", (0, AccessKind::Point, Rule::Bounded)),
        ("v = 1", (1, AccessKind::Range, Rule::Index)),
        ("w LIKE 'a%'", (2, AccessKind::Range, Rule::Index)),
        // Of equals the table.
        ("host = 'a' AND v = 1", (1, AccessKind::Range, Rule::Index)),
        ("host = 'a' AND v > 1", (0, AccessKind::Range, Rule::Bounded)),
        ("host = 'a' AND v = 1 AND ts = 3", (0, AccessKind::Point, Rule::Bounded)),
        ("v = 1 AND w = 'x'", (1, AccessKind::Range, Rule::Index)),
        ("v <> 1", (0, AccessKind::FullScan, Rule::Refused)),
        ("v = 1 AND v = 2", (1, AccessKind::Empty, Rule::Empty)),
    ] {
        assert_eq!(chosen(text), expected, "{text}");
    }
}

#[test]
fn a_request_needs_a_key() {
    assert!(matches!(choose(Request::new("t", &[], Vec::new())), Err(PlanError::NoCandidate)));
}

#[test]
fn what_the_statement_does_decides_too() {
    let table = parser::ranges("ranges key=(a int, b int) values=(v int)").unwrap();
    let keys = [table.candidate()];
    let rule = |change: &dyn Fn(&mut Request<'_>)| {
        let mut request = Request::new("t", &keys, Vec::new());
        request.limit = RowLimit::Rows(10);
        change(&mut request);
        let verdict = choose(request).unwrap().verdict;
        (verdict.allowed, verdict.rule)
    };
    let refused = (Some(false), Rule::Refused);
    assert_eq!(rule(&|_| {}), (Some(true), Rule::Limit));
    assert_eq!(rule(&|r| r.limit = RowLimit::Unknown), (None, Rule::Limit));
    assert_eq!(rule(&|r| r.aggregate_or_distinct = true), refused);
    assert_eq!(rule(&|r| r.single_table = false), refused);
    assert_eq!(rule(&|r| r.offset = 991), refused);
    assert_eq!(rule(&|r| r.offset = u64::MAX), refused);
    let min_max = |column| move |r: &mut Request<'_>| (r.min_max, r.aggregate_or_distinct) = (Some(column), true);
    assert_eq!(rule(&min_max(0)), (Some(true), Rule::MinMax));
    assert_eq!(rule(&min_max(1)), refused);
    assert_eq!(rule(&|r| r.catalog = true), (Some(true), Rule::Catalog));
    let by = |column, order| vec![OrderItem { by: OrderBy::Column(column), order, nulls_first: true }];
    let (a_desc, b_asc) = (by(0, SortOrder::Desc), by(1, SortOrder::Asc));
    assert_eq!(
        choose(Request { order: &a_desc, limit: RowLimit::Rows(9), ..Request::new("t", &keys, Vec::new()) })
            .unwrap()
            .verdict
            .rule,
        Rule::Limit
    );
    assert_eq!(
        choose(Request { order: &b_asc, limit: RowLimit::Rows(9), ..Request::new("t", &keys, Vec::new()) })
            .unwrap()
            .verdict
            .rule,
        Rule::Refused
    );
}

#[test]
fn the_caret_stands_under_the_first_condition() {
    let table = parser::ranges("ranges key=(host varchar, ts bigint) values=(v int)").unwrap();
    let mut condition = parser::condition("v > 5", &table).unwrap();
    let span = Span { start: Position { line: 2, column: 7 }, end: Position { line: 2, column: 7 } };
    condition.map_columns(&mut |column| column.span = Some(span));
    let refusal = table.plan(vec![Condition::new(condition)]).verdict.refusal.unwrap();
    assert_eq!(refusal.span, Some(span));
    assert_eq!(refusal.key, ["host", "ts"]);
    // Of an OR it is the side that bounds nothing.
    let mut either = parser::condition("host = 'a' OR ts > 5", &table).unwrap();
    either.map_columns(&mut |column| column.span = (column.name == "ts").then_some(span));
    let refusal = table.plan(vec![Condition::new(either)]).verdict.refusal.unwrap();
    assert_eq!(refusal.span, Some(span));
    let none = table.plan(Vec::new()).verdict.refusal.unwrap();
    assert_eq!(none.span, None);
    assert!(none.message().contains("host"), "{}", none.message());
}
