//! The laws of the module, for random texts.

use proptest::prelude::*;

use super::*;
use crate::tokens::{BYTES_COUNTED, Body};

/// The pieces that statements of a session are made of, and others.
const PIECES: &str = "SET SHOW RESET DISCARD BEGIN START COMMIT END ROLLBACK ABORT DECLARE FETCH MOVE CLOSE PREPARE EXECUTE DEALLOCATE \
    UNLISTEN LISTEN SAVEPOINT RELEASE SESSION LOCAL CHARACTERISTICS AS TRANSACTION CONSTRAINTS ALL IMMEDIATE DEFERRED TIME ZONE NAMES \
    SCHEMA ROLE NONE AUTHORIZATION DEFAULT ISOLATION LEVEL READ ONLY WRITE COMMITTED REPEATABLE SERIALIZABLE NOT DEFERRABLE WORK AND NO \
    CHAIN TO BINARY SCROLL CURSOR WITH HOLD FOR SELECT NEXT FORWARD PRIOR FROM IN CAST INTERVAL HOUR full_scan jit search_path int text \
    timestamp numeric é c 1 -5 1.5e3 99999999999999999999 5s = , . ( ) [ ] :: ; + - * ? $1 :name 'a' 'it''s' '' ' \" \"A\" \"\" E'\\t' \
    E'\\q E'\\ud800' X'00' X'0' /* */ /*+ -- // \\ ` $$ 😀 NULL TRUE";

fn soup() -> impl Strategy<Value = String> {
    pieces(|_| true, 0)
}

/// A text that ends no string and no statement.
fn whole() -> impl Strategy<Value = String> {
    pieces(|piece| !piece.contains(['/', '-', '*', ';', '\'', '"']) && piece != "$$", 1)
}

fn pieces(is_taken: fn(&str) -> bool, count_min: usize) -> impl Strategy<Value = String> {
    let taken: Vec<&str> = PIECES.split_whitespace().filter(|piece| is_taken(piece)).collect();
    let blank = prop::sample::select(vec![" ", " ", " ", "", "\n", "\u{a0}"]);
    let piece = (prop::sample::select(taken), blank).prop_map(|(piece, blank)| format!("{piece}{blank}"));
    prop::collection::vec(piece, count_min..14).prop_map(|pieces| pieces.concat())
}

fn dialect() -> impl Strategy<Value = Dialect> {
    prop::sample::select(vec![Dialect::Saltwing, Dialect::Phoenix])
}

fn check(sql: &str, dialect: Dialect) -> Result<(), TestCaseError> {
    let characters = sql.chars().count();
    let at_offset = |body: &Body| sql.chars().skip(body.offset).collect::<String>().starts_with(&body.sql);
    match parse(sql, dialect) {
        Err(error) => {
            prop_assert!((1..=characters + 1).contains(&error.position()), "{:?}", error);
            prop_assert_eq!(error.sqlstate().len(), 5);
        }
        Ok(Some(SessionStatement::Declare(Declare { query: body, .. })))
        | Ok(Some(SessionStatement::Prepare(Prepare { statement: body, .. }))) => {
            prop_assert!(!body.sql.is_empty() && at_offset(&body), "{:?}", body);
        }
        Ok(Some(SessionStatement::OfTheLibrary { sql: rewritten, tag: "SET" })) => {
            prop_assert_eq!(rewritten.chars().count(), characters);
        }
        Ok(_) => {}
    }
    let _ = savepoint(sql, dialect);
    Ok(())
}

proptest! {
    #[test]
    fn every_text_has_an_answer(sql in soup(), dialect in dialect()) {
        check(&sql, dialect)?;
    }

    #[test]
    fn every_text_of_any_characters_has_an_answer(verb in "(SET|EXECUTE p \\(|PREPARE p AS|FETCH|SHOW|BEGIN)", rest in ".{0,60}") {
        check(&format!("{verb} {rest}"), Dialect::Saltwing)?;
    }

    /// The text that is prepared, and that of a cursor, is the text that was written.
    #[test]
    fn bodies_are_kept(body in whole(), dialect in dialect()) {
        let body = body.trim_matches(|c: char| c.is_whitespace());
        for (before, after) in [("PREPARE é AS ", ""), ("DECLARE é CURSOR FOR\n", " ;")] {
            let read = match parse(&format!("{before}{body}{after}"), dialect).unwrap() {
                Some(SessionStatement::Prepare(Prepare { statement, .. })) => statement,
                Some(SessionStatement::Declare(Declare { query, .. })) => query,
                other => return Err(TestCaseError::fail(format!("{other:?}"))),
            };
            prop_assert_eq!(read, Body { sql: body.to_owned(), offset: before.chars().count() });
        }
    }

    /// A value that SET is given in quotes is that value.
    #[test]
    fn values_are_kept(value in "[^\0]{0,40}") {
        let sql = format!("SET app.value = '{}'", value.replace('\'', "''"));
        let expected = NewValue::Values(vec![at(&value, 17)]);
        let SessionStatement::Set { value, .. } = own(&sql) else { return Err(TestCaseError::fail(sql)) };
        prop_assert_eq!(value, expected);
    }
}

/// The work grows with the length alone: each character is counted a few times, however many places a statement has.
#[test]
fn long_texts_are_read_once() {
    let long = 200_000;
    for sql in [
        format!("SET a.b = {}", "1, ".repeat(long)),
        format!("PREPARE p AS {}", "SELECT 1, ".repeat(long)),
        format!("EXECUTE p ({}", "'é', ".repeat(60_000)),
        format!("EXECUTE p (1{})", "::int".repeat(long)),
        format!("SET CONSTRAINTS {} IMMEDIATE", vec!["é"; long].join(", ")),
        format!("SHOW {}a", "a.".repeat(long)),
        format!("BEGIN {}", "READ ONLY, ".repeat(long)),
        format!("{}RESET ALL", "/* é */ ".repeat(long)),
        format!("RESET ALL{}", ";".repeat(long)),
    ] {
        BYTES_COUNTED.with(|bytes| bytes.set(0));
        let _ = parse(&sql, Dialect::Saltwing);
        let counted = BYTES_COUNTED.with(std::cell::Cell::get);
        assert!(counted <= 8 * sql.len(), "{counted} bytes of {}: {}", sql.len(), &sql[..20]);
    }
}
