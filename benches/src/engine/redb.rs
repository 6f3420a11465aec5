//! redb: what a store of keys and values does with no SQL above it.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use redb::{Database, ReadOnlyTable, ReadableDatabase as _, TableDefinition};

use super::{Answer, Engine, Fingerprint, Transaction, Worker, timed};
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
fn visit_range(
    table: &LogTable,
    (low, high): (Bound<&[u8]>, Bound<&[u8]>),
    limit: usize,
    mut each: impl FnMut(&[u8], &[u8]) -> Result<()>,
) -> Result<()> {
    for row in table.range::<&[u8]>((low, high))?.take(limit) {
        let (key, value) = row?;
        each(key.value(), value.value())?;
    }
    Ok(())
}

/// The rows of a phone from one time on, and up to another.
fn of_phone(phone: &str, from: i64, to: i64) -> [Vec<u8>; 2] {
    // The newest comes first: rows before `to` begin after the key of `to`.
    [key(phone, to - 1), key(phone, from)]
}

/// The rows that answer a question, in key order.
fn visit(
    table: &LogTable,
    read: Read,
    arguments: &[Argument],
    mut each: impl FnMut(&[u8], &[u8]) -> Result<()>,
) -> Result<()> {
    let mut range = |[low, high]: [Vec<u8>; 2], limit| {
        visit_range(table, (Bound::Included(&low), Bound::Included(&high)), limit, &mut each)
    };
    match (read, arguments) {
        (Read::Point, [Argument::Text(phone), Argument::Int(ts)]) => {
            let key = key(phone, *ts);
            table.get(key.as_slice())?.map_or(Ok(()), |value| each(&key, value.value()))
        }
        (Read::Prefix500Arrow | Read::Prefix500Rows, [Argument::Text(phone)]) => {
            range(of_phone(phone, 0, i64::MAX), PREFIX_ROWS)
        }
        (Read::Latest10, [Argument::Text(phone)]) => range(of_phone(phone, 0, i64::MAX), LATEST_ROWS),
        (Read::Agg401, [Argument::Text(phone), Argument::Int(from), Argument::Int(to)]) => {
            range(of_phone(phone, *from, *to), usize::MAX)
        }
        (Read::Page1000, [Argument::Text(phone), Argument::Int(ts)]) => {
            let after = key(phone, *ts);
            visit_range(table, (Bound::Excluded(&after), Bound::Unbounded), PAGE_ROWS, each)
        }
        (Read::In100, pairs) => {
            let mut keys = Vec::with_capacity(pairs.len() / 2);
            for pair in pairs.chunks_exact(2) {
                let [Argument::Text(phone), Argument::Int(ts)] = pair else { return Err("not a key".into()) };
                keys.push(key(phone, *ts));
            }
            keys.sort_unstable();
            keys.dedup();
            keys.iter().try_for_each(|key| table.get(key.as_slice())?.map_or(Ok(()), |value| each(key, value.value())))
        }
        (Read::SkipScan, [Argument::Int(from), Argument::Int(to), phones @ ..]) => {
            let mut phones: Vec<&String> =
                phones.iter().filter_map(|a| if let Argument::Text(phone) = a { Some(phone) } else { None }).collect();
            phones.sort_unstable();
            phones.dedup();
            phones.iter().try_for_each(|phone| range(of_phone(phone, *from, *to), usize::MAX))
        }
        (Read::SumAll | Read::FilterAll | Read::Everything | Read::AllRows, []) => {
            visit_range(table, (Bound::Unbounded, Bound::Unbounded), usize::MAX, each)
        }
        _ => Err(format!("{} is not asked so", read.name()).into()),
    }
}

/// What a row brings to the sum of an answer.
fn summand(read: Read) -> fn(&[u8], &[u8]) -> Result<i64> {
    match read {
        Read::Point | Read::In100 => |_, value| sum_of_value(value),
        Read::Latest10 => |key, value| Ok(ts(key)? + number(value, 0)?),
        Read::SkipScan => |key, value| Ok(sum_of_key(key)? + number(value, 0)?),
        Read::Agg401 => |_, value| Ok(1 + number(value, 0)?),
        Read::FilterAll => |_, value| Ok(if number(value, 0)? < 10_000 { 1 + number(value, 1)? } else { 0 }),
        Read::SumAll | Read::Everything => |_, value| number(value, 0),
        _ => sum_of_row,
    }
}

fn answer(table: &LogTable, read: Read, arguments: &[Argument]) -> Result<i64> {
    let (summand, mut sum) = (summand(read), 0);
    visit(table, read, arguments, |key, value| {
        sum += summand(key, value)?;
        Ok(())
    })?;
    Ok(sum)
}

/// The columns of a question's rows: whether the key's two, so many of the numbers, and whether the url. `None` where the
/// answer is made of rows and is none of them.
fn columns(read: Read) -> Option<([bool; 2], usize, bool)> {
    match read {
        Read::Point | Read::In100 => Some(([false, false], NUMBERS, true)),
        Read::Latest10 => Some(([false, true], 1, false)),
        Read::SkipScan => Some(([true, true], 1, false)),
        Read::Prefix500Arrow | Read::Prefix500Rows | Read::Page1000 | Read::AllRows => {
            Some(([true, true], NUMBERS, true))
        }
        _ => None,
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
    fn ask(&mut self, read: Read, argument_lists: &[Arguments]) -> Result<Option<Vec<Answer>>> {
        if read.is_relational() || matches!(read, Read::PointUnprepared | Read::GroupAll) {
            return Ok(None);
        }
        let ask =
            |arguments: &Arguments| timed(|| answer(&self.database.begin_read()?.open_table(LOG)?, read, arguments));
        argument_lists.iter().map(ask).collect::<Result<_>>().map(Some)
    }

    fn look(&mut self, read: Read, arguments: &Arguments) -> Result<Option<Fingerprint>> {
        let Some(([with_phone, with_ts], numbers, with_url)) = columns(read) else { return Ok(None) };
        let mut fingerprint = Fingerprint::new(read.is_ordered());
        visit(&self.database.begin_read()?.open_table(LOG)?, read, arguments, |key, value| {
            let (phone, _) = key.split_last_chunk::<TS_BYTES>().ok_or("a key is too short")?;
            if with_phone {
                fingerprint.text(phone);
            }
            if with_ts {
                fingerprint.int(ts(key)?);
            }
            for place in 0..numbers {
                fingerprint.int(number(value, place)?);
            }
            if with_url {
                fingerprint.text(value.get(4 * NUMBERS..).unwrap_or_default());
            }
            fingerprint.end_row();
            Ok(())
        })?;
        Ok(Some(fingerprint))
    }

    fn load(&mut self, rows: &[LogRow]) -> Result<()> {
        write(&self.database, rows)
    }

    fn load_in_bulk(&mut self, _: &[LogRow]) -> Result<bool> {
        Ok(false)
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

    fn writer(&self) -> Result<Worker<LogRow>> {
        let database = self.database.clone();
        Ok(Box::new(move |row| write(&database, std::slice::from_ref(row))))
    }

    fn counter(&self) -> Result<Option<Worker<i64>>> {
        Ok(None)
    }

    fn transactor(&self) -> Result<Option<Worker<Transaction>>> {
        Ok(None)
    }
}
