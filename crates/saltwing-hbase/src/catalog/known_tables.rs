//! The definitions that are known, with the version of the catalog that they make.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use saltwing_access::Table;
use saltwing_phoenix::{TableDefinition, TableReply};
use saltwing_types::{ObjectId, TableId, TableName};

use super::table_of_definition::{Numbers, table_of};
use crate::open_tables::OpenTables;

/// A table, or why it cannot be read.
pub(super) type Readable = Result<Arc<Table>, Arc<str>>;

/// The definitions that are known.
pub(super) struct KnownTables {
    open: Arc<OpenTables>,
    state: Mutex<State>,
}

struct State {
    /// Grows when a definition turns out to be another one, or gone.
    version: u64,
    next_number: u32,
    /// By the names in Phoenix's catalog.
    tables: HashMap<TableName, Known>,
}

struct Known {
    numbers: Numbers,
    /// Of the definition: its time, and how often it was changed.
    time: i64,
    sequence_number: i64,
    /// The definition of a view, which changes with those below it: its own time does not tell.
    view: Option<Box<TableDefinition>>,
    table: Readable,
    checked: Instant,
    /// Whether it was changed from here since it was checked.
    is_outdated: bool,
}

impl KnownTables {
    pub(super) fn new(open: Arc<OpenTables>) -> Self {
        Self { open, state: Mutex::new(State { version: 1, next_number: 1, tables: HashMap::new() }) }
    }

    /// The version of the definitions.
    pub(super) fn version(&self) -> u64 {
        self.state.lock().version
    }

    /// A table whose definition was looked at so lately.
    pub(super) fn checked_within(&self, name: &TableName, age: Duration) -> Option<Readable> {
        let state = self.state.lock();
        let known = state.tables.get(name).filter(|known| !known.is_outdated && known.checked.elapsed() < age)?;
        Some(known.table.clone())
    }

    /// The time of the definition that is known; 0 if there is none, or its time does not tell whether it has changed.
    pub(super) fn time_of(&self, name: &TableName) -> i64 {
        self.state.lock().tables.get(name).map_or(0, Known::time_for_server)
    }

    /// All names, with the times of their definitions.
    pub(super) fn times(&self) -> Vec<(TableName, i64)> {
        self.state.lock().tables.iter().map(|(name, known)| (name.clone(), known.time_for_server())).collect()
    }

    /// Notes that a definition is another one than the one that is known: its time is not asked for again.
    pub(super) fn change(&self, name: &TableName) {
        let mut state = self.state.lock();
        state.version += 1;
        if let Some(known) = state.tables.get_mut(name) {
            known.is_outdated = true;
        }
    }

    /// Notes what the server says of a table now; the table, `None` if there is none.
    pub(super) fn note(&self, name: &TableName, reply: TableReply) -> Option<Readable> {
        let mut state = self.state.lock();
        match reply {
            TableReply::Table(definition) => Some(state.define(&self.open, name, &definition)),
            TableReply::Unchanged => state.tables.get_mut(name).map(|known| {
                known.checked = Instant::now();
                known.table.clone()
            }),
            TableReply::NotFound => {
                if let Some(gone) = state.tables.remove(name) {
                    self.open.close(gone.numbers.id);
                    state.version += 1;
                }
                None
            }
        }
    }

    /// Notes that a table cannot be read.
    pub(super) fn note_unreadable(&self, name: &TableName, reason: &str) -> Readable {
        let mut state = self.state.lock();
        let (is_known, numbers) = match state.tables.get(name) {
            Some(known) if known.table.as_ref().is_err_and(|known| **known == *reason) => (true, known.numbers),
            Some(known) => {
                let numbers = known.numbers;
                self.open.close(numbers.id);
                state.version += 1;
                (true, numbers)
            }
            None => (false, state.new_numbers()),
        };
        debug_assert!(is_known || numbers.version == 0, "a new table has its first version");
        let table = Err(Arc::from(reason));
        let checked = Instant::now();
        let known = Known { numbers, time: 0, sequence_number: 0, view: None, table, checked, is_outdated: false };
        let table = known.table.clone();
        state.tables.insert(name.clone(), known);
        table
    }
}

impl Known {
    fn time_for_server(&self) -> i64 {
        if self.view.is_some() || self.is_outdated { 0 } else { self.time }
    }
}

impl State {
    fn new_numbers(&mut self) -> Numbers {
        let number = self.next_number;
        self.next_number += 1;
        Numbers { id: TableId(number), object_id: ObjectId(number), version: 0 }
    }

    fn define(&mut self, open: &OpenTables, name: &TableName, definition: &TableDefinition) -> Readable {
        let view = definition.inherits_from().is_some().then(|| Box::new(definition.clone()));
        let (time, sequence_number) = (definition.timestamp, definition.sequence_number);
        let numbers = match self.tables.get_mut(name) {
            Some(known) if (known.time, known.sequence_number) == (time, sequence_number) && known.view == view => {
                (known.checked, known.is_outdated) = (Instant::now(), false);
                return known.table.clone();
            }
            // A table that was dropped and created again counts its changes from the beginning.
            Some(known) if sequence_number < known.sequence_number => {
                open.close(known.numbers.id);
                self.version += 1;
                self.new_numbers()
            }
            Some(known) => {
                self.version += 1;
                Numbers { version: known.numbers.version + 1, ..known.numbers }
            }
            None => self.new_numbers(),
        };
        let table = table_of(definition, numbers).map(|table| open.open(table)).map_err(Arc::from);
        if table.is_err() {
            open.close(numbers.id);
        }
        let checked = Instant::now();
        let known = Known { numbers, time, sequence_number, view, table: table.clone(), checked, is_outdated: false };
        self.tables.insert(name.clone(), known);
        table
    }
}
