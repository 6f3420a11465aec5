//! Definitions that follow one another while rows are written and read.

use std::sync::Arc;

use saltwing_access::{Projection, Table, TableError, TableStore, WriteBatch};
use saltwing_store::{Durability, MemoryStore};
use saltwing_types::table::{DefaultDef, DefaultKind, DroppedColumn};
use saltwing_types::{ColumnDef, Expr, SqlType, TableDef, Value};

use crate::world::{World, plain_row, put_all, read, request, table, thread_options};

/// The next definition: a column more in each family, with a default in the last two.
pub(crate) fn with_more_columns(def: &TableDef) -> TableDef {
    let mut def = def.clone();
    for family in 0..def.families.len() {
        let default = (family > 0).then(|| DefaultDef {
            text: "7".into(),
            expr: Expr::Literal(Value::Int(7), SqlType::Integer),
            kind: DefaultKind::Constant,
        });
        def.columns.push(ColumnDef {
            name: format!("new{family}"),
            ty: SqlType::Integer,
            nullable: true,
            default,
            family: Some(family),
            slot: def.slots(family).len() as u16,
            hidden: false,
            comment: None,
            absent: None,
        });
    }
    def.history.version += 1;
    def
}

fn write(mut batch: Box<dyn WriteBatch>, table: &Arc<Table>, row: &[Value]) -> Result<(), TableError> {
    batch.put(table, row)?;
    batch.commit(Durability::Buffered).map(drop)
}

#[test]
fn rows_are_written_by_the_newest_definition_only() {
    let mut world = World::open(Arc::new(MemoryStore::new()), thread_options(), table(100, 0, None)).unwrap();
    put_all(&mut world, (0..10).map(|k| (k, k)));
    let old = world.table.clone();
    let transaction = world.store.begin().unwrap();
    let view = transaction.snapshot().clone();
    let new = world.store.open_table(Table::new(Arc::new(with_more_columns(old.def()))).unwrap());
    for batch in [world.store.batch(), transaction] {
        let refused = write(batch, &old, &plain_row(3, 99));
        assert!(matches!(refused, Err(TableError::DefinitionChanged { .. })));
    }
    // Rows from before the change are read by either definition, later ones by the new one.
    let key = old.row_key(&plain_row(3, 0)).unwrap();
    assert_eq!(view.get(&Projection::all(&old), &key).unwrap().unwrap()[2], Value::Int(3));
    let mut row = plain_row(3, 99);
    row.extend([Value::Int(1), Value::Null, Value::Int(3)]);
    write(world.store.batch(), &new, &row).unwrap();
    let later = world.store.snapshot().unwrap();
    assert!(matches!(later.get(&Projection::all(&old), &key), Err(TableError::DefinitionChanged { .. })));
    assert!(matches!(later.contains(&old, &key), Err(TableError::DefinitionChanged { .. })));
    assert!(matches!(read(&world, later.clone(), &request(&old, vec![0])), Err(TableError::DefinitionChanged { .. })));
    assert_eq!(later.get(&Projection::all(&new), &key).unwrap().unwrap(), row);
    assert_eq!(view.get(&Projection::all(&new), &key).unwrap().unwrap()[2], Value::Int(3));
    for merged in [false, true] {
        if merged {
            world.store.merge().unwrap();
        }
        let view = world.store.snapshot().unwrap();
        let other = old.row_key(&plain_row(4, 0)).unwrap();
        let found = view.get(&Projection::all(&new), &other).unwrap().unwrap();
        let wanted = [Value::Int(4), Value::Null, Value::Int(7), Value::Int(7)];
        assert_eq!([&found[2], &found[10], &found[11], &found[12]], wanted.each_ref(), "{merged}");
        assert_eq!(view.get(&Projection::all(&new), &key).unwrap().unwrap(), row, "{merged}");
    }
}

/// The slot of a dropped column keeps its room in a row: later columns are found, in deltas and in blocks.
#[test]
fn columns_after_a_dropped_one_keep_their_places() {
    let mut world = World::open(Arc::new(MemoryStore::new()), thread_options(), table(100, 0, None)).unwrap();
    put_all(&mut world, (0..10).map(|k| (k, k)));
    let old = world.table.def().clone();
    let version = |world: &World| world.store.table(old.id).unwrap().def().history.version;
    for merged in [false, true] {
        if merged {
            // By a definition that has all columns.
            let mut whole = TableDef::clone(&old);
            whole.history.version = version(&world) + 1;
            world.store.open_table(Table::new(Arc::new(whole)).unwrap());
            world.store.merge().unwrap();
        }
        for index in (2..old.columns.len()).rev() {
            let mut def = TableDef::clone(&old);
            let gone = def.columns.remove(index);
            def.history.version = version(&world) + 1;
            let (family, slot, ty) = (gone.family.unwrap(), gone.slot, gone.ty);
            def.history.dropped.push(DroppedColumn { family, slot, ty });
            let table = world.store.open_table(Table::new(Arc::new(def)).unwrap());
            let view = world.store.snapshot().unwrap();
            let key = table.row_key(&plain_row(3, 0)).unwrap();
            let mut wanted = plain_row(3, 3);
            wanted.remove(index);
            assert_eq!(view.get(&Projection::all(&table), &key).unwrap().unwrap(), wanted, "{index} {merged}");
        }
    }
}
