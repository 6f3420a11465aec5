//! redb: what a store of keys and values does with no SQL above it.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use redb::{Database, ReadOnlyTable, ReadableDatabase as _, TableDefinition};

use super::{Answer, Engine, Writer, timed};
use crate::Result;
use crate::read::{Argument, Arguments, LATEST_ROWS, PAGE_ROWS, PREFIX_ROWS, Read};
use crate::rows::LogRow;

/// redb's database in one file.
pub struct Redb {
    database: Arc<Database>,
}

/// Phone, then the time with its order turned round; to the numbers, four bytes each, and the url.
const LOG: TableDefinition<&[u8], &[u8]> = TableDefinition::new("log");
const TS_BYTES: usize = 8;
const NUMBERS: usize = 4;

type LogTable = ReadOnlyTable<&'static [u8], &'static [u8]>;

impl Redb {
    /// Opens or makes the database.
    pub fn open(folder: &Path, cache_bytes: u64) -> Result<Self> {
        let file = folder.join("log.redb");
        let database = Database::builder().set_cache_size(cache_bytes as usize).create(file)?;
        let transaction = database.begin_write()?;
        transaction.open_table(LOG)?;
        transaction.commit()?;
        Ok(Self { database: Arc::new(database) })
    }
}

fn key(phone: &str, ts: i64) -> Vec<u8> {
    let mut key = phone.as_bytes().to_vec();
    key.extend((!ts.cast_unsigned()).to_be_bytes());
    key
}

fn value(row: &LogRow) -> Vec<u8> {
    let mut value = Vec::with_capacity(4 * NUMBERS + row.url.len());
    row.numbers.iter().for_each(|n| value.extend((*n as u32).to_le_bytes()));
    value.extend(row.url.as_bytes());
    value
}

/// A number of a row.
fn number(value: &[u8], place: usize) -> Result<i64> {
    let bytes = value.get(4 * place..4 * place + 4).ok_or("a value is too short")?;
    Ok(u32::from_le_bytes(bytes.try_into()?).into())
}

/// All of a value, added up.
fn sum_of_value(value: &[u8]) -> Result<i64> {
    let numbers: i64 = (0..NUMBERS).map(|place| number(value, place)).sum::<Result<_>>()?;
    Ok(numbers + (value.len() - 4 * NUMBERS) as i64)
}

fn ts(key: &[u8]) -> Result<i64> {
    let (_, bytes) = key.split_last_chunk::<TS_BYTES>().ok_or("a key is too short")?;
    Ok((!u64::from_be_bytes(*bytes)).cast_signed())
}

/// All of a key, added up.
fn sum_of_key(key: &[u8]) -> Result<i64> {
    Ok(ts(key)? + (key.len() - TS_BYTES) as i64)
}

fn sum_of_row(key: &[u8], value: &[u8]) -> Result<i64> {
    Ok(sum_of_key(key)? + sum_of_value(value)?)
}

/// The rows between two keys, at most so many.
fn sum_of_range(
    table: &LogTable,
    bounds: (Bound<&[u8]>, Bound<&[u8]>),
    limit: usize,
    sum: impl Fn(&[u8], &[u8]) -> Result<i64>,
) -> Result<i64> {
    let mut total = 0;
    for row in table.range::<&[u8]>(bounds)?.take(limit) {
        let (key, value) = row?;
        total += sum(key.value(), value.value())?;
    }
    Ok(total)
}

/// The rows of a phone from one time on, and up to another.
fn of_phone(phone: &str, from: i64, to: i64) -> [Vec<u8>; 2] {
    // The newest comes first: what is before `to` begins behind the key of `to`.
    [key(phone, to - 1), key(phone, from)]
}

fn answer(table: &LogTable, read: Read, arguments: &[Argument]) -> Result<i64> {
    let range = |low: &[u8], high: &[u8], limit, sum: fn(&[u8], &[u8]) -> Result<i64>| {
        sum_of_range(table, (Bound::Included(low), Bound::Included(high)), limit, sum)
    };
    match (read, arguments) {
        (Read::Point, [Argument::Text(phone), Argument::Int(ts)]) => {
            table.get(key(phone, *ts).as_slice())?.map_or(Ok(0), |value| sum_of_value(value.value()))
        }
        (Read::Prefix500Arrow | Read::Prefix500Rows, [Argument::Text(phone)]) => {
            let [low, high] = of_phone(phone, 0, i64::MAX);
            range(&low, &high, PREFIX_ROWS, sum_of_row)
        }
        (Read::Latest10, [Argument::Text(phone)]) => {
            let [low, high] = of_phone(phone, 0, i64::MAX);
            range(&low, &high, LATEST_ROWS, |key, value| Ok(ts(key)? + number(value, 0)?))
        }
        (Read::Agg401, [Argument::Text(phone), Argument::Int(from), Argument::Int(to)]) => {
            let [low, high] = of_phone(phone, *from, *to);
            range(&low, &high, usize::MAX, |_, value| Ok(1 + number(value, 0)?))
        }
        (Read::Page1000, [Argument::Text(phone), Argument::Int(ts)]) => {
            let behind = key(phone, *ts);
            sum_of_range(table, (Bound::Excluded(&behind), Bound::Unbounded), PAGE_ROWS, sum_of_row)
        }
        (Read::In100, pairs) => {
            let mut keys = Vec::with_capacity(pairs.len() / 2);
            for pair in pairs.chunks_exact(2) {
                let [Argument::Text(phone), Argument::Int(ts)] = pair else { return Err("not a key".into()) };
                keys.push(key(phone, *ts));
            }
            keys.sort_unstable();
            keys.dedup();
            let found = |key: &Vec<u8>| -> Result<i64> {
                table.get(key.as_slice())?.map_or(Ok(0), |value| sum_of_value(value.value()))
            };
            keys.iter().map(found).sum()
        }
        (Read::SkipScan, [Argument::Int(from), Argument::Int(to), phones @ ..]) => {
            let mut phones: Vec<&String> =
                phones.iter().filter_map(|a| if let Argument::Text(phone) = a { Some(phone) } else { None }).collect();
            phones.sort_unstable();
            phones.dedup();
            let of_one = |phone: &&String| -> Result<i64> {
                let [low, high] = of_phone(phone, *from, *to);
                range(&low, &high, usize::MAX, |key, value| Ok(sum_of_key(key)? + number(value, 0)?))
            };
            phones.iter().map(of_one).sum()
        }
        (Read::SumAll | Read::Everything, []) => {
            sum_of_range(table, (Bound::Unbounded, Bound::Unbounded), usize::MAX, |_, value| number(value, 0))
        }
        (Read::FilterAll, []) => sum_of_range(table, (Bound::Unbounded, Bound::Unbounded), usize::MAX, |_, value| {
            Ok(if number(value, 0)? < 10_000 { 1 + number(value, 1)? } else { 0 })
        }),
        _ => Err(format!("{} is not asked so", read.name()).into()),
    }
}

fn write(database: &Database, rows: &[LogRow]) -> Result<()> {
    let transaction = database.begin_write()?;
    let mut table = transaction.open_table(LOG)?;
    for row in rows {
        table.insert(key(&row.phone, row.ts).as_slice(), value(row).as_slice())?;
    }
    drop(table);
    Ok(transaction.commit()?)
}

impl Engine for Redb {
    fn ask(&mut self, read: Read, asked: &[Arguments]) -> Result<Option<Vec<Answer>>> {
        if matches!(read, Read::PointUnprepared | Read::GroupAll | Read::Join1k) {
            return Ok(None);
        }
        let ask =
            |arguments: &Arguments| timed(|| answer(&self.database.begin_read()?.open_table(LOG)?, read, arguments));
        asked.iter().map(ask).collect::<Result<_>>().map(Some)
    }

    fn load(&mut self, rows: &[LogRow]) -> Result<()> {
        write(&self.database, rows)
    }

    fn load_csv(&mut self, _: &Path) -> Result<Option<u64>> {
        Ok(None)
    }

    fn delete(&mut self, phone: &str, ts: i64) -> Result<()> {
        let transaction = self.database.begin_write()?;
        transaction.open_table(LOG)?.remove(key(phone, ts).as_slice())?;
        Ok(transaction.commit()?)
    }

    fn count_up(&mut self, _: i64) -> Result<Option<i64>> {
        Ok(None)
    }

    fn run(&mut self, _: &str) -> Result<bool> {
        Ok(false)
    }

    fn settle(&mut self) -> Result<()> {
        Ok(())
    }

    fn writer(&self) -> Result<Writer> {
        let database = self.database.clone();
        Ok(Box::new(move |row| write(&database, std::slice::from_ref(row))))
    }
}
