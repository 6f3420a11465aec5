//! SUMMARIZE: a row for each column of a table or a query, with what aggregates tell of its values.
//!
//! ```text
//! SUMMARIZE query ── SELECT COUNT(*), COUNT(c1), MIN(c1), .. FROM (query) AS q (c1, ..) ──> one row ──> a row for each column
//! ```

use std::sync::Arc;

use arrow::array::RecordBatch;
use saltwing_access::TableError;
use saltwing_bind::{ParamValues, ResultColumn};
use saltwing_exec::select::result_schema;
use saltwing_expr::{columns_of_rows, value_at};
use saltwing_planner::HintVerb;
use saltwing_sql::statement::QueryStatement;
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{ErrorCode, SqlType, Value, text};

use super::describer::{Describer, columns_of};
use super::explaining::Explaining;
use super::{Effects, Run, StatementKind, Target};
use crate::Error;
use crate::description::Description;
use crate::explained::Explained;
use crate::outcome::{BatchMap, BatchSource, MappedRows, Outcome, RowsOutcome};
use crate::queries::run_query;
use crate::query_run::Purpose;
use crate::session::Session;

/// The columns of the result, as DuckDB has them.
const COLUMNS: [(&str, SqlType); 12] = [
    ("column_name", SqlType::Varchar(None)),
    ("column_type", SqlType::Varchar(None)),
    ("min", SqlType::Varchar(None)),
    ("max", SqlType::Varchar(None)),
    ("approx_unique", SqlType::BigInt),
    ("avg", SqlType::Varchar(None)),
    ("std", SqlType::Varchar(None)),
    ("q25", SqlType::Varchar(None)),
    ("q50", SqlType::Varchar(None)),
    ("q75", SqlType::Varchar(None)),
    ("count", SqlType::BigInt),
    ("null_percentage", SqlType::Double),
];

/// An aggregate with `?` for the column, and the column of the result that it is for.
type Aggregate = (usize, &'static str);

const OF_ORDERED: [Aggregate; 2] = [(2, "MIN(?)"), (3, "MAX(?)")];
const DISTINCT: Aggregate = (4, "APPROX_DISTINCT(?)");
/// The engine counts no different numbers with fractions, and none of some other types.
const DISTINCT_TEXTS: Aggregate = (4, "APPROX_DISTINCT(CAST(? AS VARCHAR))");
const OF_NUMBERS: [Aggregate; 5] = [
    (5, "AVG(?)"),
    (6, "STDDEV(?)"),
    (7, "APPROX_PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY ?)"),
    (8, "APPROX_PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY ?)"),
    (9, "APPROX_PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY ?)"),
];
const COUNT: usize = 10;
const NULL_PERCENTAGE: usize = 11;

fn has_order(ty: SqlType) -> bool {
    !matches!(ty, SqlType::Json | SqlType::Array(..) | SqlType::Null | SqlType::Opaque)
}

fn is_number(ty: SqlType) -> bool {
    ty.is_integer() || ty.is_float() || matches!(ty, SqlType::Decimal(_))
}

pub(super) struct Summarize<'a>(pub(super) &'a QueryStatement);

impl StatementKind for Summarize<'_> {
    /// To clients it is a query.
    fn tag(&self) -> &'static str {
        "SELECT"
    }

    fn targets(&self) -> Vec<Target<'_>> {
        Vec::new()
    }

    fn columns(&self) -> Option<Vec<ResultColumn>> {
        Some(columns())
    }

    fn describe(&self, describer: &mut Describer<'_>) -> Result<Description, Error> {
        describer.described_query(self.0, HintVerb::Select)?;
        Ok(Description::default())
    }

    fn effects(&self) -> Effects {
        Effects::none()
    }

    fn explain(&self, explaining: &Explaining<'_>) -> Result<Option<Explained>, Error> {
        let (query, _) = self.summary(explaining.session, explaining.params)?;
        explaining.query(&query).map(Some)
    }

    fn is_analyzed(&self) -> bool {
        true
    }

    fn run(&self, run: &Run<'_>) -> Result<Outcome, Error> {
        let (query, of) = self.summary(run.session, run.params)?;
        let rows = run_query(run.session, &query, run.params)?;
        let types = rows.types();
        let map: BatchMap = Box::new(move |batch| summarized(batch, &types, &of));
        let source = MappedRows { rows: rows.source, columns: rows.columns, map };
        let source = BatchSource::Mapped(Box::new(source));
        Ok(Outcome::Rows(RowsOutcome { columns: columns().into(), source, ..rows }))
    }
}

impl Summarize<'_> {
    /// The query of all aggregates, whose only row has COUNT(*), and for each column COUNT and its [`aggregates`]; and the columns.
    fn summary(
        &self,
        session: &Session,
        params: ParamValues<'_>,
    ) -> Result<(QueryStatement, Arc<[ResultColumn]>), Error> {
        let of = columns_of(session, self.0, params, Purpose::Explain)?;
        let mut items = vec!["COUNT(*)".to_owned()];
        for (place, column) in of.iter().enumerate() {
            let name = format!("c{}", place + 1);
            items.push(format!("COUNT({name})"));
            items.extend(aggregates(column.ty).map(|(_, aggregate)| aggregate.replace('?', &name)));
        }
        let query = self.0.items_over(&items, of.len());
        let query = query.ok_or_else(|| Error::new(ErrorCode::Bug, "the aggregates of SUMMARIZE are no query"))?;
        Ok((query, of))
    }
}

/// The aggregates besides COUNT of a column of this type.
fn aggregates(ty: SqlType) -> impl Iterator<Item = Aggregate> {
    let distinct = match ty.is_integer() || ty.family() == TypeFamily::Text || ty.family() == TypeFamily::Bytes {
        true => DISTINCT,
        false => DISTINCT_TEXTS,
    };
    let of_ordered = OF_ORDERED.into_iter().chain([distinct]).filter(move |_| has_order(ty));
    of_ordered.chain(OF_NUMBERS.into_iter().filter(move |_| is_number(ty)))
}

/// The columns of the result.
fn columns() -> Vec<ResultColumn> {
    COLUMNS.map(|(label, ty)| ResultColumn { label: label.into(), ty, nullable: true }).into()
}

/// The rows of the result, from the only row of the aggregates.
fn summarized(batch: &RecordBatch, types: &[SqlType], of: &[ResultColumn]) -> Result<RecordBatch, Error> {
    let values = batch.columns().iter().zip(types).map(|(array, ty)| Ok((value_at(array, 0, *ty)?, *ty)));
    let mut values = values.collect::<Result<Vec<_>, Error>>()?.into_iter();
    let mut next = || values.next().unwrap_or((Value::Null, SqlType::Null));
    let (total, _) = next();
    let mut rows = Vec::with_capacity(of.len());
    for column in of {
        let mut row = vec![Value::Null; COLUMNS.len()];
        row[0] = Value::text(&column.label);
        row[1] = Value::text(column.ty.to_string());
        let (count, _) = next();
        for (place, _) in aggregates(column.ty) {
            let (value, ty) = next();
            row[place] = match COLUMNS[place].1 {
                SqlType::BigInt => value,
                _ => text::format(&value, ty).into(),
            };
        }
        row[NULL_PERCENTAGE] = percentage_of_nulls(&total, &count);
        row[COUNT] = total.clone();
        rows.push(row);
    }
    let arrays = columns_of_rows(&COLUMNS.map(|(_, ty)| ty), &rows)?;
    Ok(RecordBatch::try_new(result_schema(&columns()), arrays).map_err(TableError::from)?)
}

/// The share of NULLs in percent, with two decimals; NULL of no rows.
fn percentage_of_nulls(total: &Value, count: &Value) -> Value {
    match (total, count) {
        (Value::Int(total @ 1..), Value::Int(count)) => {
            Value::Double(((total - count) as f64 / *total as f64 * 10_000.0).round() / 100.0)
        }
        _ => Value::Null,
    }
}
