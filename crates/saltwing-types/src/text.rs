//! Stub.
/// x
pub fn literal(value: &crate::Value, _ty: crate::SqlType) -> String {
    format!("{value:?}")
}
