//! Each form of a condition over keys of all kinds: `testdata/forms/*.txt`. `UPDATE_GOLDEN=1` writes them anew.
//!
//! A case names key columns and conditions, and stands for a dozen keys: ascending, descending and both by turns; with columns that
//! can be NULL, where there are such, and without; without salt, in 4 buckets by the whole key, and by the first column.
//!
//! ```text
//! keys (k varchar, z int)
//! k > 'b'
//! ----
//! asc             range (('b') ..]
//! desc            range [.. ('b'))
//! ..
//! ```
//!
//! A line is the plan without salt; what salt changes comes after it: the buckets, where they are known.
//! Every plan, with salt too, is held against rows by brute force: values around the constants, and the ends of the types.

use std::fmt::Write;

use saltwing_plan::{Access, AccessKind, Buckets, Condition, OrderBy, OrderItem, OrderKind, Request, RowLimit, choose};
use saltwing_types::{Expr, Salt, SortOrder, SqlType, Value, number};

use crate::support::brute_force::{Stored, check_rows};
use crate::support::{Table, parser, random, testdata};

/// A kind of key.
struct Variant {
    name: &'static str,
    /// Whether the column at this place descends.
    descends: fn(usize) -> bool,
    nullable: bool,
}

const VARIANTS: [Variant; 6] = [
    Variant { name: "asc", descends: |_| false, nullable: false },
    Variant { name: "desc", descends: |_| true, nullable: false },
    Variant { name: "by turns", descends: |column| column % 2 == 0, nullable: false },
    Variant { name: "asc null", descends: |_| false, nullable: true },
    Variant { name: "desc null", descends: |_| true, nullable: true },
    Variant { name: "by turns null", descends: |column| column % 2 == 0, nullable: true },
];

/// The table of a case's key columns as a variant has them; `None` where it is the same as one before.
fn table(template: &Table, variant: &Variant, salt: Option<Salt>) -> Option<Table> {
    let (mut columns, mut schema) = (template.columns.clone(), template.schema.clone());
    let key_count = schema.columns.len();
    if variant.name.starts_with("by turns") && key_count == 1 {
        return None;
    }
    let mut has_nulls = false;
    for (place, key) in schema.columns.iter_mut().enumerate() {
        key.order = if (variant.descends)(place) { SortOrder::Desc } else { SortOrder::Asc };
        key.nullable = variant.nullable && key.ty.fixed_key_bytes().is_none();
        has_nulls |= key.nullable;
        if let Some(column) = key.column() {
            columns[column].nullable = key.nullable;
        }
    }
    schema.salt = salt;
    (has_nulls == variant.nullable).then(|| Table::new("t", columns, schema))
}

/// The lines of a case: conditions, then ORDER BY and LIMIT.
struct Case<'t> {
    conditions: &'t str,
    order: Vec<(String, bool, bool)>,
    limit: Option<u64>,
}

impl<'t> Case<'t> {
    fn read(lines: &[&'t str]) -> Self {
        let mut case = Self { conditions: "", order: Vec::new(), limit: None };
        for line in lines {
            if let Some(items) = line.strip_prefix("order by ") {
                case.order = items.split(',').map(item).collect();
            } else if let Some(rows) = line.strip_prefix("limit ") {
                case.limit = Some(rows.parse().unwrap());
            } else {
                case.conditions = line;
            }
        }
        case
    }

    fn plan(&self, table: &Table) -> Result<(Access, Vec<Condition>), String> {
        let conditions = match self.conditions {
            "" => Vec::new(),
            text => parser::condition(text, table)?.into_conjuncts().into_iter().map(Condition::new).collect(),
        };
        let order: Vec<OrderItem> = self
            .order
            .iter()
            .map(|(name, desc, nulls_last)| OrderItem {
                by: OrderBy::Column(table.column_index(name).unwrap()),
                order: if *desc { SortOrder::Desc } else { SortOrder::Asc },
                nulls_first: !nulls_last,
            })
            .collect();
        let keys = [table.candidate()];
        let limit = self.limit.map_or(RowLimit::None, RowLimit::Rows);
        let request =
            Request { order: &order, nulls_apart: true, limit, ..Request::new("t", &keys, conditions.clone()) };
        choose(request).map(|access| (access, conditions)).map_err(|e| e.to_string())
    }
}

/// `k desc nulls last`
fn item(text: &str) -> (String, bool, bool) {
    let words: Vec<&str> = text.split_whitespace().collect();
    (words[0].to_owned(), words.contains(&"desc"), words.contains(&"last"))
}

/// Rows of values around the constants, and of the ends of the types.
fn rows(table: &Table, conditions: &[Condition], rows_max: f64) -> Vec<Stored> {
    let mut constants = Vec::new();
    for condition in conditions {
        condition.expr.walk(&mut |e| {
            if let Expr::Literal(value, _) = e {
                constants.push(value.clone());
            }
        });
    }
    let keys = table.schema.columns.len();
    let most = rows_max.powf(1.0 / keys as f64) as usize;
    let mut rows = vec![Vec::new()];
    for (index, column) in table.columns.iter().enumerate() {
        let values =
            if index < keys { values(column.ty, column.nullable, &constants, most) } else { vec![Value::Int(1)] };
        rows = rows
            .iter()
            .flat_map(|row: &Vec<Value>| {
                values.iter().map(move |value| [row.as_slice(), std::slice::from_ref(value)].concat())
            })
            .collect();
    }
    let stored = |row: Vec<Value>| {
        let key = table.codec.encode_logical(&table.key_values(&row)?).ok()?;
        let bucket = table.codec.bucket(&key);
        Some(Stored { row, key, bucket })
    };
    rows.into_iter().filter_map(stored).collect()
}

fn values(ty: SqlType, nullable: bool, constants: &[Value], most: usize) -> Vec<Value> {
    let near = constants.iter().flat_map(neighbours);
    let own = random::constants(ty.family());
    let all = near.chain(own).filter_map(|value| number::assign(value, ty).ok()).filter(|value| !value.is_null());
    let mut values: Vec<Value> = if nullable { vec![Value::Null] } else { Vec::new() };
    for value in all {
        if values.len() < most && !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// A constant, and what lies beside it.
fn neighbours(value: &Value) -> Vec<Value> {
    match value {
        Value::Int(i) => [*i, i.saturating_sub(1), i.saturating_add(1)].map(Value::Int).to_vec(),
        Value::Date(ms) => [*ms, ms.saturating_sub(1), ms.saturating_add(86_400_000)].map(Value::Date).to_vec(),
        Value::Text(text) => {
            let shorter: String = text.chars().take(text.chars().count().saturating_sub(1)).collect();
            [text.clone(), format!("{text}b"), shorter, text.trim_end_matches('%').to_owned()].map(Value::Text).to_vec()
        }
        other => vec![other.clone()],
    }
}

/// One line of a plan, and the same key with salt beside it.
fn outcome(template: &Table, case: &Case<'_>, variant: &Variant) -> Option<Result<String, String>> {
    let plain = table(template, variant, None)?;
    let salted = [None, Some(1)].map(|by| table(template, variant, Some(Salt { buckets: 4, by })).unwrap());
    Some(case.plan(&plain).and_then(|(access, conditions)| {
        let context = |table: &Table| format!("{} where {}", table.definition(), case.conditions);
        check_rows(&access, &conditions, &rows(&plain, &conditions, 225.0))
            .map_err(|e| format!("{e}, {}", context(&plain)))?;
        let mut line = plan_text(&access);
        for (table, by) in salted.iter().zip(["", " by the first column"]) {
            let (in_buckets, _) = case.plan(table)?;
            check_rows(&in_buckets, &conditions, &rows(table, &conditions, 49.0))
                .map_err(|e| format!("{e}, {}", context(table)))?;
            if in_buckets.ranges.first(usize::MAX) != access.ranges.first(usize::MAX) {
                write!(line, "; ranges {}{by}", in_buckets.spans().unwrap().join("  ")).unwrap();
            }
            match in_buckets.buckets {
                Buckets::All => {}
                Buckets::Some(list) if list.is_empty() => {}
                Buckets::Some(list) => write!(line, "; buckets {list:?}{by}").unwrap(),
            }
        }
        Ok(line)
    }))
}

fn plan_text(access: &Access) -> String {
    let mut line = access.kind.as_str().to_owned();
    if !access.exact {
        line.push_str(", loose");
    }
    if access.kind != AccessKind::Empty {
        write!(line, " {}", access.spans().unwrap().join("  ")).unwrap();
    }
    if let Some(skip) = &access.skip {
        write!(line, "; skip {}", skip.text()).unwrap();
    }
    if let Some(parts) = &access.in_turn {
        let shown = parts.each_ref().map(|ranges| ranges.spans(12).unwrap().join("  "));
        write!(line, "; in turn {}", shown.join(" and ")).unwrap();
    }
    if access.order != OrderKind::None {
        write!(line, "; order {}", access.order.as_str()).unwrap();
    }
    if let Some(limit) = access.limit {
        write!(line, "; limit {limit}").unwrap();
    }
    for condition in &access.residual {
        write!(line, "; residual {}", condition.text).unwrap();
    }
    if access.verdict.is_refused() {
        line.push_str("; refused");
    }
    line
}

/// The outcomes of a case as they are now.
fn outcomes(case: &str) -> String {
    let lines: Vec<&str> = case.lines().collect();
    let Some((definition, rest)) = lines.split_first() else { return String::new() };
    let template = definition.strip_prefix("keys ").unwrap_or_else(|| panic!("keys (..): {definition}"));
    let template = parser::ranges(&format!("ranges key={template}")).unwrap();
    let case = Case::read(rest);
    let outcomes = VARIANTS.iter().filter_map(|variant| Some((variant, outcome(&template, &case, variant)?)));
    let line = |(variant, outcome): (&Variant, Result<String, String>)| {
        format!("{:<15} {}", variant.name, outcome.unwrap_or_else(|error| format!("error {error}")))
    };
    outcomes.map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn forms_are_planned_as_written() {
    golden_files::assert_files(&testdata().join("forms"), |path, text| {
        let now = golden_files::with_outcomes(text, outcomes);
        let failed: Vec<&str> = now.lines().filter(|line| line.contains(" error ")).collect();
        assert!(failed.is_empty(), "{}: {failed:#?}", path.display());
        now
    });
}
