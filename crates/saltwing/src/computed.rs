//! Computes values of new rows in the relational engine: expressions of VALUES that only that engine supports, and
//! DEFAULTs that are computed for each row.

use std::sync::Arc;

use saltwing_access::{ScanContext, Snapshot};
use saltwing_bind::{
    ComputedQuery, ComputedValue, ConflictUpdate, ParamValues, Params, SequenceUses, SequencedRow, UpdateSubquery,
    UpsertTarget, expr_of,
};
use saltwing_expr::value_at;
use saltwing_sql::statement::Hint;
use saltwing_types::table::DefaultKind;
use saltwing_types::{ColumnDef, ErrorCode, Expr, Span, TableDef, Value, eval, number};

use crate::Error;
use crate::query_run::query_run_on;
use crate::sequences::sequence_values;
use crate::session::Session;
use crate::settings::ExecutorChoice;

/// Most expressions in one query: planning one query of many takes longer than planning several of few.
pub(crate) const EXPRS_AT_ONCE: usize = 100;

/// The environment in which a statement's values are computed.
pub(crate) struct Computing<'a> {
    pub(crate) session: &'a Session,
    hints: &'a [Hint],
    params: ParamValues<'a>,
    pub(crate) context: &'a ScanContext,
    /// The value of `now()`.
    pub(crate) now_ms: i64,
    /// Whether no row is written: sequences then give their start values, and no value is taken.
    is_trial: bool,
}

pub(crate) fn computing<'a>(
    session: &'a Session,
    hints: &'a [Hint],
    params: ParamValues<'a>,
    context: &'a ScanContext,
) -> Computing<'a> {
    let now_ms = session.now_ms();
    Computing { session, hints, params, context, now_ms, is_trial: false }
}

/// Tries the DEFAULTs that are computed for each row. A DEFAULT that fails here would fail for every row.
pub(crate) fn check_defaults(session: &Session, def: &TableDef) -> Result<(), Error> {
    // The sequence of an identity column does not exist before its table.
    let is_computed =
        |column: &&ColumnDef| column.default.as_ref().is_some_and(|default| default.kind == DefaultKind::NewRow);
    let columns: Vec<&ColumnDef> = def.columns.iter().filter(is_computed).collect();
    if columns.is_empty() {
        return Ok(());
    }
    let (snapshot, context) = (session.snapshot()?, session.begin());
    let computing = Computing { is_trial: true, ..computing(session, &[], ParamValues::NONE, &context) };
    computing.values_of(&snapshot, def, &columns, 2).map(drop)
}

impl Computing<'_> {
    /// Computes expressions and puts their values into the rows.
    pub(crate) fn fill(
        &self,
        snapshot: &Arc<dyn Snapshot>,
        target: &UpsertTarget,
        rows: &mut [Vec<Value>],
        computed: &[ComputedValue],
        span: Span,
    ) -> Result<(), Error> {
        let def = target.table.def();
        for chunk in computed.chunks(EXPRS_AT_ONCE) {
            // The query has two rows, because an aggregate would return one row.
            let exprs: Vec<_> = chunk.iter().map(|value| &*value.expr).collect();
            let found = self.run(snapshot, ComputedQuery { exprs: &exprs, rows: 2, hints: self.hints, span })?;
            let [values, _] = found.as_slice() else {
                let text = "VALUES takes values of one row, and no aggregates";
                return Err(Error::new(ErrorCode::Syntax, text).at(Some(span)));
            };
            for (place, value) in chunk.iter().zip(values) {
                let column = target.columns.get(place.place).and_then(|&column| target.column(column));
                let to = rows.get_mut(place.row).and_then(|row| row.get_mut(place.place));
                let (Some(column), Some(to)) = (column, to) else { continue };
                *to = assigned(value.clone(), column, def)?;
            }
        }
        Ok(())
    }

    /// Computes the subqueries in the change of rows that are there, and puts it with their values into the target.
    pub(crate) fn fill_change(
        &self,
        snapshot: &Arc<dyn Snapshot>,
        target: &mut UpsertTarget,
        (change, subqueries): (&Option<ConflictUpdate>, &[UpdateSubquery]),
        span: Span,
    ) -> Result<(), Error> {
        let Some(change) = change else { return Ok(()) };
        let mut change = change.clone();
        let exprs: Vec<_> = subqueries.iter().map(|subquery| &*subquery.expr).collect();
        let found = self.run(snapshot, ComputedQuery { exprs: &exprs, rows: 1, hints: self.hints, span })?;
        for (subquery, value) in subqueries.iter().zip(found.first().into_iter().flatten()) {
            change.set_subquery(subquery.number, value);
        }
        target.update = Some(change);
        Ok(())
    }

    /// Adds to each row the values of [`UpsertTarget::computed_defaults`].
    pub(crate) fn add_defaults(
        &self,
        snapshot: &Arc<dyn Snapshot>,
        target: &UpsertTarget,
        rows: &mut [Vec<Value>],
    ) -> Result<(), Error> {
        let defaults = self.defaults(snapshot, target, rows.len())?;
        rows.iter_mut().zip(defaults).for_each(|(row, more)| row.extend(more));
        Ok(())
    }

    /// The values of [`UpsertTarget::computed_defaults`] for `rows` rows; empty if there are no such columns.
    pub(crate) fn defaults(
        &self,
        snapshot: &Arc<dyn Snapshot>,
        target: &UpsertTarget,
        rows: usize,
    ) -> Result<Vec<Vec<Value>>, Error> {
        let def = target.table.def();
        let columns: Vec<&ColumnDef> = target.computed_defaults.iter().filter_map(|&c| def.columns.get(c)).collect();
        if columns.is_empty() || rows == 0 {
            return Ok(Vec::new());
        }
        self.values_of(snapshot, def, &columns, rows)
    }

    /// The DEFAULTs of these columns for `rows` rows.
    pub(crate) fn values_of(
        &self,
        snapshot: &Arc<dyn Snapshot>,
        def: &TableDef,
        columns: &[&ColumnDef],
        rows: usize,
    ) -> Result<Vec<Vec<Value>>, Error> {
        let texts = || columns.iter().filter_map(|column| column.default.as_ref()).map(|default| default.text.as_str());
        // Positions in a text that is not the statement's would mislead.
        let failed = |error: Error| {
            let text = format!("{}: DEFAULT {}: {error}", def.name, texts().collect::<Vec<_>>().join(", "));
            Error::new(error.code(), text).with_help(error.help().map(str::to_owned))
        };
        let exprs = texts().map(expr_of).collect::<Result<Vec<_>, _>>().map_err(|error| failed(error.into()))?;
        let (mut uses, mut of_sequences, mut others) = (SequenceUses::default(), Vec::new(), Vec::new());
        for expr in &exprs {
            let of_sequence = uses.of_row(expr, Params::NONE).map_err(|error| failed(error.into()))?;
            others.extend(of_sequence.is_none().then_some(expr));
            of_sequences.push(of_sequence);
        }
        let found = match others.is_empty() {
            true => vec![Vec::new(); rows],
            false => {
                // The position of an error is replaced later.
                let span = Span::on_line(1, 1, 1);
                self.run(snapshot, ComputedQuery { exprs: &others, rows, hints: &[], span }).map_err(failed)?
            }
        };
        if found.len() != rows {
            let text = "it is no value of one row: a DEFAULT takes no aggregates";
            return Err(failed(Error::new(ErrorCode::Syntax, text)));
        }
        let sequences = sequence_values(self.session, &uses, Params::NONE).map_err(failed)?;
        let taken =
            if self.is_trial { sequences.first_values(rows)? } else { sequences.of_rows(rows).map_err(failed)? };
        let row = |(row, found): (usize, Vec<Value>)| {
            let taken: Vec<Value> =
                taken.iter().filter_map(|values| values.get(row).copied().map(Value::Int)).collect();
            let mut found = found.into_iter();
            let value = |(of_sequence, column): (&Option<Expr>, &&ColumnDef)| match of_sequence {
                None => assigned(found.next().unwrap_or(Value::Null), column, def),
                Some(expr) => assigned(eval::eval(expr, &taken)?, column, def),
            };
            of_sequences.iter().zip(columns).map(value).collect::<Result<Vec<_>, Error>>()
        };
        found.into_iter().enumerate().map(row).collect::<Result<_, _>>().map_err(failed)
    }

    /// The rows of a query.
    fn run(&self, snapshot: &Arc<dyn Snapshot>, query: ComputedQuery<'_>) -> Result<Vec<Vec<Value>>, Error> {
        let mut run = query_run_on(self.session, snapshot.clone(), query, Params::Given(self.params), self.context)?;
        // The requested executor applies only to queries.
        if run.executor == ExecutorChoice::Direct {
            run.executor = ExecutorChoice::Auto;
        }
        run.now_ms = Some(self.now_ms);
        let outcome = run.start_run(self.context.for_another_scan())?;
        let types = outcome.types();
        let (rows, _) = outcome.drain(|batches| {
            let mut rows = Vec::new();
            for batch in batches {
                let batch = batch?;
                for row in 0..batch.num_rows() {
                    let values = batch.columns().iter().zip(&types).map(|(column, ty)| value_at(column, row, *ty));
                    rows.push(values.collect::<Result<Vec<_>, _>>()?);
                }
            }
            Ok(rows)
        })?;
        Ok(rows)
    }
}

/// Converts a value to the type of a column.
pub(crate) fn assigned(value: Value, column: &ColumnDef, def: &TableDef) -> Result<Value, Error> {
    let value = number::assign(value, column.ty).map_err(|error| {
        let text = format!("{}.{}: {error}", def.name, column.name);
        Error::new(error.code(), text)
    })?;
    if value.is_null() && !column.nullable {
        return Err(Error::new(ErrorCode::NotNull, format!("{}.{} is NOT NULL", def.name, column.name)));
    }
    Ok(value)
}

/// Puts values of sequences into new rows.
pub(crate) fn fill_sequences(
    session: &Session,
    target: &UpsertTarget,
    rows: &mut [Vec<Value>],
    sequenced: &[SequencedRow],
    params: ParamValues<'_>,
) -> Result<(), Error> {
    let def = target.table.def();
    for it in sequenced {
        let values = sequence_values(session, &it.uses, Params::Given(params))?.of_row()?;
        for (place, expr) in &it.values {
            let column = target.columns.get(*place).and_then(|&column| target.column(column));
            let to = rows.get_mut(it.row).and_then(|row| row.get_mut(*place));
            let (Some(column), Some(to)) = (column, to) else {
                return Err(Error::new(ErrorCode::Bug, "a value of a sequence has no place in its row"));
            };
            *to = assigned(eval::eval(expr, &values)?, column, def)?;
        }
    }
    Ok(())
}
