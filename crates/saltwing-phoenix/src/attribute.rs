//! Attributes of scans and mutations, by which clients tell Phoenix's coprocessors what to do.

/// An attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Name.
    pub name: &'static str,
    /// Value.
    pub value: Vec<u8>,
}
