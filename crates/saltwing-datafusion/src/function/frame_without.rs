//! Frames with EXCLUDE: the rows between the ends of the frame, without the current one, or its peers, or both. DataFusion has no such frames.
//!
//! For each row, an aggregate is computed anew over the rows of its frame that are left. If these are one run of rows that only grows, as
//! in a frame that begins with the partition, the accumulator of the row before takes the new rows alone.

use std::hash::Hash;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::{filter, partition};
use arrow::datatypes::{FieldRef, Schema};
use datafusion::common::{DFSchema, DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, Expr as PlanExpr, ExprSchemable, PartitionEvaluator, Signature, Volatility,
    WindowFunctionDefinition, WindowUDF, WindowUDFImpl, cast,
};
use saltwing_bind::ExcludedRows;
use saltwing_types::{ValueError, interrupt};

use crate::RelationalError;
use crate::function::aggregate::States;

/// A window function over its frame without these rows.
///
/// # Errors
/// Those of the types of its arguments.
pub(crate) fn over_frame_without(rows: ExcludedRows, expr: PlanExpr, schema: &DFSchema) -> Result<PlanExpr> {
    let PlanExpr::WindowFunction(mut window) = expr else { return Ok(expr) };
    let params = &mut window.params;
    let of = match &window.fun {
        WindowFunctionDefinition::AggregateUDF(function) => {
            let fields = params.args.iter().map(|arg| Ok(arg.to_field(schema)?.1)).collect::<Result<Vec<_>>>()?;
            let wanted = fields_with_udf(&fields, function.as_ref())?;
            for ((arg, field), wanted) in params.args.iter_mut().zip(&fields).zip(&wanted) {
                if field.data_type() != wanted.data_type() {
                    *arg = cast(arg.clone(), wanted.data_type().clone());
                }
            }
            Of::Aggregate { function: function.clone(), is_distinct: std::mem::take(&mut params.distinct) }
        }
        WindowFunctionDefinition::WindowUDF(function) => match (function.name(), params.args.get(1)) {
            ("first_value", _) => Of::Place(Place::First),
            ("last_value", _) => Of::Place(Place::Last),
            (_, Some(PlanExpr::Literal(ScalarValue::Int64(Some(place)), _))) => {
                Of::Place(Place::Nth(usize::try_from(*place).unwrap_or(usize::MAX)))
            }
            _ => return Err(RelationalError::bug("a frame with EXCLUDE of a function that has none").into()),
        },
    };
    if matches!(of, Of::Place(_)) {
        params.args.truncate(1);
    }
    let arguments = params.args.len();
    let has_filter = params.filter.is_some();
    params.args.extend(params.filter.take().map(|filter| *filter));
    let distinct = if matches!(of, Of::Aggregate { is_distinct: true, .. }) { " of distinct values" } else { "" };
    let name = format!("{} without {rows:?}{distinct}", window.fun.name());
    let signature = Signature::variadic_any(Volatility::Immutable);
    let function = OverFrameWithout { name, rows, of, arguments, has_filter, signature };
    window.fun = WindowFunctionDefinition::WindowUDF(Arc::new(WindowUDF::from(function)));
    Ok(PlanExpr::WindowFunction(window))
}

/// A window function over a frame without some of its rows. The first arguments are its own, and the condition of FILTER follows.
#[derive(Debug)]
struct OverFrameWithout {
    /// One that tells it apart from others over the same arguments.
    name: String,
    rows: ExcludedRows,
    of: Of,
    arguments: usize,
    has_filter: bool,
    signature: Signature,
}

/// What it gives of the rows.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Of {
    Aggregate { function: Arc<AggregateUDF>, is_distinct: bool },
    Place(Place),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    First,
    Last,
    /// From 1.
    Nth(usize),
}

impl PartialEq for OverFrameWithout {
    fn eq(&self, other: &Self) -> bool {
        (self.rows, &self.of, self.arguments, self.has_filter)
            == (other.rows, &other.of, other.arguments, other.has_filter)
    }
}

impl Eq for OverFrameWithout {}

impl Hash for OverFrameWithout {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl WindowUDFImpl for OverFrameWithout {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn partition_evaluator(&self, args: PartitionEvaluatorArgs<'_>) -> Result<Box<dyn PartitionEvaluator>> {
        let value = match &self.of {
            Of::Place(place) => Value::Place(*place),
            Of::Aggregate { function, is_distinct } => {
                let fields = args.input_fields().get(..self.arguments).unwrap_or_default();
                let exprs = args.input_exprs().get(..self.arguments).unwrap_or_default();
                let (schema, name) = (Schema::empty(), self.name.as_str());
                let args = AccumulatorArgs {
                    return_field: function.return_field(fields)?,
                    schema: &schema,
                    ignore_nulls: args.ignore_nulls(),
                    order_bys: &[],
                    is_reversed: false,
                    name,
                    is_distinct: *is_distinct,
                    exprs,
                    expr_fields: fields,
                };
                Value::Aggregate(States::new(function.clone(), args))
            }
        };
        Ok(Box::new(Frames {
            value,
            rows: self.rows,
            arguments: self.arguments,
            has_filter: self.has_filter,
            arguments_and_filter: args.input_exprs().len(),
            ignore_nulls: args.ignore_nulls(),
            row: 0,
            peers: None,
            kept: None,
        }))
    }

    fn field(&self, args: WindowUDFFieldArgs<'_>) -> Result<FieldRef> {
        let fields = args.input_fields().get(..self.arguments).unwrap_or_default();
        let field = match &self.of {
            Of::Aggregate { function, .. } => function.return_field(fields)?,
            Of::Place(_) => fields.first().cloned().ok_or_else(no_argument)?,
        };
        Ok(Arc::new(field.as_ref().clone().with_name(args.name()).with_nullable(true)))
    }
}

fn no_argument() -> DataFusionError {
    RelationalError::bug("a frame with EXCLUDE without an argument").into()
}

#[derive(Debug)]
enum Value {
    Aggregate(States),
    Place(Place),
}

/// The frames of the rows of one partition. DataFusion evaluates the rows in their order.
#[derive(Debug)]
struct Frames {
    value: Value,
    rows: ExcludedRows,
    arguments: usize,
    has_filter: bool,
    /// How many arguments there are; what is sorted by follows them.
    arguments_and_filter: usize,
    ignore_nulls: bool,
    /// The row whose frame is next.
    row: usize,
    /// The runs of rows that are equal in the order.
    peers: Option<Vec<Range<usize>>>,
    /// The aggregate of a run of rows.
    kept: Option<(Range<usize>, Box<dyn Accumulator>)>,
}

impl PartitionEvaluator for Frames {
    fn uses_window_frame(&self) -> bool {
        true
    }

    fn evaluate(&mut self, values: &[ArrayRef], range: &Range<usize>) -> Result<ScalarValue> {
        let row = self.row;
        self.row += 1;
        let peers = self.peers_of(row, values)?;
        let parts = match self.rows {
            ExcludedRows::CurrentRow => [0..row, row + 1..usize::MAX, 0..0],
            ExcludedRows::Group => [0..peers.start, peers.end..usize::MAX, 0..0],
            ExcludedRows::Ties => [0..peers.start, row..row + 1, peers.end..usize::MAX],
        };
        let clipped = |part: Range<usize>| part.start.max(range.start)..part.end.min(range.end);
        let parts: Vec<Range<usize>> = parts.into_iter().map(clipped).filter(|part| !part.is_empty()).collect();
        match self.value {
            Value::Place(place) => self.at(place, values, parts),
            Value::Aggregate(_) => self.aggregate(values, parts),
        }
    }
}

impl Frames {
    /// The rows that are equal to one in the order.
    fn peers_of(&mut self, row: usize, values: &[ArrayRef]) -> Result<Range<usize>> {
        let peers = match &self.peers {
            Some(peers) => peers,
            None => {
                let order = values.get(self.arguments_and_filter..).unwrap_or_default();
                let rows = values.first().map_or(0, |values| values.len());
                let peers =
                    if order.is_empty() { std::iter::once(0..rows).collect() } else { partition(order)?.ranges() };
                self.peers.insert(peers)
            }
        };
        let place = peers.partition_point(|peers| peers.end <= row);
        peers.get(place).cloned().ok_or_else(no_argument)
    }

    /// The value of the row at a place of the frame.
    fn at(&self, place: Place, values: &[ArrayRef], parts: Vec<Range<usize>>) -> Result<ScalarValue> {
        let value = values.first().ok_or_else(no_argument)?;
        let counts = |row: &usize| !self.ignore_nulls || value.is_valid(*row);
        let mut rows = parts.into_iter().flatten().filter(counts);
        let found = match place {
            Place::First => rows.next(),
            Place::Last => rows.next_back(),
            Place::Nth(place) => place.checked_sub(1).and_then(|before| rows.nth(before)),
        };
        match found {
            Some(row) => ScalarValue::try_from_array(value, row),
            None => ScalarValue::try_from(value.data_type()),
        }
    }

    fn aggregate(&mut self, values: &[ArrayRef], parts: Vec<Range<usize>>) -> Result<ScalarValue> {
        let Value::Aggregate(states) = &self.value else { return Err(no_argument()) };
        let whole = match parts.as_slice() {
            [part] => Some(part.clone()),
            _ => None,
        };
        let (mut accumulator, parts) = match (self.kept.take(), &whole) {
            (Some((kept, accumulator)), Some(part)) if kept.start == part.start && kept.end <= part.end => {
                (accumulator, std::iter::once(kept.end..part.end).collect())
            }
            _ => (states.empty()?, parts),
        };
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            interrupt::spend(part.len()).map_err(|error| RelationalError::from(ValueError::Interrupted(error)))?;
            accumulator.update_batch(&self.rows_of(values, part)?)?;
        }
        let value = accumulator.evaluate()?;
        self.kept = whole.map(|part| (part, accumulator));
        Ok(value)
    }

    /// The arguments of some rows; of those that FILTER lets through.
    fn rows_of(&self, values: &[ArrayRef], part: Range<usize>) -> Result<Vec<ArrayRef>> {
        let arguments = values.get(..self.arguments).unwrap_or_default();
        let sliced = arguments.iter().map(|values| values.slice(part.start, part.len()));
        let Some(condition) = values.get(self.arguments).filter(|_| self.has_filter) else {
            return Ok(sliced.collect());
        };
        let condition = condition.slice(part.start, part.len());
        let condition = condition.as_boolean_opt().ok_or_else(no_argument)?;
        sliced.map(|values| Ok(filter(&values, condition)?)).collect()
    }
}
