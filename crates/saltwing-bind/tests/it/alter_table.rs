//! Definitions after ALTER TABLE.

use std::sync::Arc;

use proptest::prelude::*;
use saltwing_access::Table;
use saltwing_bind::{BindError, alter_table, create_table};
use saltwing_sql::Statement;
use saltwing_types::table::{COLUMNS_MAX, SLOTS_MAX};
use saltwing_types::{ErrorCode, KeyColumn, TableDef, Value};

fn created(sql: &str) -> Arc<Table> {
    let Statement::CreateTable(create) = saltwing_sql::parse_one(sql).unwrap().statement else { panic!("{sql}") };
    Arc::new(Table::new(Arc::new(create_table(&create, None).unwrap().def)).unwrap())
}

fn altered(table: &Arc<Table>, sql: &str) -> Result<Option<Arc<Table>>, BindError> {
    let Statement::AlterTable(alter) = saltwing_sql::parse_one(sql).unwrap().statement else { panic!("{sql}") };
    let def = alter_table(&alter, table, None)?.def;
    Ok(def.map(|def| Arc::new(Table::new(Arc::new(def)).unwrap())))
}

/// The columns that a key names, parts that it computes included.
fn key_names(def: &TableDef) -> Vec<String> {
    let inputs = |key: &KeyColumn| match key.computed() {
        Some(expr) => expr.columns(),
        None => key.column().into_iter().collect(),
    };
    def.key.columns.iter().flat_map(inputs).map(|column| def.columns[column].name.clone()).collect()
}

#[test]
fn columns_have_limits() {
    let columns: Vec<String> = (1..COLUMNS_MAX).map(|i| format!("c{i} INTEGER")).collect();
    let table = created(&format!("CREATE TABLE t (k INTEGER NOT NULL PRIMARY KEY, {})", columns.join(", ")));
    let refused = altered(&table, "ALTER TABLE t ADD one_more INTEGER").unwrap_err();
    assert_eq!(refused.code(), ErrorCode::TooManyColumns);
    let fewer = altered(&table, "ALTER TABLE t DROP c7").unwrap().unwrap();
    assert!(altered(&fewer, "ALTER TABLE t ADD one_more INTEGER").unwrap().is_some());
}

#[test]
fn slots_of_a_family_run_out() {
    let mut table = created("CREATE TABLE t (k INTEGER NOT NULL PRIMARY KEY, a INTEGER)");
    let names: Vec<String> = (1..=900).map(|i| format!("c{i}")).collect();
    let add = format!("ALTER TABLE t ADD {} INTEGER", names.join(" INTEGER, "));
    let drop = format!("ALTER TABLE t DROP {}", names.join(", "));
    for _ in 0..SLOTS_MAX / 900 {
        table = altered(&table, &add).unwrap().unwrap();
        table = altered(&table, &drop).unwrap().unwrap();
    }
    let refused = altered(&table, &add).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::InvalidDefinition);
    assert!(refused.to_string().contains(&SLOTS_MAX.to_string()), "{refused}");
    assert!(altered(&table, "ALTER TABLE t ADD f.x INTEGER").unwrap().is_some());
}

#[test]
fn what_changes_nothing_is_no_new_definition() {
    let table = created("CREATE TABLE t (k INTEGER NOT NULL PRIMARY KEY, a INTEGER) TTL = 5");
    for sql in [
        "ALTER TABLE t ADD IF NOT EXISTS A INTEGER",
        "ALTER TABLE t DROP COLUMN IF EXISTS b",
        "ALTER TABLE t SET TTL = 5",
        "ALTER TABLE t SET BLOCK_ROWS = NONE",
    ] {
        assert!(altered(&table, sql).unwrap().is_none(), "{sql}");
    }
}

/// The texts of a definition follow the names of its columns.
#[test]
fn names_in_texts_follow() {
    let table = created(
        "CREATE TABLE t (p VARCHAR NOT NULL, a INTEGER, f.b INTEGER, g.b INTEGER, \
         CHECK (t.a > 0 AND f.b < g.b), CONSTRAINT pk PRIMARY KEY (LEFT(MD5(t.p), 2), p))",
    );
    let table = altered(&table, "ALTER TABLE t RENAME p TO \"a b\"").unwrap().unwrap();
    assert_eq!(table.def().key.columns[0].name, "LEFT(MD5(\"a b\"), 2)");
    assert_eq!(table.def().checks[0].text, "a > 0 AND f.b < g.b");
    let table = altered(&table, "ALTER TABLE t RENAME f.b TO a").unwrap().unwrap();
    assert_eq!(table.def().checks[0].text, "a > 0 AND f.a < b");
    let table = altered(&table, "ALTER TABLE t RENAME a TO c").unwrap().unwrap();
    assert_eq!(table.def().checks[0].text, "c > 0 AND a < b");
    let table = altered(&table, "ALTER TABLE t RENAME TO u").unwrap().unwrap();
    assert_eq!((table.def().name.to_string(), table.def().checks[0].text.as_str()), ("u".into(), "c > 0 AND a < b"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(4)))]

    /// Rows from before a column keep the value that they read as, whatever becomes of its DEFAULT; later rows have the newest one.
    #[test]
    fn older_rows_keep_their_value(first in prop::option::of(0..3_i64), later in prop::collection::vec(prop::option::of(0..3_i64), 1..8)) {
        let default = |value: &Option<i64>| value.map_or(String::new(), |value| format!("DEFAULT {value}"));
        let mut table = created("CREATE TABLE t (k INTEGER NOT NULL PRIMARY KEY)");
        table = altered(&table, &format!("ALTER TABLE t ADD c INTEGER {}", default(&first))).unwrap().unwrap();
        let older = table.absent(1).clone();
        prop_assert_eq!(&older, &first.map_or(Value::Null, Value::Int));
        for value in later {
            let change = match value {
                Some(_) => format!("SET {}", default(&value)),
                None => "DROP DEFAULT".into(),
            };
            table = altered(&table, &format!("ALTER TABLE t ALTER c {change}")).unwrap().unwrap_or(table);
            prop_assert_eq!(table.absent(1), &older);
            let column = &table.def().columns[1];
            let newest = column.default.as_ref().map(|default| default.text.clone());
            prop_assert_eq!(newest, value.map(|value| value.to_string()));
            // What follows from the DEFAULT is not stored.
            prop_assert_eq!(column.absent.is_none(), value == first);
        }
    }

    /// No slot is given twice, and the key is made of the same columns, wherever they stand.
    #[test]
    fn slots_and_keys_stay(steps in prop::collection::vec((any::<bool>(), 0..6_usize, 0..3_usize), 1..60)) {
        let mut table = created(
            "CREATE TABLE t (c0 INTEGER, p VARCHAR NOT NULL, f.c1 VARCHAR, q INTEGER NOT NULL, c2 BIGINT, \
             CONSTRAINT pk PRIMARY KEY (SUBSTR(MD5(p), 1, 3), q DESC, p))",
        );
        let key = key_names(table.def());
        let mut given = vec![(0, 0), (0, 1), (1, 0)];
        for (adds, column, family) in steps {
            let family = ["", "f.", "g."][family];
            let sql = match adds {
                true => format!("ALTER TABLE t ADD IF NOT EXISTS {family}c{column} INTEGER"),
                false => format!("ALTER TABLE t DROP IF EXISTS {family}c{column}"),
            };
            let next = match altered(&table, &sql) {
                Err(error) if error.code() == ErrorCode::AmbiguousColumn => continue,
                altered => altered.unwrap(),
            };
            let Some(next) = next else { continue };
            if adds {
                let new = next.def().columns.last().unwrap();
                let slot = (new.family.unwrap(), new.slot);
                prop_assert!(!given.contains(&slot));
                given.push(slot);
            }
            let def = next.def();
            prop_assert_eq!(key_names(def), key.clone());
            for family in 0..def.families.len() {
                let slots = def.slots(family);
                prop_assert_eq!(slots.len(), given.iter().filter(|(f, _)| *f == family).count());
                for (slot, (ty, column)) in slots.into_iter().enumerate() {
                    if let Some(column) = column {
                        prop_assert_eq!((usize::from(def.columns[column].slot), def.columns[column].ty), (slot, ty));
                    }
                }
            }
            table = next;
        }
    }
}
