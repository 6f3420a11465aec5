//! DECLARE, FETCH, MOVE and CLOSE.

use super::*;

#[test]
fn declare_keeps_the_query() {
    for (sql, name, is_binary, query) in [
        ("DECLARE c CURSOR FOR SELECT 1", at("c", 9), false, "SELECT 1"),
        ("DECLARE C BINARY NO SCROLL CURSOR WITHOUT HOLD FOR SELECT 'a;b' ;", at("c", 9), true, "SELECT 'a;b'"),
        (
            "DECLARE \"é C\" INSENSITIVE CURSOR FOR /*+ h */ SELECT  x -- y\n FROM t",
            at("é C", 9),
            false,
            "SELECT  x -- y\n FROM t",
        ),
        ("DECLARE binary asensitive CURSOR FOR VALUES (1)", at("binary", 9), false, "VALUES (1)"),
    ] {
        let SessionStatement::Declare(declare) = own(sql) else { panic!("{sql}") };
        assert_eq!((&declare.name, declare.is_binary, declare.query.sql.as_str()), (&name, is_binary, query), "{sql}");
        assert!(sql.chars().skip(declare.query.offset).collect::<String>().starts_with(query), "{sql}");
    }
}

#[test]
fn declare_that_is_refused() {
    for (sql, expected) in [
        ("DECLARE c SCROLL CURSOR FOR SELECT 1", ("0A000", 11)),
        ("DECLARE c CURSOR WITH HOLD FOR SELECT 1", ("0A000", 18)),
        ("DECLARE", ("42601", 8)),
        ("DECLARE 'c' CURSOR FOR SELECT 1", ("42601", 9)),
        ("DECLARE c FOR SELECT 1", ("42601", 11)),
        ("DECLARE c CURSOR SELECT 1", ("42601", 18)),
        ("DECLARE c CURSOR FOR", ("42601", 21)),
        ("DECLARE c CURSOR FOR ;", ("42601", 22)),
        ("DECLARE c CURSOR FOR SELECT 1; SELECT 2", ("42601", 32)),
    ] {
        assert_eq!(refusal(sql), expected, "{sql}");
    }
}

#[test]
fn fetch_and_move_go_forward() {
    for (direction, rows_max) in [
        ("", Some(1)),
        ("NEXT ", Some(1)),
        ("FROM ", Some(1)),
        ("NEXT FROM ", Some(1)),
        ("10 FROM ", Some(10)),
        ("+10 ", Some(10)),
        ("ALL IN ", None),
        ("FORWARD ", Some(1)),
        ("FORWARD FROM ", Some(1)),
        ("forward 100 from ", Some(100)),
        ("FORWARD ALL ", None),
    ] {
        let fetch = |verb: &str| {
            let name = at("c", verb.len() + 1 + direction.len() + 1);
            Fetch { name, rows_max }
        };
        assert_eq!(own(&format!("FETCH {direction}C")), SessionStatement::Fetch(fetch("FETCH")), "{direction}");
        assert_eq!(own(&format!("MOVE {direction}\"c\";")), SessionStatement::Move(fetch("MOVE")), "{direction}");
    }
    for name in ["next", "all", "forward", "prior", "absolute"] {
        let fetch = Fetch { name: at(name, 7), rows_max: Some(1) };
        assert_eq!(own(&format!("FETCH {name};")), SessionStatement::Fetch(fetch), "a cursor of this name");
    }
}

#[test]
fn cursors_do_not_move_backwards() {
    for direction in ["PRIOR", "FIRST", "LAST", "ABSOLUTE 5", "BACKWARD", "BACKWARD 5", "BACKWARD ALL", "-1", "0"] {
        for verb in ["FETCH", "MOVE"] {
            let sql = format!("{verb} {direction} FROM c");
            assert_eq!(refusal(&sql), ("55000", verb.len() + 2), "{sql}");
        }
    }
    for (sql, expected) in [
        ("FETCH FORWARD -1 FROM c", ("55000", 15)),
        ("FETCH FORWARD 0 FROM c", ("55000", 15)),
        ("FETCH RELATIVE 1 FROM c", ("0A000", 7)),
        ("FETCH", ("42601", 6)),
        ("FETCH 1.5 FROM c", ("42601", 7)),
        ("FETCH 99999999999999999999 FROM c", ("42601", 7)),
        ("FETCH 10 FROM", ("42601", 14)),
        ("FETCH 10 c d", ("42601", 12)),
        ("FETCH 'c'", ("42601", 7)),
    ] {
        assert_eq!(refusal(sql), expected, "{sql}");
    }
}

#[test]
fn close_names_a_cursor_or_all() {
    assert_eq!(own("CLOSE C"), SessionStatement::Close(Target::Named(at("c", 7))));
    assert_eq!(own("CLOSE \"C\""), SessionStatement::Close(Target::Named(at("C", 7))));
    assert_eq!(own("CLOSE all;"), SessionStatement::Close(Target::All));
    assert_eq!(refusal("CLOSE"), ("42601", 6));
    assert_eq!(refusal("CLOSE a, b"), ("42601", 8));
}
