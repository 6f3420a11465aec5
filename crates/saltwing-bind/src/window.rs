//! Window functions, and the windows that they are called over.

use saltwing_sql::{excluded_rows, expr_span, name_span};
use saltwing_types::function::ResultType;
use saltwing_types::function::aggregate::{AggregateEntry, AggregateFunction, AggregateInput};
use saltwing_types::function::window::WindowFunction;
use saltwing_types::table::is_same_name;
use saltwing_types::{Expr, Function, SqlType, Value, ValueError, eval, suggest, typing};
use sqlparser::ast::{
    self, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments, Ident, NamedWindowDefinition,
    NamedWindowExpr, NullTreatment, WindowFrame, WindowFrameBound, WindowFrameUnits, WindowSpec, WindowType,
};

use crate::aggregate::{self, check_place, is_of_engine};
use crate::call::check_stars;
use crate::engine::{EngineAggregate, EngineType, no_such_function};
use crate::error::{BindError, BindErrorKind, Result};
use crate::lower::{Lower, LowerError, Lowerer};
use crate::query_binder::{Bound, unsupported};
use crate::window_call::{Frame, FrameBound, FrameUnits, SortKey, WindowCall};
use crate::window_collector::WindowCollector;

impl Lowerer<'_> {
    /// The column of a call with OVER.
    pub(crate) fn window(
        &self,
        windows: &WindowCollector<'_>,
        e: &ast::Expr,
        call: &ast::Function,
        over: &WindowType,
    ) -> Lower {
        let function = self.window_function(e, call)?;
        // No window stands inside of another one.
        let inner = Self { windows: None, clause: Some("a window"), ..*self };
        let written = Written::of(call)?;
        if !function.takes_count(written.arguments.len()) {
            let text = format!("{} with {} arguments", function.name(), written.arguments.len());
            return unsupported(&text);
        }
        let mut arguments = inner.all(written.arguments.iter().copied())?;
        let default =
            if arguments.len() == 3 && !matches!(function, WindowFunction::Engine(_)) { arguments.pop() } else { None };
        let counts = if function == WindowFunction::Ntile { arguments.first_mut() } else { arguments.get_mut(1) };
        if let Some(count) = counts {
            *count = folded(std::mem::replace(count, Expr::NULL))?;
        }
        check_offset(&function, arguments.get_mut(1)).map_err(|error| error.at(name_span(&call.name)))?;
        if let ([argument], true) = (arguments.as_mut_slice(), function.sums())
            && matches!(argument.sql_type(), None | Some(SqlType::Null))
        {
            // A sum of what has no type is one of BIGINTs.
            *argument = typing::cast(std::mem::replace(argument, Expr::NULL), SqlType::BigInt)?;
        }
        let filter = match &call.filter {
            None => None,
            Some(filter) => Some(typing::condition(inner.lower(filter)?)?),
        };
        if filter.is_some() && !function.is_aggregate() {
            return unsupported("FILTER of no aggregate function");
        }
        let spec = match over {
            WindowType::NamedWindow(name) => named_window(name, windows.named)?,
            WindowType::WindowSpec(spec) => resolved(spec, windows.named)?,
        };
        let partition_by = inner.all(&spec.partition_by)?;
        let order_by = spec.order_by.iter().map(|item| inner.sort_key(item)).collect::<Bound<Vec<_>>>()?;
        let excluded = spec.window_name.and_then(|name| excluded_rows(name).1).filter(|_| has_frame(&function));
        let frame = Frame { excluded, ..inner.frame(spec.window_frame.as_ref(), &order_by)? };
        let ignore_nulls = written.ignore_nulls;
        let distinct = written.is_distinct;
        let (ty, data_type) = match &function {
            WindowFunction::Engine(name) => {
                let ty = self.engine_type(name, &arguments, e)?;
                (ty.ty, Some(ty.data_type))
            }
            other => (result_type(other, arguments.first())?, None),
        };
        let call =
            WindowCall { function, arguments, distinct, filter, ignore_nulls, partition_by, order_by, frame, ty };
        let name = e.to_string();
        let column = match default {
            None => windows.column(call, name),
            Some(default) => return with_default(windows, call, &name, default),
        };
        if let (SqlType::Opaque, Some(data_type), Expr::Column(column), Some(queries)) =
            (ty, data_type, &column, self.queries)
        {
            queries.columns().opaque.put(column.index, data_type);
        }
        Ok(column)
    }

    /// The function that a call with OVER names.
    fn window_function(&self, e: &ast::Expr, call: &ast::Function) -> Bound<WindowFunction> {
        let name = match call.name.0.as_slice() {
            [part] => part.as_ident().map_or_else(String::new, |name| name.value.clone()),
            _ => call.name.to_string(),
        };
        if let Some(function) = WindowFunction::by_name(&name) {
            return Ok(function);
        }
        let Some(queries) = self.queries else { return unsupported("a window function") };
        let engine = queries.columns().engine;
        let name = name.to_lowercase();
        match AggregateEntry::by_name(&name) {
            Some(entry) if is_of_engine(entry, engine) && !matches!(entry.input(), AggregateInput::OrderedSet(_)) => {
                Ok(WindowFunction::Engine(entry.engine_name()))
            }
            None if Function::by_name(&name).is_none() && engine.kind(&name).is_none() => {
                Err(no_such_function(engine, &name, expr_span(e)).into())
            }
            _ => unsupported(&format!("{} over a window", name.to_uppercase())),
        }
    }

    fn engine_type(&self, name: &str, args: &[Expr], e: &ast::Expr) -> Bound<EngineType> {
        let Some(queries) = self.queries else { return unsupported("a window function") };
        let columns = queries.columns();
        let call = EngineAggregate {
            name: name.to_owned(),
            args: args.to_vec(),
            distinct: false,
            order_by: Vec::new(),
            filter: None,
            ignore_nulls: false,
            ty: SqlType::Opaque,
        };
        Ok(columns.engine.aggregate(&call, &columns.opaque).map_err(|error| error.at(expr_span(e)))?)
    }

    /// The frame of a window; without one, the rows up to the current one and its peers, or all rows if there is no order.
    fn frame(&self, frame: Option<&WindowFrame>, order_by: &[SortKey]) -> Bound<Frame> {
        let Some(WindowFrame { units, start_bound, end_bound }) = frame else {
            return Ok(if order_by.is_empty() { Frame::WHOLE } else { Frame::TO_PEERS });
        };
        let units = match units {
            WindowFrameUnits::Rows => FrameUnits::Rows,
            WindowFrameUnits::Range => FrameUnits::Range,
            WindowFrameUnits::Groups => FrameUnits::Groups,
        };
        let start = self.frame_bound(start_bound, units)?;
        let end = end_bound.as_ref().map_or(Ok(FrameBound::CurrentRow), |bound| self.frame_bound(bound, units))?;
        if start == FrameBound::UnboundedFollowing || end == FrameBound::UnboundedPreceding {
            return unsupported("a frame that starts at its end");
        }
        match units {
            FrameUnits::Range if (start.has_offset() || end.has_offset()) && order_by.len() != 1 => {
                unsupported("RANGE with an offset without one ORDER BY")
            }
            FrameUnits::Groups if order_by.is_empty() => unsupported("GROUPS without ORDER BY"),
            // Without an order all rows are peers.
            FrameUnits::Range if order_by.is_empty() => Ok(Frame::WHOLE),
            _ => Ok(Frame { units, start, end, excluded: None }),
        }
    }

    fn frame_bound(&self, bound: &WindowFrameBound, units: FrameUnits) -> Bound<FrameBound> {
        let offset = |e: &ast::Expr| match (folded(self.lower(e)?)?, units) {
            (Expr::Literal(value @ Value::Int(0..), _), _) => Ok(value),
            (Expr::Literal(value @ (Value::Decimal(_) | Value::Interval(_)), _), FrameUnits::Range) => Ok(value),
            (Expr::Literal(..), _) => {
                let text = format!("the offset of a frame is no negative number and no NULL, and {e} is not so");
                Err(BindError::from(ValueError::BadArgument(text)).at(expr_span(e)).into())
            }
            _ => unsupported("an offset of a frame that is not the same for all rows"),
        };
        Ok(match bound {
            WindowFrameBound::CurrentRow => FrameBound::CurrentRow,
            WindowFrameBound::Preceding(None) => FrameBound::UnboundedPreceding,
            WindowFrameBound::Following(None) => FrameBound::UnboundedFollowing,
            WindowFrameBound::Preceding(Some(e)) => FrameBound::Preceding(offset(e)?),
            WindowFrameBound::Following(Some(e)) => FrameBound::Following(offset(e)?),
        })
    }
}

/// What stands in the brackets of a call.
struct Written<'a> {
    arguments: Vec<&'a ast::Expr>,
    is_distinct: bool,
    ignore_nulls: bool,
}

impl<'a> Written<'a> {
    fn of(call: &'a ast::Function) -> std::result::Result<Self, LowerError> {
        let FunctionArguments::List(list) = &call.args else { return unsupported("this form of a call") };
        if !call.within_group.is_empty() {
            return unsupported("WITHIN GROUP over a window");
        }
        let is_distinct = list.duplicate_treatment == Some(ast::DuplicateTreatment::Distinct);
        let mut ignore_nulls = call.null_treatment == Some(NullTreatment::IgnoreNulls);
        for clause in &list.clauses {
            match clause {
                FunctionArgumentClause::IgnoreOrRespectNulls(treatment) => {
                    ignore_nulls |= *treatment == NullTreatment::IgnoreNulls;
                }
                _ => return unsupported("a clause in the brackets of a call"),
            }
        }
        let mut arguments = Vec::with_capacity(list.args.len());
        for argument in &list.args {
            match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => arguments.push(e),
                FunctionArg::Unnamed(FunctionArgExpr::Wildcard)
                    if list.args.len() == 1
                        && AggregateFunction::by_name(&call.name.to_string()) == Some(AggregateFunction::Count) => {}
                _ => {
                    let name = call.name.to_string();
                    check_stars(&name, call).map_err(|error| error.at(name_span(&call.name)))?;
                    return unsupported("this argument of a window function");
                }
            }
        }
        Ok(Self { arguments, is_distinct, ignore_nulls })
    }
}

/// Whether it depends on the rows of the frame.
fn has_frame(function: &WindowFunction) -> bool {
    let of_frame = [WindowFunction::FirstValue, WindowFunction::LastValue, WindowFunction::NthValue];
    function.is_aggregate() || of_frame.contains(function)
}

/// The expression, as a literal if it is the same for all rows.
fn folded(e: Expr) -> Result<Expr> {
    match e {
        Expr::Literal(..) => Ok(e),
        e if e.is_constant() => Ok(Expr::Literal(eval::eval(&e, &[])?, e.sql_type().unwrap_or(SqlType::Null))),
        e => Ok(e),
    }
}

/// # Errors
/// A second argument that is no number of rows.
fn check_offset(function: &WindowFunction, offset: Option<&mut Expr>) -> Result<()> {
    let (Some(offset), false) = (offset, matches!(function, WindowFunction::Engine(_))) else { return Ok(()) };
    let name = function.name();
    if *function == WindowFunction::NthValue {
        check_place(name, offset)?;
    }
    match offset {
        Expr::Literal(Value::Int(_), _) => Ok(()),
        Expr::Literal(value, _) => {
            let shown = saltwing_types::text::literal(value, typing::natural_type(value));
            let text = format!("{name} takes a number of rows, and {shown} is none");
            Err(ValueError::BadArgument(text).into())
        }
        of_row if matches!(function, WindowFunction::Lag | WindowFunction::Lead) => {
            let ty = of_row.sql_type().filter(|ty| !ty.is_integer());
            if let Some(ty) = ty {
                let text = format!("{name} takes a number of rows, and {of_row} is {ty}");
                return Err(ValueError::TypeMismatch(text).into());
            }
            let given = std::mem::replace(of_row, Expr::NULL);
            *of_row = typing::cast(given, SqlType::BigInt)?;
            Ok(())
        }
        _ => {
            let text = format!("{name} with a number of rows that is not the same for all rows");
            Err(BindErrorKind::NotSupported(text).into())
        }
    }
}

fn result_type(function: &WindowFunction, argument: Option<&Expr>) -> Bound<SqlType> {
    let type_of = |argument: &Expr| argument.sql_type().unwrap_or(SqlType::Null);
    match (function, argument) {
        (WindowFunction::Aggregate(function), Some(argument)) => {
            Ok(aggregate::result_type(*function, argument, type_of(argument))?)
        }
        (WindowFunction::Aggregate(_), None) => Ok(SqlType::BigInt),
        (WindowFunction::Engine(_), _) => unsupported("a type of the engine"),
        (WindowFunction::Ntile, Some(argument)) if !matches!(argument, Expr::Literal(Value::Int(1..), _)) => {
            unsupported("NTILE of no positive number")
        }
        (own, argument) => match (own.entry().map(|entry| entry.form.result), argument) {
            (Some(ResultType::Is(ty)), _) => Ok(ty),
            (_, Some(argument)) => Ok(type_of(argument)),
            (_, None) => unsupported("a window function without arguments"),
        },
    }
}

/// `LAG(v, n, d)` and `LEAD`: the value of the neighbour, or the default if there is none, in the type of both. With IGNORE NULLS no
/// value is NULL but that of a row without a neighbour.
fn with_default(windows: &WindowCollector<'_>, call: WindowCall, name: &str, default: Expr) -> Lower {
    let mut of_one = call.clone();
    let ignore_nulls = call.ignore_nulls;
    let distance = call.arguments.get(1).filter(|distance| !matches!(distance, Expr::Literal(..))).cloned();
    let neighbour = windows.column(call, name.to_owned());
    if ignore_nulls {
        return Ok(typing::call(Function::COALESCE, vec![neighbour, default])?);
    }
    if let Some(value) = of_one.arguments.first_mut() {
        (*value, of_one.ty) = (Expr::Literal(Value::Int(1), SqlType::BigInt), SqlType::BigInt);
    }
    let is_missing = typing::is_null(windows.column(of_one, name.to_owned()));
    // An unknown distance has no neighbour, and no default.
    let is_unknown = distance.map(|distance| (typing::is_null(distance), Expr::NULL));
    let whens = is_unknown.into_iter().chain([(is_missing, default)]).collect();
    Ok(typing::case(None, whens, Some(neighbour))?)
}

/// The window of a name in the WINDOW clause. What it builds on is put in.
fn named_window(name: &Ident, list: &[NamedWindowDefinition]) -> Result<WindowSpec> {
    let place = list.iter().position(|definition| is_same_name(&definition.0.value, &name.value));
    match place.and_then(|place| Some((list.get(place)?, list.get(..place)?))) {
        // One builds on those before it.
        Some((NamedWindowDefinition(_, NamedWindowExpr::NamedWindow(of)), before)) => named_window(of, before),
        Some((NamedWindowDefinition(_, NamedWindowExpr::WindowSpec(spec)), before)) => resolved(spec, before),
        None => {
            let near = suggest(&name.value, list.iter().map(|definition| definition.0.value.as_str()));
            let help = match near {
                Some(near) => format!("there is {near}"),
                None => "a window is named after HAVING: WINDOW w AS (PARTITION BY .. ORDER BY ..)".into(),
            };
            Err(syntax(format!("no window {} in the WINDOW clause", name.value), name).help(help))
        }
    }
}

/// A window that may build on a named one.
fn resolved(spec: &WindowSpec, list: &[NamedWindowDefinition]) -> Result<WindowSpec> {
    let mut spec = spec.clone();
    // What the frame excludes stays where it is.
    let (name, _) = spec.window_name.clone().map_or((None, None), excluded_rows);
    let Some(name) = name else { return Ok(spec) };
    spec.window_name = spec.window_name.take().filter(|whole| excluded_rows(whole.clone()).1.is_some());
    let base = named_window(&name, list)?;
    let refused = |what: &str, help: String| {
        Err(syntax(format!("window {} cannot be built on: {what}", name.value), &name).help(help))
    };
    if base.window_frame.is_some() {
        return refused("it has a frame", format!("write OVER {} without brackets, or no frame in it", name.value));
    }
    if !spec.partition_by.is_empty() {
        return refused("what builds on it has a PARTITION BY", "write PARTITION BY in the named window alone".into());
    }
    if !base.order_by.is_empty() && !spec.order_by.is_empty() {
        return refused("both have an ORDER BY", "write ORDER BY in one of them".into());
    }
    spec.partition_by = base.partition_by;
    if spec.order_by.is_empty() {
        spec.order_by = base.order_by;
    }
    Ok(spec)
}

/// # Errors
/// A window that is defined twice, or builds on none.
pub(crate) fn check_named_windows(list: &[NamedWindowDefinition]) -> Result<()> {
    for (place, NamedWindowDefinition(name, _)) in list.iter().enumerate() {
        let before = list.get(..place).unwrap_or_default();
        if before.iter().any(|definition| is_same_name(&definition.0.value, &name.value)) {
            return Err(syntax(format!("window {} is defined twice", name.value), name));
        }
        named_window(name, list)?;
    }
    Ok(())
}

fn syntax(text: String, name: &Ident) -> BindError {
    BindError::from(BindErrorKind::Syntax(text)).at(expr_span(&ast::Expr::Identifier(name.clone())))
}
