//! Dynamic columns: values that a row has beside the columns of its table.

use super::signature::{of_kind, text};
use super::{Args, ParameterKind, ResultType, ScalarFunction, Signature};
use crate::{Value, ValueError, dynamic, number};

pub(super) static ALL: &[&ScalarFunction] = &[&DYNAMIC_COLUMN];

pub(super) static DYNAMIC_COLUMN: ScalarFunction = ScalarFunction::new(
    "DYNAMIC_COLUMN",
    &[Signature::new(
        &[of_kind("row", ParameterKind::Json), text("name"), of_kind("like", ParameterKind::Any)],
        ResultType::At(2),
    )],
    compute,
)
.with_own_nulls()
.gives(
    "The dynamic column of this name in a row's hidden column `_dynamic`, cast to the type of the third argument, whose \
     value does not matter; NULL if the row has none. `FROM t (name type)` is the usual way to read it.",
)
.example("DYNAMIC_COLUMN('{\"n\":[\"INTEGER\",\"5\"]}', 'N', 0)", "5");

fn compute(args: &Args<'_>) -> Result<Value, ValueError> {
    if args.values().iter().take(2).any(Value::is_null) {
        return Ok(Value::Null);
    }
    let name = args.text(1)?;
    let Some((ty, value)) = dynamic::find(args.text(0)?, name)? else { return Ok(Value::Null) };
    if ty == args.ty() {
        return Ok(value);
    }
    number::cast(value, ty, args.ty()).map_err(|error| {
        ValueError::BadArgument(format!(
            "dynamic column {name} was written as {ty}, and is read as {}: {error}",
            args.ty()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamic::DYNAMIC_COLUMNS;
    use crate::{ColumnRef, Expr, Function, SqlType};

    fn call(row: Expr, name: &str) -> Expr {
        let text = Expr::Literal(Value::text(name), SqlType::Varchar(None));
        let like = Expr::Literal(Value::Null, SqlType::Integer);
        Expr::Call(Function::DYNAMIC_COLUMN, vec![row, text, like], SqlType::Integer)
    }

    fn column(name: &str) -> Expr {
        let name = name.to_owned();
        Expr::Column(ColumnRef { index: 3, name, ty: SqlType::Json, nullable: true, span: None })
    }

    #[test]
    fn a_call_over_a_row_is_the_column_that_it_reads() {
        let null = Expr::Literal(Value::Null, SqlType::Null);
        for row in [column(DYNAMIC_COLUMNS), null.clone(), Expr::Cast(Box::new(null), SqlType::Json)] {
            let call = call(row, "f.n");
            assert_eq!(call.dynamic_column(), Some("f.n"));
            assert_eq!(call.to_string(), "f.n");
        }
        let other = call(column("j"), "n");
        assert_eq!(other.dynamic_column(), None);
        assert_eq!(other.to_string(), "DYNAMIC_COLUMN(j, 'n', NULL)");
    }
}
