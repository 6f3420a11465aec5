//! Dynamic columns after a table: [`dynamic_columns`](saltwing_sql::dynamic_columns).

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use saltwing_sql::statement::Statement;
use saltwing_sql::{DynamicColumn, dynamic_columns, parse_one, set_dynamic_columns, table_name_parts, tree_text};
use saltwing_types::SqlType;
use sqlparser::ast::{ObjectName, SetExpr, TableFactor};

use crate::properties::config;

/// The name of the only table of a query.
fn table_of(sql: &str) -> ObjectName {
    let Ok(Statement::Query(query)) = parse_one(sql).map(|parsed| parsed.statement) else { panic!("{sql} is a query") };
    let SetExpr::Select(select) = *query.query.body else { panic!("{sql} is a SELECT") };
    match select.from.into_iter().next().map(|from| from.relation) {
        Some(TableFactor::Table { name, .. }) => name,
        from => panic!("{sql} reads a table, not {from:?}"),
    }
}

/// Names and types, without their places.
fn plain(columns: &[DynamicColumn]) -> Vec<(Vec<String>, SqlType)> {
    let parts = |column: &DynamicColumn| column.column.parts().into_iter().map(str::to_owned).collect();
    columns.iter().map(|column| (parts(column), column.ty)).collect()
}

fn column() -> impl Strategy<Value = (String, Vec<String>, SqlType)> {
    let names = [("a", "a"), ("Ts", "Ts"), ("date", "date"), ("current_date", "current_date"), ("\"a b\"", "a b")];
    let types = [
        ("INTEGER", "INTEGER"),
        ("int4", "INTEGER"),
        ("UNSIGNED_LONG", "UNSIGNED_LONG"),
        ("DOUBLE PRECISION", "DOUBLE"),
        ("numeric(7, 2)", "DECIMAL(7,2)"),
        ("CHARACTER VARYING(5)", "VARCHAR(5)"),
        ("CHAR(3)", "CHAR(3)"),
        ("BINARY(16)", "BINARY(16)"),
        ("VARBINARY_ENCODED", "VARBINARY_ENCODED"),
        ("TIMESTAMP WITHOUT TIME ZONE", "TIMESTAMP"),
        ("UNSIGNED_DATE", "UNSIGNED_DATE"),
        ("uuid", "UUID"),
        ("json", "JSON"),
        ("VARCHAR ARRAY[4]", "VARCHAR ARRAY[4]"),
        ("bigint[]", "BIGINT ARRAY"),
    ];
    let name = select(names.to_vec());
    (proptest::option::of(name.clone()), name, select(types.to_vec())).prop_map(|(family, name, (written, ty))| {
        let parts: Vec<(&str, &str)> = family.into_iter().chain([name]).collect();
        let text = parts.iter().map(|(written, _)| *written).collect::<Vec<_>>().join(".");
        let ty = ty.parse().unwrap_or_else(|_| panic!("{ty} is a type"));
        (format!("{text} {written}"), parts.iter().map(|(_, name)| (*name).to_owned()).collect(), ty)
    })
}

proptest! {
    #![proptest_config(config())]

    /// The tree has the columns that are declared after a table, and still has them after it was printed and parsed again.
    #[test]
    fn a_list_is_in_the_tree_as_it_was_written(columns in vec(column(), 1..4), tail in select(vec!["", " x", " AS OF TIMESTAMP 5 AS x"])) {
        let list: Vec<&str> = columns.iter().map(|(written, ..)| written.as_str()).collect();
        let sql = format!("SELECT * FROM s.t ({}){tail} WHERE k = 1", list.join(", "));
        let expected: Vec<(Vec<String>, SqlType)> = columns.iter().map(|(_, parts, ty)| (parts.clone(), *ty)).collect();
        let mut name = table_of(&sql);
        prop_assert_eq!(plain(&dynamic_columns(&name).unwrap()), expected.clone());
        prop_assert_eq!(ObjectName(table_name_parts(&name).to_vec()).to_string(), "s.t");

        let Statement::Query(query) = parse_one(&sql).unwrap().statement else { unreachable!("a query") };
        let printed = tree_text(&*query.query);
        prop_assert_eq!(plain(&dynamic_columns(&table_of(&printed)).unwrap()), expected.clone(), "{}", printed);

        let read = dynamic_columns(&name).unwrap();
        set_dynamic_columns(&mut name, &[]);
        prop_assert_eq!(name.to_string(), "s.t");
        set_dynamic_columns(&mut name, &read);
        prop_assert_eq!(plain(&dynamic_columns(&name).unwrap()), expected);
    }
}

#[test]
fn each_column_of_a_list_has_its_own_place() {
    let columns = dynamic_columns(&table_of("SELECT * FROM t (a INTEGER, f.b VARCHAR)")).unwrap();
    let places: Vec<(u32, u32)> =
        columns.iter().map(|it| it.column.span()).map(|it| (it.start.column, it.end.column)).collect();
    assert_eq!(places, [(18, 18), (29, 31)]);
}

#[test]
fn a_name_that_looks_like_a_list_is_a_name() {
    let name = table_of("SELECT * FROM t.\"(extra VARCHAR)\"");
    assert_eq!(dynamic_columns(&name).unwrap(), []);
    assert_eq!(table_name_parts(&name).len(), 2);
}
