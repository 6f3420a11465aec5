//! The record of a sequence: its definition and its position.
//!
//! ```json
//! {"record_version":1, "id":100, "name":{"schema":null,"name":"s"}, "start":1, "increment":1, .., "last":300, "is_taken":true}
//! ```

use saltwing_types::{ObjectId, SequenceDef, SequencePosition};
use serde::{Deserialize, Serialize};

use super::{NameRecord, parsed, stored, unreadable};
use crate::CatalogError;

/// The version of the records that are written, and the latest that can be read.
const RECORD_VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SequenceRecord {
    record_version: u32,
    id: u32,
    name: NameRecord,
    start: i64,
    increment: i64,
    min: i64,
    max: i64,
    cycles: bool,
    cache: u64,
    last: i64,
    is_taken: bool,
}

/// # Errors
/// [`CatalogError::Corrupt`], which no statement causes.
pub(crate) fn write(def: &SequenceDef, position: SequencePosition) -> Result<String, CatalogError> {
    let record = SequenceRecord {
        record_version: RECORD_VERSION,
        id: def.id.0,
        name: NameRecord::of(&def.name),
        start: def.start,
        increment: def.increment,
        min: def.min,
        max: def.max,
        cycles: def.cycles,
        cache: def.cache,
        last: position.last,
        is_taken: position.is_taken,
    };
    stored(("sequence", &def.name), &record)
}

/// # Errors
/// [`CatalogError::NewerRecord`]; [`CatalogError::Corrupt`].
pub(crate) fn read(name: &str, text: &str) -> Result<(SequenceDef, SequencePosition), CatalogError> {
    let of = ("sequence", name);
    let it = parsed::<SequenceRecord>(of, text, RECORD_VERSION)?.map_err(|why| unreadable(of, why))?;
    let def = SequenceDef {
        id: ObjectId(it.id),
        name: it.name.into_name(),
        start: it.start,
        increment: it.increment,
        min: it.min,
        max: it.max,
        cycles: it.cycles,
        cache: it.cache,
    };
    let limits = def.min..=def.max;
    let holds_together =
        limits.contains(&def.start) && limits.contains(&it.last) && def.increment != 0 && def.cache > 0;
    match holds_together {
        true => Ok((def, SequencePosition { last: it.last, is_taken: it.is_taken })),
        false => Err(unreadable(of, "it does not hold together")),
    }
}

#[cfg(test)]
mod tests {
    use saltwing_types::TableName;

    use super::*;

    /// Databases hold these bytes. A change of the record needs a new version, and a reader that still accepts this one.
    #[test]
    fn a_record_is_these_bytes() {
        let name = TableName { schema: Some("App".into()), name: "Order numbers".into() };
        let def = SequenceDef {
            id: ObjectId(4_000_000_000),
            name,
            start: -5,
            increment: -2,
            min: i64::MIN,
            max: i64::MAX,
            cycles: true,
            cache: 100,
        };
        let position = SequencePosition { last: -203, is_taken: true };
        let text = r#"{"record_version":1,"id":4000000000,"name":{"schema":"App","name":"Order numbers"},"start":-5,"increment":-2,"min":-9223372036854775808,"max":9223372036854775807,"cycles":true,"cache":100,"last":-203,"is_taken":true}"#;
        assert_eq!(write(&def, position).unwrap(), text);
        assert_eq!(read("s", text).unwrap(), (def, position));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let text = r#"{"record_version":1,"id":100,"name":{"schema":null,"name":"s"},"start":1,"increment":1,"min":1,"max":9,"cycles":false,"cache":1,"last":1,"is_taken":false}"#;
        assert!(read("s", text).is_ok());
        for (from, to, why) in [
            (r#""increment":1"#, r#""increment":0"#, "does not hold together"),
            (r#""start":1"#, r#""start":10"#, "does not hold together"),
            (r#""last":1"#, r#""last":0"#, "does not hold together"),
            (r#""cache":1"#, r#""cache":-1"#, "invalid value"),
            (r#""cache""#, r#""cash""#, "unknown field"),
            (r#""record_version":1"#, r#""record_version":2,"new":[]"#, "record version 2"),
        ] {
            let error = read("s", &text.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.contains("sequence s") && error.contains(why), "{error}");
        }
    }
}
