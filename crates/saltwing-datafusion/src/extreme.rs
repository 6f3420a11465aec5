//! MIN and MAX, whose result has the SQL type of their argument.
//!
//! DataFusion computes them. Only the field of the result is ours: the minimum of a CHAR(5) is a CHAR(5).

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, SetMonotonicity, Signature,
};

/// `MIN` or `MAX`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Extreme {
    native: Arc<AggregateUDF>,
}

impl Extreme {
    /// Both.
    pub(crate) fn both() -> [Arc<AggregateUDF>; 2] {
        use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
        [min_udaf(), max_udaf()].map(|native| Arc::new(AggregateUDF::new_from_impl(Self { native })))
    }
}

impl AggregateUDFImpl for Extreme {
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
        let types: Vec<DataType> = arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let ty = self.native.return_type(&types)?;
        let metadata = arg_fields.first().map(|field| field.metadata().clone()).unwrap_or_default();
        Ok(Arc::new(Field::new(self.name(), ty, true).with_metadata(metadata)))
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        self.native.accumulator(args)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        self.native.state_fields(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        self.native.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        self.native.create_groups_accumulator(args)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        self.native.create_sliding_accumulator(args)
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn is_descending(&self) -> Option<bool> {
        self.native.is_descending()
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.native.inner().set_monotonicity(data_type)
    }
}
