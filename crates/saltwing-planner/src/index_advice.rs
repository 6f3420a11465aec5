//! The index by which a statement would read a part of a table, not all of it.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_bind::index_text;
use saltwing_plan::{Access, CandidateKey, IndexTraits, OrderBy, OrderItem, Request, RowLimit, choose};
use saltwing_rowkey::RowKeyCodec;
use saltwing_sql::quote_name;
use saltwing_types::key_expression::key_type;
use saltwing_types::key_form::can_be_indexed;
use saltwing_types::table::ROW_ID_COLUMN;
use saltwing_types::{
    CompareOp, Expr, IndexDef, IndexPart, IndexState, ObjectId, Salt, SortOrder, SqlType, TableDef, TableId,
};

/// Most columns of an index that is advised.
const PARTS_MAX: usize = 8;

/// An index that a statement could read.
#[derive(Clone, Debug)]
pub struct IndexAdvice {
    /// Its definition.
    pub index: IndexDef,
    /// The statement that creates it.
    pub statement: String,
    /// How the statement would read it.
    pub access: Access,
}

/// The index that the conditions and the order of a request ask for: the columns with known values, then one that is
/// bounded, or else those of the order. `None` if such an index would be read whole, too.
pub(crate) fn index_for(table: &Arc<Table>, request: Request<'_>) -> Option<IndexAdvice> {
    let def = table.def();
    // The commits of a store that compares rows keep no entries: it makes no index from here.
    if table.is_attached() || table.is_compared() || table.as_of_ms().is_some() {
        return None;
    }
    let parts = parts(table, &request);
    let index = IndexDef {
        id: TableId(0),
        object_id: ObjectId::NEW,
        name: free_name(def, &parts),
        parts,
        include: Vec::new(),
        unique: false,
        predicate: None,
        local: false,
        salt: def.key.salt.map(|salt| Salt { by: None, ..salt }),
        state: IndexState::Ready,
        rebuild: None,
    };
    let key = index.key(def);
    let codec = Arc::new(RowKeyCodec::new(&key).ok().filter(|_| !index.parts.is_empty())?);
    let columns = index.columns(def);
    let traits = IndexTraits { columns: &columns, ..IndexTraits::default() };
    let own = *request.keys.first()?;
    let keys = [own, CandidateKey::of_index(&index.name, &key, &codec, traits)];
    let access = choose(Request { keys: &keys, ..request }).ok()?;
    if access.key_index != 1 || access.verdict.allowed != Some(true) {
        return None;
    }
    Some(IndexAdvice { statement: index_text(def, &index), index, access })
}

fn parts(table: &Table, request: &Request<'_>) -> Vec<IndexPart> {
    let def = table.def();
    let mut parts: Vec<IndexPart> = Vec::new();
    let mut add = |expr: &Expr, order: SortOrder| {
        if parts.len() < PARTS_MAX && is_indexable(expr, def) && !parts.iter().any(|part| part.expr == *expr) {
            parts.push(IndexPart { expr: expr.clone(), text: expr.to_string(), order });
        }
    };
    let compared = |is_known: bool| {
        let conditions = request.conditions.iter().filter_map(|condition| compared(&condition.expr));
        conditions.filter(move |compared| compared.1 == is_known).map(|compared| compared.0)
    };
    compared(true).for_each(|expr| add(expr, SortOrder::Asc));
    let is_limited = request.limit != RowLimit::None;
    match compared(false).find(|expr| is_indexable(expr, def)) {
        Some(expr) => add(expr, SortOrder::Asc),
        None if is_limited => request.order.iter().for_each(|item| {
            if let Some(column) = column_of(item, table) {
                add(&column, item.order);
            }
        }),
        None => {}
    }
    parts
}

/// The expression that a condition compares with constants, and whether its values are known then, not only bounded.
fn compared(condition: &Expr) -> Option<(&Expr, bool)> {
    let is_constant = |expr: &Expr| expr.columns().is_empty();
    match condition {
        Expr::Compare(CompareOp::NotEq | CompareOp::Distinct, ..) => None,
        Expr::Compare(op, a, b) => {
            let is_known = matches!(op, CompareOp::Eq | CompareOp::NotDistinct);
            match (is_constant(a), is_constant(b)) {
                (false, true) => Some((a, is_known)),
                (true, false) => Some((b, is_known)),
                _ => None,
            }
        }
        Expr::InList(value, list) if list.iter().all(is_constant) => Some((value, true)),
        Expr::IsNull(value) => Some((value, true)),
        Expr::Like { text, pattern, ignore_case: false, .. } if is_constant(pattern) => Some((text, false)),
        _ => None,
    }
}

/// Whether an index may be on an expression, whose text is then its own SQL.
fn is_indexable(expr: &Expr, def: &TableDef) -> bool {
    let is_stored = |index: &usize| def.columns.get(*index).is_some_and(|column| column.name != ROW_ID_COLUMN);
    let ty = expr.sql_type().unwrap_or(SqlType::Null);
    let columns = expr.columns();
    let is_plain_name =
        |column: &usize| def.columns.get(*column).is_some_and(|column| quote_name(&column.name) == column.name);
    can_be_indexed(ty)
        && columns.iter().all(is_stored)
        && (matches!(expr, Expr::Column(_)) || key_type(expr).is_ok() && columns.iter().all(is_plain_name))
}

fn column_of(item: &OrderItem, table: &Table) -> Option<Expr> {
    let OrderBy::Column(index) = item.by else { return None };
    table.column_ref(index, None).map(Expr::Column)
}

/// A name that no index of the table has: that of the table with those of the columns.
fn free_name(def: &TableDef, parts: &[IndexPart]) -> String {
    let of_part = |part: &IndexPart| def.columns.get(*part.expr.columns().first()?).map(|column| column.name.as_str());
    let names: Vec<&str> = [def.name.name.as_str()].into_iter().chain(parts.iter().filter_map(of_part)).collect();
    let name = names.join("_");
    let is_free = |name: &String| def.index_place(name).is_none();
    let numbered = (2u32..).map(|number| format!("{name}_{number}"));
    std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or(name)
}
