//! EXPLAIN of a query of the relational engine has names as the user wrote them.

use saltwing::Database;
use saltwing::blocking::Connection;
use sql_tests::has_relational_engine;

/// Tables whose names and columns differ from each other in nothing but what a plan must keep apart.
fn tables() -> Connection {
    let c = Database::memory().unwrap().connect().blocking();
    c.execute_batch(
        "CREATE TABLE Orders (id BIGINT PRIMARY KEY, Customer INTEGER, \"Total Sum\" DECIMAL(10, 2), a.note VARCHAR, b.note VARCHAR);
         CREATE TABLE Customers (id INTEGER PRIMARY KEY, Name VARCHAR);
         SET full_scan = 'allow'",
    )
    .unwrap();
    c
}

/// The plan of DataFusion, which follows the reads.
fn plan(c: &Connection, sql: &str) -> String {
    let rows: Vec<(String,)> = c.query_as(&format!("EXPLAIN {sql}"), ()).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(rows[0].0, "executor  datafusion", "{sql}");
    let lines: Vec<String> = rows.into_iter().map(|(line,)| line).filter(|line| line.contains("Exec")).collect();
    lines.join("\n")
}

#[test]
fn names_are_as_they_were_written() {
    let c = tables();
    if !has_relational_engine().unwrap() {
        return;
    }
    for (sql, names) in [
        (
            "SELECT c.Name, sum(o.\"Total Sum\") AS Total FROM Orders o JOIN Customers c ON c.id = o.Customer WHERE o.id > 5 GROUP BY c.Name",
            &["sum(o.Total Sum)", "Name", "table=Orders, alias=o", "keys=[id = o.Customer]"][..],
        ),
        ("SELECT a.id, b.id FROM Orders a JOIN Orders b ON a.id = b.Customer", &["CAST(b.Customer AS BIGINT)"]),
        ("SELECT id FROM Orders UNION SELECT id FROM Customers", &["gby=[id@0 as id]"]),
        (
            "SELECT o.a.note, o.b.note FROM Orders o JOIN Customers c ON c.Name = o.b.note",
            &["a.note", "b.note", "Name@"],
        ),
        (
            "SELECT id, row_number() OVER (PARTITION BY Customer ORDER BY \"Total Sum\") AS place FROM Orders",
            &["PARTITION BY [Orders.Customer] ORDER BY [Orders.Total Sum ASC"],
        ),
        ("SELECT id + 0.5 AS x, id + 0.5e0 AS x FROM Orders UNION ALL SELECT 1, 2", &["as x", "id + 0.5"]),
        (
            "WITH Big AS (SELECT Customer, count(*) AS n FROM Orders GROUP BY Customer) SELECT Big.n FROM Big JOIN Big other USING (n)",
            &["Customer"],
        ),
    ] {
        let plan = plan(&c, sql);
        for name in names {
            assert!(plan.contains(name), "{sql}\nhas no {name}:\n{plan}");
        }
        let has_number = plan.split(':').skip(1).any(|after| after.starts_with(|c: char| c.is_ascii_digit()));
        assert!(!plan.contains("__saltwing") && !has_number, "{sql}\n{plan}");
        assert!(!plan.contains('\u{2063}'), "{sql}\n{plan}");
    }
}

/// Columns of one name in two families stay apart.
#[test]
fn columns_of_one_name_are_different_columns() {
    let c = tables();
    if !has_relational_engine().unwrap() {
        return;
    }
    c.execute("UPSERT INTO Orders VALUES (1, 10, 2.5, 'of a', 'of b')", ()).unwrap();
    c.execute("UPSERT INTO Customers VALUES (10, 'of b')", ()).unwrap();
    let sql = "SELECT o.a.note, o.b.note, c.id FROM Orders o JOIN Customers c ON c.Name = o.b.note";
    let row: (String, String, i64) = c.query_one(sql, ()).unwrap();
    assert_eq!(row, ("of a".to_owned(), "of b".to_owned(), 10));
}
