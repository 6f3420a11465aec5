//! The words of SQL, which PostgreSQL gives by the function `pg_get_keywords()`.

use sqlparser::keywords::ALL_KEYWORDS;

use super::cells::row;
use super::relation::Entry;

/// Words that are names of columns without quotes, but of no functions or types. Sorted, as the other lists.
static COLUMN_NAMES: &[&str] = &[
    "between",
    "bigint",
    "bit",
    "boolean",
    "char",
    "character",
    "coalesce",
    "dec",
    "decimal",
    "exists",
    "extract",
    "float",
    "greatest",
    "grouping",
    "inout",
    "int",
    "integer",
    "interval",
    "least",
    "national",
    "nchar",
    "none",
    "normalize",
    "nullif",
    "numeric",
    "out",
    "overlay",
    "position",
    "precision",
    "real",
    "row",
    "setof",
    "smallint",
    "substring",
    "time",
    "timestamp",
    "treat",
    "trim",
    "values",
    "varchar",
    "xmlattributes",
    "xmlconcat",
    "xmlelement",
    "xmlexists",
    "xmlforest",
    "xmlnamespaces",
    "xmlparse",
    "xmlpi",
    "xmlroot",
    "xmlserialize",
    "xmltable",
];

/// Words that are names of functions and types without quotes, but of nothing else.
static FUNCTION_NAMES: &[&str] = &[
    "authorization",
    "binary",
    "collation",
    "concurrently",
    "cross",
    "current_schema",
    "freeze",
    "full",
    "ilike",
    "inner",
    "is",
    "isnull",
    "join",
    "left",
    "like",
    "natural",
    "notnull",
    "outer",
    "overlaps",
    "right",
    "similar",
    "tablesample",
    "verbose",
];

/// Words that are no names without quotes.
static RESERVED: &[&str] = &[
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "both",
    "case",
    "cast",
    "check",
    "collate",
    "column",
    "constraint",
    "create",
    "current_catalog",
    "current_date",
    "current_role",
    "current_time",
    "current_timestamp",
    "current_user",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "false",
    "fetch",
    "for",
    "foreign",
    "from",
    "grant",
    "group",
    "having",
    "in",
    "initially",
    "intersect",
    "into",
    "lateral",
    "leading",
    "limit",
    "localtime",
    "localtimestamp",
    "not",
    "null",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "placing",
    "primary",
    "references",
    "returning",
    "select",
    "session_user",
    "some",
    "symmetric",
    "table",
    "then",
    "to",
    "trailing",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "variadic",
    "when",
    "where",
    "window",
    "with",
];

/// Which names a word may be without quotes, in the words of PostgreSQL.
fn category(word: &str) -> (char, &'static str) {
    let is_in = |list: &[&str]| list.binary_search(&word).is_ok();
    match () {
        () if is_in(COLUMN_NAMES) => ('C', "unreserved (cannot be function or type name)"),
        () if is_in(FUNCTION_NAMES) => ('T', "reserved (can be function or type name)"),
        () if is_in(RESERVED) => ('R', "reserved"),
        () => ('U', "unreserved"),
    }
}

/// Whether a word in lower case needs quotes where it is a name.
pub(super) fn is_reserved(word: &str) -> bool {
    category(word).0 != 'U'
}

pub(super) static RELATIONS: &[Entry] = &[Entry::internal(
    "pg_get_keywords",
    "word text, catcode char, barelabel bool, catdesc text, baredesc text",
    |_| {
        let keyword = |word: &&str| {
            let word = word.to_lowercase();
            let (code, text) = category(&word);
            row![word, code, true, text, "can be bare label"]
        };
        Ok(ALL_KEYWORDS.iter().map(keyword).collect())
    },
)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        assert!([COLUMN_NAMES, FUNCTION_NAMES, RESERVED].iter().all(|list| list.is_sorted()));
    }
}
