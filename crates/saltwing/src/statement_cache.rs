//! Caches parsed and planned statements by their text.
//!
//! # Laws
//! 1. A plan is used only with the version of the catalog that it was made on (`statement_plans.rs`).
//! 2. Overrides (hints, SET, options) are applied at each execution: a plan contains the verdict alone.
//! 3. A statement serves sessions of one user, or of the owner. A session of another user gets a copy without plans
//!    ([`CachedStatement::unplanned`]).
//! 4. The number of statements and their bytes are limited; the least recently used one is evicted first.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use saltwing_bind::check_hints;
use saltwing_sql::{Dialect, Parsed, Statement, parameter_count, parse_one_in, without_passwords};
use saltwing_types::{ErrorCode, Expr, ObjectId, SqlType, Value, eval, typing};

use crate::Error;
use crate::statement_plans::PlanCache;
use crate::tries::Tries;

/// Most statements.
const STATEMENTS_MAX: usize = 256;
/// Most bytes of a cached text.
const TEXT_BYTES_MAX: usize = 16 << 10;
/// Most bytes of all texts: tree and plan of a statement take a few hundred times the bytes of its text.
const TEXTS_BYTES_MAX: usize = 256 << 10;

/// A parsed statement, with its plans and other results that later runs use again.
pub(crate) struct CachedStatement {
    pub(crate) parsed: Parsed,
    /// The text in which the statement's spans are positions.
    pub(crate) text: Arc<str>,
    /// The number of parameters.
    pub(crate) parameter_count: usize,
    /// The parameter types that the caller gave.
    pub(crate) types: Arc<[Option<SqlType>]>,
    /// The dialect of the text: in the Phoenix dialect, '' is NULL, also as the value of a parameter.
    pub(crate) dialect: Dialect,
    pub(crate) plans: PlanCache,
    /// Whether runs are tried on the caller's thread.
    pub(crate) tries: Tries,
    /// The last check of rights that the statement passed.
    checked: Mutex<Option<Checked>>,
    /// The same statement with the types for its parameters with which it was prepared last.
    typed: Mutex<Option<Arc<Self>>>,
}

/// A check of a user's rights that a statement passed: it holds for this user, these definitions and these grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Checked {
    pub(crate) user: ObjectId,
    /// The version of the definitions that the session sees.
    pub(crate) definitions: u64,
    /// The version of the stored catalog, which has the grants.
    pub(crate) grants: u64,
}

impl CachedStatement {
    /// # Errors
    /// A hint that is not valid.
    pub(crate) fn new(parsed: Parsed, text: &Arc<str>, dialect: Dialect) -> Result<Self, Error> {
        check_hints(&parsed.statement).map_err(|error| Error::from(error).in_sql(text))?;
        let parameter_count = parameter_count(&parsed.parameters);
        Ok(Self::sound(parsed, text, parameter_count, dialect))
    }

    fn sound(parsed: Parsed, text: &Arc<str>, parameter_count: usize, dialect: Dialect) -> Self {
        let text = match parsed.statement.has_password() {
            // The text is used in errors and logs.
            true => without_passwords(text).unwrap_or_default().into(),
            false => text.clone(),
        };
        let (types, plans, tries) = (Arc::default(), PlanCache::default(), Tries::default());
        let (checked, typed) = (Mutex::default(), Mutex::default());
        Self { parsed, text, parameter_count, types, dialect, plans, tries, checked, typed }
    }

    /// Whether the statement has passed this check.
    pub(crate) fn is_checked(&self, checked: &Checked) -> bool {
        self.checked.lock().as_ref() == Some(checked)
    }

    pub(crate) fn set_checked(&self, checked: Checked) {
        *self.checked.lock() = Some(checked);
    }

    /// A copy of the statement without plans and other kept results.
    pub(crate) fn unplanned(&self) -> Self {
        let types = self.types.clone();
        Self { types, ..Self::sound(self.parsed.clone(), &self.text, self.parameter_count, self.dialect) }
    }

    /// The statement with these types for its parameters, with the plans of its earlier runs if it was prepared with them last.
    ///
    /// # Errors
    /// More types than parameters.
    pub(crate) fn typed_as(self: &Arc<Self>, types: &[Option<SqlType>]) -> Result<Arc<Self>, Error> {
        if let Some(known) = self.known_as(types) {
            return Ok(known);
        }
        let typed = Arc::new(self.with_types(types)?);
        *self.typed.lock() = Some(typed.clone());
        Ok(typed)
    }

    /// As [`CachedStatement::typed_as`], if it was prepared with these types last.
    pub(crate) fn known_as(self: &Arc<Self>, types: &[Option<SqlType>]) -> Option<Arc<Self>> {
        if types.iter().all(Option::is_none) {
            return (types.len() <= self.parameter_count).then(|| self.clone());
        }
        self.typed.lock().as_ref().filter(|typed| *typed.types == *types).cloned()
    }

    /// A copy of the statement with types for its parameters, without plans and other kept results.
    ///
    /// # Errors
    /// More types than parameters.
    fn with_types(&self, types: &[Option<SqlType>]) -> Result<Self, Error> {
        if types.len() > self.parameter_count {
            let text =
                format!("{} types are given, and the statement has {} parameters", types.len(), self.parameter_count);
            return Err(Error::new(ErrorCode::BadParameter, text));
        }
        Ok(Self { types: types.into(), ..self.unplanned() })
    }

    /// Converts parameter values to the types that the caller gave.
    ///
    /// # Errors
    /// A value that does not fit its type.
    pub(crate) fn typed(&self, mut values: Vec<Value>) -> Result<Vec<Value>, Error> {
        for (place, (value, ty)) in values.iter_mut().zip(&*self.types).enumerate() {
            let Some(ty) = *ty else { continue };
            let given = Expr::Literal(std::mem::replace(value, Value::Null), typing::natural_type(value));
            let cast = typing::cast(given, ty).and_then(|cast| eval::eval(&cast, &[]));
            *value = cast
                .map_err(|error| Error::new(error.code(), format!("parameter {} of type {ty}: {error}", place + 1)))?;
        }
        Ok(values)
    }
}

/// The statements of a database.
#[derive(Default)]
pub(crate) struct StatementCache {
    entries: Mutex<Entries>,
    /// The statements in the Phoenix dialect.
    phoenix: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    by_text: HashMap<Arc<str>, Entry>,
    bytes: usize,
    /// A counter of uses, for the order of eviction.
    now: u64,
}

struct Entry {
    statement: Arc<CachedStatement>,
    used: u64,
}

impl StatementCache {
    /// Removes all statements, with the tables that their plans hold.
    pub(crate) fn clear(&self) {
        *self.entries.lock() = Entries::default();
        *self.phoenix.lock() = Entries::default();
    }

    /// The statement of this text, if the cache has it.
    pub(crate) fn known(&self, text: &str, dialect: Dialect) -> Option<Arc<CachedStatement>> {
        self.of(dialect).lock().find(text)
    }

    fn of(&self, dialect: Dialect) -> &Mutex<Entries> {
        match dialect {
            Dialect::Saltwing => &self.entries,
            Dialect::Phoenix => &self.phoenix,
        }
    }

    /// The statement of this text, parsed if the cache does not have it. A parsed statement is cached if `is_kept` returns true.
    ///
    /// # Errors
    /// Errors of the text.
    pub(crate) fn get(
        &self,
        text: &str,
        dialect: Dialect,
        is_kept: fn(&Statement) -> bool,
    ) -> Result<Arc<CachedStatement>, Error> {
        let entries = self.of(dialect);
        if let Some(known) = entries.lock().find(text) {
            return Ok(known);
        }
        let sql: Arc<str> = text.into();
        let parsed = parse_one_in(text, dialect).map_err(|error| Error::from(error).in_sql(&sql))?;
        let statement = Arc::new(CachedStatement::new(parsed, &sql, dialect)?);
        if text.len() <= TEXT_BYTES_MAX && is_kept(&statement.parsed.statement) {
            entries.lock().insert(text, statement.clone());
        }
        Ok(statement)
    }
}

impl Entries {
    fn find(&mut self, text: &str) -> Option<Arc<CachedStatement>> {
        self.now += 1;
        let entry = self.by_text.get_mut(text)?;
        entry.used = self.now;
        Some(entry.statement.clone())
    }

    fn insert(&mut self, text: &str, statement: Arc<CachedStatement>) {
        let entry = Entry { statement, used: self.now };
        if self.by_text.insert(text.into(), entry).is_none() {
            self.bytes += text.len();
        }
        while self.by_text.len() > STATEMENTS_MAX || self.bytes > TEXTS_BYTES_MAX {
            let oldest = self.by_text.iter().min_by_key(|(_, entry)| entry.used).map(|(text, _)| text.clone());
            let Some(oldest) = oldest else { return };
            self.by_text.remove(&oldest);
            self.bytes -= oldest.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_query(statement: &Statement) -> bool {
        matches!(statement, Statement::Query(_))
    }

    #[test]
    fn the_statement_not_used_for_longest_goes_first() {
        let cache = StatementCache::default();
        let text = |i: usize| format!("SELECT {i} FROM t");
        let first = cache.get(&text(0), Dialect::Saltwing, is_query).unwrap();
        for i in 1..STATEMENTS_MAX * 2 {
            cache.get(&text(i), Dialect::Saltwing, is_query).unwrap();
            assert!(Arc::ptr_eq(&first, &cache.get(&text(0), Dialect::Saltwing, is_query).unwrap()), "{i}");
        }
        let entries = cache.entries.lock();
        assert_eq!(entries.by_text.len(), STATEMENTS_MAX);
        assert!(!entries.by_text.contains_key(text(1).as_str()));
        assert_eq!(entries.bytes, entries.by_text.keys().map(|text| text.len()).sum::<usize>());
    }

    #[test]
    fn bytes_are_bounded_and_long_texts_are_not_kept() {
        let cache = StatementCache::default();
        let long = |i: usize| format!("SELECT {i} FROM t WHERE a = '{}'", "x".repeat(TEXT_BYTES_MAX - 100));
        for i in 0..100 {
            cache.get(&long(i), Dialect::Saltwing, is_query).unwrap();
        }
        assert!(cache.entries.lock().bytes <= TEXTS_BYTES_MAX);
        let count = cache.entries.lock().by_text.len();
        assert!(count > 10);
        cache
            .get(&format!("SELECT 1 FROM t WHERE a = '{}'", "x".repeat(TEXT_BYTES_MAX)), Dialect::Saltwing, is_query)
            .unwrap();
        cache.get("CREATE TABLE t (k INTEGER PRIMARY KEY)", Dialect::Saltwing, is_query).unwrap();
        assert_eq!(cache.entries.lock().by_text.len(), count);
    }

    #[test]
    fn a_text_that_cannot_be_read_is_not_kept() {
        let cache = StatementCache::default();
        assert!(cache.get("SELECT FROM WHERE", Dialect::Saltwing, is_query).is_err());
        assert!(cache.entries.lock().by_text.is_empty());
    }
}
