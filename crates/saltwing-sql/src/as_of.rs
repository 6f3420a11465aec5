//! `t AS OF TIMESTAMP expression`: a table as it was at an instant.
//!
//! In the tree it is SQL's `t FOR SYSTEM_TIME AS OF expression`, which may also be written so.

use std::ops::{ControlFlow, Range};

use sqlparser::ast::{Expr, Query, SelectItem, SetExpr, Statement, TableFactor, TableVersion, VisitMut, VisitorMut};
use sqlparser::dialect::GenericDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// The words of the clause in the tree.
const WORDS: [Keyword; 4] = [Keyword::FOR, Keyword::SYSTEM_TIME, Keyword::AS, Keyword::OF];

/// Makes keywords of `FOR SYSTEM_TIME AS OF`, and puts them in the place of `AS OF TIMESTAMP`.
pub(crate) fn rewrite(tokens: &mut Vec<TokenWithSpan>, ranges: &mut Vec<Range<usize>>) {
    let mut index = 0;
    while index < tokens.len() {
        let written = [&["AS", "OF", "TIMESTAMP"][..], &["FOR", "SYSTEM_TIME", "AS", "OF"]];
        let found = written.into_iter().find(|words| is_there(tokens, index, words));
        if let Some(words) = found
            && let Some(replaced) = ranges.get(index..index + words.len())
            && let (Some(first), Some(last)) = (replaced.first(), replaced.last())
            && let (Some(start), Some(end)) = (tokens.get(index), tokens.get(index + words.len() - 1))
        {
            let (range, span) = (first.start..last.end, start.span.union(&end.span));
            let word = |keyword: Keyword| TokenWithSpan { token: Token::make_keyword(&format!("{keyword:?}")), span };
            tokens.splice(index..index + words.len(), WORDS.map(word));
            ranges.splice(index..index + words.len(), std::iter::repeat_n(range, WORDS.len()));
            index += WORDS.len();
        } else {
            index += 1;
        }
    }
}

/// Whether these words stand here, without quotes.
fn is_there(tokens: &[TokenWithSpan], index: usize, words: &[&str]) -> bool {
    let is_word = |(token, word): (&TokenWithSpan, &&str)| matches!(&token.token, Token::Word(found) if found.quote_style.is_none() && found.value.eq_ignore_ascii_case(word));
    tokens.get(index..index + words.len()).is_some_and(|tokens| tokens.iter().zip(words).all(is_word))
}

/// Puts an instant that is neither a literal nor a parameter into a subquery, which runs before the query that reads the table.
pub(crate) fn compute_first(query: &mut Query) {
    let _ = VisitMut::visit(query, &mut Instants);
}

struct Instants;

impl VisitorMut for Instants {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { version: Some(TableVersion::ForSystemTimeAsOf(instant)), .. } = factor
            && !matches!(instant, Expr::Value(_) | Expr::TypedString(_) | Expr::Subquery(_))
            && let Some(query) = select(instant)
        {
            *instant = Expr::Subquery(query);
        }
        ControlFlow::Continue(())
    }
}

/// `SELECT expr`.
fn select(expr: &Expr) -> Option<Box<Query>> {
    // Its fields are many, and the parser knows them.
    let statement = Parser::parse_sql(&GenericDialect {}, "SELECT 1").ok()?.pop()?;
    let Statement::Query(mut query) = statement else { return None };
    let SetExpr::Select(select) = query.body.as_mut() else { return None };
    select.projection = vec![SelectItem::UnnamedExpr(expr.clone())];
    Some(query)
}
