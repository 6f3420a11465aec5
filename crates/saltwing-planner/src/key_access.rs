//! The part of the key that a statement reads, encoded without a plan: see
//! [`KeyTemplate`](super::key_template::KeyTemplate).

use saltwing_access::keys::{KeyList, RangeList};
use saltwing_access::{KeySet, ScanRange, ScanRoute, Table};
use saltwing_plan::{Access, AccessKind};
use saltwing_rowkey::KeyRange;
use saltwing_types::{SqlType, Value};

use crate::access::TableAccess;
use crate::direct::{DirectPlan, PlannedSelect};

/// The part of the key that a SELECT reads.
#[derive(Clone, Debug)]
pub enum KeyAccess {
    /// The row of this physical key.
    Row(Vec<u8>),
    /// The rows of these keys.
    Keys(KeySet),
}

impl KeyAccess {
    /// The plan that reads the part of the key that conditions give, whatever it is; `None` if the plan does more than that.
    /// Nothing is left to be checked of rows in that part.
    pub(crate) fn plan_of_parts(mut planned: PlannedSelect) -> Option<PlannedSelect> {
        let Access { kind, residual, verdict, in_turn, skip, .. } = &mut planned.access.access;
        let is_part = matches!(kind, AccessKind::Point | AccessKind::Range | AccessKind::SkipScan)
            && in_turn.is_none()
            && skip.is_none()
            && verdict.allowed == Some(true);
        // A text may be '', which entries do not tell from NULL: a part is of other texts.
        if planned.access.index.is_some() {
            residual.clear();
        }
        let is_all = residual.is_empty() && planned.access.union.is_empty() && planned.access.intersected.is_empty();
        let is_plain = !matches!(planned.plan, DirectPlan::KeyEnds { .. } | DirectPlan::DistinctPrefix { .. });
        (is_part && is_all && is_plain).then_some(planned)
    }

    /// The rows of this part, read as an access is, at most `limit`.
    pub fn route(self, access: &TableAccess, limit: Option<u64>) -> ScanRoute {
        match self {
            Self::Keys(keys) => access.route_over(keys, limit),
            Self::Row(key) => {
                let (bucket, logical) = key.split_at(access.table().codec().bucket_bytes().min(key.len()));
                let row = ScanRange { bucket: bucket.first().copied(), range: KeyRange::point(logical.to_vec()) };
                access.route_over(RangeList::new(vec![row]).into(), limit.or(Some(1)))
            }
        }
    }

    /// The physical key, where it is one row.
    pub fn row_key(&self) -> Option<&[u8]> {
        if let Self::Row(key) = self { Some(key) } else { None }
    }
}

/// The keys of the rows in which these columns equal one of these rows of values; NULL equals nothing.
///
/// `None` if encoding alone cannot give the keys: the columns are not the first ones of the key, or do not
/// determine the bucket, or a value is none of its column's as it stands.
pub fn keys_of_rows(table: &Table, columns: &[usize], rows: impl IntoIterator<Item = Vec<Value>>) -> Option<KeySet> {
    let (key, codec) = (&table.def().key, table.codec());
    if key.has_computed() || columns.len() > key.columns.len() || codec.salt_column_count() > columns.len() {
        return None;
    }
    // Of each key column, in key order, the place of its value in a row.
    let leading = key.columns.get(..columns.len())?;
    let places: Vec<usize> = leading
        .iter()
        .map(|part| columns.iter().position(|column| part.column() == Some(*column)))
        .collect::<Option<_>>()?;
    let leading = |row: Vec<Value>| {
        let mut key = codec.plain_key();
        for (place, part) in places.iter().zip(leading) {
            key.push(row.get(*place).filter(|value| is_plain_value(value, part.ty))?)?;
        }
        Some(key)
    };
    let rows = rows.into_iter().filter(|row| !row.iter().any(Value::is_null));
    if places.len() == key.columns.len() {
        let rows = KeyList::new(codec.bucket_bytes(), rows.collect::<Vec<_>>().into_iter(), |row, out| {
            out.extend_from_slice(&leading(row)?.row_key()?);
            Some(())
        })?;
        return Some(rows.into());
    }
    let ranges = rows.map(|row| Some(leading(row)?.prefix_range()?.into())).collect::<Option<Vec<_>>>()?;
    Some(RangeList::new(ranges).into())
}

/// Whether a value is one of the column's, and stands in keys as it is.
pub(super) fn is_plain_value(value: &Value, ty: SqlType) -> bool {
    match value {
        Value::Int(n) => ty.integer_range().is_some_and(|(low, high)| (low..=high).contains(n)),
        Value::Text(_) => matches!(ty, SqlType::Varchar(_)),
        Value::Bool(_) => ty == SqlType::Boolean,
        Value::Date(_) => ty == SqlType::Date,
        Value::Bytes(bytes) => ty == SqlType::Uuid && bytes.len() == 16,
        _ => false,
    }
}
