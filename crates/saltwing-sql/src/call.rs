//! Calls of the expression language's functions, as SQL writes them.

use std::borrow::Cow;

use saltwing_types::Function;
use saltwing_types::function::ParameterKind;
use sqlparser::ast::{
    self, AccessExpr, BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName,
    Subscript, TrimWhereField, Value,
};

/// The function of the language that a call is one of, and its arguments.
///
/// `DATE_PART('year', t)` is `YEAR(t)`; a stride such as DATE_BIN's is text, also where it is written
/// as an INTERVAL. `None` for every other function, and for a call with FILTER, OVER, DISTINCT and the like.
fn own_call(call: &ast::Function) -> Option<(Function, Vec<Cow<'_, Expr>>)> {
    let [part] = call.name.0.as_slice() else { return None };
    let plain = call.filter.is_none()
        && call.over.is_none()
        && call.within_group.is_empty()
        && call.null_treatment.is_none()
        && matches!(call.parameters, FunctionArguments::None);
    let FunctionArguments::List(list) = &call.args else { return None };
    if !plain || list.duplicate_treatment.is_some() || !list.clauses.is_empty() {
        return None;
    }
    let name = &part.as_ident()?.value;
    if list.args.iter().any(|arg| matches!(arg, FunctionArg::Named { .. })) {
        let function = Function::by_name(name)?;
        return Some((function, named_args(function, &list.args)?));
    }
    let args = list.args.iter().map(|arg| match arg {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => Some(e),
        _ => None,
    });
    let args: Vec<&Expr> = args.collect::<Option<_>>()?;
    if matches!(name.to_ascii_uppercase().as_str(), "DATE_PART" | "DATEPART") {
        let [field, instant] = args.as_slice() else { return None };
        return Some((Function::extract(string(field)?)?, vec![Cow::Borrowed(instant)]));
    }
    let function = Function::by_name(name)?;
    if function == Function::RAND && args.is_empty() {
        return None;
    }
    let mut args: Vec<Cow<'_, Expr>> = args.into_iter().map(Cow::Borrowed).collect();
    if function == Function::AGE && args.len() == 1 {
        args.insert(0, Cow::Owned(current_date()));
    }
    if Function::OF_SQLITE_DATES.contains(&function) {
        match args.first().map(|first| string(first)) {
            None => args.push(Cow::Owned(current_timestamp())),
            Some(Some(first)) if first.eq_ignore_ascii_case("now") => {
                if let Some(first) = args.first_mut() {
                    *first = Cow::Owned(current_timestamp());
                }
            }
            Some(_) => {}
        }
    }
    for (index, arg) in args.iter_mut().enumerate() {
        if let Some(word) = word_of(function, index, arg) {
            *arg = Cow::Owned(word);
        }
        if let Some(stride) = stride(function, index, arg) {
            *arg = Cow::Owned(stride);
        }
    }
    Some((function, args))
}

/// The text of an argument that is an INTERVAL and stands for a stride.
fn stride(function: Function, index: usize, arg: &Expr) -> Option<Expr> {
    let Expr::Interval(interval) = arg else { return None };
    let is_stride = function.signatures.iter().any(|signature| signature.kind(index) == Some(ParameterKind::Stride));
    let text = if is_stride { interval_text(interval)? } else { return None };
    Some(Expr::value(Value::SingleQuotedString(text)))
}

/// Makes texts of the strides of a call that are written as INTERVALs.
pub fn with_text_strides(call: &mut ast::Function) {
    let ([part], FunctionArguments::List(list)) = (call.name.0.as_slice(), &mut call.args) else { return };
    let Some(function) = part.as_ident().and_then(|name| Function::by_name(&name.value)) else { return };
    for (index, arg) in list.args.iter_mut().enumerate() {
        if let FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)) = arg
            && let Some(stride) = stride(function, index, arg)
        {
            *arg = stride;
        }
    }
}

/// `MAKE_INTERVAL(days => 10)`: the arguments in the order of the parameters, with 0 for those before the last that are
/// left out. `None` for functions whose parameters are no counts, and for names of no parameter.
fn named_args(function: Function, args: &[FunctionArg]) -> Option<Vec<Cow<'_, Expr>>> {
    let [signature] = function.signatures else { return None };
    let mut places: Vec<Option<Cow<'_, Expr>>> = Vec::new();
    let mut put = |place: usize, e| {
        places.resize_with(places.len().max(place + 1), || None);
        places.get_mut(place)?.replace(Cow::Borrowed(e)).is_none().then_some(())
    };
    for (index, arg) in args.iter().enumerate() {
        match arg {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => put(index, e)?,
            FunctionArg::Named { name, arg: FunctionArgExpr::Expr(e), .. } => {
                let is_it = |known: &str| known.eq_ignore_ascii_case(&name.value);
                put(signature.parameters.iter().position(|parameter| is_it(parameter.name))?, e)?;
            }
            _ => return None,
        }
    }
    let zero = || Cow::Owned(Expr::value(Value::Number("0".into(), false)));
    let counts = |index| matches!(signature.kind(index), Some(ParameterKind::Integer | ParameterKind::Number));
    let filled = places.into_iter().enumerate().map(|(index, arg)| arg.or_else(|| counts(index).then(zero)));
    filled.collect()
}

/// The text of an argument that is a word without quotes, as NFC in `NORMALIZE(text, NFC)`.
fn word_of(function: Function, index: usize, arg: &Expr) -> Option<Expr> {
    let Expr::Identifier(Ident { value, quote_style: None, .. }) = arg else { return None };
    let mut kinds = function.signatures.iter().filter_map(|signature| signature.kind(index));
    let is_word = kinds.any(|kind| {
        kind == ParameterKind::NormalForm || (kind == ParameterKind::Unit && function == Function::DATEADD)
    });
    is_word.then(|| Expr::value(Value::SingleQuotedString(value.clone())))
}

/// The call that `LOCALTIMESTAMP` or `LOCALTIME` is where no column has the name: they are those of UTC. `None` of another name.
pub fn local_time(name: &Ident) -> Option<Expr> {
    let now = match name.value.to_ascii_uppercase().as_str() {
        "LOCALTIMESTAMP" if name.quote_style.is_none() => "current_timestamp",
        "LOCALTIME" if name.quote_style.is_none() => "current_time",
        _ => return None,
    };
    Some(function_call(Ident::with_span(name.span, now), []))
}

/// The instant of the statement.
fn current_timestamp() -> Expr {
    plain_call(Ident::new("current_timestamp"), FunctionArguments::None)
}

/// The day of the statement.
fn current_date() -> Expr {
    plain_call(Ident::new("current_date"), FunctionArguments::None)
}

/// A call of a function.
pub fn function_call(name: Ident, args: impl IntoIterator<Item = Expr>) -> Expr {
    let args = args.into_iter().map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))).collect();
    let list = ast::FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() };
    plain_call(name, FunctionArguments::List(list))
}

fn plain_call(name: Ident, args: FunctionArguments) -> Expr {
    Expr::Function(ast::Function {
        name: ObjectName::from(vec![name]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args,
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// The function of the language that an expression calls, in whatever syntax, and its arguments.
///
/// `POSITION(a IN b)` is `STRPOS(b, a)`, `SUBSTRING(text FOR 2)` is `SUBSTR(text, 1, 2)`, `a[1]` is `ARRAY_ELEM(a, 1)`, `json -> 'a'` is `JSON_GET(json, 'a')`, and
/// `1 < ANY(a)` is `ARRAY_ANY(1, '<', a)`. `None` of slices, and of subqueries after ANY and ALL.
pub fn function_of(expr: &Expr) -> Option<(Function, Vec<Cow<'_, Expr>>)> {
    Some(match expr {
        Expr::Function(call) => return own_call(call),
        Expr::Substring { expr, substring_from: None, substring_for: Some(count), .. } => {
            let first = Cow::Owned(Expr::value(Value::Number("1".into(), false)));
            (Function::SUBSTR, vec![Cow::Borrowed(expr), first, Cow::Borrowed(count)])
        }
        Expr::Substring { expr, substring_from, substring_for, .. } => {
            let args = std::iter::once(expr).chain(substring_from).chain(substring_for);
            (Function::SUBSTR, args.map(|arg| Cow::Borrowed(&**arg)).collect())
        }
        Expr::Trim { trim_where, trim_what, expr, trim_characters: None } => {
            let args = std::iter::once(expr).chain(trim_what);
            (trim_function(*trim_where), args.map(|arg| Cow::Borrowed(&**arg)).collect())
        }
        Expr::Position { expr, r#in } => (Function::STRPOS, vec![Cow::Borrowed(r#in), Cow::Borrowed(expr)]),
        Expr::Array(array) => (Function::MAKE_ARRAY, array.elem.iter().map(Cow::Borrowed).collect()),
        Expr::CompoundFieldAccess { root, access_chain } => match access_chain.as_slice() {
            [AccessExpr::Subscript(Subscript::Index { index })] => {
                (Function::ARRAY_ELEM, vec![Cow::Borrowed(&**root), Cow::Borrowed(index)])
            }
            _ => return None,
        },
        Expr::AnyOp { left, compare_op, right, .. } => {
            return Some((Function::ARRAY_ANY, quantified(left, compare_op, right)?));
        }
        Expr::AllOp { left, compare_op, right } => {
            return Some((Function::ARRAY_ALL, quantified(left, compare_op, right)?));
        }
        Expr::BinaryOp { left, op, right } => {
            let function = match op {
                BinaryOperator::Arrow => Function::JSON_GET,
                BinaryOperator::LongArrow => Function::JSON_GET_TEXT,
                BinaryOperator::HashArrow => Function::JSON_GET_PATH,
                BinaryOperator::HashLongArrow => Function::JSON_GET_PATH_TEXT,
                BinaryOperator::PGOverlap => Function::ARRAY_OVERLAPS,
                BinaryOperator::AtArrow => Function::JSON_CONTAINS,
                BinaryOperator::ArrowAt => {
                    return Some((Function::JSON_CONTAINS, vec![Cow::Borrowed(right), Cow::Borrowed(left)]));
                }
                _ => return None,
            };
            (function, vec![Cow::Borrowed(left), Cow::Borrowed(right)])
        }
        Expr::Extract { field, expr, .. } => (Function::extract(&field.to_string())?, vec![Cow::Borrowed(expr)]),
        _ => return None,
    })
}

/// The arguments of a comparison with the elements of an array; `None` if they are those of a subquery.
fn quantified<'e>(left: &'e Expr, op: &BinaryOperator, right: &'e Expr) -> Option<Vec<Cow<'e, Expr>>> {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    let is_array = matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq) && !matches!(right, Expr::Subquery(_));
    let op = || Cow::Owned(Expr::value(Value::SingleQuotedString(op.to_string())));
    is_array.then(|| vec![Cow::Borrowed(left), op(), Cow::Borrowed(right)])
}

/// The function that `TRIM([BOTH | LEADING | TRAILING] ..)` calls.
fn trim_function(place: Option<TrimWhereField>) -> Function {
    match place {
        None | Some(TrimWhereField::Both) => Function::TRIM,
        Some(TrimWhereField::Leading) => Function::LTRIM,
        Some(TrimWhereField::Trailing) => Function::RTRIM,
    }
}

/// `INTERVAL '15 minutes'` and `INTERVAL '15' MINUTE` as '15 minutes'.
fn interval_text(interval: &ast::Interval) -> Option<String> {
    let text = literal_text(interval)?;
    match (&interval.leading_field, &interval.last_field) {
        (None, None) => Some(text.to_owned()),
        (Some(unit), None) => Some(format!("{text} {unit}")),
        _ => None,
    }
}

pub(crate) fn literal_text(interval: &ast::Interval) -> Option<&str> {
    match interval.value.as_ref() {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) | Value::Number(text, _) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

fn string(e: &Expr) -> Option<&str> {
    match e {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}
