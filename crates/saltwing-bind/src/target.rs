//! What a statement writes: a table or a view, its rows, and their columns.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_catalog::CatalogReader;
use saltwing_sql::statement::Assignment;
use saltwing_sql::{ColumnName, DynamicColumn, Name, TableRef};
use saltwing_types::table::{ROW_KEY_COLUMN, ROW_TIME_COLUMN};
use saltwing_types::{ColumnDef, Value};

use crate::error::{BindError, BindErrorKind, Result};
use crate::lower::Params;
use crate::names::Names;
use crate::resolve::table_of;
use crate::scope::Scope;
use crate::view::WrittenView;

/// What a statement writes: a table, or a view over rows of one.
pub(crate) struct Target<'c> {
    /// The table whose rows are written.
    pub(crate) table: Arc<Table>,
    /// The view through which they are.
    pub(crate) view: Option<Box<WrittenView>>,
    /// The catalog that says whether `public` is a name of its schema; `None` if names of columns have no schema. Only a scope asks it:
    /// an INSERT without a list of columns needs none.
    catalog: Option<&'c dyn CatalogReader>,
}

impl<'c> Target<'c> {
    /// The table or view that a statement names.
    ///
    /// # Errors
    /// That of the catalog, with the place; [`BindErrorKind::ReadOnlyView`].
    pub(crate) fn resolve(catalog: &'c dyn CatalogReader, name: &TableRef) -> Result<Self> {
        let (schema, bare) = name.parts();
        let placed = |error| BindError::from(error).at(Some(name.span()));
        let absent = match table_of(catalog, schema, bare) {
            Ok(table) => return Ok(Self { table, view: None, catalog: Some(catalog) }),
            Err(error) if error.is_absence() => error,
            Err(error) => return Err(placed(error)),
        };
        let view = catalog.view(schema, bare).map_err(placed)?.ok_or_else(|| placed(absent))?;
        let view = WrittenView::of(view, name.span(), catalog)?;
        Ok(Self { table: view.table.clone(), view: Some(Box::new(view)), catalog: Some(catalog) })
    }

    pub(crate) fn of_table(table: Arc<Table>) -> Self {
        Self { table, view: None, catalog: None }
    }

    /// Whether `public` is a name of its schema.
    fn is_public(&self) -> Result<bool> {
        let name = self.view.as_ref().map_or(&self.table.def().name, |view| &view.def.name);
        self.catalog.map_or(Ok(false), |catalog| Names::Statement.is_public(name, catalog))
    }

    /// The columns that a statement may name, but for dynamic ones.
    ///
    /// # Errors
    /// That of the catalog.
    pub(crate) fn scope(&self, alias: Option<String>) -> Result<Scope> {
        let is_public = alias.is_none() && self.is_public()?;
        let scope = match &self.view {
            None => Scope::of(self.table.clone(), alias),
            Some(view) => Scope::of(self.table.clone(), None).under_view(&view.def, alias).shown_by(&view.def),
        };
        Ok(scope.public(is_public))
    }

    /// All columns of the table, also those that the view does not show: a key has them.
    ///
    /// # Errors
    /// That of the catalog.
    pub(crate) fn scope_of_keys(&self) -> Result<Scope> {
        let scope = Scope::of(self.table.clone(), None);
        let scope = match &self.view {
            None => scope,
            Some(view) => scope.under_view(&view.def, None),
        };
        Ok(scope.public(self.is_public()?))
    }

    /// The dynamic columns that a statement may name: those of the view, and those that it declares.
    ///
    /// # Errors
    /// One under the name of a column of the view.
    pub(crate) fn known_columns(&self, declared: &[DynamicColumn]) -> Result<Vec<DynamicColumn>> {
        self.view.as_ref().map_or_else(|| Ok(declared.to_vec()), |view| view.known_columns(declared))
    }

    /// Checks the values of columns that conditions of the view name; whether there are such columns.
    ///
    /// # Errors
    /// [`BindErrorKind::ViewCheck`] for a value that the view would not show.
    pub(crate) fn check_assigned(
        &self,
        assignments: &[Assignment],
        (columns, dynamic): (&[usize], &[ColumnDef]),
        params: Params<'_>,
    ) -> Result<bool> {
        let Some(view) = &self.view else { return Ok(false) };
        let mut is_checked = false;
        for (assignment, &column) in assignments.iter().zip(columns) {
            if let Some(constant) = view.constant_of(column, dynamic) {
                view.check(constant, &assignment.value, params)?;
                is_checked = true;
            }
        }
        Ok(is_checked)
    }

    /// The constants of the view for columns that a statement does not write, which it writes now.
    pub(crate) fn add_constants(&self, (columns, dynamic): (&mut Vec<usize>, &mut Vec<ColumnDef>)) -> Vec<Value> {
        self.view.as_ref().map_or_else(Vec::new, |view| view.add_constants(columns, dynamic))
    }
}

/// The target of a statement, as the statement names it.
#[derive(Clone, Copy)]
pub(crate) struct NamedTarget<'a> {
    pub(crate) table: &'a TableRef,
    /// The dynamic columns that the statement declares.
    pub(crate) dynamic: &'a [DynamicColumn],
    pub(crate) alias: Option<&'a Name>,
}

/// The columns that an INSERT's list names; without one, all that are neither hidden nor generated.
///
/// # Errors
/// [`BindErrorKind::NoSuchColumn`], [`BindErrorKind::DuplicateColumn`]; a hidden column.
pub(crate) fn target_columns(target: &Target<'_>, names: Option<&[ColumnName]>) -> Result<Vec<usize>> {
    let def = target.table.def();
    let Some(names) = names else {
        let mut columns = Vec::with_capacity(def.columns.len());
        let is_given = |(_, column): &(usize, &ColumnDef)| !column.hidden && column.generated().is_none();
        columns.extend(def.columns.iter().enumerate().filter(is_given).map(|(index, _)| index));
        return Ok(columns);
    };
    let scope = target.scope(None)?;
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        let column = scope.resolve(&name.parts(), Some(name.span()))?;
        let place = |error: BindErrorKind| BindError::from(error).at(Some(name.span()));
        if column.name == ROW_KEY_COLUMN {
            return Err(place(BindErrorKind::Syntax(format!(
                "{ROW_KEY_COLUMN} is made from the key columns, not written"
            ))));
        }
        if column.name == ROW_TIME_COLUMN {
            return Err(place(BindErrorKind::Syntax(format!(
                "{ROW_TIME_COLUMN} is the time of the write, not written"
            ))));
        }
        if def.columns.get(column.index).is_some_and(|column| column.hidden) {
            let name = column.name;
            return Err(place(BindErrorKind::Syntax(format!("{name} is a hidden column: the table fills it itself"))));
        }
        if columns.contains(&column.index) {
            return Err(place(BindErrorKind::DuplicateColumn(column.name)));
        }
        columns.push(column.index);
    }
    Ok(columns)
}
