//! The words of SQL, which PostgreSQL gives by the function `pg_get_keywords()`.

use sqlparser::keywords::ALL_KEYWORDS;

use super::cells::{Cell, row};
use super::object_text::is_reserved;
use super::relation::Entry;

pub(super) static RELATIONS: &[Entry] = &[Entry::internal(
    "pg_get_keywords",
    "word text, catcode char, barelabel bool, catdesc text, baredesc text",
    |_| {
        let keyword = |word: &&str| {
            let (code, text) = if is_reserved(word) { ('R', "reserved") } else { ('U', "unreserved") };
            row![word.to_lowercase(), code, true, text, Cell::Null]
        };
        Ok(ALL_KEYWORDS.iter().map(keyword).collect())
    },
)];
