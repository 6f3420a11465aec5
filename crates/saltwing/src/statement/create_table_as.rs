//! CREATE TABLE AS.

use std::collections::HashSet;

use arrow::array::{Array, RecordBatch};
use saltwing_bind::{ParamValues, ResultColumn, create_table_as, file_names};
use saltwing_expr::write_text;
use saltwing_planner::HintVerb;
use saltwing_sql::statement::{CreateTable, CreateTableAs, RowSource, Upsert};
use saltwing_sql::{Statement, quote_name};
use saltwing_types::{ErrorCode, SqlType};

use super::create_table::make_table;
use super::describer::{Describer, columns_of};
use super::explaining::Explaining;
use super::{Effects, HasKind, InTransaction, Run, StatementKind, Target};
use crate::Error;
use crate::description::Description;
use crate::explained::Explained;
use crate::outcome::{ExecResult, Outcome};
use crate::queries::run_query;
use crate::query_run::Purpose;
use crate::session::Session;
use crate::statement_plans::PlanCache;
use crate::temporary::{is_there, name_of_new, take_back};

/// Rows of a file that are read to find columns for a key.
const ROWS_JUDGED: usize = 10_240;
/// Advice if two rows of the query have one key.
const EQUAL_KEYS: &str = "two rows of the query have this key: name more columns in PRIMARY KEY (..), or make the query's rows distinct by GROUP BY";
/// Most columns whose pairs are tried as a key.
const COLUMNS_PAIRED: usize = 12;

impl StatementKind for CreateTableAs {
    fn tag(&self) -> &'static str {
        "CREATE TABLE AS"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        vec![Target::new_table(&self.table.table, self.table.temporary)]
    }

    fn in_transaction(&self) -> InTransaction {
        InTransaction::definition("CREATE TABLE")
    }

    fn describe(&self, describer: &mut Describer<'_>) -> Result<Description, Error> {
        if let Some(columns) = describer.described_query(&self.query, HintVerb::Select)?.columns {
            create_table_as(self, &columns, &*describer.catalog()?, None)?;
        }
        Ok(Description::default())
    }

    fn effects(&self) -> Effects {
        let rows = "those of the query are written into the table";
        Effects::catalog(format!("creates table {}", self.table.table), rows)
    }

    fn explain(&self, explaining: &Explaining<'_>) -> Result<Option<Explained>, Error> {
        Ok(Some(Explained { effects: self.effects().lines, ..explaining.query(&self.query)? }))
    }

    /// Creates the table, then writes the rows of the query into it. If that fails, the table is dropped.
    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        let Run { session, params, .. } = *run;
        session.writable()?;
        let name = &self.table.table;
        if self.table.if_not_exists && is_there(session, &self.table)? {
            return Ok(ExecResult::noticed(vec![format!("table {name} exists already")]).into());
        }
        let columns = columns_of(session, &self.query, params, Purpose::Judge)?;
        let advice = key_advice(session, self, params)?;
        let table = create_table_as(self, &columns, &*session.catalog()?, advice.as_deref())?;
        let new = name_of_new(session, &self.table)?;
        // If another statement creates the table meanwhile, this statement must not write into it.
        let notices = make_table(session, &CreateTable { if_not_exists: false, ..table })?;
        let query = &self.query;
        let insert = Statement::Insert(Upsert {
            table: new.clone(),
            columns: None,
            takes_first_columns: false,
            dynamic: Vec::new(),
            overriding: false,
            source: RowSource::Query(query.query.clone()),
            conflict: None,
            returning: None,
            hints: query.hints.clone(),
            span: query.span,
        });
        match insert.ask(|kind| kind.run(&Run { statement: &insert, plans: &PlanCache::default(), ..*run })) {
            Ok(Outcome::Done(mut result)) => {
                result.notices.splice(0..0, notices);
                Ok(result.into())
            }
            Ok(rows) => Ok(rows),
            Err(error) => {
                if let Err(failed) = take_back(session, &new) {
                    tracing::warn!(table = %name, error = %failed.error, "the table of a failed CREATE TABLE AS is still there");
                }
                Err(match error.code() {
                    ErrorCode::DuplicateKey => error.with_help_instead(EQUAL_KEYS),
                    _ => error,
                })
            }
        }
    }
}

/// Advice about columns that can be the key of a table with a file's rows. `None` if the statement gives a key, or reads no file.
fn key_advice(session: &Session, create: &CreateTableAs, params: ParamValues<'_>) -> Result<Option<String>, Error> {
    if create.table.primary_key.is_some() || file_names((&create.query).into()).is_empty() {
        return Ok(None);
    }
    let rows = run_query(session, &create.query, params)?;
    let columns = rows.columns.clone();
    let mut source = rows.source;
    let (mut batches, mut count) = (Vec::new(), 0);
    while count < ROWS_JUDGED
        && let Some(batch) = source.next_blocking(&columns)?
    {
        let batch = batch.slice(0, batch.num_rows().min(ROWS_JUDGED - count));
        count += batch.num_rows();
        batches.push(batch);
    }
    let serving = serving_columns(&columns, &batches)?;
    // The name of a column in the table.
    let name = |place: &usize| {
        let given = create.names.get(*place).map(|name| quote_name(&name.text));
        given.or_else(|| Some(quote_name(&columns.get(*place)?.label))).unwrap_or_default()
    };
    let listed = |places: &[usize]| places.iter().map(name).collect::<Vec<_>>().join(", ");
    Ok(Some(match serving.as_slice() {
        [] => format!(
            "PRIMARY KEY (column, ..) before AS; in the first {count} rows no column, and no two columns, are unique and never NULL"
        ),
        [best, ..] if best.len() > 1 => format!(
            "PRIMARY KEY ({}) before AS; in the first {count} rows these are unique together and never NULL, and no column alone is",
            listed(best)
        ),
        [best, ..] => format!(
            "PRIMARY KEY ({}) before AS; unique and never NULL in the first {count} rows: {}",
            listed(best),
            serving.iter().map(|places| listed(places)).collect::<Vec<_>>().join(", ")
        ),
    }))
}

/// The columns that are unique and never NULL in the rows; if there are none, a pair of them.
fn serving_columns(columns: &[ResultColumn], batches: &[RecordBatch]) -> Result<Vec<Vec<usize>>, Error> {
    let mut candidates = Vec::new();
    for (place, column) in columns.iter().enumerate() {
        // Measured numbers, and values without an order, do not identify rows.
        let is_key = !column.ty.is_float() && column.ty != SqlType::Json && column.ty.element().is_none();
        let has_nulls = batches.iter().any(|batch| batch.column(place).null_count() > 0);
        if is_key && !has_nulls {
            candidates.push(place);
        }
    }
    let mut found = Vec::new();
    for &place in &candidates {
        if is_unique(columns, batches, &[place])? {
            found.push(vec![place]);
        }
    }
    if !found.is_empty() {
        return Ok(found);
    }
    candidates.truncate(COLUMNS_PAIRED);
    for (at, &one) in candidates.iter().enumerate() {
        for &other in candidates.iter().skip(at + 1) {
            if is_unique(columns, batches, &[one, other])? {
                return Ok(vec![vec![one, other]]);
            }
        }
    }
    Ok(Vec::new())
}

fn is_unique(columns: &[ResultColumn], batches: &[RecordBatch], places: &[usize]) -> Result<bool, Error> {
    let mut seen = HashSet::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            let mut key = String::new();
            for &place in places {
                let Some(column) = columns.get(place) else { continue };
                write_text(batch.column(place), row, column.ty, &mut key)?;
                key.push('\0');
            }
            if !seen.insert(key) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
