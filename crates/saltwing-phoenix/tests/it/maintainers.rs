//! The attributes by which the region servers keep indexes, as Phoenix's own classes make them.

use saltwing_phoenix::{IndexState, PhoenixError, TableDefinition, TableKind, index_attributes};
use saltwing_types::ErrorCode;
use saltwing_types::text::{hex, unhex};

use crate::golden::{definitions, maintainers};

fn table(name: &str) -> TableDefinition {
    definitions().into_iter().find(|definitions| definitions.tables.contains_key(name)).unwrap().table(name)
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (first, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return value;
        }
    }
    value
}

/// The fields of a message with their numbers.
type Fields = Vec<(u64, Vec<u8>)>;

/// The fields, sorted: Phoenix takes the names of columns (field 19) out of a hash set.
fn fields(mut message: &[u8]) -> Fields {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let tag = varint(&mut message);
        let value = match tag & 7 {
            0 => varint(&mut message).to_be_bytes().to_vec(),
            2 => {
                let length = varint(&mut message) as usize;
                let (value, rest) = message.split_at(length);
                message = rest;
                value.to_vec()
            }
            other => panic!("wire type {other}"),
        };
        fields.push((tag >> 3, value));
    }
    fields.sort();
    fields
}

/// What stands before the first maintainer, and the maintainers.
fn split(attribute: &str) -> (String, Vec<Fields>) {
    let bytes = unhex(attribute).unwrap();
    // A maintainer begins with fields 1, 2 and 4; its length before them has one byte, or two from 128 on.
    let message = bytes.windows(3).position(|three| three == [0x10, 0, 0x22]).unwrap() - 2;
    let start = if bytes[message - 2] == 0x8f { message - 2 } else { message - 1 };
    let (head, mut rest) = bytes.split_at(start);
    let mut messages = Vec::new();
    while let [first, after @ ..] = rest {
        let (length, after) = if *first == 0x8f { after.split_first().unwrap() } else { (first, after) };
        let (message, next) = after.split_at(usize::from(*length));
        messages.push(fields(message));
        rest = next;
    }
    (hex(head), messages)
}

#[test]
fn maintainers_of_phoenix() {
    let mut indexes = 0;
    for (name, expected) in maintainers() {
        let table = table(&name);
        indexes += table.indexes.len();
        let attributes = index_attributes(&table, [7; 16]).unwrap();
        let names: Vec<_> = attributes.iter().map(|attribute| attribute.name).collect();
        assert_eq!(names, ["IdxUUID", "IdxProtoMD", "_ClientVersion"]);
        assert_eq!((attributes[0].value.as_slice(), attributes[2].value.as_slice()), (&[7; 16][..], &[0, 5, 2, 0][..]));
        assert_eq!(split(&hex(&attributes[1].value)), split(&expected), "{name}");
    }
    assert_eq!(indexes, 4);
}

#[test]
fn a_table_without_indexes_needs_no_attributes() {
    assert_eq!(index_attributes(&table("CA1"), [0; 16]), Ok(vec![]));
}

#[test]
fn what_the_servers_are_not_asked_for_is_named() {
    let refused = |table: &TableDefinition| {
        let error = index_attributes(table, [0; 16]).unwrap_err();
        assert!(matches!(error, PhoenixError::IndexNotKept { .. }));
        assert_eq!(error.code(), ErrorCode::NotSupported);
        error.to_string()
    };
    for (name, index, reason) in [
        ("CA36", "CA36I1", "its table is immutable: clients write the entries"),
        ("CA38", "CA38I1", "it is local"),
        ("UC", "UCI", "it is uncovered"),
        ("PI", "PII", "it is partial"),
        ("VBV", "VBI", "it is an index of a view"),
    ] {
        assert_eq!(refused(&table(name)), format!("index {index} is not kept by writes of this client: {reason}"));
    }
    assert!(refused(&table("CA34")).ends_with(" is an expression"), "{}", refused(&table("CA34")));
    let mut building = table("X1");
    let index = building.indexes[0].definition.as_mut().unwrap();
    let TableKind::Index(definition) = &mut index.kind else { panic!("{index:?}") };
    definition.state = IndexState::Building;
    assert!(refused(&building).ends_with("it is not active"));
    let mut defaulted = table("X1");
    defaulted.columns.iter_mut().find(|column| column.name == "B").unwrap().expression = Some("5".into());
    assert!(refused(&defaulted).ends_with("its column 0:B has a DEFAULT"));
    let mut old = table("X1");
    old.row_key_order_optimizable = false;
    assert!(refused(&old).ends_with("its keys are of the form before Phoenix 4.5"));
    let mut tenants = table("X1");
    tenants.multi_tenant = true;
    assert!(refused(&tenants).ends_with("its table is of several tenants"));
}
