//! The words that may follow an unfinished statement.

use crate::statement_tables::{BEFORE_TABLES, Token};
use crate::vocabulary::{
    COMPRESSIONS, COPIES, DEFINITIONS, FORMATS, KEY_OPTIONS, OTHERS, QUERIES, STATEMENTS, TABLE_OPTIONS, TYPES,
};

/// Words after CREATE, ALTER and DROP.
const CREATED: Offer = Offer::Words(&[
    "INDEX",
    "LOCAL INDEX",
    "OR REPLACE VIEW",
    "SCHEMA",
    "SEQUENCE",
    "TABLE",
    "TEMPORARY TABLE",
    "UNIQUE INDEX",
    "USER",
    "VIEW",
]);
const ALTERED: Offer = Offer::Words(&["INDEX", "SEQUENCE", "TABLE", "USER", "VIEW"]);
const DROPPED: Offer = Offer::Words(&["INDEX", "SCHEMA", "SEQUENCE", "TABLE", "USER", "VIEW"]);
const PRIVILEGES: Offer = Offer::Words(&["ALL", "DDL", "DELETE", "SELECT", "UPSERT"]);
/// Words after SHOW.
const SHOWN: Offer = Offer::Words(&[
    "ALL",
    "ATTACHED",
    "COLUMNS FROM",
    "CREATE SEQUENCE",
    "CREATE TABLE",
    "CREATE VIEW",
    "FUNCTIONS",
    "GRANTS",
    "INDEXES",
    "SCHEMAS",
    "SEQUENCES",
    "STORAGE",
    "TABLES",
    "TRANSACTIONS",
    "USERS",
    "VIEWS",
]);
/// The values of FULL_SCAN of a table.
const FULL_SCANS: Offer = Offer::Texts(&["'allow'", "'warn'", "'error'"]);

/// A group of texts that may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offer<'a> {
    /// These words, and few others.
    Words(&'static [&'static str]),
    /// These words among many others, which are too many to offer before the first letter.
    Some(&'static [&'static str]),
    /// These quoted texts.
    Texts(&'static [&'static str]),
    Tables,
    Sequences,
    /// The columns of the tables that the statement names, or of all tables.
    Columns,
    Functions,
    Settings,
    /// The values of a setting.
    ValuesOf(&'a str),
}

/// The groups that may follow these tokens, the likely ones first.
pub(super) fn offers<'a>(tokens: &[Token<'a>]) -> Vec<Offer<'a>> {
    let upper: Vec<String> = tokens.iter().map(|token| token.text.to_uppercase()).collect();
    let words: Vec<&str> = upper.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => vec![Offer::Words(STATEMENTS)],
        ["EXPLAIN"] => vec![Offer::Words(STATEMENTS), Offer::Some(&["ANALYZE"])],
        ["EXPLAIN", "ANALYZE", ..] => offers(tokens.get(2..).unwrap_or_default()),
        ["EXPLAIN" | "ADVISE", ..] => offers(tokens.get(1..).unwrap_or_default()),
        ["SHOW", words @ ..] => shown(words),
        ["SET"] => vec![Offer::Settings],
        ["SET", _, "=" | "TO"] => tokens.get(1).map(|name| Offer::ValuesOf(name.text)).into_iter().collect(),
        ["SET", ..] => Vec::new(),
        ["CREATE", words @ ..] if !has_query(words) => created(words),
        ["ALTER", words @ ..] => altered(words),
        ["DROP", words @ ..] => dropped(words),
        ["GRANT", words @ ..] => granted(words, &["TO"]),
        ["REVOKE", words @ ..] => granted(words, &["FROM"]),
        [.., "VALUE" | "VALUES", "FOR"] => vec![Offer::Sequences],
        [.., last] if BEFORE_TABLES.contains(last) && *last != "EXISTS" => vec![Offer::Tables],
        ["COPY", .., "FORMAT"] => vec![Offer::Words(FORMATS)],
        ["COPY", .., "COMPRESSION"] => vec![Offer::Words(COMPRESSIONS)],
        ["COPY", words @ ..] if !is_in_query(words) => vec![Offer::Columns, Offer::Some(COPIES)],
        [first, ..] if OTHERS_FIRST.contains(first) => vec![Offer::Some(OTHERS)],
        words => query(words),
    }
}

/// The first words of short statements.
const OTHERS_FIRST: &[&str] = &[
    "ATTACH",
    "BACKUP",
    "BEGIN",
    "COMMENT",
    "COMMIT",
    "COMPACT",
    "DESCRIBE",
    "DETACH",
    "EXPORT",
    "RELEASE",
    "ROLLBACK",
    "SAVEPOINT",
    "TRUNCATE",
];

fn has_query(words: &[&str]) -> bool {
    words.iter().any(|word| ["SELECT", "WITH", "VALUES"].contains(word)) && words.contains(&"AS")
}

/// Whether the cursor is inside the query of a COPY.
fn is_in_query(words: &[&str]) -> bool {
    let count = |bracket: &str| words.iter().filter(|word| **word == bracket).count();
    words.contains(&"SELECT") && count("(") > count(")")
}

fn query<'a>(words: &[&str]) -> Vec<Offer<'a>> {
    let mut offers = vec![Offer::Columns, Offer::Some(QUERIES), Offer::Functions];
    if words.iter().any(|word| ["CAST", "TRY_CAST", ":"].contains(word)) {
        offers.push(Offer::Some(TYPES));
    }
    offers
}

fn shown<'a>(words: &[&str]) -> Vec<Offer<'a>> {
    match words {
        [] => vec![SHOWN, Offer::Settings],
        ["CREATE"] => vec![Offer::Words(&["SEQUENCE", "TABLE", "VIEW"])],
        ["CREATE", "SEQUENCE"] => vec![Offer::Sequences],
        ["CREATE", "TABLE" | "VIEW"] | ["COLUMNS" | "INDEXES" | "INDEX", "FROM" | "IN" | "ON"] | ["STORAGE", "FOR"] => {
            vec![Offer::Tables]
        }
        ["STORAGE" | "GRANTS"] => vec![Offer::Words(&["FOR"])],
        ["COLUMNS" | "INDEXES"] => vec![Offer::Words(&["FROM"])],
        ["TABLES" | "VIEWS" | "SEQUENCES"] => vec![Offer::Words(&["FROM", "LIKE"])],
        ["SCHEMAS" | "FUNCTIONS"] => vec![Offer::Words(&["LIKE"])],
        _ => Vec::new(),
    }
}

fn created<'a>(words: &[&str]) -> Vec<Offer<'a>> {
    match words {
        [] => vec![CREATED],
        ["OR"] => vec![Offer::Words(&["REPLACE VIEW"])],
        ["OR", "REPLACE"] => vec![Offer::Words(&["VIEW"])],
        ["TEMP" | "TEMPORARY" | "IMMUTABLE"] => vec![Offer::Words(&["TABLE"])],
        ["UNIQUE" | "LOCAL" | "GLOBAL"] => vec![Offer::Words(&["INDEX"])],
        [.., "TABLE" | "INDEX" | "SEQUENCE" | "VIEW" | "SCHEMA"] | ["USER"] => vec![Offer::Some(&["IF NOT EXISTS"])],
        ["USER", words @ ..] => with_password(words),
        [.., "FULL_SCAN", "="] => vec![FULL_SCANS],
        [.., "INDEX", _, "ON"] | [.., "INDEX", "IF", "NOT", "EXISTS", _, "ON"] => vec![Offer::Tables],
        words if words.contains(&"INDEX") => {
            let options = [Offer::Some(DEFINITIONS), Offer::Some(KEY_OPTIONS)];
            [Offer::Columns].into_iter().chain(options).chain([Offer::Functions]).collect()
        }
        words if words.contains(&"TABLE") => {
            let kinds = [TYPES, DEFINITIONS, TABLE_OPTIONS, KEY_OPTIONS].map(Offer::Some);
            kinds.into_iter().chain([Offer::Functions]).collect()
        }
        _ => vec![Offer::Some(DEFINITIONS)],
    }
}

fn altered<'a>(words: &[&str]) -> Vec<Offer<'a>> {
    match words {
        [] => vec![ALTERED],
        ["TABLE" | "VIEW"] => vec![Offer::Tables],
        ["USER", words @ ..] => with_password(words),
        ["SEQUENCE"] => vec![Offer::Sequences],
        ["INDEX", _] => vec![Offer::Words(&["ON"])],
        ["INDEX", _, "ON"] => vec![Offer::Tables],
        ["INDEX", _, "ON", words @ ..] if after_name(words) == Some(&[]) => {
            vec![Offer::Words(&["DISABLE", "REBUILD", "USABLE"])]
        }
        ["TABLE", words @ ..] => after_name(words).map(changed).unwrap_or_default(),
        _ => vec![Offer::Some(DEFINITIONS), Offer::Some(TYPES)],
    }
}

/// The groups that may follow the name of a table in ALTER TABLE.
fn changed<'a>(words: &[&str]) -> Vec<Offer<'a>> {
    match words {
        [] => vec![Offer::Words(&["ADD", "DROP", "RENAME", "SET"])],
        ["ADD"] => vec![Offer::Words(&["CHECK", "COLUMN", "CONSTRAINT", "IF NOT EXISTS"])],
        ["DROP"] => vec![Offer::Columns, Offer::Words(&["COLUMN", "CONSTRAINT", "IF EXISTS"])],
        ["RENAME"] => vec![Offer::Words(&["COLUMN", "TO"]), Offer::Columns],
        ["DROP" | "RENAME", "COLUMN"] | ["DROP", .., "EXISTS" | ","] => vec![Offer::Columns],
        ["RENAME", .., _] => vec![Offer::Some(&["TO"])],
        ["SET", .., "FULL_SCAN", "="] => vec![FULL_SCANS],
        ["SET", .., "="] => Vec::new(),
        ["SET"] | ["SET", .., ","] => vec![Offer::Words(TABLE_OPTIONS)],
        ["ADD", ..] => vec![Offer::Some(TYPES), Offer::Some(DEFINITIONS), Offer::Columns, Offer::Functions],
        _ => Vec::new(),
    }
}

fn dropped<'a>(words: &[&str]) -> Vec<Offer<'a>> {
    match words {
        [] => vec![DROPPED],
        ["TABLE" | "VIEW"] => vec![Offer::Tables, Offer::Some(&["IF EXISTS"])],
        ["TABLE" | "VIEW", .., "EXISTS" | ","] | ["INDEX", .., "ON"] => vec![Offer::Tables],
        ["SEQUENCE"] | ["SEQUENCE", .., "EXISTS" | ","] => vec![Offer::Sequences],
        ["INDEX" | "SCHEMA" | "USER"] => vec![Offer::Some(&["IF EXISTS"])],
        ["USER", ..] => Vec::new(),
        ["INDEX", _] => vec![Offer::Words(&["ON"])],
        _ => vec![Offer::Some(&["CASCADE", "RESTRICT"])],
    }
}

/// The groups that may follow CREATE USER and ALTER USER. A password is not offered.
fn with_password<'a>(words: &[&str]) -> Vec<Offer<'a>> {
    match words {
        [_] | ["IF", "NOT", "EXISTS", _] => vec![Offer::Words(&["PASSWORD"])],
        _ => Vec::new(),
    }
}

/// The groups that may follow GRANT and REVOKE; `before_users` is the word before the users.
fn granted<'a>(words: &[&str], before_users: &'static [&'static str]) -> Vec<Offer<'a>> {
    let after_on = words.iter().position(|word| *word == "ON").map(|on| words.get(on + 1..).unwrap_or_default());
    match (after_on, words) {
        (None, [] | [.., ","]) => vec![PRIVILEGES],
        (None, _) => vec![Offer::Words(&["ON"])],
        (Some([]), _) => vec![Offer::Tables, Offer::Some(&["DATABASE", "SCHEMA"])],
        (Some(["TABLE" | "VIEW"]), _) => vec![Offer::Tables],
        (Some(["SEQUENCE"]), _) => vec![Offer::Sequences],
        (Some(["SCHEMA"] | [.., "TO" | "FROM" | "." | ","]), _) => Vec::new(),
        (Some(words), _) if words.contains(&"TO") || words.contains(&"FROM") => Vec::new(),
        (Some(_), _) => vec![Offer::Words(before_users)],
    }
}

/// The words after a name, which may have a schema; `None` if the name is not complete.
fn after_name<'w, 'a>(words: &'w [&'a str]) -> Option<&'w [&'a str]> {
    match words {
        ["IF", "EXISTS", words @ ..] => after_name(words),
        [_, ".", _, words @ ..] | [_, words @ ..] => Some(words),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement_tables::tokens;

    #[test]
    fn statements_have_their_own_words() {
        let words = |text: &str| match offers(&tokens(text)).as_slice() {
            [Offer::Words(words), ..] => words.join(" "),
            other => panic!("{text}: {other:?}"),
        };
        assert!(words("CREATE ").contains("TABLE TEMPORARY TABLE"));
        assert_eq!(words("create or"), "REPLACE VIEW");
        assert_eq!(words("ALTER TABLE s.t"), "ADD DROP RENAME SET");
        assert_eq!(words("ALTER INDEX i ON t"), "DISABLE REBUILD USABLE");
        assert!(words("ALTER TABLE \"t\" SET").contains("FULL_SCAN"));
        assert_eq!((words("CREATE USER ann").as_str(), words("ALTER USER \"a b\"").as_str()), ("PASSWORD", "PASSWORD"));
        assert_eq!(
            (words("GRANT SELECT,").as_str(), words("REVOKE ALL").as_str()),
            ("ALL DDL DELETE SELECT UPSERT", "ON")
        );
        assert_eq!((words("GRANT ALL ON DATABASE").as_str(), words("revoke all on s.t").as_str()), ("TO", "FROM"));
        assert!(words("EXPLAIN").contains("SELECT"));
        assert!(words("EXPLAIN ANALYZE").contains("SELECT"));
    }

    #[test]
    fn names_stand_where_they_may() {
        for (text, offer) in [
            ("SELECT a FROM", Offer::Tables),
            ("DROP TABLE IF EXISTS", Offer::Tables),
            ("CREATE UNIQUE INDEX i ON", Offer::Tables),
            ("SHOW STORAGE FOR", Offer::Tables),
            ("SELECT NEXT VALUE FOR", Offer::Sequences),
            ("DROP SEQUENCE", Offer::Sequences),
            ("GRANT SELECT ON", Offer::Tables),
            ("REVOKE UPSERT ON SEQUENCE", Offer::Sequences),
            ("SELECT", Offer::Columns),
            ("EXPLAIN SELECT a,", Offer::Columns),
            ("CREATE VIEW v AS SELECT", Offer::Columns),
            ("CREATE INDEX i ON t (", Offer::Columns),
            ("SET", Offer::Settings),
            ("SET full_scan =", Offer::ValuesOf("full_scan")),
            ("ALTER TABLE t SET FULL_SCAN =", FULL_SCANS),
        ] {
            assert_eq!(offers(&tokens(text)).first(), Some(&offer), "{text}");
        }
        assert_eq!(offers(&tokens("SET x = 1")), []);
    }
}
