//! Cells as this crate takes and gives them.

/// A cell that was read: a value of one column of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellRef<'a> {
    /// The column family.
    pub family: &'a [u8],
    /// The qualifier.
    pub qualifier: &'a [u8],
    /// The value.
    pub value: &'a [u8],
}

/// A cell to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenCell<'f> {
    /// The column family.
    pub family: &'f str,
    /// The qualifier.
    pub qualifier: &'f [u8],
    /// The value.
    pub value: Vec<u8>,
}

/// A cell to delete, in all its versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeletedCell<'f> {
    /// The column family.
    pub family: &'f str,
    /// The qualifier.
    pub qualifier: &'f [u8],
}

/// What an UPSERT of one row writes. Puts and deletions must be one atomic change, with one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowCells<'f> {
    /// The row key.
    pub key: Vec<u8>,
    /// Cells to put; the first one is the cell that every row has.
    pub puts: Vec<WrittenCell<'f>>,
    /// Cells to delete: columns that become NULL.
    pub deletes: Vec<DeletedCell<'f>>,
}

/// What a DELETE of one row writes: a deletion of all cells of each family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowDelete<'f> {
    /// The row key.
    pub key: Vec<u8>,
    /// The families.
    pub families: Vec<&'f str>,
}
