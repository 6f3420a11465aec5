//! Numbers of objects.

/// The number of an object of a database: of a table, an index, a view, a sequence, a schema or a user. The object keeps it for its life,
/// whatever is done to it, and no later object gets it.
///
/// [`TableId`](crate::TableId) is the number under which rows are stored. Both come from one range of numbers: a new table has one number for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

impl ObjectId {
    /// That of an object which the catalog has yet to number.
    pub const NEW: Self = Self(0);
}
