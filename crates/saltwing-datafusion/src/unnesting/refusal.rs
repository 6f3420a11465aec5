//! The error for a subquery that the rule cannot join.

use datafusion::common::DataFusionError;

use crate::RelationalError;

pub(super) fn not_supported() -> DataFusionError {
    RelationalError::correlated().into()
}
