//! GROUP BY: keys, and sets of them.

use saltwing_sql::expr_span;
use saltwing_types::{Expr, SqlType, typing};
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr};

use crate::error::{BindError, BindErrorKind};
use crate::lower::Lowerer;
use crate::query_binder::{Bound, unsupported};
use crate::select::{SelectBinder, no_such_item, ordinal};
use crate::select_tree::Item;

/// Most sets of one GROUP BY.
const SETS_MAX: usize = 4096;

/// The keys of a GROUP BY, each once, and the sets of them by position, if it has such.
pub(crate) type Keys = (Vec<Expr>, Option<Vec<Vec<usize>>>);

impl SelectBinder<'_> {
    /// GROUP BY: expressions of a row, items by alias or by position, and sets of them.
    pub(crate) fn group_by(&self, group_by: &GroupByExpr, items: &[Item]) -> Bound<Keys> {
        let GroupByExpr::Expressions(list, _) = group_by else {
            let keys = items.iter().flat_map(|item| self.computed_parts(item)).filter(|key| self.is_of_row(key));
            return Ok((keys.collect(), None));
        };
        let is_set = |e: &ast::Expr| match e {
            ast::Expr::GroupingSets(_) | ast::Expr::Rollup(_) | ast::Expr::Cube(_) => true,
            // `()` is the set without keys.
            ast::Expr::Tuple(elements) => elements.is_empty(),
            _ => false,
        };
        let mut keys = Vec::new();
        let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
        for e in list {
            let own: Vec<Vec<&ast::Expr>> = sets_of(e).map_err(|error| error.at(expr_span(e)))?;
            let own = own.into_iter().map(|set| self.places(set, items, &mut keys)).collect::<Bound<Vec<_>>>()?;
            let joined = |set: &Vec<usize>| own.iter().map(|more| with(set, more)).collect::<Vec<_>>();
            sets = sets.iter().flat_map(joined).collect();
            if sets.len() > SETS_MAX {
                let text = format!("GROUP BY has {} sets, above the limit of {SETS_MAX}", sets.len());
                return Err(BindError::from(BindErrorKind::TooLarge(text)).at(expr_span(e)).into());
            }
        }
        Ok((keys, list.iter().any(is_set).then_some(sets)))
    }

    /// The item, or, of one that takes a value of a sequence, the parts that the query computes.
    fn computed_parts(&self, item: &Item) -> Vec<Expr> {
        let (mut expr, mut parts) = (item.expr.clone(), Vec::new());
        match self.clauses.sequences {
            Some(sequences) if self.takes_value(item) => {
                sequences.for_each_other_part(&mut expr, &mut |part| parts.push(part.clone()));
            }
            _ => parts.push(expr),
        }
        parts
    }

    /// The positions of expressions among the keys, which get those that they do not have.
    fn places(&self, set: Vec<&ast::Expr>, items: &[Item], keys: &mut Vec<Expr>) -> Bound<Vec<usize>> {
        let mut places = Vec::with_capacity(set.len());
        for e in set {
            let key = self.key(e, items)?;
            let place = keys.iter().position(|known| *known == key).unwrap_or_else(|| {
                keys.push(key);
                keys.len() - 1
            });
            if !places.contains(&place) {
                places.push(place);
            }
        }
        Ok(places)
    }

    fn key(&self, e: &ast::Expr, items: &[Item]) -> Bound<Expr> {
        let key = match ordinal(e) {
            Some(place) => match place.checked_sub(1).and_then(|i| items.get(i)) {
                Some(item) => item.expr.clone(),
                None => return Err(no_such_item("GROUP BY", e, items.len()).into()),
            },
            None => Lowerer { windows: None, clause: Some("GROUP BY"), ..self.lowerer }.lower(e)?,
        };
        match self.is_of_row(&key) {
            true if key.sql_type().is_none() => Ok(typing::as_type(key, SqlType::Null)?),
            true => Ok(key),
            false => self.misplaced(e),
        }
    }

    /// Whether an expression has a value for each row: it has no calls of aggregate and window functions.
    fn is_of_row(&self, key: &Expr) -> bool {
        let mut of_row = true;
        key.walk(&mut |part| {
            if let Expr::Column(column) = part {
                of_row = of_row
                    && (self.collector.is_input_column(column)
                        || self.collector.is_outer_column(column)
                        || self.queries.is_subquery(column));
            }
        });
        of_row
    }

    fn misplaced<T>(&self, e: &ast::Expr) -> Bound<T> {
        let text = "aggregate functions are not allowed in GROUP BY".to_owned();
        let error = BindError::from(BindErrorKind::Syntax(text)).at(expr_span(e));
        Err(error.help("HAVING takes conditions on groups, or a query around this one").into())
    }
}

/// Two sets as one.
fn with(set: &[usize], more: &[usize]) -> Vec<usize> {
    let more = more.iter().filter(|place| !set.contains(place));
    set.iter().chain(more).copied().collect()
}

/// The sets that an element of GROUP BY stands for: ROLLUP for its first elements, from all to none, CUBE for all choices of them.
fn sets_of(e: &ast::Expr) -> Bound<Vec<Vec<&ast::Expr>>> {
    Ok(match e {
        ast::Expr::GroupingSets(sets) => {
            let mut all = Vec::with_capacity(sets.len());
            for set in sets {
                match set.as_slice() {
                    [ast::Expr::Function(call)] => {
                        all.extend(nested_sets(call)?.unwrap_or_else(|| vec![set.iter().collect()]))
                    }
                    elements => all.push(elements.iter().collect()),
                }
            }
            all
        }
        ast::Expr::Rollup(elements) => rolled_up(&elements.iter().map(Vec::as_slice).collect::<Vec<_>>()),
        ast::Expr::Cube(elements) => cubed(&elements.iter().map(Vec::as_slice).collect::<Vec<_>>())?,
        ast::Expr::Tuple(elements) if elements.is_empty() => vec![Vec::new()],
        other => vec![vec![other]],
    })
}

/// The sets of a ROLLUP or CUBE among GROUPING SETS, which is read as a call; `None` of another call.
fn nested_sets(call: &ast::Function) -> Bound<Option<Vec<Vec<&ast::Expr>>>> {
    let name = call.name.to_string();
    let (is_rollup, is_cube) = (name.eq_ignore_ascii_case("ROLLUP"), name.eq_ignore_ascii_case("CUBE"));
    let FunctionArguments::List(list) = &call.args else { return Ok(None) };
    if !is_rollup && !is_cube {
        return Ok(None);
    }
    let element = |arg| match arg {
        &FunctionArg::Unnamed(FunctionArgExpr::Expr(ast::Expr::Tuple(ref elements))) => Some(elements.as_slice()),
        FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => Some(std::slice::from_ref(e)),
        _ => None,
    };
    let Some(elements) = list.args.iter().map(element).collect::<Option<Vec<_>>>() else {
        return unsupported("this element of GROUPING SETS");
    };
    Ok(Some(if is_rollup { rolled_up(&elements) } else { cubed(&elements)? }))
}

fn rolled_up<'e>(elements: &[&'e [ast::Expr]]) -> Vec<Vec<&'e ast::Expr>> {
    (0..=elements.len()).rev().map(|n| elements.iter().take(n).copied().flatten().collect()).collect()
}

fn cubed<'e>(elements: &[&'e [ast::Expr]]) -> Bound<Vec<Vec<&'e ast::Expr>>> {
    if elements.len() > SETS_MAX.ilog2() as usize {
        return unsupported("a CUBE of so many elements");
    }
    let last = elements.len().saturating_sub(1);
    let chosen = |bits: usize| {
        let chosen = elements.iter().enumerate().filter(|(place, _)| bits & (1 << (last - place)) != 0);
        chosen.flat_map(|(_, element)| element.iter()).collect()
    };
    Ok((0..1 << elements.len()).rev().map(chosen).collect())
}
