use std::sync::Arc;

use saltwing_bind::{Lowerer, Params, Scope, create_table};
use saltwing_sql::{Statement, parse_one};
use saltwing_types::interrupt::{self, Interrupt, Interrupted};
use saltwing_types::{IndexPart, IndexState, ObjectId, TableId};

use super::*;
use crate::plan::plan;

/// A table with the key k and an index on v.
fn table() -> Arc<Table> {
    let sql = "CREATE TABLE t (k BIGINT NOT NULL PRIMARY KEY, v BIGINT, w BIGINT)";
    let Statement::CreateTable(create) = parse_one(sql).unwrap().statement else { panic!("{sql}") };
    let mut def = create_table(&create, None).unwrap().def;
    let plain = Table::new(Arc::new(def.clone())).unwrap();
    let column = Expr::Column(plain.column_ref(1, None).unwrap());
    def.indexes.push(IndexDef {
        id: TableId(7),
        object_id: ObjectId::NEW,
        name: "t_v".into(),
        parts: vec![IndexPart { text: column.to_string(), expr: column, order: SortOrder::Asc }],
        include: Vec::new(),
        unique: false,
        predicate: None,
        local: false,
        salt: None,
        state: IndexState::Ready,
        rebuild: None,
    });
    Arc::new(Table::new(Arc::new(def)).unwrap())
}

fn conditions(table: &Arc<Table>, text: &str) -> Vec<Condition> {
    let sql = format!("DELETE FROM t WHERE {text}");
    let Statement::Delete(delete) = parse_one(&sql).unwrap().statement else { panic!("{sql}") };
    let scope = Scope::of(table.clone(), None);
    let lowerer = Lowerer::new(&scope, Params::NONE);
    let lowered = lowerer.lower(delete.selection.as_ref().unwrap()).map_err(|error| error.into_error()).unwrap();
    lowered.into_conjuncts().into_iter().map(Condition::new).collect()
}

fn ors(count: usize, column: &str) -> String {
    (0..count).map(|i| format!("(k = {i} OR {column} = {i})")).collect::<Vec<_>>().join(" AND ")
}

struct Going;

impl Interrupt for Going {
    fn check(&self) -> std::result::Result<(), Interrupted> {
        Ok(())
    }
}

struct Stopped;

impl Interrupt for Stopped {
    fn check(&self) -> std::result::Result<(), Interrupted> {
        Err(Interrupted::Cancelled)
    }
}

/// The work that planning takes.
fn units(table: &Arc<Table>, text: &str) -> u64 {
    let conditions = conditions(table, text);
    let _statement = interrupt::enter(Arc::new(Going));
    plan(AccessRequest::of(table, conditions)).unwrap();
    interrupt::spent()
}

#[test]
fn the_search_for_a_union_is_linear() {
    let table = table();
    let [few, many] = [500, 4_000].map(|count| units(&table, &ors(count, "w")));
    assert!(many <= 10 * few, "{few} units of work for 500 ORs, {many} for 4,000");
}

#[test]
fn a_union_is_found_among_many_conditions() {
    let table = table();
    for count in [3, 1_000] {
        let text = format!("{} AND (k = 1 OR v = 2)", ors(count, "w"));
        let read = plan(AccessRequest::of(&table, conditions(&table, &text))).unwrap();
        assert_eq!((read.access.kind, read.union.len()), (AccessKind::Union, 2), "{count} other ORs");
        for part in &read.union {
            // Each part checks the other conditions, and the second one leaves out the rows of the first.
            assert!(part.access.residual.len() >= count, "{:?}", part.access.residual.len());
        }
    }
    let unread = plan(AccessRequest::of(&table, conditions(&table, &ors(1_000, "w")))).unwrap();
    assert_eq!((unread.access.verdict.allowed, unread.advice.len()), (Some(false), 1));
}

#[test]
fn the_search_stops_when_its_statement_must() {
    let table = table();
    let conditions = conditions(&table, &ors(1_000, "w"));
    let _statement = interrupt::enter(Arc::new(Stopped));
    let error = plan(AccessRequest::of(&table, conditions)).map(drop).unwrap_err();
    assert_eq!(error.code().as_str(), "cancelled");
}
