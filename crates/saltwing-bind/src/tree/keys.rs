//! Which columns determine others, row by row.

use saltwing_types::Expr;

use super::{JoinKind, Relation};

impl Relation {
    /// Whether rows that are equal in the columns `keys` are equal in the column `id`, because the rows were groups by some of `keys`.
    pub(crate) fn is_determined(&self, id: usize, keys: &[usize]) -> bool {
        if keys.contains(&id) {
            return true;
        }
        match self {
            Self::Aggregate { keys: of_group, sets: None, .. } => {
                !of_group.is_empty()
                    && of_group.iter().all(|key| keys.contains(&key.column.index))
                    && self.has_column(id)
            }
            Self::Project { input, columns } => {
                // A column of the input may stand here under another id.
                let of_input = |key: &usize| {
                    let computed = columns.iter().find(|column| column.column.index == *key);
                    match computed.map(|computed| &computed.expr) {
                        Some(Expr::Column(column)) => column.index,
                        _ => *key,
                    }
                };
                let keys: Vec<usize> = keys.iter().map(of_input).collect();
                match columns.iter().find(|column| column.column.index == id) {
                    Some(computed) if computed.expr.is_volatile() => false,
                    Some(computed) => computed.expr.columns().iter().all(|id| input.is_determined(*id, &keys)),
                    None => input.is_determined(id, &keys),
                }
            }
            Self::Join { kind, left, right, .. } => {
                // A row without a partner has NULL in place of the other side, as a row of that side may have in its key.
                let of_left = !matches!(kind, JoinKind::Right | JoinKind::Full);
                let of_right = matches!(kind, JoinKind::Inner | JoinKind::Right);
                of_left && left.is_determined(id, keys) || of_right && right.is_determined(id, keys)
            }
            Self::Unnest { input, columns, .. } => {
                columns.iter().all(|column| column.column.index != id) && input.is_determined(id, keys)
            }
            Self::Filter { input, .. }
            | Self::Apply { input, .. }
            | Self::Window { input, .. }
            | Self::Sort { input, .. }
            | Self::Limit { input, .. } => input.has_column(id) && input.is_determined(id, keys),
            _ => false,
        }
    }
}
