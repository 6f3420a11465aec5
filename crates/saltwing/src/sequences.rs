//! Sequences: their definitions, and the values that statements take from them.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::{Field, Schema};
use saltwing_access::TableError;
use saltwing_bind::{
    BoundQuery, ColumnOrigin, OutputColumn, Params, ResultColumn, SequenceAction, SequenceDraw, SequenceUses, expr_of,
};
use saltwing_catalog::{CatalogChange, CatalogStore, change, optional};
use saltwing_exec::select::result_schema;
use saltwing_expr::Evaluator;
use saltwing_sql::TableRef;
use saltwing_types::sequence::stepped;
use saltwing_types::{ColumnDef, ErrorCode, Expr, SequenceDef, SequencePosition, Span, Value};

use crate::Error;
use crate::outcome::{BatchMap, BatchSource, MappedRows, RowsOutcome};
use crate::page::check_no_page;
use crate::query_run::QueryRun;
use crate::session::{CurrentValues, Session};

/// The sequences from which each row of a statement takes values.
pub(crate) struct SequenceValues {
    catalog: Arc<dyn CatalogStore>,
    current: CurrentValues,
    draws: Vec<Draw>,
    /// For each name of a sequence in the statement, the place of its draw: `s` and `public.s` are one sequence, with one value in a row.
    places: Vec<usize>,
}

/// A sequence from which each row takes values.
struct Draw {
    def: Arc<SequenceDef>,
    action: SequenceAction,
    span: Span,
}

impl SequenceValues {
    /// Takes the values of one row.
    pub(crate) fn of_row(&self) -> Result<Vec<Value>, Error> {
        Ok(self.of_rows(1)?.into_iter().flatten().map(Value::Int).collect())
    }

    /// Takes the values of `rows` rows: one column for each name of a sequence.
    pub(crate) fn of_rows(&self, rows: usize) -> Result<Vec<Vec<i64>>, Error> {
        let draw = |draw: &Draw| self.draw(draw, rows).map_err(|error| error.at(Some(draw.span)));
        self.by_name(self.draws.iter().map(draw).collect::<Result<_, Error>>()?)
    }

    /// The start values of the sequences, for `rows` rows. This takes no values.
    pub(crate) fn first_values(&self, rows: usize) -> Result<Vec<Vec<i64>>, Error> {
        self.by_name(self.draws.iter().map(|draw| vec![draw.def.start; rows]).collect())
    }

    /// The column of each name, from the columns of the sequences.
    fn by_name(&self, drawn: Vec<Vec<i64>>) -> Result<Vec<Vec<i64>>, Error> {
        if self.places.len() == drawn.len() {
            return Ok(drawn);
        }
        let missing = || Error::new(ErrorCode::Bug, "a name of a sequence has no values");
        self.places.iter().map(|place| drawn.get(*place).cloned().ok_or_else(missing)).collect()
    }

    fn draw(&self, Draw { def, action, .. }: &Draw, rows: usize) -> Result<Vec<i64>, Error> {
        match *action {
            SequenceAction::Repeat => {
                let current = self.current.lock().get(&def.id).copied();
                current.map(|value| vec![value; rows]).ok_or_else(|| {
                    let text = format!("this session has taken no value of sequence {} yet", def.name);
                    Error::new(ErrorCode::NoCurrentValue, text).with_help(Some("NEXT VALUE FOR takes one"))
                })
            }
            SequenceAction::Take(count) => {
                let values = self.catalog.next_values(def, count, rows)?;
                if let Some(first) = values.last() {
                    self.current.lock().insert(def.id, stepped(*first, count - 1, def.increment));
                }
                Ok(values)
            }
            SequenceAction::Set(value, is_taken) => {
                if rows > 0 {
                    self.set(def, SequencePosition { last: value, is_taken })?;
                }
                Ok(vec![value; rows])
            }
        }
    }

    fn set(&self, def: &SequenceDef, position: SequencePosition) -> Result<(), Error> {
        change(&*self.catalog, |catalog| {
            let old = catalog.sequence(def.name.schema.as_deref(), &def.name.name)?;
            if !(old.min..=old.max).contains(&position.last) {
                let text = format!("{} lies outside MINVALUE {} and MAXVALUE {}", position.last, old.min, old.max);
                return Err(Error::new(ErrorCode::OutOfRange, text));
            }
            let new = SequenceDef::clone(&old);
            Ok(Some(CatalogChange::AlterSequence { old, new, position: Some(position) }))
        })?;
        if position.is_taken {
            self.current.lock().insert(def.id, position.last);
        }
        Ok(())
    }
}

/// Makes the result columns from the rows of a query and the values of sequences.
pub(crate) struct Sequencing {
    values: SequenceValues,
    outputs: Vec<OutputColumn>,
}

/// A column of the result.
enum SequencedOutput {
    /// A column of the query, by index, with its label.
    Column(usize, String),
    Computed(Box<Evaluator>, Field),
}

impl Sequencing {
    /// The columns of the result; `given` are the columns of the query.
    pub(crate) fn columns(&self, given: &[ResultColumn]) -> Arc<[ResultColumn]> {
        let column = |OutputColumn { label, expr, ty }: &OutputColumn| {
            let (ty, nullable) = match given_index(expr, given).and_then(|index| given.get(index)) {
                Some(given) => (given.ty, given.nullable),
                None => (*ty, expr.is_nullable()),
            };
            ResultColumn { label: label.clone(), ty, nullable }
        };
        self.outputs.iter().map(column).collect()
    }

    /// The origins of the result columns; `given` are the origins of the query's columns.
    pub(crate) fn origins(&self, given: &[Option<ColumnOrigin>]) -> Vec<Option<ColumnOrigin>> {
        let origin = |it: &OutputColumn| match &it.expr {
            Expr::Column(column) => given.get(column.index).cloned().flatten(),
            _ => None,
        };
        self.outputs.iter().map(origin).collect()
    }

    /// The result for these rows of the query.
    pub(crate) fn over(self, rows: RowsOutcome) -> RowsOutcome {
        let columns = self.columns(&rows.columns);
        let fields = result_schema(&columns);
        let output = |(it, field): (OutputColumn, &Arc<Field>)| match given_index(&it.expr, &rows.columns) {
            Some(index) => SequencedOutput::Column(index, it.label),
            None => SequencedOutput::Computed(Box::new(Evaluator::new(it.expr)), Field::clone(field)),
        };
        let outputs: Vec<SequencedOutput> = self.outputs.into_iter().zip(fields.fields()).map(output).collect();
        let map: BatchMap = Box::new(move |batch| with_values(batch, &self.values, &outputs));
        let source = MappedRows { rows: rows.source, columns: rows.columns, map };
        RowsOutcome { columns, source: BatchSource::Mapped(Box::new(source)), ..rows }
    }
}

/// The index of the query's column that an output copies; `None` if the output is computed.
fn given_index(expr: &Expr, given: &[ResultColumn]) -> Option<usize> {
    match expr {
        Expr::Column(column) if column.index < given.len() => Some(column.index),
        _ => None,
    }
}

/// The result for one batch of the query's rows. Takes the values of these rows.
fn with_values(
    batch: &RecordBatch,
    values: &SequenceValues,
    outputs: &[SequencedOutput],
) -> Result<RecordBatch, Error> {
    let rows = batch.num_rows();
    let values = values.of_rows(rows)?;
    let values = values.into_iter().map(|values| Some(Arc::new(Int64Array::from(values)) as ArrayRef));
    let columns: Vec<Option<ArrayRef>> = batch.columns().iter().cloned().map(Some).chain(values).collect();
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for output in outputs {
        match output {
            SequencedOutput::Column(index, label) => {
                fields.push(batch.schema_ref().field(*index).clone().with_name(label));
                arrays.push(batch.column(*index).clone());
            }
            SequencedOutput::Computed(evaluator, field) => {
                fields.push(field.clone());
                arrays.push(evaluator.evaluate(&columns, rows)?);
            }
        }
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(TableError::from)?)
}

/// Looks the sequences up in the current catalog, not in that of the transaction.
pub(crate) fn sequence_values(
    session: &Session,
    uses: &SequenceUses,
    params: Params<'_>,
) -> Result<SequenceValues, Error> {
    let catalog = session.shared().catalog.clone();
    let snapshot = catalog.snapshot()?;
    let (mut draws, mut places) = (Vec::<Draw>::new(), Vec::new());
    for it in uses.iter() {
        let span = it.name.span();
        let (schema, name) = it.name.parts();
        let def = snapshot.sequence(schema, name).map_err(|error| Error::from(error).at(Some(span)))?;
        let action = it.action(params)?;
        if action != SequenceAction::Repeat {
            may_take_values(session).map_err(|error| error.at(Some(span)))?;
        }
        if def.cycles && matches!(action, SequenceAction::Take(2..)) {
            let text = format!("sequence {} cycles, so several of its values may not follow each other", def.name);
            let error = Error::new(ErrorCode::NotSupported, text).with_phoenix(Some(1216));
            return Err(error.at(Some(span)).with_help(Some("take them one by one with NEXT VALUE FOR")));
        }
        let known = draws.iter().position(|draw| draw.def.id == def.id);
        places.push(known.unwrap_or(draws.len()));
        match known.and_then(|place| draws.get_mut(place)) {
            Some(draw) => draw.action = draw.action.and(action).map_err(|error| error.at(Some(span)))?,
            None => draws.push(Draw { def, action, span }),
        }
    }
    Ok(SequenceValues { catalog, current: session.current_values.clone(), draws, places })
}

fn may_take_values(session: &Session) -> Result<(), Error> {
    session.writable()?;
    match session.is_within_read_only() {
        true => Err(Error::new(ErrorCode::ReadOnly, "the transaction is READ ONLY: it takes no values of sequences")),
        false => Ok(()),
    }
}

/// The sequences from which the DEFAULT of a column takes values.
fn uses_of_default(column: &ColumnDef) -> Result<SequenceUses, Error> {
    let mut uses = SequenceUses::default();
    if let Some(default) = column.default.as_ref().filter(|default| default.is_of_new_row()) {
        uses.of_row(&expr_of(&default.text)?, Params::NONE)?;
    }
    Ok(uses)
}

/// The sequences from which the DEFAULTs of columns take values, except sequences that belong to a column.
pub(crate) fn sequences_of_defaults<'c>(columns: impl Iterator<Item = &'c ColumnDef>) -> Result<Vec<TableRef>, Error> {
    let mut names = Vec::new();
    for column in columns.filter(|column| column.identity().is_none()) {
        names.extend(uses_of_default(column)?.iter().map(|it| it.name.clone()));
    }
    Ok(names)
}

/// A column whose DEFAULT takes values from the sequence `def`.
pub(crate) fn default_that_uses(session: &Session, def: &SequenceDef) -> Result<Option<String>, Error> {
    let catalog = session.whole_catalog()?;
    for table in catalog.tables()? {
        for column in &table.def().columns {
            for it in uses_of_default(column)?.iter() {
                let (schema, name) = it.name.parts();
                if optional(catalog.sequence(schema, name))?.is_some_and(|used| used.id == def.id) {
                    return Ok(Some(format!("{}.{}", table.def().name, column.name)));
                }
            }
        }
    }
    Ok(None)
}

impl QueryRun<'_> {
    /// Prepares the values that the rows of the query take.
    ///
    /// # Errors
    /// A sequence does not exist, or the session may not take its values. The query is a page, which would have other values if it were read again.
    pub(crate) fn sequencing(&self, draw: &SequenceDraw, query: &BoundQuery) -> Result<Sequencing, Error> {
        check_no_page(self.query)?;
        Ok(Sequencing {
            values: sequence_values(self.session, &draw.uses, self.params)?,
            outputs: draw.outputs(query)?,
        })
    }
}
