//! Tables of many columns, of columns of every type, of keys as long as they may be, and of nothing but keys.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use saltwing_access::{Projection, TableStore};
use saltwing_store::{Access, Direction, KeyBounds, MemoryStore, OpenOptions, OrderedKv, Space};
use saltwing_table::LayoutOptions;
use saltwing_types::table::ROW_KEY_BYTES_MAX;
use saltwing_types::value::Timestamp as Instant;
use saltwing_types::{ColumnDef, ColumnRef, CompareOp, Expr, SqlType, TableDef, Value};

use crate::world::{Request, World, plain_row, read, request, run_options, table, tailed, thread_options};

/// Value columns of a wide table.
const COLUMNS: usize = 500;
/// Columns whose smallest and largest values a directory keeps, at most.
const ZONES: usize = 16;
/// Most bytes of such a summary: family, slot, flags, and two values.
const ZONE_BYTES_MAX: usize = 1 + 2 + 1 + 2 * 16;
const DIR: Space = Space::new(4);

const TYPES: [SqlType; 26] = [
    SqlType::TinyInt,
    SqlType::SmallInt,
    SqlType::Integer,
    SqlType::BigInt,
    SqlType::UnsignedTinyInt,
    SqlType::UnsignedSmallInt,
    SqlType::UnsignedInt,
    SqlType::UnsignedLong,
    SqlType::Float,
    SqlType::Double,
    SqlType::UnsignedFloat,
    SqlType::UnsignedDouble,
    SqlType::Decimal(None),
    SqlType::Decimal(Some((38, 10))),
    SqlType::Boolean,
    SqlType::Date,
    SqlType::Time,
    SqlType::Timestamp,
    SqlType::UnsignedDate,
    SqlType::UnsignedTime,
    SqlType::UnsignedTimestamp,
    SqlType::Char(7),
    SqlType::Varchar(None),
    SqlType::Binary(3),
    SqlType::Varbinary,
    SqlType::VarbinaryEncoded,
];

/// One of a type's values: its ends, those that are special, and some between; NULL now and then.
fn value(ty: SqlType, n: usize) -> Value {
    use SqlType::*;
    if n % 5 == 4 {
        return Value::Null;
    }
    let pick = n % 4;
    if let Some((least, most)) = ty.integer_range() {
        return Value::Int([least, most, 0, n as i64 % most][pick]);
    }
    let text = ["", "a", "zażółć 漢字", "longer than what a summary has of it"][pick];
    let bytes = [&b""[..], b"\0", b"\xff\xff", b"\x01 more than sixteen bytes of it"][pick].to_vec();
    let day = [0i64, 1_704_067_200_123, 253_402_300_799_999, 86_400_000 * n as i64][pick];
    match ty {
        Float => Value::Float([f32::MIN, f32::NAN, 0.1, -(n as f32)][pick]),
        Double => Value::Double([f64::MIN_POSITIVE, f64::NAN, -0.1, n as f64][pick]),
        UnsignedFloat => Value::Float([0.0, f32::MAX, 0.1, n as f32][pick]),
        UnsignedDouble => Value::Double([0.0, f64::MAX, 0.1, n as f64][pick]),
        Decimal(None) => {
            Value::Decimal(["-0.000001", "99999999999999999999999999999999999999", "0", "1e30"][pick].parse().unwrap())
        }
        Decimal(Some(_)) => Value::Decimal(
            ["-0.0000000001", "9999999999999999999999999999.9999999999", "0", "7.5"][pick].parse().unwrap(),
        ),
        Boolean => Value::Bool(n.is_multiple_of(2)),
        Date | Time => Value::Date(day - 86_400_000 * (n as i64 % 3) * 10_000),
        UnsignedDate | UnsignedTime => Value::Date(day),
        Timestamp | UnsignedTimestamp => {
            let ms = day.min(9_000_000_000_000);
            Value::Timestamp(Instant { ms, nanos: 999_999 - n as u32 % 7 })
        }
        Char(_) => Value::text(["", "a", "seven c", "b b"][pick]),
        Varchar(_) => Value::text(text),
        Binary(width) => Value::Bytes(vec![n as u8; width as usize]),
        _ => Value::Bytes(bytes),
    }
}

/// The table of the world with other value columns: so many of each type, in three families by turns.
fn with_columns(def: TableDef, types: impl Iterator<Item = SqlType>) -> TableDef {
    let mut slots = [0u16; 3];
    let columns = types.enumerate().map(|(i, ty)| {
        let family = i % 3;
        let slot = slots[family];
        slots[family] += 1;
        ColumnDef {
            name: format!("c{i}"),
            ty,
            nullable: true,
            default: None,
            family: Some(family),
            slot,
            hidden: false,
            comment: None,
            absent: None,
        }
    });
    TableDef { columns: def.columns.into_iter().take(2).chain(columns).collect(), ..def }
}

/// A row: NULLs in whole families now and then.
fn row(def: &TableDef, k: i64, seed: usize) -> Vec<Value> {
    let of_column = |(i, column): (usize, &ColumnDef)| match (i, column.family) {
        (0, _) => Value::Int(k),
        (1, _) => Value::text("x"),
        (_, Some(family)) if family > 0 && (k as usize + seed).is_multiple_of(5) => Value::Null,
        _ => value(column.ty, i + k as usize * 7 + seed),
    };
    def.columns.iter().enumerate().map(of_column).collect()
}

fn open(kv: Arc<dyn OrderedKv>, options: LayoutOptions, def: TableDef) -> World {
    World::open(kv, options, def).unwrap()
}

/// Everything, some columns in another order, and each row by itself are the model's.
fn assert_reads(world: &World) {
    assert_eq!(world.read_all().unwrap(), world.rows);
    let columns: Vec<usize> = (0..world.def.columns.len()).rev().step_by(7).collect();
    let view = world.store.snapshot().unwrap();
    let request = Request { direction: Direction::Reverse, ..request(&world.table, columns.clone()) };
    let found = read(world, view.clone(), &request).unwrap();
    let wanted = world.rows.values().rev().map(|row| columns.iter().map(|&c| row[c].clone()).collect::<Vec<_>>());
    assert!(found.into_iter().eq(wanted));
    for row in world.rows.values() {
        let found = view.get(&Projection::all(&world.table), &world.physical(row)).unwrap();
        assert_eq!(found.as_ref(), Some(row));
    }
}

/// Rows in blocks, in runs and recent ones, before and after opening.
fn assert_history(mut world: World, rows: i64) {
    let def = world.def.clone();
    let write = |world: &mut World, keys: &[i64], seed| {
        let rows: Vec<_> = keys.iter().map(|k| (row(&def, *k, seed), true)).collect();
        world.commit(&rows).unwrap();
    };
    write(&mut world, &(0..rows).collect::<Vec<_>>(), 0);
    assert_reads(&world);
    world.store.merge().unwrap();
    assert_reads(&world);
    write(&mut world, &[1, rows / 2, rows], 1);
    world.store.merge().unwrap();
    write(&mut world, &[0, rows / 2], 2);
    assert_reads(&world);
    world.reopen().unwrap();
    assert_reads(&world);
    world.store.merge().unwrap();
    world.assert_nothing_is_left_over();
}

#[test]
fn values_of_every_type_come_back() {
    for options in [thread_options(), run_options(), LayoutOptions { value_bytes: 1 << 14, ..LayoutOptions::tiny() }] {
        let def = with_columns(table(100, 3, None), TYPES.into_iter().chain(TYPES));
        assert_history(open(Arc::new(MemoryStore::new()), options, def), 40);
    }
}

#[test]
fn a_table_may_have_five_hundred_columns() {
    let def = with_columns(table(100, 0, None), TYPES.into_iter().cycle().take(COLUMNS));
    let options = LayoutOptions { block_rows: 6, block_bytes: 1 << 20, value_bytes: 1 << 14, ..thread_options() };
    let mut world = open(Arc::new(MemoryStore::new()), options.clone(), def.clone());
    let rows: Vec<_> = (0..24).map(|k| (row(&def, k, 0), true)).collect();
    world.commit(&rows).unwrap();
    world.store.merge().unwrap();
    assert_eq!(world.storage().blocks, 4);
    // Of one column no more is read than of it: its block has a lead, and the family's parts.
    let hits_and_misses = |world: &World| world.storage().cache_hits + world.storage().cache_misses;
    let before = hits_and_misses(&world);
    let one = request(&world.table, vec![2]);
    read(&world, world.store.snapshot().unwrap(), &one).unwrap();
    assert!(hits_and_misses(&world) - before <= 2 * 4);
    // A directory knows the summaries of a few columns, and a filter on any other is as right.
    let entries = stored_bytes(&*world.kv, DIR);
    assert!(entries < 4 * (100 + ZONES * ZONE_BYTES_MAX), "{entries} bytes of directory entries");
    // Two of the same type, of which a directory knows the first.
    for column in [4, 4 + 15 * TYPES.len()] {
        let wanted = world.rows.values().filter(|row| matches!(row[column], Value::Int(n) if n > 0)).count();
        assert!(wanted > 0);
        let request = Request { filter: vec![above_zero(&def, column)], ..request(&world.table, vec![0]) };
        assert_eq!(read(&world, world.store.snapshot().unwrap(), &request).unwrap().len(), wanted);
        assert_eq!(request.context.counters.keys_read.load(Ordering::Relaxed), 24);
    }
    assert_history(open(Arc::new(MemoryStore::new()), options, def), 12);
}

fn above_zero(def: &TableDef, index: usize) -> Expr {
    let ColumnDef { name, ty, .. } = def.columns[index].clone();
    let column = ColumnRef { index, name, ty, nullable: true, span: None };
    Expr::Compare(CompareOp::Gt, Box::new(Expr::Column(column)), Box::new(Expr::Literal(Value::Int(0), ty)))
}

fn stored_bytes(kv: &dyn OrderedKv, space: Space) -> usize {
    let mut cursor = kv.cursor(space, KeyBounds::all(), Direction::Forward).unwrap();
    std::iter::from_fn(|| cursor.next().unwrap()).map(|(key, value)| key.len() + value.len()).sum()
}

/// Keys of all lengths up to the most there may be, many of which differ in their last byte alone.
#[test]
fn keys_may_be_as_long_as_they_may_be() {
    let folder = tempfile::tempdir().unwrap();
    let options = || OpenOptions { access: Access::Create, cache_bytes: 8 << 20, trace: None };
    let stores: [Arc<dyn OrderedKv>; 3] = [
        Arc::new(MemoryStore::new()),
        Arc::new(saltwing_redb::open(folder.path().join("redb"), options()).unwrap()),
        Arc::new(saltwing_sled::open(folder.path().join("sled"), options()).unwrap()),
    ];
    for kv in stores {
        for (id, def) in [(100, table(100, 3, None)), (101, tailed(table(101, 0, None)))] {
            // Beside the text: the bucket's byte, two bytes of the number, and a separator where the text comes first.
            let text_bytes_max = ROW_KEY_BYTES_MAX - 3;
            let row = |length: usize, i: i64| {
                let mut row = plain_row(i % 7, i);
                row[1] = Value::Text(format!("{}{}", "x".repeat(length - 1), i % 10));
                (row, true)
            };
            let mut world = open(kv.clone(), run_options(), def);
            assert_eq!(world.def.id.0, id);
            let lengths = [1, 255, 256, 16_000, text_bytes_max];
            for round in 0..4 {
                let rows: Vec<_> = (0..20).map(|i| row(lengths[(i + round) as usize % 5], i)).collect();
                world.commit(&rows).unwrap();
                assert_reads(&world);
                world.store.merge().unwrap();
                assert_reads(&world);
                world.reopen().unwrap();
            }
            let longest = world.rows.keys().map(Vec::len).max().unwrap();
            assert_eq!(longest + usize::from(id == 100), ROW_KEY_BYTES_MAX);
            let (too_long, _) = row(text_bytes_max + 1, 1);
            assert!(world.store.batch().put(&world.table, too_long).is_err());
        }
    }
}

/// What an index entry will be: a row that is nothing but its key.
#[test]
fn rows_may_be_nothing_but_their_keys() {
    for salt in [0, 3] {
        let def = with_columns(table(100, salt, None), std::iter::empty());
        let def = TableDef { families: vec![None], ..def };
        let options =
            LayoutOptions { block_rows: 1024, block_bytes: 256 << 10, delta_rows: 1 << 20, ..thread_options() };
        let mut world = open(Arc::new(MemoryStore::new()), options, def);
        let rows = |keys: std::ops::Range<i64>| -> Vec<_> {
            keys.map(|k| (vec![Value::Int(k), Value::text(format!("entry {}", k % 10))], k % 7 != 3)).collect()
        };
        world.commit(&rows(0..3000)).unwrap();
        world.store.merge().unwrap();
        assert_reads(&world);
        let held = world.storage();
        assert!(held.blocks >= held.block_rows / 1024 && held.block_bytes_written / held.block_rows < 16, "{held:?}");
        world.commit(&rows(1400..1500)).unwrap();
        world.reopen().unwrap();
        assert_reads(&world);
        world.store.merge().unwrap();
        world.assert_nothing_is_left_over();
    }
}
