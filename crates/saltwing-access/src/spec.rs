//! Scan specifications: values that a store compiles once.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use arrow::datatypes::{FieldRef, Schema, SchemaRef};
use saltwing_types::{Expr, typing};

use crate::{Table, TableError};

/// The compiled form of a specification, cached in it by the store: a plan that runs often is compiled once.
#[derive(Default)]
pub struct Compiled(OnceLock<Arc<dyn Any + Send + Sync>>);

impl Compiled {
    /// The cached form; `compile` creates it at the first call.
    ///
    /// A form of another type is another store's: it stays, and `compile` runs each time.
    ///
    /// # Errors
    /// Those of `compile`.
    pub fn get_or_compile<T: Any + Send + Sync>(
        &self,
        compile: impl FnOnce() -> Result<T, TableError>,
    ) -> Result<Arc<T>, TableError> {
        if let Some(known) = self.0.get().and_then(|known| known.clone().downcast().ok()) {
            return Ok(known);
        }
        let compiled = Arc::new(compile()?);
        // Another thread may have been first: its form is as good.
        let _ = self.0.set(compiled.clone());
        Ok(compiled)
    }
}

/// The columns that scans put out, and the filter that their rows meet.
pub struct ScanSpec {
    table: Arc<Table>,
    columns: Vec<usize>,
    filter: Vec<Expr>,
    schema: SchemaRef,
    compiled: Compiled,
}

impl ScanSpec {
    /// These columns, by index, of the rows that meet all of `filter`; [`Table::row_key_index`] is `_row_key`.
    ///
    /// # Errors
    /// A type mismatch where one of `filter` is no condition.
    pub fn new(table: &Arc<Table>, columns: Vec<usize>, filter: Vec<Expr>) -> Result<Self, TableError> {
        let filter = if filter.is_empty() { filter } else { typing::and(filter)?.into_conjuncts() };
        let all = table.schema().fields();
        let fields: Vec<FieldRef> = columns.iter().filter_map(|&column| all.get(column).cloned()).collect();
        let schema = Arc::new(Schema::new(fields));
        Ok(Self { table: table.clone(), columns, filter, schema, compiled: Compiled::default() })
    }

    /// The table.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The columns put out, by index.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The conjuncts that each row meets, over the table's columns.
    pub fn filter(&self) -> &[Expr] {
        &self.filter
    }

    /// Whether rows are checked.
    pub fn is_filtered(&self) -> bool {
        !self.filter.is_empty()
    }

    /// The schema of the columns put out, named as declared.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The form that a store gives it.
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }
}

/// The columns of rows that are read as values.
pub struct Projection {
    table: Arc<Table>,
    columns: Vec<usize>,
    compiled: Compiled,
}

impl Projection {
    /// These columns, by index; [`Table::row_key_index`] is `_row_key`.
    pub fn new(table: &Arc<Table>, columns: impl IntoIterator<Item = usize>) -> Self {
        Self { table: table.clone(), columns: columns.into_iter().collect(), compiled: Compiled::default() }
    }

    /// All columns that are declared.
    pub fn all(table: &Arc<Table>) -> Self {
        Self::new(table, 0..table.def().columns.len())
    }

    /// The table.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The columns, by index.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The form that a store gives it.
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }
}
