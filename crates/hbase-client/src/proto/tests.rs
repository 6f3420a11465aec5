//! Random and damaged bytes as messages: an error or a value, and memory in proportion to the bytes.

use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;
use prost::Message;

use super::*;

/// Decodes bytes as every message that comes over the network.
macro_rules! decode_all {
    ($bytes:expr; $($message:ident)*) => {
        $(
            if let Ok(message) = $message::decode($bytes.clone()) {
                // What was read can be written and read again.
                let again = $message::decode(Bytes::from(message.encode_to_vec()));
                prop_assert_eq!(again.as_ref(), Ok(&message));
            }
        )*
    };
}

/// A message in which much can be damaged.
fn a_message() -> impl Strategy<Value = Vec<u8>> {
    let bytes = || vec(any::<u8>(), 0..8).prop_map(Bytes::from);
    (bytes(), bytes(), any::<u64>(), vec(any::<u32>(), 0..4)).prop_map(|(one, other, number, counts)| {
        let cell = Cell { row: Some(one.clone()), value: Some(other.clone()), ..Cell::default() };
        let result = RowResult { cell: vec![cell; counts.len()], partial: Some(true), ..RowResult::default() };
        let response = ScanResponse {
            cells_per_result: counts,
            scanner_id: Some(number),
            results: vec![result],
            cursor: Some(Cursor { row: Some(one) }),
            ..ScanResponse::default()
        };
        response.encode_to_vec()
    })
}

proptest! {
    #[test]
    fn any_bytes_are_an_error_or_a_message(
        random in vec(any::<u8>(), 0..80),
        message in a_message(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut damaged = message;
        if !damaged.is_empty() {
            let at = at.index(damaged.len());
            damaged[at] = byte;
        }
        for bytes in [random, damaged] {
            let bytes = Bytes::from(bytes);
            decode_all! { bytes;
                ConnectionHeader RequestHeader ResponseHeader ExceptionResponse RegionInfo RegionLocation TableSchema TableState
                GetRequest GetResponse MutateRequest MutateResponse MutationProto Condition ScanRequest ScanResponse Scan
                MultiRequest MultiResponse CoprocessorServiceRequest CoprocessorServiceResponse
                GetMetaRegionLocationsResponse GetActiveMasterResponse MetaRegionServer Master
                Filter FilterList MultiRowRangeFilter SingleColumnValueFilter PageFilter KeyOnlyFilter PrefixFilter Comparator
                GetProcedureResultResponse GetTableDescriptorsResponse GetTableNamesResponse CreateTableRequest
            }
        }
    }
}
