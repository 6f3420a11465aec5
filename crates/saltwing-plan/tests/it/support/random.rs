//! Random tables, rows and conditions, read from a tape of numbers.
//!
//! A tape shrinks well: zeros mean the simplest choice everywhere.

use proptest::prelude::*;
use saltwing_plan::{Condition, OrderBy, OrderItem};
use saltwing_types::datetime::CALENDAR_MS;
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::value::Timestamp;
use saltwing_types::{
    ArithOp, ColumnRef, CompareOp, Expr, Interval, KeyColumn, KeySchema, KeySource, Salt, SortOrder, SqlType as T,
    Value as V, ValueError, eval, key_expression, number, typing,
};

use super::{Column, Table};

/// Choices in advance.
#[derive(Clone)]
pub struct Tape {
    numbers: Vec<u16>,
    at: usize,
}

pub fn tape(length: usize) -> impl Strategy<Value = Tape> {
    prop::collection::vec(any::<u16>(), length).prop_map(|numbers| Tape { numbers, at: 0 })
}

/// What failures need to know is printed with them.
impl std::fmt::Debug for Tape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tape({})", self.numbers.len())
    }
}

impl Tape {
    pub fn below(&mut self, count: usize) -> usize {
        let number = self.numbers.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        usize::from(number) % count.max(1)
    }

    /// One time in `count`; never, when the tape has run out.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }

    pub fn pick<C: Clone>(&mut self, list: &[C]) -> C {
        list[self.below(list.len())].clone()
    }
}

const TYPES: [T; 27] = [
    T::Integer,
    T::Varchar(None),
    T::TinyInt,
    T::Boolean,
    T::BigInt,
    T::SmallInt,
    T::UnsignedTinyInt,
    T::UnsignedInt,
    T::UnsignedLong,
    T::Float,
    T::Double,
    T::UnsignedFloat,
    T::UnsignedDouble,
    T::Decimal(None),
    T::Decimal(Some((5, 2))),
    T::Date,
    T::UnsignedDate,
    T::Timestamp,
    T::UnsignedTimestamp,
    T::Char(1),
    T::Char(3),
    T::Varchar(Some(2)),
    T::Varchar(Some(3)),
    T::Binary(2),
    T::Varbinary,
    T::VarbinaryEncoded,
    T::Uuid,
];

/// A table of 1 to 5 key columns and two value columns, NULL and NOT NULL, salted now and then.
pub fn table(tape: &mut Tape) -> Table {
    let count = 1 + tape.below(5);
    let (mut columns, mut keys) = (Vec::new(), Vec::new());
    for column in 0..count {
        let mut ty = tape.pick(&TYPES);
        if ty == T::Varbinary && column + 1 < count {
            ty = T::VarbinaryEncoded;
        }
        if column + 1 == count && tape.one_in(5) {
            ty = T::array(tape.pick(&[T::TinyInt, T::Integer, T::Decimal(None)])).unwrap();
        }
        let order = if tape.one_in(2) && ty != T::Varbinary { SortOrder::Desc } else { SortOrder::Asc };
        let nullable = tape.one_in(2) && ty.fixed_key_bytes().is_none();
        let name = format!("k{column}");
        keys.push(KeyColumn { source: KeySource::Column(column), name: name.clone(), ty, order, nullable });
        columns.push(Column { name, ty, nullable });
    }
    columns.push(Column { name: "v".into(), ty: T::Integer, nullable: true });
    columns.push(Column { name: "w".into(), ty: T::Varchar(None), nullable: false });
    let salt = match tape.below(4) {
        0 | 1 => None,
        2 => Some(Salt { buckets: 5, by: None }),
        _ => Some(Salt { buckets: 5, by: Some(1 + tape.below(count)) }),
    };
    for _ in 0..tape.below(5).saturating_sub(2) {
        computed_part(&mut columns, &mut keys, tape);
    }
    Table::new("t", columns, KeySchema { columns: keys, salt })
}

/// Puts a computed part somewhere before its inputs, if the key has columns that one can be made of.
fn computed_part(columns: &mut [Column], keys: &mut Vec<KeyColumn>, tape: &mut Tape) {
    let position = tape.below(keys.len());
    let inputs: Vec<usize> = keys[position..].iter().filter_map(KeyColumn::column).collect();
    if inputs.is_empty() {
        return;
    }
    let (first, second) = (tape.pick(&inputs), tape.pick(&inputs));
    let Ok(expr) = key_expression(columns, first, second, tape) else { return };
    let Ok(ty) = key_expression::key_type(&expr) else { return };
    let read = expr.columns();
    if !key_expression::may_be_null(ty) {
        for column in &read {
            columns[*column].nullable = false;
            keys.iter_mut().filter(|key| key.column() == Some(*column)).for_each(|key| key.nullable = false);
        }
    }
    let nullable = read.iter().any(|column| columns[*column].nullable);
    let order = if tape.one_in(2) { SortOrder::Desc } else { SortOrder::Asc };
    let name = expr.to_string();
    keys.insert(position, KeyColumn { source: KeySource::Computed(expr), name, ty, order, nullable });
}

fn key_expression(columns: &[Column], first: usize, second: usize, tape: &mut Tape) -> Result<Expr, ValueError> {
    let column = |index: usize| {
        let Column { name, ty, nullable } = columns[index].clone();
        Expr::Column(ColumnRef { index, name, ty, nullable, span: None })
    };
    let int = |n: i64| Expr::Literal(V::Int(n), T::BigInt);
    let call = |function, args| typing::call_named(function, args);
    let (a, b) = (column(first), column(second));
    if columns[first].ty.is_integer() {
        let rest = |e, n| typing::arith(ArithOp::Rem, e, int(n));
        return match tape.below(8) {
            0 => rest(a, 3),
            1 => typing::cast(rest(a, 4)?, T::TinyInt),
            2 => typing::arith(ArithOp::Div, a, int(tape.pick(&[2, -3]))),
            3 => typing::arith(ArithOp::Sub, int(7), a),
            4 => typing::arith(ArithOp::Mul, typing::negate(a)?, int(tape.pick(&[2, -1]))),
            5 if columns[second].ty.is_integer() => typing::arith(ArithOp::Add, rest(a, 3)?, rest(b, 2)?),
            5 | 6 => call("LEFT", vec![call("MD5", vec![typing::cast(a, T::Varchar(None))?])?, int(1)]),
            _ => typing::arith(ArithOp::Add, a, int(1)),
        };
    }
    let family = columns[first].ty.family();
    if family == TypeFamily::Instant && tape.one_in(2) {
        let (function, stride) =
            tape.pick(&[("DATE_TRUNC", "day"), ("DATE_TRUNC", "month"), ("DATE_BIN", "2 milliseconds")]);
        return call(function, vec![typing::string(stride), a]);
    }
    if family != TypeFamily::Text || tape.one_in(8) {
        return typing::arith(ArithOp::Rem, call("HASH", vec![a])?, int(3));
    }
    match tape.below(9) {
        0 | 1 => call("SUBSTR", vec![call("MD5", vec![a])?, int(1), int(tape.pick(&[2, 1]))]),
        2 => call("SUBSTR", vec![a, int(1), int(1)]),
        3 => call("LEFT", vec![a, int(tape.pick(&[2, 1, -1]))]),
        4 => call("REVERSE", vec![a]),
        5 => call(tape.pick(&["LOWER", "UPPER"]), vec![a]),
        6 => call("LEFT", vec![call("SHA256", vec![call("CONCAT", vec![a, b])?])?, int(1)]),
        7 => call("CONCAT", vec![typing::string("x"), a]),
        _ => call("SUBSTR", vec![a, int(-2)]),
    }
}

/// A few values for each column, so that rows and constants meet often.
#[derive(Clone, Debug)]
pub struct Palette {
    columns: Vec<Vec<V>>,
}

pub fn palette(table: &Table, tape: &mut Tape) -> Palette {
    let column = |column: &Column| {
        let all: Vec<V> = constants(column.ty.family()).into_iter().chain(edges(column.ty)).collect();
        (0..4).map(|_| tape.pick(&all)).collect()
    };
    Palette { columns: table.columns.iter().map(column).collect() }
}

/// A row that can be stored, if the choice is one.
pub fn row(table: &Table, palette: &Palette, tape: &mut Tape) -> Option<Vec<V>> {
    let pick = |(index, column): (usize, &Column)| {
        if column.nullable && tape.one_in(4) {
            return Some(V::Null);
        }
        let all: Vec<V> = match tape.below(4) {
            0 => constants(column.ty.family()).into_iter().chain(edges(column.ty)).collect(),
            _ => palette.columns[index].clone(),
        };
        (0..4).find_map(|_| number::assign(tape.pick(&all), column.ty).ok().filter(|value| !value.is_null()))
    };
    table.columns.iter().enumerate().map(pick).collect()
}

/// Values at the edges of a type.
fn edges(ty: T) -> Vec<V> {
    let (first, last) = (*CALENDAR_MS.start(), *CALENDAR_MS.end());
    match ty.integer_range() {
        Some((min, max)) => [min, min + 1, max - 1, max].map(V::Int).to_vec(),
        None if ty.family() == TypeFamily::Instant => {
            [first, first + 1, first + 90_000_000, last - 90_000_000, last].map(V::Date).to_vec()
        }
        None => Vec::new(),
    }
}

/// Constants that a column of a family meets: its values, and values that it cannot hold.
pub fn constants(family: TypeFamily) -> Vec<V> {
    let decimal = |text: &str| V::Decimal(text.parse().unwrap());
    match family {
        TypeFamily::Null | TypeFamily::Opaque => vec![V::Null],
        TypeFamily::Boolean => vec![V::Bool(false), V::Bool(true)],
        TypeFamily::Number => {
            let ints = [1, 0, 2, 3, 5, -1, 127, 128, -128, -129, 2_147_483_647, 2_147_483_648, -2_147_483_649];
            let wide = [99_999_999_999, i64::MAX, i64::MIN];
            let decimals =
                ["2.5", "0.5", "-0.5", "1.555", "1.55", "-1.555", "999.99", "1000", "-999.99", "1e30", "-1e30", "0.1"];
            let extremes =
                ["1e-130", "-1e-130", "1e127", "-1e125", "5e122", "1e39", "99999999999999999999999999999999999999"];
            let doubles =
                [0.1, -0.0, 1.5, 1e300, -1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324, 16_777_217.0];
            ints.into_iter()
                .chain(wide)
                .map(V::Int)
                .chain(decimals.map(decimal))
                .chain(extremes.map(decimal))
                .chain(doubles.map(V::Double))
                .chain([V::Float(0.1), V::Float(f32::MAX), V::Float(-1.5)])
                .collect()
        }
        TypeFamily::Instant => {
            let at = |ms, nanos| V::Timestamp(Timestamp { ms, nanos });
            let dates = [0, 1, -1, 2, 86_400_000, 1_400_000_000_000, -86_400_000, i64::MAX, i64::MIN].map(V::Date);
            let stamps = [at(0, 0), at(0, 1), at(1, 999_999), at(-1, 999_999), at(2, 0), at(i64::MAX, 999_999)];
            dates.into_iter().chain(stamps).chain([at(i64::MIN, 0), at(1, 0)]).collect()
        }
        TypeFamily::Text => [
            "a",
            "",
            "b",
            "ab",
            "ab ",
            "abc",
            "abcd",
            "abc\u{1}",
            "a\0",
            "a\0b",
            "\0",
            "a\u{1}",
            "a\u{1}b",
            "a ",
            "a!",
            " ",
            "é",
            "aé",
            "abé",
            "漢",
            "\u{7f}",
            "a\u{7f}",
            "\u{ffff}",
            "\u{10ffff}",
            "a\u{10000}",
            "a_",
            "a%",
            "A",
            "aB",
            "K",
            "\u{212a}",
            "\u{130}",
            "1k",
        ]
        .map(V::text)
        .to_vec(),
        TypeFamily::Bytes => {
            let all: [&[u8]; 20] = [
                b"a",
                b"",
                b"\0",
                b"ab",
                b"abc",
                b"a\0",
                b"\xff",
                b"\xff\xff",
                b"\xff\xff\xff",
                b"\0\0",
                b"\0\xff",
                b"a\xff",
                b"\x01",
                b"\0\x01",
                b"b",
                // Of 16 bytes, as UUIDs are.
                &[0; 16],
                &[0xff; 16],
                b"a\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                b"a\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01",
                b"abcdefghijklmnop",
            ];
            all.map(|bytes| V::Bytes(bytes.to_vec())).to_vec()
        }
        TypeFamily::Array => {
            let lists: [&[i64]; 9] = [&[], &[0], &[1], &[1, 2], &[1, -128], &[-128], &[2], &[127, 1], &[1, 0, 3]];
            let nulls = [vec![V::Null], vec![V::Null, V::Int(1)], vec![V::Int(1), V::Null]].map(V::Array);
            lists.iter().map(|list| V::Array(list.iter().copied().map(V::Int).collect())).chain(nulls).collect()
        }
        TypeFamily::Interval => {
            let lengths = [(0, 0, 0), (0, 1, 0), (0, 0, 86_400_000_000_000), (1, 0, 0), (0, 30, 0), (-1, 0, 1)];
            lengths.map(|(months, days, nanos)| V::Interval(Interval::new(months, days, nanos).unwrap())).to_vec()
        }
    }
}

/// A constant for a column, NULL now and then.
fn constant(index: usize, world: &World<'_>, tape: &mut Tape) -> Expr {
    if tape.one_in(12) {
        return Expr::NULL;
    }
    let value = match tape.below(4) {
        0 => tape.pick(&constants(world.table.columns[index].ty.family())),
        _ => tape.pick(&world.palette.columns[index]),
    };
    let ty = typing::natural_type(&value);
    match &value {
        V::Text(_) if tape.one_in(6) => Expr::Cast(Box::new(Expr::Literal(value, ty)), T::Char(5)),
        V::Int(_) if tape.one_in(8) => {
            typing::arith(ArithOp::Add, Expr::Literal(value.clone(), ty), Expr::Literal(V::Int(0), ty))
                .unwrap_or(Expr::Literal(value, ty))
        }
        _ => Expr::Literal(value, ty),
    }
}

const OPS: [CompareOp; 8] = [
    CompareOp::Eq,
    CompareOp::Gt,
    CompareOp::Lt,
    CompareOp::GtEq,
    CompareOp::LtEq,
    CompareOp::NotEq,
    CompareOp::Distinct,
    CompareOp::NotDistinct,
];

/// What conditions are made over.
struct World<'a> {
    table: &'a Table,
    palette: &'a Palette,
}

/// The conjuncts of a WHERE clause.
pub fn conditions(table: &Table, palette: &Palette, tape: &mut Tape) -> Vec<Condition> {
    let world = World { table, palette };
    let count = tape.below(4);
    (0..count)
        .filter_map(|_| condition(&world, tape, 3).ok())
        .flat_map(Expr::into_conjuncts)
        .map(Condition::new)
        .collect()
}

fn condition(world: &World<'_>, tape: &mut Tape, depth: usize) -> Result<Expr, ValueError> {
    if depth == 0 {
        return atom(world, tape);
    }
    match tape.below(13) {
        0..=4 => atom(world, tape),
        5 | 6 => typing::and(some(world, tape, depth)),
        7 | 8 => typing::or(some(world, tape, depth)),
        9 | 10 => typing::not(condition(world, tape, depth - 1)?),
        _ => {
            let truth = tape.pick(&[Some(true), Some(false), None]);
            typing::is_truth(condition(world, tape, depth - 1)?, truth)
        }
    }
}

fn some(world: &World<'_>, tape: &mut Tape, depth: usize) -> Vec<Expr> {
    (0..2 + tape.below(2)).filter_map(|_| condition(world, tape, depth - 1).ok()).collect()
}

fn atom(world: &World<'_>, tape: &mut Tape) -> Result<Expr, ValueError> {
    let table = world.table;
    let index = tape.below(table.columns.len());
    let (column, ty) = (table.column(index), table.columns[index].ty);
    match tape.below(26) {
        24 | 25 => branch_test(world, tape),
        18..=20 => function_test(index, world, tape),
        21 | 22 => on_expression(world, tape),
        0..=3 => typing::compare(tape.pick(&OPS), column, constant(index, world, tape)),
        4 => typing::compare(tape.pick(&OPS), constant(index, world, tape), column),
        5 | 6 => {
            let (low, high) = (constant(index, world, tape), constant(index, world, tape));
            typing::between(column, low, high, tape.one_in(3))
        }
        7..=9 => {
            let list = (0..1 + tape.below(4)).map(|_| constant(index, world, tape)).collect();
            typing::in_list(column, list, tape.one_in(3))
        }
        10 => Ok(typing::is_null(column)),
        11 => typing::not(typing::is_null(column)),
        12 => text_test(column, index, world, tape),
        13 | 14 => row_test(world, tape),
        15 => opaque(world, index, tape),
        16 if ty == T::Boolean => Ok(column),
        16 => {
            let to = match ty.family() {
                TypeFamily::Number => tape.pick(&[T::BigInt, T::Decimal(None), T::Double]),
                TypeFamily::Instant => T::Timestamp,
                TypeFamily::Text => T::Varchar(None),
                _ => ty,
            };
            typing::compare(tape.pick(&OPS), typing::cast(column, to)?, constant(index, world, tape))
        }
        _ => Ok(tape.pick(&[Expr::boolean(true), Expr::boolean(false), Expr::Literal(V::Null, T::Boolean)])),
    }
}

/// A test of a value that is one of several, and conditions compared with TRUE and FALSE.
fn branch_test(world: &World<'_>, tape: &mut Tape) -> Result<Expr, ValueError> {
    let index = tape.below(world.table.columns.len());
    let column = world.table.column(index);
    let some = |tape: &mut Tape| constant(index, world, tape);
    if tape.one_in(3) {
        let op = tape.pick(&[CompareOp::Eq, CompareOp::NotEq, CompareOp::Lt, CompareOp::GtEq, CompareOp::NotDistinct]);
        let test = atom(world, tape)?;
        let truth = tape.pick(&[Expr::boolean(true), Expr::boolean(false), Expr::Literal(V::Null, T::Boolean)]);
        return if tape.one_in(2) { typing::compare(op, test, truth) } else { typing::compare(op, truth, test) };
    }
    let value = match tape.below(4) {
        0 => typing::call_named("NULLIF", vec![column, some(tape)])?,
        1 => {
            let other = world.table.column(tape.below(world.table.columns.len()));
            typing::call_named("COALESCE", vec![column.clone(), other])
                .or_else(|_| typing::call_named("COALESCE", vec![column, some(tape)]))?
        }
        2 => {
            let (then, otherwise) = (some(tape), some(tape));
            let when = atom(world, tape)?;
            typing::case(None, vec![(when, then)], Some(if tape.one_in(2) { column } else { otherwise }))?
        }
        _ => typing::call_named("COALESCE", vec![column, some(tape)])?,
    };
    let (a, b) = (some(tape), some(tape));
    match tape.below(6) {
        0 => {
            let test = typing::is_null(value);
            if tape.one_in(2) { typing::not(test) } else { Ok(test) }
        }
        1 => typing::in_list(value, vec![a, b], tape.one_in(3)),
        2 => typing::between(value, a, b, tape.one_in(3)),
        _ => typing::compare(tape.pick(&OPS), value, a),
    }
}

/// A function of a column, or a function of that, against a constant.
fn function_test(index: usize, world: &World<'_>, tape: &mut Tape) -> Result<Expr, ValueError> {
    let mut call = function(world.table.column(index), tape)?;
    if tape.one_in(4) {
        call = function(call.clone(), tape).unwrap_or(call);
    }
    // The function's own values meet its constants most often.
    let mut constant = || -> Expr {
        let value = match tape.below(3) {
            0 => tape.pick(&world.palette.columns[index]),
            _ => {
                let mut row = vec![V::Null; world.table.columns.len()];
                row[index] = number::assign(tape.pick(&world.palette.columns[index]), world.table.columns[index].ty)
                    .unwrap_or(V::Null);
                eval::operand(&call, &row).unwrap_or(V::Int(1))
            }
        };
        let ty = typing::natural_type(&value);
        Expr::Literal(value, ty)
    };
    let (a, b, c) = (constant(), constant(), constant());
    match tape.below(9) {
        8 => {
            let test = typing::is_null(call);
            if tape.one_in(2) { typing::not(test) } else { Ok(test) }
        }
        0 => typing::between(call, a, b, tape.one_in(3)),
        1 | 2 => typing::in_list(call, vec![a, b, c], tape.one_in(3)),
        3 => typing::compare(tape.pick(&OPS), a, call),
        _ => typing::compare(tape.pick(&OPS), call, a),
    }
}

fn function(e: Expr, tape: &mut Tape) -> Result<Expr, ValueError> {
    use saltwing_types::ArithOp::{Add, Div, Mul, Rem, Sub};
    let numbers = ["1", "10", "2.5", "0", "3", "1.5e0", "9223372036854775807", "0.001"];
    let operand = |tape: &mut Tape| {
        if tape.one_in(20) {
            return Ok(Expr::NULL);
        }
        let number = typing::number(tape.pick(&numbers))?;
        if tape.one_in(3) { typing::negate(number) } else { Ok(number) }
    };
    let text = typing::string;
    let roundings = ["FLOOR", "CEIL", "ROUND", "TRUNC"];
    let int = |n: i64| Expr::Literal(V::Int(n), T::BigInt);
    if tape.one_in(8) {
        return typing::cast(e, T::Varchar(None));
    }
    match e.sql_type().map(T::family) {
        Some(TypeFamily::Number) => match tape.below(10) {
            0..=3 => typing::arith(tape.pick(&[Add, Sub, Mul, Div, Rem]), e, operand(tape)?),
            4 => typing::arith(tape.pick(&[Add, Sub, Mul]), operand(tape)?, e),
            5 => typing::negate(e),
            6 => typing::call_named("ABS", vec![e]),
            7 => {
                let types = [T::Integer, T::TinyInt, T::Double, T::Float, T::Decimal(Some((5, 2))), T::Date];
                typing::cast(e, tape.pick(&types))
            }
            _ => {
                let places = tape.below(6) as i64 - 2;
                let args = if tape.one_in(2) { vec![e, int(places)] } else { vec![e] };
                typing::call_named(tape.pick(&roundings), args)
            }
        },
        Some(TypeFamily::Instant) => {
            let unit = text(tape.pick(&["day", "month", "year", "week", "hour", "second", "quarter"]));
            match tape.below(8) {
                0 => typing::arith(tape.pick(&[Add, Sub]), e, operand(tape)?),
                1 | 2 => typing::call_named("DATE_TRUNC", vec![unit, e]),
                3 => typing::call_named("DATE_BIN", vec![text(tape.pick(&["15 minutes", "7 days"])), e]),
                4 => {
                    let fields = ["YEAR", "YEAR", "MONTH", "CENTURY", "DECADE", "JULIAN"];
                    typing::call_named(tape.pick(&fields), vec![e])
                }
                5 => typing::cast(e, tape.pick(&[T::Date, T::Timestamp, T::BigInt, T::UnsignedDate])),
                _ => typing::call_named(tape.pick(&roundings), vec![e, unit]),
            }
        }
        Some(TypeFamily::Text) => {
            let count = int(tape.below(5) as i64);
            match tape.below(3) {
                0 => typing::call_named("LEFT", vec![e, count]),
                1 => typing::call_named("SUBSTR", vec![e, int(1), count]),
                _ => typing::call_named("SUBSTR", vec![e, int(tape.below(3) as i64), count]),
            }
        }
        Some(TypeFamily::Boolean) => typing::cast(e, T::Integer),
        _ => Ok(e),
    }
}

/// A test of a key expression itself.
fn on_expression(world: &World<'_>, tape: &mut Tape) -> Result<Expr, ValueError> {
    let keys: Vec<&KeyColumn> = world.table.schema.columns.iter().filter(|key| key.computed().is_some()).collect();
    if keys.is_empty() {
        return Ok(Expr::boolean(true));
    }
    let key = tape.pick(&keys);
    let expr = key.computed().unwrap().clone();
    let value = |tape: &mut Tape| {
        let row = row(world.table, world.palette, tape);
        let value = row.and_then(|row| key.value(&row).ok()).unwrap_or(V::Null);
        let value = match value {
            V::Text(text) => V::Text(match tape.below(6) {
                0 => format!("{text} "),
                1 => format!("{text}\u{1}"),
                2 => text.chars().take(1).collect(),
                _ => text,
            }),
            value => value,
        };
        let ty = typing::natural_type(&value);
        Expr::Literal(value, ty)
    };
    match tape.below(6) {
        0..=2 => typing::compare(tape.pick(&OPS), expr, value(tape)),
        3 => typing::in_list(expr, (0..3).map(|_| value(tape)).collect(), tape.one_in(3)),
        4 => Ok(typing::is_null(expr)),
        _ => typing::like(expr, typing::string("a%"), None, false, tape.one_in(3)),
    }
}

fn text_test(column: Expr, index: usize, world: &World<'_>, tape: &mut Tape) -> Result<Expr, ValueError> {
    let patterns = [
        "a%",
        "ab%",
        "%",
        "a_",
        "ab",
        "ab %",
        "ab ",
        "%b",
        "a%b",
        "",
        "a\\%%",
        "a\u{7f}%",
        "\u{10ffff}%",
        "a\0%",
        "é%",
        "A%",
        "_",
    ];
    let text = typing::string(tape.pick(&patterns));
    match tape.below(6) {
        4 => {
            let expressions = ["^ab", "^ab$", "^a.*", "^a+b", "b", "^", "^A", "^é", "^a ", "^ab ?$"];
            typing::regexp(column, typing::string(tape.pick(&expressions)), tape.one_in(4), tape.one_in(3))
        }
        5 => typing::like(
            column,
            typing::string(tape.pick(&["k%", "ab%", "aB_", "i%", "1k%", "aik"])),
            None,
            true,
            false,
        ),
        0 | 1 => typing::like(column, text, Some('\\'), false, tape.one_in(3)),
        2 => typing::like(column, text, None, true, tape.one_in(3)),
        _ => typing::call_named("STARTS_WITH", vec![column, constant(index, world, tape)]),
    }
}

/// A comparison of row values: columns of the key in order, or any; constants on the other side.
fn row_test(world: &World<'_>, tape: &mut Tape) -> Result<Expr, ValueError> {
    let table = world.table;
    let count = 2 + tape.below(2);
    let first = tape.below(2);
    let indexes: Vec<usize> = match tape.below(3) {
        0 | 1 => (0..count).map(|i| (first + i) % table.columns.len()).collect(),
        _ => (0..count).map(|_| tape.below(table.columns.len())).collect(),
    };
    let columns: Vec<Expr> = indexes.iter().map(|index| table.column(*index)).collect();
    let mut constants = || indexes.iter().map(|index| constant(*index, world, tape)).collect::<Vec<_>>();
    let rows: Vec<Vec<Expr>> = (0..3).map(|_| constants()).collect();
    match tape.below(6) {
        0 | 1 => typing::row_in_list(columns, rows, tape.one_in(3)),
        _ => {
            let row = rows.into_iter().next().unwrap();
            let (a, b) = if tape.one_in(4) { (row, columns) } else { (columns, row) };
            typing::row_compare(tape.pick(&OPS), a, b)
        }
    }
}

/// Conditions of which no range can be made, or, of RTRIM, a loose one.
fn opaque(world: &World<'_>, index: usize, tape: &mut Tape) -> Result<Expr, ValueError> {
    let table = world.table;
    let (column, ty) = (table.column(index), table.columns[index].ty);
    match ty.family() {
        TypeFamily::Text => {
            let call = typing::call_named(tape.pick(&["UPPER", "REVERSE", "TRIM", "RTRIM"]), vec![column])?;
            typing::compare(tape.pick(&OPS), call, constant(index, world, tape))
        }
        _ => typing::compare(tape.pick(&OPS), column, table.column(tape.below(table.columns.len()))),
    }
}

/// ORDER BY some columns.
pub fn order(table: &Table, tape: &mut Tape) -> Vec<OrderItem> {
    let flip = tape.one_in(2);
    let direction = |column: usize, flip: bool| {
        let order = table.schema.columns.iter().find(|key| key.column() == Some(column)).map(|key| key.order);
        let ascending = order != Some(SortOrder::Desc);
        if ascending != flip { SortOrder::Asc } else { SortOrder::Desc }
    };
    (0..tape.below(4))
        .map(|i| {
            let part = table.schema.columns.get(i).filter(|part| part.computed().is_some());
            if let Some(part) = part.filter(|_| !tape.one_in(4)) {
                let order = if (part.order == SortOrder::Desc) != flip { SortOrder::Desc } else { SortOrder::Asc };
                return OrderItem { by: OrderBy::KeyPart(i), order, nulls_first: !tape.one_in(3) };
            }
            let column = if tape.one_in(5) { tape.below(table.columns.len()) } else { i % table.columns.len() };
            let order = direction(column, flip != tape.one_in(8));
            OrderItem { by: OrderBy::Column(column), order, nulls_first: !tape.one_in(3) }
        })
        .collect()
}
