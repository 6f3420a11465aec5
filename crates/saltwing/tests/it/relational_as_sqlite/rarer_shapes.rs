//! Grouping sets, DISTINCT ON and recursive queries. SQLite lacks the first two: there they are unions of groups, and
//! numbered rows.

use super::{Query, Random, TABLES};

impl Random {
    pub(super) fn grouping_sets(&mut self, depth: usize) -> Query {
        let from = self.from(depth);
        let filter = self.filter(&from.columns);
        // Qualified: what USING merges may be the same column by another name.
        let keys: [String; 2] = std::array::from_fn(|_| self.column(&from.keys));
        let [a, b] = &keys;
        let (written, sets): (String, &[&[usize]]) = match self.below(4) {
            0 => (format!("ROLLUP ({a}, {b})"), &[&[0, 1], &[0], &[]]),
            1 => (format!("CUBE ({a}, {b})"), &[&[0, 1], &[0], &[1], &[]]),
            2 => (format!("GROUPING SETS (({a}), ({b}))"), &[&[0], &[1]]),
            _ => (format!("GROUPING SETS (({a}, {b}), ())"), &[&[0, 1], &[]]),
        };
        let aggregates: Vec<String> = (0..=self.below(2)).map(|_| self.aggregate(&from.columns)).collect();
        let having = match self.below(3) {
            0 => format!(" HAVING {} {} {}", aggregates[0], self.pick(&[">", "<="]), self.below(5)),
            _ => String::new(),
        };
        let width = keys.len() + aggregates.len();
        let items = |set: Option<&[usize]>| {
            let keys = keys.iter().enumerate().map(|(i, key)| {
                // A column that is written twice is a key of each set that names one of both.
                let is_key = set.is_none_or(|set| set.contains(&i) || (a == b && !set.is_empty()));
                if is_key { key.clone() } else { "NULL".to_owned() }
            });
            let items = keys.chain(aggregates.iter().cloned()).enumerate();
            items.map(|(i, item)| format!("{item} AS c{i}")).collect::<Vec<_>>().join(", ")
        };
        let arm = |set: &&[usize]| {
            let names: Vec<&str> = set.iter().map(|i| keys[*i].as_str()).collect();
            let group = if set.is_empty() { String::new() } else { format!(" GROUP BY {}", names.join(", ")) };
            format!("SELECT {} FROM {}{filter}{group}{having}", items(Some(*set)), from.sqlite)
        };
        let order = if self.chance(2) { self.order(width) } else { String::new() };
        let arms: Vec<String> = sets.iter().map(arm).collect();
        let ours = format!("SELECT {} FROM {}{filter} GROUP BY {written}{having}{order}", items(None), from.ours);
        Query { ours, sqlite: format!("{}{order}", arms.join(" UNION ALL ")), width, ordered: !order.is_empty() }
    }

    pub(super) fn distinct_on(&mut self, depth: usize) -> Query {
        let from = self.from(depth);
        let filter = self.filter(&from.columns);
        let (key, width) = (self.column(&from.columns), 1 + self.below(3));
        let items: Vec<String> = (0..width).map(|i| format!("{} AS c{i}", self.expression(&from.columns))).collect();
        let (items, direction) = (items.join(", "), self.pick(&["", " DESC"]));
        // No two rows of one place, unless they are equal in all columns.
        let order: Vec<String> = from.keys.iter().map(|key| format!("{key} NULLS FIRST")).collect();
        let order = order.join(", ");
        let names: Vec<String> = (0..width).map(|i| format!("c{i}")).collect();
        Query {
            ours: format!(
                "SELECT DISTINCT ON ({key}) {items} FROM {}{filter} ORDER BY {key}{direction} NULLS FIRST, {order}",
                from.ours
            ),
            sqlite: format!(
                "SELECT {} FROM (SELECT {items}, row_number() OVER (PARTITION BY {key} ORDER BY {order}) AS n FROM {}{filter}) \
                 WHERE n = 1",
                names.join(", "),
                from.sqlite
            ),
            width,
            ordered: false,
        }
    }

    /// A query that goes on from row to row, a few times.
    pub(super) fn recursive(&mut self, depth: usize) -> Query {
        let from = self.from(depth);
        let filter = self.filter(&from.columns);
        let start = format!("{}, {}", self.expression(&from.columns), self.expression(&from.columns));
        let (table, columns) = TABLES[self.below(TABLES.len())];
        let kind = self.pick(&["JOIN", "LEFT JOIN"]);
        let next = self.pick(&["r.c1", "t.k", &format!("t.{}", columns[0]), &format!("t.{}", columns[1])]).to_owned();
        let union = self.pick(&["UNION", "UNION ALL"]);
        let outer = if self.chance(2) { "SELECT c0, c1 FROM r" } else { "SELECT max(c0) AS c0, c1 FROM r GROUP BY c1" };
        let order = if self.chance(2) { self.order(2) } else { String::new() };
        let query = |from: &str| {
            format!(
                "WITH RECURSIVE r (c0, c1) AS (SELECT {start} FROM {from}{filter} {union} \
                 SELECT r.c0 + 1, {next} FROM r {kind} {table} AS t ON r.c1 = t.k WHERE r.c0 < 5) {outer}{order}"
            )
        };
        Query { ours: query(&from.ours), sqlite: query(&from.sqlite), width: 2, ordered: !order.is_empty() }
    }
}
