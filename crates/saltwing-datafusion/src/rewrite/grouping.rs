//! ROLLUP and CUBE, rewritten as GROUPING SETS.
//!
//! In ROLLUP and CUBE, DataFusion refuses a repeated column and elements of several columns. In GROUPING SETS it
//! accepts both.

use sqlparser::ast::Expr;

/// Most elements of a CUBE that is written as sets: they are two to its power. DataFusion refuses larger ones.
const CUBE_ELEMENTS_MAX: usize = 12;

/// The expression with the sets of groups that a ROLLUP or CUBE stands for, if it is one.
pub(super) fn as_sets(expr: &mut Expr) {
    let sets = match expr {
        Expr::Rollup(elements) => {
            (0..=elements.len()).rev().map(|n| elements.iter().take(n).flatten().collect()).collect()
        }
        Expr::Cube(elements) if elements.len() <= CUBE_ELEMENTS_MAX => subsets(elements),
        _ => return,
    };
    let cloned = |set: Vec<&Expr>| set.into_iter().cloned().collect();
    *expr = Expr::GroupingSets(sets.into_iter().map(cloned).collect());
}

/// All choices among these, the whole first.
fn subsets(elements: &[Vec<Expr>]) -> Vec<Vec<&Expr>> {
    let last = elements.len().saturating_sub(1);
    let chosen = |bits: usize| {
        let is_in = move |place: &usize| bits & (1 << (last - place)) != 0;
        let elements = elements.iter().enumerate().filter(|(place, _)| is_in(place));
        elements.flat_map(|(_, element)| element).collect()
    };
    (0..1 << elements.len()).rev().map(chosen).collect()
}
