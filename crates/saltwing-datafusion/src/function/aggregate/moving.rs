//! Aggregates over frames whose both ends move.
//!
//! DataFusion takes the values that leave a frame off again. Of floats that is not the inverse of adding them: a NaN stays, and a large
//! value takes the small ones with it. Other aggregates have no inverse at all. So what the frame has is put together anew, in a
//! constant number of steps for each row:
//!
//! ```text
//! rows of the frame:   1 2 3 4 | 5 6 7
//! known of them:       1..4, 2..4, 3..4, 4 | 5..7
//! ```
//! A row that comes is added to the second part, one that leaves takes its entry of the first part with it. If the first part has no
//! row left, the second one takes its place.

use std::fmt::Debug;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::{DataType, FieldRef, SchemaRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Expr as PlanExpr, Signature, WindowFunctionDefinition,
};
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr};
use saltwing_expr::sum::{FloatTotal, SumKind, SumTotal};
use saltwing_types::function::aggregate::AggregateFunction;

use crate::RelationalError;

use super::sum::{argument, of_values, only, sum_overflow};

/// Aggregates of DataFusion's that take values off again exactly. Those that both executors compute decide by the type of their values.
const EXACT: [&str; 2] = ["array_agg", "median"];

/// A window function whose aggregate is put together anew for each row, if its frame moves and the aggregate cannot do so itself.
pub(crate) fn over_moving_frame(mut expr: PlanExpr) -> PlanExpr {
    if let PlanExpr::WindowFunction(window) = &mut expr
        && !window.params.window_frame.is_ever_expanding()
        && let WindowFunctionDefinition::AggregateUDF(native) = &window.fun
        && !EXACT.contains(&native.name())
        && AggregateFunction::by_name(native.name()).is_none()
        && !native.inner().is::<OverMovingFrame>()
    {
        let moving = OverMovingFrame { native: native.clone() };
        window.fun = WindowFunctionDefinition::AggregateUDF(Arc::new(AggregateUDF::new_from_impl(moving)));
    }
    expr
}

/// An aggregate as a window function over moving frames.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OverMovingFrame {
    native: Arc<AggregateUDF>,
}

impl AggregateUDFImpl for OverMovingFrame {
    fn name(&self) -> &str {
        self.native.name()
    }

    fn signature(&self) -> &Signature {
        self.native.signature()
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.native.coerce_types(arg_types)
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.native.return_type(arg_types)
    }

    fn return_field(&self, arg_fields: &[FieldRef]) -> Result<FieldRef> {
        self.native.return_field(arg_fields)
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        self.native.accumulator(args)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        self.native.state_fields(args)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Moving::new(States::new(self.native.clone(), args))))
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        self.native.default_value(data_type)
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.native.order_sensitivity()
    }

    fn supports_null_handling_clause(&self) -> bool {
        self.native.supports_null_handling_clause()
    }
}

/// SUM or AVG of floats over a moving frame.
pub(super) fn moving_floats(is_average: bool) -> Box<dyn Accumulator> {
    Box::new(Moving::new(Floats { is_average }))
}

/// What is known of a run of rows, so that two runs that follow one another can be put together.
trait Runs: Debug + Send + Sync + 'static {
    type Run: Clone + Debug + Send + Sync;

    /// The run of one row.
    fn of_row(&self, values: &[ArrayRef], row: usize) -> Result<Self::Run>;

    fn joined(&self, first: &Self::Run, second: &Self::Run) -> Result<Self::Run>;

    /// The value of the aggregate; `None` is a frame without rows.
    fn value(&self, run: Option<&Self::Run>) -> Result<ScalarValue>;

    /// The bytes that a run has on the heap.
    fn heap_bytes(run: &Self::Run) -> usize;
}

/// The aggregate of the rows between two ends, both of which move forward.
#[derive(Debug)]
struct Moving<R: Runs> {
    runs: R,
    /// From each row of the first part to the last one of that part; the run of the first row is last.
    first: Vec<R::Run>,
    /// Each row of the second part.
    second: Vec<R::Run>,
    /// The second part.
    whole_second: Option<R::Run>,
    heap_bytes: usize,
}

impl<R: Runs> Moving<R> {
    fn new(runs: R) -> Self {
        Self { runs, first: Vec::new(), second: Vec::new(), whole_second: None, heap_bytes: 0 }
    }

    /// Makes the second part the first one.
    fn turn(&mut self) -> Result<()> {
        self.whole_second = None;
        while let Some(run) = self.second.pop() {
            self.heap_bytes -= R::heap_bytes(&run).min(self.heap_bytes);
            let run = match self.first.last() {
                Some(after) => self.runs.joined(&run, after)?,
                None => run,
            };
            self.heap_bytes += R::heap_bytes(&run);
            self.first.push(run);
        }
        Ok(())
    }
}

impl<R: Runs> Accumulator for Moving<R> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for row in 0..argument(values)?.len() {
            let run = self.runs.of_row(values, row)?;
            self.heap_bytes += R::heap_bytes(&run);
            self.whole_second = Some(match &self.whole_second {
                Some(whole) => self.runs.joined(whole, &run)?,
                None => run.clone(),
            });
            self.second.push(run);
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for _ in 0..argument(values)?.len() {
            if self.first.is_empty() {
                self.turn()?;
            }
            self.heap_bytes -= self.first.pop().map_or(0, |run| R::heap_bytes(&run)).min(self.heap_bytes);
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        match (self.first.last(), &self.whole_second) {
            (Some(first), Some(second)) => self.runs.value(Some(&self.runs.joined(first, second)?)),
            (first, second) => self.runs.value(first.or(second.as_ref())),
        }
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        Err(RelationalError::bug("a moving frame has no parts").into())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Err(RelationalError::bug("a moving frame has no parts").into())
    }

    fn size(&self) -> usize {
        let runs = self.first.capacity() + self.second.capacity();
        size_of_val(self) + runs * size_of::<R::Run>() + self.heap_bytes
    }
}

/// SUM or AVG of floats: the sum of a run, and how many values it has.
#[derive(Debug)]
struct Floats {
    is_average: bool,
}

impl Runs for Floats {
    type Run = (FloatTotal, u64);

    fn of_row(&self, values: &[ArrayRef], row: usize) -> Result<Self::Run> {
        let mut sum = FloatTotal::default();
        let count = sum.add_run(argument(values)?, row..row + 1).map_err(of_values)?;
        Ok((sum, count))
    }

    fn joined(&self, first: &Self::Run, second: &Self::Run) -> Result<Self::Run> {
        let sum = first.0.plus(second.0).ok_or_else(|| sum_overflow(SumKind::Floats))?;
        Ok((sum, first.1 + second.1))
    }

    fn value(&self, run: Option<&Self::Run>) -> Result<ScalarValue> {
        let (sum, count) = run.copied().unwrap_or_default();
        only(match self.is_average {
            true => FloatTotal::averages(std::iter::once((sum, count)), SumKind::Floats),
            false => FloatTotal::sums(std::iter::once((count > 0).then_some(sum)), SumKind::Floats),
        })
    }

    fn heap_bytes(_: &Self::Run) -> usize {
        0
    }
}

/// Any aggregate, whose partial results are put together as those of parallel parts are.
#[derive(Debug)]
pub(crate) struct States {
    native: Arc<AggregateUDF>,
    return_field: FieldRef,
    schema: SchemaRef,
    fields: Vec<FieldRef>,
    exprs: Vec<Arc<dyn PhysicalExpr>>,
    order_bys: Vec<PhysicalSortExpr>,
    ignore_nulls: bool,
    is_distinct: bool,
    is_reversed: bool,
    name: String,
}

impl States {
    pub(crate) fn new(native: Arc<AggregateUDF>, args: AccumulatorArgs<'_>) -> Self {
        Self {
            native,
            return_field: args.return_field.clone(),
            schema: Arc::new(args.schema.clone()),
            fields: args.expr_fields.to_vec(),
            exprs: args.exprs.to_vec(),
            order_bys: args.order_bys.to_vec(),
            ignore_nulls: args.ignore_nulls,
            is_distinct: args.is_distinct,
            is_reversed: args.is_reversed,
            name: args.name.to_owned(),
        }
    }

    /// The aggregate of no rows yet.
    pub(crate) fn empty(&self) -> Result<Box<dyn Accumulator>> {
        self.native.accumulator(AccumulatorArgs {
            return_field: self.return_field.clone(),
            schema: &self.schema,
            ignore_nulls: self.ignore_nulls,
            order_bys: &self.order_bys,
            is_reversed: self.is_reversed,
            name: &self.name,
            is_distinct: self.is_distinct,
            exprs: &self.exprs,
            expr_fields: &self.fields,
        })
    }

    fn of(&self, run: &[ScalarValue]) -> Result<Box<dyn Accumulator>> {
        let mut accumulator = self.empty()?;
        accumulator.merge_batch(&arrays(run)?)?;
        Ok(accumulator)
    }
}

fn arrays(run: &[ScalarValue]) -> Result<Vec<ArrayRef>> {
    run.iter().map(|part| part.to_array_of_size(1)).collect()
}

impl Runs for States {
    type Run = Vec<ScalarValue>;

    fn of_row(&self, values: &[ArrayRef], row: usize) -> Result<Self::Run> {
        let values: Vec<ArrayRef> = values.iter().map(|values| values.slice(row, 1)).collect();
        let mut accumulator = self.empty()?;
        accumulator.update_batch(&values)?;
        accumulator.state()
    }

    fn joined(&self, first: &Self::Run, second: &Self::Run) -> Result<Self::Run> {
        let mut accumulator = self.of(first)?;
        accumulator.merge_batch(&arrays(second)?)?;
        accumulator.state()
    }

    fn value(&self, run: Option<&Self::Run>) -> Result<ScalarValue> {
        match run {
            Some(run) => self.of(run)?.evaluate(),
            None => self.empty()?.evaluate(),
        }
    }

    fn heap_bytes(run: &Self::Run) -> usize {
        run.iter().map(ScalarValue::size).sum()
    }
}
