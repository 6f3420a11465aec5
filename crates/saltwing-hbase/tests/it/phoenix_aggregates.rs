//! Phoenix's coprocessors that add rows up, as far as the store asks them: they read the expressions of a scan, and make a cell of each group.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use fake_hbase::{Cluster, Exception, RegionId};
use hbase_client::cell::Cell;
use hbase_client::proto::Scan;
use saltwing_phoenix::CellCodec;
use saltwing_types::{Decimal, SqlType, Value};

/// Types by Phoenix's numbers, as far as tests have them.
const TYPES: [(i64, SqlType); 6] = [
    (0, SqlType::Varchar(None)),
    (2, SqlType::BigInt),
    (3, SqlType::Integer),
    (8, SqlType::Decimal(None)),
    (11, SqlType::Date),
    (15, SqlType::UnsignedLong),
];

/// Lets the scans of a cluster answer with aggregates if they ask for them; how often they did.
pub fn start(cluster: &Cluster) -> Arc<AtomicUsize> {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    cluster.set_scan_coprocessor(move |region, scan, rows| {
        counted.fetch_add(1, Relaxed);
        check_bounds(region, scan)?;
        Ok(aggregate(scan, &rows))
    });
    asked
}

/// The servers refuse a scan beyond the bounds of its region.
fn check_bounds(region: &RegionId, scan: &Scan) -> Result<(), Exception> {
    let (start, stop) = (scan.start_row.clone().unwrap(), scan.stop_row.clone().unwrap());
    let is_beyond = !region.end.is_empty() && (stop.is_empty() || stop > region.end);
    match start < region.start || is_beyond {
        true => Err(Exception::do_not_retry("ERROR 1108 (XCL08): Cache of region boundaries are out of date.")),
        false => Ok(()),
    }
}

fn attribute<'s>(scan: &'s Scan, name: &str) -> Option<&'s [u8]> {
    let attribute = scan.attribute.iter().find(|attribute| attribute.name == name)?;
    Some(attribute.value.as_deref().unwrap())
}

enum Expression {
    One,
    Cell { ty: SqlType, family: Vec<u8>, qualifier: Vec<u8> },
    Key { ty: SqlType, offsets: Vec<i64>, is_fixed: bool, has_separator: bool },
    Decimal(Box<Expression>),
}

/// Bytes of expressions that are read.
struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap();
        self.0 = rest;
        *first
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let (bytes, rest) = self.0.split_at(count);
        self.0 = rest;
        bytes.to_vec()
    }

    fn number(&mut self) -> i64 {
        let first = self.byte() as i8;
        let (length, is_negative) = match first {
            -112..=127 => return first.into(),
            -120..=-113 => (-112 - i64::from(first), false),
            _ => (-120 - i64::from(first), true),
        };
        let value = self.bytes(length as usize).iter().fold(0, |value, byte| value << 8 | i64::from(*byte));
        if is_negative { !value } else { value }
    }

    fn of_length(&mut self) -> Vec<u8> {
        let length = self.number();
        self.bytes(length as usize)
    }

    fn ty(&mut self) -> SqlType {
        let flags = self.number();
        if flags & 2 != 0 {
            self.number();
        }
        if flags & 4 != 0 {
            self.number();
        }
        self.number();
        TYPES.iter().find(|(number, _)| *number == flags >> 3).unwrap_or_else(|| panic!("type {}", flags >> 3)).1
    }

    fn expression(&mut self) -> Expression {
        match self.number() {
            1 => {
                let (ty, flags) = (self.ty(), self.number());
                let offsets = (0..flags >> 2).map(|_| self.number()).collect();
                Expression::Key { ty, offsets, is_fixed: flags & 1 != 0, has_separator: flags & 2 != 0 }
            }
            2 => {
                let ty = self.ty();
                Expression::Cell { ty, family: self.of_length(), qualifier: self.of_length() }
            }
            3 => {
                assert_eq!(self.bytes(7), [5, 0x80, 0, 0, 1, 6, 3]);
                Expression::One
            }
            19 => {
                let child = self.expression();
                assert_eq!(self.bytes(3), [0xf7, 2, 0xff]);
                Expression::Decimal(Box::new(child))
            }
            other => panic!("expression {other}"),
        }
    }
}

impl Expression {
    fn ty(&self) -> SqlType {
        match self {
            Self::One => SqlType::Integer,
            Self::Cell { ty, .. } | Self::Key { ty, .. } => *ty,
            Self::Decimal(_) => SqlType::Decimal(None),
        }
    }

    /// The stored bytes of a row's value; none for NULL.
    fn evaluate(&self, row: &[Cell]) -> Vec<u8> {
        match self {
            Self::One => vec![0x80, 0, 0, 1],
            Self::Cell { family, qualifier, .. } => {
                let cell = row.iter().find(|cell| cell.family() == family && cell.qualifier() == qualifier);
                cell.map_or(Vec::new(), |cell| cell.value().to_vec())
            }
            Self::Key { ty, offsets, is_fixed, has_separator } => {
                let mut rest = row[0].row();
                for offset in offsets {
                    match usize::try_from(*offset) {
                        Ok(bytes) => rest = &rest[bytes..],
                        Err(_) => (0..-offset).for_each(|_| {
                            let end = rest.iter().position(|byte| *byte == 0).unwrap();
                            rest = &rest[end + 1..];
                        }),
                    }
                }
                let end = match (is_fixed, has_separator) {
                    (true, _) => ty.fixed_key_bytes().unwrap(),
                    (_, true) => rest.iter().position(|byte| *byte == 0).unwrap(),
                    (_, false) => rest.len(),
                };
                rest[..end].to_vec()
            }
            Self::Decimal(child) => match decode(child.ty(), &child.evaluate(row)) {
                Value::Int(value) => {
                    encode(SqlType::Decimal(None), &Value::Decimal(Decimal::new(value.into(), 0).unwrap()))
                }
                Value::Null => Vec::new(),
                other => panic!("{other:?} as a DECIMAL"),
            },
        }
    }
}

fn decode(ty: SqlType, stored: &[u8]) -> Value {
    CellCodec::new(ty).unwrap().decode(stored).unwrap()
}

fn encode(ty: SqlType, value: &Value) -> Vec<u8> {
    let mut stored = Vec::new();
    CellCodec::new(ty).unwrap().encode(value, &mut stored).unwrap();
    stored
}

fn aggregate(scan: &Scan, rows: &[Vec<Cell>]) -> Vec<Vec<Cell>> {
    let mut functions = Reader(attribute(scan, "_Aggs").unwrap());
    let (counts, all) = (functions.number(), functions.number());
    let functions: Vec<(i64, Expression)> = (0..all)
        .map(|_| {
            let function = functions.number();
            assert_eq!(functions.number(), 1);
            (function, functions.expression())
        })
        .collect();
    assert_eq!(functions.iter().filter(|(function, _)| *function == 24).count() as i64, counts);
    assert!(attribute(scan, "_ServerPageSizeMs").is_some());
    let mut groups: BTreeMap<Vec<u8>, Vec<&Vec<Cell>>> = BTreeMap::new();
    match attribute(scan, "_UnorderedGroupByExpressions") {
        None => {
            assert_eq!(attribute(scan, "_UngroupedAgg"), Some(&[1][..]));
            if !rows.is_empty() {
                groups.insert(b"a".to_vec(), rows.iter().collect());
            }
        }
        Some(expressions) => {
            let mut reader = Reader(expressions);
            let mut columns = Vec::new();
            while !reader.0.is_empty() {
                columns.push(reader.expression());
            }
            for row in rows {
                let mut key = Vec::new();
                for (at, column) in columns.iter().enumerate() {
                    key.extend(column.evaluate(row));
                    if at + 1 < columns.len() && column.ty().fixed_key_bytes().is_none() {
                        key.push(0);
                    }
                }
                groups.entry(key).or_default().push(row);
            }
        }
    }
    // The server shows that it goes on before it gives the groups.
    let begun = cell(b"some row", b"", b"");
    std::iter::once(begun).chain(groups.iter().map(|(key, rows)| cell(key, b"S", &results(&functions, rows)))).collect()
}

/// A row of one cell, whose family is its qualifier. The key of the group of NULL is empty.
fn cell(row: &[u8], family: &[u8], value: &[u8]) -> Vec<Cell> {
    let key_bytes = 12 + row.len() + 2 * family.len();
    let mut bytes = Vec::new();
    bytes.extend((key_bytes as u32).to_be_bytes());
    bytes.extend((value.len() as u32).to_be_bytes());
    bytes.extend((row.len() as u16).to_be_bytes());
    bytes.extend(row);
    bytes.push(family.len() as u8);
    bytes.extend([family, family].concat());
    bytes.extend(1u64.to_be_bytes());
    bytes.push(4);
    bytes.extend(value);
    vec![Cell::from_key_value(bytes.into()).unwrap()]
}

/// The results of a group: counts, then the others that are not NULL, then a bit for each of those.
fn results(functions: &[(i64, Expression)], rows: &[&Vec<Cell>]) -> Vec<u8> {
    let (mut out, mut present, mut others) = (Vec::new(), 0u16, 0);
    for (function, argument) in functions {
        let ty = argument.ty();
        let stored: Vec<Vec<u8>> =
            rows.iter().map(|row| argument.evaluate(row)).filter(|value| !value.is_empty()).collect();
        let result = match function {
            24 => Some((SqlType::BigInt, encode(SqlType::BigInt, &Value::Int(stored.len() as i64)))),
            25 => sum(ty, &stored),
            26 => stored.into_iter().min().map(|least| (ty, least)),
            _ => stored.into_iter().max().map(|greatest| (ty, greatest)),
        };
        if let Some((ty, stored)) = &result {
            if ty.fixed_key_bytes().is_none() {
                out.push(u8::try_from(stored.len()).unwrap());
            }
            out.extend(stored);
        }
        if *function != 24 {
            present |= u16::from(result.is_some()) << others;
            others += 1;
        }
    }
    if others > 0 {
        out.extend(present.to_be_bytes());
    }
    out
}

/// Sums of integers wrap at 64 bits, as those of the servers.
fn sum(ty: SqlType, stored: &[Vec<u8>]) -> Option<(SqlType, Vec<u8>)> {
    let values: Vec<Value> = stored.iter().map(|stored| decode(ty, stored)).collect();
    if values.is_empty() {
        return None;
    }
    if matches!(ty, SqlType::Decimal(_)) {
        let add = |sum: Decimal, value: &Value| match value {
            Value::Decimal(value) => sum.checked_add(*value).unwrap(),
            other => panic!("a sum of {other:?}"),
        };
        let sum = values.iter().fold(Decimal::new(0, 0).unwrap(), add);
        return Some((ty, encode(ty, &Value::Decimal(sum))));
    }
    let add = |sum: i64, value: &Value| match value {
        Value::Int(value) => sum.wrapping_add(*value),
        other => panic!("a sum of {other:?}"),
    };
    let sum = values.iter().fold(0, add);
    Some((SqlType::BigInt, encode(SqlType::BigInt, &Value::Int(sum))))
}
