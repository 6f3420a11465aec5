//! Numbers for combinations of values: the groups of a hash aggregation.

use std::hash::BuildHasher;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimeUnit,
    TimestampMillisecondType, TimestampNanosecondType,
};
use arrow::error::ArrowError;
use arrow::row::{RowConverter, SortField};
use hashbrown::{DefaultHashBuilder, HashTable};

/// Gives each different combination of values a number, from 0 in the order in which they come.
///
/// NULL is a value like any other. Floats are compared by their bits, so bring them to one form before.
pub(crate) struct GroupTable {
    keys: Keys,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// The number of NULL, where there is one column that is not kept as rows.
    null: Option<u32>,
    count: u32,
}

/// The combinations by number.
enum Keys {
    /// One column of at most 64 bits.
    Words(Vec<u64>),
    /// One column of text or bytes.
    Bytes(Strings),
    /// Anything else, in Arrow's row format.
    Rows(RowConverter, Strings),
}

/// Strings of bytes by number.
#[derive(Default)]
struct Strings {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Strings {
    fn get(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(number).copied().unwrap_or(start);
        self.bytes.get(start..end).unwrap_or_default()
    }

    fn push(&mut self, string: &[u8]) {
        self.bytes.extend_from_slice(string);
        self.ends.push(self.bytes.len());
    }
}

impl GroupTable {
    /// A table for columns of these types.
    pub(crate) fn new(types: &[DataType]) -> Result<Self, ArrowError> {
        let keys = match types {
            [ty] if is_word(ty) => Keys::Words(Vec::new()),
            [DataType::Utf8 | DataType::Binary] => Keys::Bytes(Strings::default()),
            _ => {
                let fields = types.iter().cloned().map(SortField::new).collect();
                Keys::Rows(RowConverter::new(fields)?, Strings::default())
            }
        };
        Ok(Self { keys, numbers: HashTable::new(), hasher: DefaultHashBuilder::default(), null: None, count: 0 })
    }

    /// How many numbers were given.
    pub(crate) fn len(&self) -> usize {
        self.count as usize
    }

    /// Memory held.
    pub(crate) fn bytes(&self) -> usize {
        let strings = |strings: &Strings| strings.bytes.capacity() + strings.ends.capacity() * size_of::<usize>();
        let keys = match &self.keys {
            Keys::Words(words) => words.capacity() * size_of::<u64>(),
            Keys::Bytes(keys) | Keys::Rows(_, keys) => strings(keys),
        };
        keys + self.numbers.capacity() * (size_of::<u32>() + 1)
    }

    /// Puts each row's number into `numbers`, and the rows of numbers that are new into `firsts`.
    pub(crate) fn number(
        &mut self,
        columns: &[ArrayRef],
        rows: usize,
        numbers: &mut Vec<u32>,
        firsts: &mut Vec<u32>,
    ) -> Result<(), ArrowError> {
        numbers.clear();
        numbers.reserve(rows);
        firsts.clear();
        let Self { keys, numbers: table, hasher, null, count } = self;
        let mut next = Next { table, hasher, null, count, firsts };
        match (keys, columns) {
            (Keys::Words(words), [column]) => {
                let mut last = None;
                each_word(column, |row, word| {
                    let number = match (word, last) {
                        (None, _) => next.of_null(row, || words.push(0)),
                        // Rows often come in runs.
                        (Some(word), Some((before, number))) if before == word => number,
                        (Some(word), _) => {
                            let number = next.of_word(row, word, words);
                            last = Some((word, number));
                            number
                        }
                    };
                    numbers.push(number);
                })?;
            }
            (Keys::Bytes(strings), [column]) => {
                let mut see = |row: usize, string: Option<&[u8]>| {
                    numbers.push(match string {
                        None => next.of_null(row, || strings.push(&[])),
                        Some(string) => next.of_string(row, string, strings),
                    });
                };
                if let Some(texts) = column.as_string_opt::<i32>() {
                    texts.iter().enumerate().for_each(|(row, text)| see(row, text.map(str::as_bytes)));
                } else if let Some(binary) = column.as_binary_opt::<i32>() {
                    binary.iter().enumerate().for_each(|(row, bytes)| see(row, bytes));
                } else {
                    return Err(unexpected(column));
                }
            }
            (Keys::Rows(converter, strings), columns) => {
                let converted = converter.convert_columns(columns)?;
                let rows = converted.iter().enumerate();
                rows.for_each(|(row, key)| numbers.push(next.of_string(row, key.as_ref(), strings)));
            }
            (_, columns) => {
                return Err(ArrowError::InvalidArgumentError(format!("{} columns for one", columns.len())));
            }
        }
        Ok(())
    }
}

/// Finds numbers, and gives new ones.
struct Next<'a> {
    table: &'a mut HashTable<u32>,
    hasher: &'a DefaultHashBuilder,
    null: &'a mut Option<u32>,
    count: &'a mut u32,
    firsts: &'a mut Vec<u32>,
}

impl Next<'_> {
    fn new_number(&mut self, row: usize) -> u32 {
        let number = *self.count;
        // Memory ends long before 32 bits do.
        *self.count = number.saturating_add(1);
        self.firsts.push(row as u32);
        number
    }

    fn of_null(&mut self, row: usize, keep: impl FnOnce()) -> u32 {
        if let Some(number) = *self.null {
            return number;
        }
        let number = self.new_number(row);
        *self.null = Some(number);
        keep();
        number
    }

    fn of_word(&mut self, row: usize, word: u64, words: &mut Vec<u64>) -> u32 {
        let is_same = |number: &u32| words.get(*number as usize) == Some(&word);
        let hash = self.hasher.hash_one(word);
        if let Some(number) = self.table.find(hash, is_same) {
            return *number;
        }
        let number = self.new_number(row);
        words.push(word);
        let again = |number: &u32| self.hasher.hash_one(words.get(*number as usize).copied().unwrap_or_default());
        self.table.insert_unique(hash, number, again);
        number
    }

    fn of_string(&mut self, row: usize, string: &[u8], strings: &mut Strings) -> u32 {
        let hash = self.hasher.hash_one(string);
        if let Some(number) = self.table.find(hash, |number| strings.get(*number) == string) {
            return *number;
        }
        let number = self.new_number(row);
        strings.push(string);
        self.table.insert_unique(hash, number, |number| self.hasher.hash_one(strings.get(*number)));
        number
    }
}

fn is_word(ty: &DataType) -> bool {
    matches!(
        ty,
        DataType::Boolean
            | DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::Float32
            | DataType::Float64
            | DataType::Timestamp(..)
    )
}

fn unexpected(column: &ArrayRef) -> ArrowError {
    ArrowError::InvalidArgumentError(format!("no groups of {}", column.data_type()))
}

/// Calls `see` with each value as a word; `None` is NULL.
fn each_word(column: &ArrayRef, mut see: impl FnMut(usize, Option<u64>)) -> Result<(), ArrowError> {
    fn of<T: ArrowPrimitiveType>(
        column: &ArrayRef,
        word: impl Fn(T::Native) -> u64,
        see: &mut impl FnMut(usize, Option<u64>),
    ) {
        let column = column.as_primitive::<T>();
        match column.nulls() {
            None => column.values().iter().enumerate().for_each(|(row, value)| see(row, Some(word(*value)))),
            Some(_) => column.iter().enumerate().for_each(|(row, value)| see(row, value.map(&word))),
        }
    }
    let see = &mut see;
    match column.data_type() {
        DataType::Boolean => {
            column.as_boolean().iter().enumerate().for_each(|(row, value)| see(row, value.map(u64::from)));
        }
        DataType::Int8 => of::<Int8Type>(column, |value| value as u64, see),
        DataType::Int16 => of::<Int16Type>(column, |value| value as u64, see),
        DataType::Int32 => of::<Int32Type>(column, |value| value as u64, see),
        DataType::Int64 => of::<Int64Type>(column, |value| value as u64, see),
        DataType::Float32 => of::<Float32Type>(column, |value| value.to_bits().into(), see),
        DataType::Float64 => of::<Float64Type>(column, f64::to_bits, see),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            of::<TimestampMillisecondType>(column, |value| value as u64, see);
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            of::<TimestampNanosecondType>(column, |value| value as u64, see);
        }
        _ => return Err(unexpected(column)),
    }
    Ok(())
}
