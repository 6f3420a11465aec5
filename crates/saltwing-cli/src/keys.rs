//! `.keys` and `.ranges`: the row keys of a query, and the ranges that it reads.

use std::io::Write;

use saltwing::syntax::{Lexeme, lexemes};
use serde_json::Value as Json;

use crate::failure::Failure;
use crate::runner::Runner;

impl Runner<'_> {
    /// Prints the row keys of a query's rows, in bytes and in values.
    ///
    /// # Errors
    /// Errors of the query; a query that is not over one table.
    pub(crate) fn keys(&mut self, sql: &str) -> Result<(), Failure> {
        let usage = || Failure::Usage("usage: .keys SELECT .. FROM one table ..".to_owned());
        let query = TableQuery::of(sql).ok_or_else(usage)?;
        let parts = self.key_parts(query.table)?.into_iter().map(|part| part.name);
        let list = std::iter::once("_row_key".to_owned()).chain(parts).collect::<Vec<_>>().join(", ");
        self.sql(&format!("{} {list} {}", query.before_list, query.after_list))
    }

    /// Prints the ranges that a query reads of each table: as values, and as bytes after the bucket byte.
    ///
    /// # Errors
    /// Errors of its EXPLAIN.
    pub(crate) fn ranges(&mut self, sql: &str) -> Result<(), Failure> {
        let params = self.parameters.of(sql);
        let (text,) = self.connection.query_one::<(String,)>(&format!("EXPLAIN (FORMAT JSON) {sql}"), params)?;
        let explained: Json = serde_json::from_str(&text).map_err(|error| Failure::Usage(error.to_string()))?;
        for access in list(&explained, "accesses") {
            self.ranges_of(access, "")?;
        }
        Ok(())
    }

    /// Prints the ranges of an access, and of its parts; each line begins with `indent`.
    fn ranges_of(&mut self, access: &Json, indent: &str) -> Result<(), Failure> {
        writeln!(self.out, "{indent}{}", title(access))?;
        for span in list(access, "spans") {
            writeln!(self.out, "{indent}  {}", span.as_str().unwrap_or_default())?;
        }
        let parts = list(access, "union");
        if parts.is_empty() && access["ranges"].is_null() {
            writeln!(self.out, "{indent}  known when it runs")?;
        }
        let ranges = list(access, "ranges");
        for range in ranges {
            let end = |index: usize| range[index].as_str().filter(|end| !end.is_empty()).unwrap_or("-").to_owned();
            writeln!(self.out, "{indent}  [{} .. {})", end(0), end(1))?;
        }
        match access["ranges_total"].as_u64() {
            Some(total) if total > ranges.len() as u64 => {
                writeln!(self.out, "{indent}  and {} more", total - ranges.len() as u64)?;
            }
            _ => {}
        }
        let deeper = format!("{indent}  ");
        for part in parts {
            self.ranges_of(part, &deeper)?;
        }
        for other in list(access, "intersected") {
            writeln!(self.out, "{indent}  intersected with")?;
            self.ranges_of(other, &deeper)?;
        }
        Ok(())
    }
}

/// A list of an object of EXPLAIN; empty if the object does not have it.
fn list<'j>(of: &'j Json, name: &str) -> &'j [Json] {
    of[name].as_array().map_or(&[], Vec::as_slice)
}

/// The title of an access: `range of t as a, entries of index i, 1 of 4 buckets`.
fn title(access: &Json) -> String {
    let text = |name: &str| access[name].as_str();
    let mut title =
        format!("{} of {}", text("kind").unwrap_or_default().replace('_', " "), text("table").unwrap_or_default());
    if let Some(alias) = text("alias") {
        title += &format!(" as {alias}");
    }
    if let Some(index) = text("index") {
        title += &format!(", entries of index {index}");
    }
    match access["buckets_total"].as_u64() {
        Some(total) if total > 0 => title + &format!(", {} of {total} buckets", list(access, "buckets").len()),
        _ => title,
    }
}

/// A SELECT over one table, without its list.
struct TableQuery<'q> {
    before_list: &'q str,
    /// The text from FROM.
    after_list: &'q str,
    table: &'q str,
}

impl<'q> TableQuery<'q> {
    fn of(sql: &'q str) -> Option<Self> {
        let tokens: Vec<_> =
            lexemes(sql).filter(|(kind, _)| !matches!(kind, Lexeme::Blank | Lexeme::Comment)).collect();
        let text = |range: &std::ops::Range<usize>| sql.get(range.clone()).unwrap_or("");
        let (_, first) = tokens.first().filter(|(_, range)| text(range).eq_ignore_ascii_case("SELECT"))?;
        let list = tokens.get(1).filter(|(kind, _)| *kind == Lexeme::Hint).map_or(first.end, |(_, hint)| hint.end);
        let mut depth = 0;
        let from = tokens.iter().position(|(_, range)| {
            match text(range) {
                "(" => depth += 1,
                ")" => depth -= 1,
                word => return depth == 0 && word.eq_ignore_ascii_case("FROM"),
            }
            false
        })?;
        let name = tokens.get(from + 1)?.1.clone();
        let is_dotted = tokens.get(from + 2).is_some_and(|(_, range)| text(range) == ".");
        let end = if is_dotted { tokens.get(from + 3)?.1.end } else { name.end };
        let before_list = sql.get(..list)?;
        Some(Self {
            before_list: if before_list.is_empty() { "SELECT" } else { before_list },
            after_list: sql.get(tokens.get(from)?.1.start..)?,
            table: sql.get(name.start..end).filter(|name| !name.starts_with('('))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_a_query_is_found() {
        let cut = |sql| TableQuery::of(sql).map(|query| (query.before_list, query.after_list, query.table));
        assert_eq!(
            cut("SELECT a, (SELECT 1 FROM x) FROM s.\"T\" WHERE a = 1"),
            Some(("SELECT", "FROM s.\"T\" WHERE a = 1", "s.\"T\""))
        );
        assert_eq!(cut("select /*+ FULL_SCAN */ * from t;"), Some(("select /*+ FULL_SCAN */", "from t;", "t")));
        assert_eq!(cut("SELECT 1"), None);
        assert_eq!(cut("SELECT 1 FROM (SELECT 2) AS d"), None);
        assert_eq!(cut("DELETE FROM t"), None);
    }
}
