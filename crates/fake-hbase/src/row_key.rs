//! The order of rows: that of their bytes, and another one in the catalog of regions.

use std::cmp::Ordering;

use bytes::Bytes;

/// A row key with its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowKey {
    pub(crate) bytes: Bytes,
    /// A row of `hbase:meta` is compared by table, start and number: a start may have commas and bytes below a comma.
    is_meta: bool,
}

impl RowKey {
    pub(crate) fn new(bytes: Bytes, is_meta: bool) -> Self {
        Self { bytes, is_meta }
    }

    /// Table, start and number; what is not there comes before what is there.
    fn parts(&self) -> (&[u8], Option<&[u8]>, Option<&[u8]>) {
        let whole = &self.bytes[..];
        let Some(first) = whole.iter().position(|byte| *byte == b',') else { return (whole, None, None) };
        let (table, rest) = (&whole[..first], &whole[first + 1..]);
        match rest.iter().rposition(|byte| *byte == b',') {
            None => (table, Some(rest), None),
            Some(last) => (table, Some(&rest[..last]), Some(&rest[last + 1..])),
        }
    }
}

impl Ord for RowKey {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.is_meta { self.parts().cmp(&other.parts()) } else { self.bytes.cmp(&other.bytes) }
    }
}

impl PartialOrd for RowKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalog_is_in_order_of_starts() {
        let rows = ["t", "t,", "t,,1", "t,,2", "t,a,1", "t,a,:", "t,a!,1", "t,a,b,1", "t2,,1"];
        for (at, one) in rows.iter().enumerate() {
            for (beside, other) in rows.iter().enumerate() {
                let key = |text: &'static str| RowKey::new(Bytes::from_static(text.as_bytes()), true);
                assert_eq!(key(one).cmp(&key(other)), at.cmp(&beside), "{one} {other}");
            }
        }
    }
}
