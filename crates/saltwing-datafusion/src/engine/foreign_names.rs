//! Functions of other databases that there are not here, and what to write instead.

/// What to write for a function of another database; `None` of any other name.
pub(super) fn advice(name: &str) -> Option<&'static str> {
    FOREIGN.iter().find(|(foreign, _)| *foreign == name).map(|(_, help)| *help)
}

const NO_STRUCTS: &str = "there are no structs and maps: JSON_OBJECT('a', 1) makes JSON of values";
const NO_LAMBDAS: &str = "functions take no functions: SELECT ARRAY_AGG(x + 1) FROM UNNEST(array) AS u (x)";
const FILES: &str = "a file stands in FROM by its name: FROM 'file.csv'";

const FOREIGN: [(&str, &str); 41] = [
    ("array_filter", NO_LAMBDAS),
    ("columns", "name the columns, or leave some out: SELECT * EXCLUDE (a)"),
    ("current_setting", "SHOW name tells a setting, SHOW ALL all of them"),
    ("duckdb_columns", "information_schema.columns lists columns, DESCRIBE t those of a table"),
    ("duckdb_tables", "SHOW TABLES lists tables, information_schema.tables tells more"),
    ("filter", NO_LAMBDAS),
    ("generate_subscripts", "UNNEST(array) WITH ORDINALITY AS u (element, place) in FROM has the places"),
    ("histogram", "how often each value comes: SELECT v, COUNT(*) FROM t GROUP BY v"),
    ("json_each_recursive", "json_each(json) in FROM has the members of one level"),
    ("json_table", "json_array_elements(json) in FROM has the elements; JSON_VALUE(value, '$.a') takes a part of one"),
    ("json_tree", "json_each(json) in FROM has the members of one level"),
    ("last_insert_rowid", "INSERT .. RETURNING key gives the keys of new rows"),
    ("lastval", "INSERT .. RETURNING key gives the keys of new rows"),
    ("list_filter", NO_LAMBDAS),
    ("list_reduce", NO_LAMBDAS),
    ("list_transform", NO_LAMBDAS),
    ("map", NO_STRUCTS),
    ("map_from_entries", NO_STRUCTS),
    ("pragma_table_info", "DESCRIBE t shows a table, information_schema.columns has its columns"),
    ("pragma_table_list", "SHOW TABLES lists tables"),
    ("pragma_version", "SELECT version() tells the version"),
    ("read_csv", FILES),
    ("read_csv_auto", FILES),
    ("read_json", FILES),
    ("read_json_auto", FILES),
    ("read_ndjson", FILES),
    ("read_parquet", FILES),
    ("regexp_matches", "REGEXP_LIKE tells whether it matches, REGEXP_MATCH gives the groups of a match"),
    ("row", "there are no rows as values: JSON_OBJECT('a', 1) makes JSON of values"),
    ("row_pack", NO_STRUCTS),
    ("sqlite_version", "SELECT version() tells the version"),
    ("struct_extract", NO_STRUCTS),
    ("struct_pack", NO_STRUCTS),
    ("to_days", "DATE_DIFF('day', DATE '1970-01-01', at) counts days"),
    ("transform", NO_LAMBDAS),
    ("try", "TRY_CAST(value AS type) is NULL where a cast fails"),
    ("unaccent", "STRIP_ACCENTS(text) takes accents off"),
    ("xmlagg", "there is no XML"),
    ("xmlelement", "there is no XML"),
    ("zeroblob", "X'0000' is a binary value"),
    ("zip", NO_LAMBDAS),
];
