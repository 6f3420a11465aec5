//! Conditions of views: they bound what is read, and the guard knows them.

use saltwing::{Database, ErrorCode};

use crate::sql::{execute, rows};
use crate::world::World;

fn open() -> (World, Database) {
    let world = World::with_golden_views();
    let (tables, catalog) = (world.store.clone(), world.catalog.clone());
    let database = Database::memory_builder().open_with_catalog(tables, catalog).unwrap();
    (world, database)
}

#[test]
fn a_condition_on_the_key_is_a_range() {
    let (_world, database) = open();
    assert_eq!(rows(&database, "SELECT * FROM ca40v"), ["fixed 1 2"]);
    assert_eq!(rows(&database, "SELECT vk FROM ca40w WHERE k = 'q'"), ["ext"]);
    let plan = rows(&database, "EXPLAIN SELECT * FROM ca40v").join("\n");
    assert!(plan.contains("'fixed'") && !plan.to_lowercase().contains("full scan"), "{plan}");
    // A condition that contradicts the view's gives no row.
    assert_eq!(rows(&database, "SELECT * FROM ca40v WHERE k = 'q'"), Vec::<String>::new());
    assert_eq!(execute(&database, "DELETE FROM ca40v").unwrap(), 1);
    assert_eq!(rows(&database, "SELECT * FROM ca40v"), Vec::<String>::new());
}

#[test]
fn a_condition_beside_the_key_bounds_nothing() {
    let (_world, database) = open();
    let error = database.connect().blocking().query("SELECT * FROM ca39v", ()).map(drop).unwrap_err();
    assert_eq!(error.code(), ErrorCode::FullScanRefused, "{error}");
    assert_eq!(rows(&database, "SELECT /*+ FULL_SCAN */ k FROM ca39v ORDER BY k"), ["r1", "r2"]);
}

/// Help names no statement that a cluster refuses.
#[test]
fn advice_is_possible_on_a_cluster() {
    let (_world, database) = open();
    let error = database.connect().blocking().query("SELECT k FROM ca39 WHERE v = 5", ()).map(drop).unwrap_err();
    let help = error.help().unwrap();
    assert!(help.contains("FULL_SCAN(CA39)"), "{help}");
    assert!(!help.contains("CREATE INDEX") && !help.contains("ALTER TABLE"), "{help}");
}

/// UPDATE and DELETE reach the rows of the view alone.
#[test]
fn changes_are_of_the_rows_of_the_view() {
    let (_world, database) = open();
    assert_eq!(execute(&database, "UPDATE ca40v SET v = v + 1").unwrap(), 1);
    assert_eq!(execute(&database, "DELETE FROM ca40v WHERE k = 'q'").unwrap(), 0);
    assert_eq!(rows(&database, "SELECT v FROM ca40 WHERE k = 'fixed'"), ["3"]);
    assert_eq!(rows(&database, "SELECT m FROM ca40 WHERE k = 'q'"), ["7"]);
}
