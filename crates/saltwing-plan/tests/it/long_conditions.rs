//! Many conditions: the work of planning is linear in them, and stops when their statement must.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use saltwing_plan::{Access, CandidateKey, Condition, PlanError, Request, choose};
use saltwing_types::interrupt::{self, Interrupt, Interrupted};
use saltwing_types::{Expr, Value};

use crate::support::{Table, parser};

/// A statement that must stop from one check on.
struct CancelledAt {
    checks: AtomicU64,
    at: u64,
}

impl Interrupt for CancelledAt {
    fn check(&self) -> Result<(), Interrupted> {
        if self.checks.fetch_add(1, SeqCst) >= self.at { Err(Interrupted::Cancelled) } else { Ok(()) }
    }
}

fn statement(at: u64) -> Arc<CancelledAt> {
    Arc::new(CancelledAt { checks: AtomicU64::new(0), at })
}

fn conditions(table: &Table, texts: impl Iterator<Item = String>) -> Vec<Condition> {
    let condition = |text: String| Condition::new(parser::condition(&text, table).unwrap());
    texts.map(condition).flat_map(|condition| condition.expr.into_conjuncts()).map(Condition::new).collect()
}

/// ORs of ranges whose AND has as many boxes as a plan takes: the ranges overlap, but none holds another one.
fn ors(table: &Table, count: i64) -> Vec<Condition> {
    let or = |i: i64| {
        let (a, b) = (i * 7 % count, i * 11 % count);
        format!("a between {a} and {} or b between {b} and {}", a + 10 * count, b + 10 * count)
    };
    conditions(table, (0..count).map(or))
}

/// Each condition with each column, and none that bounds the key.
fn columns_and_values(table: &Table, count: i64) -> Vec<Condition> {
    conditions(table, (0..count).map(|i| format!("a = {i} or v = {}", i + 1)))
}

fn exclusions(table: &Table, count: i64) -> Vec<Condition> {
    conditions(table, (0..count).map(|i| format!("not (a = {i} and b > {})", i % 7)))
}

fn planned(table: &Table, conditions: &[Condition]) -> Result<Access, PlanError> {
    let keys: [CandidateKey<'_>; 1] = [table.candidate()];
    choose(Request::new(&table.name, &keys, conditions.to_vec()))
}

/// The work that planning takes.
fn units(table: &Table, conditions: &[Condition]) -> u64 {
    let _statement = interrupt::enter(statement(u64::MAX));
    planned(table, conditions).unwrap();
    interrupt::spent()
}

const MAKERS: [fn(&Table, i64) -> Vec<Condition>; 3] = [ors, columns_and_values, exclusions];

fn table() -> Table {
    parser::ranges("ranges key=(a int not null, b int not null) values=(v int)").unwrap()
}

#[test]
fn planning_is_linear_in_the_conditions() {
    let table = table();
    for (number, conditions) in MAKERS.iter().enumerate() {
        let [few, many] = [500, 4_000].map(|count| units(&table, &conditions(&table, count)));
        // Beside what grows with the conditions, one key takes a limited number of pairs of boxes.
        let fixed = 1_500_000;
        assert!(many <= fixed.max(10 * few), "{number}: {few} units of work for 500 conditions, {many} for 4,000");
    }
}

#[test]
fn boxes_that_are_merged_lose_no_row() {
    let table = table();
    let conditions = ors(&table, 400);
    let access = planned(&table, &conditions).unwrap();
    let holds = |row: &[Value]| conditions.iter().all(|it| saltwing_types::eval::holds(&it.expr, row).unwrap());
    let mut found = 0;
    for (a, b) in (0..12_000).step_by(97).flat_map(|a| (0..12_000).step_by(97).map(move |b| (a, b))) {
        let row = [Value::Int(a), Value::Int(b), Value::Null];
        if holds(&row) {
            found += 1;
            assert!(access.ranges.contains(&table.codec.encode_logical(&row[..2]).unwrap()), "{row:?}");
        }
    }
    assert!(found > 0, "no row meets all conditions");
}

#[test]
fn planning_stops_when_its_statement_must() {
    let table = table();
    for conditions in MAKERS.map(|conditions| conditions(&table, 300)) {
        let unhindered = statement(u64::MAX);
        let access = {
            let _statement = interrupt::enter(unhindered.clone());
            planned(&table, &conditions).unwrap()
        };
        let checks = unhindered.checks.load(SeqCst);
        assert!(checks > 0);
        for at in (0..checks).step_by(1 + checks as usize / 10) {
            let cancelled = statement(at);
            let _statement = interrupt::enter(cancelled.clone());
            let error = planned(&table, &conditions).map(drop).unwrap_err();
            assert_eq!(error, PlanError::Interrupted(Interrupted::Cancelled));
            assert_eq!(cancelled.checks.load(SeqCst), at + 1, "at most one more check");
        }
        // A plan does not depend on whether it may be cancelled.
        let free = planned(&table, &conditions).unwrap();
        assert_eq!((free.verdict, free.residual.len()), (access.verdict, access.residual.len()));
    }
}

#[test]
fn an_expression_of_many_parts_stops_too() {
    let table = table();
    let all = conditions(
        &table,
        std::iter::once((0..5_000).map(|i| format!("a > {i} and b = {i}")).collect::<Vec<_>>().join(" or ")),
    );
    let [Condition { expr: Expr::Or(list), .. }] = all.as_slice() else { panic!("one OR") };
    assert_eq!(list.len(), 5_000);
    let _statement = interrupt::enter(statement(0));
    assert_eq!(planned(&table, &all).map(drop), Err(PlanError::Interrupted(Interrupted::Cancelled)));
}
