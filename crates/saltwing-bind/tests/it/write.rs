//! Statements that write rows, as text.

use std::fmt::Write;
use std::sync::Arc;

use arrow::datatypes::Schema;
use saltwing_bind::{
    BindError, BoundReturning, BoundSource, BoundUpsert, ConflictUpdate, DeletedRows, MergeEffect, OnConflict, Params,
    ReturnedQuery, StatementQuery, TargetQuery, UpsertTarget, delete, merge, query, returning, update, upsert,
};
use saltwing_catalog::{ArrowRows, ArrowTable, CatalogReader};
use saltwing_sql::Statement;
use saltwing_sql::statement::{Delete, Merge, Update, Upsert};
use saltwing_types::text;

use crate::engine::TestEngine;

/// What a statement writes, and the trees of its queries.
pub fn written(statement: &Statement, catalog: &dyn CatalogReader, params: Params<'_>) -> Result<String, BindError> {
    let binding = Binding { catalog, params };
    let mut text = match statement {
        Statement::Upsert(it) => binding.upsert(it, false)?,
        Statement::Insert(it) => binding.upsert(it, true)?,
        Statement::Update(it) => binding.update(it)?,
        Statement::Delete(it) => binding.delete(it)?,
        Statement::Merge(it) => binding.merge(it)?,
        other => panic!("no write: {other:?}"),
    };
    match returning(statement, catalog, &TestEngine, params)? {
        None => {}
        Some(BoundReturning::Rows(bound)) => {
            write!(text, "returning\n{}", indented(&bound.to_string())).unwrap();
        }
        Some(BoundReturning::Queries(_)) => {
            let schema = Arc::new(Schema::empty());
            let rows = Arc::new(ArrowTable { name: "rows".into(), schema, rows: ArrowRows::Batches(Vec::new()) });
            let tree = binding.tree(ReturnedQuery { statement, rows: &rows })?;
            write!(text, "returning\n{tree}").unwrap();
        }
    }
    Ok(text)
}

struct Binding<'a> {
    catalog: &'a dyn CatalogReader,
    params: Params<'a>,
}

impl Binding<'_> {
    fn tree<'q>(&self, source: impl Into<StatementQuery<'q>>) -> Result<String, BindError> {
        Ok(indented(&query(source, self.catalog, &TestEngine, self.params)?.to_string()))
    }

    fn upsert(&self, statement: &Upsert, insert: bool) -> Result<String, BindError> {
        let BoundUpsert { target, source, .. } = upsert(statement, insert, (self.catalog, &TestEngine), self.params)?;
        let mut text = target_text(&target);
        match source {
            BoundSource::Rows(rows) => {
                for row in rows {
                    let values = row
                        .iter()
                        .zip(&target.columns)
                        .map(|(value, &column)| text::literal(value, target.column(column).unwrap().ty));
                    writeln!(text, "  ({})", values.collect::<Vec<_>>().join(", ")).unwrap();
                }
            }
            BoundSource::Query(query) => text += &self.tree(&statement.source_query(&query))?,
        }
        Ok(text)
    }

    fn update(&self, statement: &Update) -> Result<String, BindError> {
        let bound = update(statement, self.catalog, self.params)?;
        Ok(format!("update {}\n{}", bound.table.def().name, self.tree(TargetQuery::Update(statement))?))
    }

    fn delete(&self, statement: &Delete) -> Result<String, BindError> {
        let bound = delete(statement, self.catalog, self.params)?;
        let mut text = format!("delete {}\n", bound.table.def().name);
        if let DeletedRows::Where(conditions) = bound.rows {
            let conditions: Vec<&str> = conditions.iter().map(|condition| condition.text.as_str()).collect();
            writeln!(text, "  where {}", conditions.join(", ")).unwrap();
        }
        Ok(text + &self.tree(TargetQuery::Delete(statement))?)
    }

    fn merge(&self, statement: &Merge) -> Result<String, BindError> {
        let bound = merge(statement, self.catalog, self.params)?;
        let mut text = String::new();
        for step in &bound.steps {
            match &step.effect {
                MergeEffect::Update(_) => writeln!(text, "update {}", bound.table.def().name).unwrap(),
                MergeEffect::Delete => writeln!(text, "delete {}", bound.table.def().name).unwrap(),
                MergeEffect::Insert(target) => text += &target_text(target),
            }
            text += &self.tree(TargetQuery::Merge(statement, step.clause))?;
        }
        Ok(text)
    }
}

/// The columns that are written, and what becomes of rows that are there.
fn target_text(target: &UpsertTarget) -> String {
    let name = |column: &usize| target.column(*column).unwrap().name.clone();
    let columns: Vec<String> = target.columns.iter().map(name).collect();
    let verb = match target.on_conflict {
        OnConflict::Replace => "upsert",
        OnConflict::Error => "insert",
        OnConflict::Ignore => "insert or leave",
    };
    let mut text = format!("{verb} {} ({})\n", target.table.def().name, columns.join(", "));
    let of_query = target.columns.iter().skip(target.given()).zip(&target.constants);
    for (column, value) in of_query {
        writeln!(text, "  with {} = {}", name(column), text::literal(value, target.column(*column).unwrap().ty))
            .unwrap();
    }
    if let Some(ConflictUpdate { assignments, dynamic, condition, .. }) = &target.update {
        for (column, value) in assignments {
            writeln!(text, "  or set {} = {value}", target.table.def().written_column(dynamic, *column).unwrap().name)
                .unwrap();
        }
        condition.iter().for_each(|condition| writeln!(text, "  or set where {condition}").unwrap());
    }
    text
}

fn indented(tree: &str) -> String {
    tree.lines().map(|line| format!("  {line}\n")).collect()
}
