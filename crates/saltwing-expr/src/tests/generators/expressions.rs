//! Random expressions, built by SQL's typing rules as the front ends do.

use saltwing_types::function::{ParameterKind, ResultType, Signature};
use saltwing_types::sql_type::TypeFamily;
use saltwing_types::{ArithOp, ColumnRef, CompareOp, Expr, Function, SqlType, Value, ValueError, typing};

/// The columns that expressions name.
pub(crate) const COLUMN_TYPES: [SqlType; 18] = [
    SqlType::Integer,
    SqlType::BigInt,
    SqlType::TinyInt,
    SqlType::UnsignedInt,
    SqlType::Double,
    SqlType::Float,
    SqlType::Decimal(Some((5, 2))),
    SqlType::Decimal(None),
    SqlType::Decimal(Some((38, 10))),
    SqlType::Boolean,
    SqlType::Date,
    SqlType::Timestamp,
    SqlType::UnsignedTimestamp,
    SqlType::Char(4),
    SqlType::Varchar(None),
    SqlType::Varchar(Some(3)),
    SqlType::Varbinary,
    SqlType::Null,
];

/// Numbers that select the generated expression; without further numbers it is the simplest one.
pub(crate) struct Choices<'a>(pub(crate) std::slice::Iter<'a, u16>);

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Condition,
    Number,
    Text,
    Instant,
    Bytes,
}

impl Kind {
    fn has(self, ty: SqlType) -> bool {
        let family = match self {
            Kind::Condition => TypeFamily::Boolean,
            Kind::Number => TypeFamily::Number,
            Kind::Text => TypeFamily::Text,
            Kind::Instant => TypeFamily::Instant,
            Kind::Bytes => TypeFamily::Bytes,
        };
        ty.family() == family
    }
}

pub(crate) const KINDS: [Kind; 5] = [Kind::Number, Kind::Text, Kind::Instant, Kind::Condition, Kind::Bytes];

type Built = Result<Expr, ValueError>;

impl Choices<'_> {
    pub(crate) fn pick(&mut self, count: usize) -> usize {
        self.0.next().map_or(0, |n| usize::from(*n) % count)
    }

    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.pick(list.len())]
    }

    /// An expression of any kind.
    pub(crate) fn expr(&mut self, depth: usize) -> Expr {
        let kind = self.one_of(&KINDS);
        self.of_kind(kind, depth)
    }

    /// An expression of this kind; a leaf if typing refuses the generated one.
    pub(crate) fn of_kind(&mut self, kind: Kind, depth: usize) -> Expr {
        if depth == 0 || self.pick(6) == 0 {
            return self.leaf(kind);
        }
        let built = match (kind, self.pick(8)) {
            (Kind::Condition, 7) | (_, 0) => self.choice(kind, depth - 1),
            (Kind::Condition, n) => self.condition(n, depth - 1),
            (_, 1) => self.cast(kind, depth - 1),
            (Kind::Number, n) => self.number(n, depth - 1),
            (Kind::Text, _) => self.function(kind, depth - 1),
            (Kind::Instant, n) => self.instant(n, depth - 1),
            (Kind::Bytes, _) => Ok(self.leaf(kind)),
        };
        built.unwrap_or_else(|_| self.leaf(kind))
    }

    fn leaf(&mut self, kind: Kind) -> Expr {
        match self.pick(8) {
            0..=3 => {
                let fitting: Vec<usize> = (0..COLUMN_TYPES.len()).filter(|i| kind.has(COLUMN_TYPES[*i])).collect();
                column(self.one_of(&fitting))
            }
            4 if self.pick(3) == 0 => column(COLUMN_TYPES.len() - 1),
            5 if self.pick(2) == 0 => Expr::NULL,
            6 if self.pick(8) == 0 => Expr::Param(0, Some(SqlType::Integer)),
            _ => self.literal(kind),
        }
    }

    fn literal(&mut self, kind: Kind) -> Expr {
        match kind {
            Kind::Condition => Expr::boolean(self.pick(2) == 0),
            Kind::Number => {
                let numbers = [
                    "0",
                    "1",
                    "2",
                    "3",
                    "2.5",
                    "0.1",
                    "0.5",
                    "1e0",
                    "1.5e0",
                    "300",
                    "99999999999",
                    "1e30",
                    "9223372036854775807",
                    "100000000000000000000000000000000000000",
                    "0.001",
                    "1.555",
                    "0.000000000000000000000000000000000000001",
                    "2147483647",
                    "127",
                    "1e300",
                ];
                let number = typing::number(self.one_of(&numbers)).unwrap();
                if self.pick(3) == 0 { typing::negate(number).unwrap() } else { number }
            }
            Kind::Text => {
                typing::string(self.one_of(&["a", "", "ab", "a ", "A", "%", "é", "1", "abcdef", "2020-01-01", "-2"]))
            }
            Kind::Instant => {
                let (text, ty) = self.one_of(&[
                    ("1970-01-01", SqlType::Date),
                    ("1969-12-31 23:59:59.999", SqlType::Date),
                    ("1970-01-01 00:00:00.000000001", SqlType::Timestamp),
                    ("1970-01-02", SqlType::Timestamp),
                    ("3000-01-01", SqlType::Timestamp),
                    ("0001-01-01", SqlType::Timestamp),
                    ("2262-04-12", SqlType::Date),
                ]);
                Expr::Literal(saltwing_types::text::parse(text, ty).unwrap(), ty)
            }
            Kind::Bytes => {
                let bytes = self.one_of(&[&b""[..], b"a", b"\0", b"\xff", b"a\0"]);
                Expr::Literal(Value::Bytes(bytes.to_vec()), SqlType::Varbinary)
            }
        }
    }

    fn compare_op(&mut self) -> CompareOp {
        use CompareOp::*;
        self.one_of(&[Eq, NotEq, Lt, LtEq, Gt, GtEq, Distinct, NotDistinct])
    }

    fn list(&mut self, kind: Kind, depth: usize, least: usize, most: usize) -> Vec<Expr> {
        let length = least + self.pick(most - least + 1);
        (0..length).map(|_| self.of_kind(kind, depth)).collect()
    }

    fn literals(&mut self, kind: Kind, most: usize) -> Vec<Expr> {
        let length = 1 + self.pick(most);
        (0..length).map(|_| if self.pick(12) == 0 { Expr::NULL } else { self.literal(kind) }).collect()
    }

    fn condition(&mut self, which: usize, depth: usize) -> Built {
        let kind = self.one_of(&KINDS);
        match which {
            1 => match self.pick(2) {
                0 => typing::and(self.list(Kind::Condition, depth, 2, 3)),
                _ => typing::or(self.list(Kind::Condition, depth, 2, 3)),
            },
            2 => match self.pick(3) {
                0 => typing::not(self.of_kind(Kind::Condition, depth)),
                1 => Ok(typing::is_null(self.expr(depth))),
                _ => {
                    let truth = self.one_of(&[Some(true), Some(false), None]);
                    typing::is_truth(self.of_kind(Kind::Condition, depth), truth)
                }
            },
            3 => {
                let value = self.of_kind(kind, depth);
                let list = if self.pick(3) > 0 { self.literals(kind, 20) } else { self.list(kind, depth, 1, 3) };
                typing::in_list(value, list, self.pick(3) == 0)
            }
            4 => self.row_condition(depth),
            5 => {
                let text = self.of_kind(Kind::Text, depth);
                let patterns = ["a%", "%", "%b", "a%b%", "_", "a_%", r"\%%", "ab", "%é%", "A%", "", "1%"];
                let pattern = if self.pick(5) == 0 {
                    self.of_kind(Kind::Text, depth)
                } else {
                    typing::string(self.one_of(&patterns))
                };
                let escape = self.one_of(&[Some('\\'), None, Some('a')]);
                typing::like(text, pattern, escape, self.pick(3) == 0, self.pick(4) == 0)
            }
            6 if self.pick(3) == 0 => self.function(kind, depth),
            6 if self.pick(2) == 0 => {
                let pattern = match self.pick(6) {
                    0 => self.of_kind(Kind::Text, depth),
                    _ => typing::string(self.one_of(&["^a", "^a$", "b", "[0-9]+", "é|A", "^$", "(a)+$"])),
                };
                typing::regexp(self.of_kind(Kind::Text, depth), pattern, self.pick(3) == 0, self.pick(4) == 0)
            }
            _ => {
                let op = self.compare_op();
                typing::compare(op, self.of_kind(kind, depth), self.of_kind(kind, depth))
            }
        }
    }

    fn row_condition(&mut self, depth: usize) -> Built {
        let kinds = [self.one_of(&KINDS), self.one_of(&KINDS)];
        let row: Vec<Expr> = kinds.iter().map(|kind| self.of_kind(*kind, depth)).collect();
        if self.pick(2) == 0 {
            let other = kinds.iter().map(|kind| self.of_kind(*kind, depth)).collect();
            return typing::row_compare(self.compare_op(), row, other);
        }
        let length = self.one_of(&[1, 2, 20]);
        let has_nulls = self.pick(2) == 0;
        let item = |choices: &mut Self, kind: &Kind| match choices.pick(10) {
            0 if has_nulls => Expr::NULL,
            _ => choices.literal(*kind),
        };
        let rows = (0..length).map(|_| kinds.iter().map(|kind| item(self, kind)).collect()).collect();
        typing::row_in_list(row, rows, self.pick(3) == 0)
    }

    /// CASE, COALESCE and NULLIF.
    fn choice(&mut self, kind: Kind, depth: usize) -> Built {
        match self.pick(4) {
            0 => typing::call_named("COALESCE", self.list(kind, depth, 1, 3)),
            1 => typing::call_named("NULLIF", vec![self.of_kind(kind, depth), self.of_kind(kind, depth)]),
            n => {
                let operand_kind = if n == 2 { Some(self.one_of(&KINDS)) } else { None };
                let operand = operand_kind.map(|kind| self.of_kind(kind, depth));
                let count = 1 + self.pick(2);
                let when = operand_kind.unwrap_or(Kind::Condition);
                let whens = (0..count).map(|_| (self.of_kind(when, depth), self.of_kind(kind, depth))).collect();
                let otherwise = (self.pick(3) > 0).then(|| self.of_kind(kind, depth));
                typing::case(operand, whens, otherwise)
            }
        }
    }

    fn cast(&mut self, kind: Kind, depth: usize) -> Built {
        use SqlType::*;
        let ty = match kind {
            Kind::Condition => Boolean,
            Kind::Number => self.one_of(&[
                Integer,
                BigInt,
                TinyInt,
                UnsignedTinyInt,
                UnsignedLong,
                Double,
                Float,
                UnsignedDouble,
                Decimal(None),
                Decimal(Some((5, 2))),
                Decimal(Some((38, 10))),
            ]),
            Kind::Text => self.one_of(&[Varchar(None), Varchar(Some(2)), Char(3)]),
            Kind::Instant => self.one_of(&[Date, Timestamp, UnsignedDate, UnsignedTimestamp]),
            Kind::Bytes => self.one_of(&[Varbinary, Binary(2)]),
        };
        typing::cast(self.expr(depth), ty)
    }

    fn number(&mut self, which: usize, depth: usize) -> Built {
        match which {
            2 => typing::negate(self.of_kind(Kind::Number, depth)),
            3..=6 => self.function(Kind::Number, depth),
            7 => typing::arith(ArithOp::Sub, self.of_kind(Kind::Instant, depth), self.of_kind(Kind::Instant, depth)),
            _ => {
                use ArithOp::*;
                let op = self.one_of(&[Add, Sub, Mul, Div, Rem]);
                typing::arith(op, self.of_kind(Kind::Number, depth), self.of_kind(Kind::Number, depth))
            }
        }
    }

    fn instant(&mut self, which: usize, depth: usize) -> Built {
        match which {
            2..=5 => self.function(Kind::Instant, depth),
            _ => {
                let op = self.one_of(&[ArithOp::Add, ArithOp::Sub]);
                typing::arith(op, self.of_kind(Kind::Instant, depth), self.of_kind(Kind::Number, depth))
            }
        }
    }

    /// A call of any function of the registry that gives this kind.
    fn function(&mut self, kind: Kind, depth: usize) -> Built {
        let gives = |signature: &Signature| match signature.result {
            ResultType::Is(ty) => kind.has(ty),
            ResultType::Arithmetic => kind == Kind::Number,
            ResultType::InstantAt(_) => kind == Kind::Instant,
            ResultType::Common => true,
            ResultType::Array | ResultType::ArrayOf(_) | ResultType::At(_) => false,
        };
        let signatures = |function: Function| function.signatures.iter().map(move |signature| (function, signature));
        let calls: Vec<_> = Function::all().flat_map(signatures).filter(|(_, signature)| gives(signature)).collect();
        let (function, signature) = self.one_of(&calls);
        self.call(function, signature, kind, depth)
    }

    /// A call of this shape; arguments of a common type are of `common`.
    pub(crate) fn call(&mut self, function: Function, signature: &Signature, common: Kind, depth: usize) -> Built {
        let most = signature.parameters.len() + if signature.repeats { 2 } else { 0 };
        let count = signature.required + self.pick(most - signature.required + 1);
        let args = (0..count).map(|index| self.argument(signature.kind(index).unwrap(), common, depth));
        let args = args.collect();
        typing::call(function, args)
    }

    fn argument(&mut self, kind: ParameterKind, common: Kind, depth: usize) -> Expr {
        match kind {
            ParameterKind::Text => self.of_kind(Kind::Text, depth),
            ParameterKind::Bytes => self.of_kind(Kind::Bytes, depth),
            ParameterKind::Number | ParameterKind::Decimal | ParameterKind::Double => self.of_kind(Kind::Number, depth),
            ParameterKind::Instant | ParameterKind::InstantOrString => self.of_kind(Kind::Instant, depth),
            ParameterKind::Common => self.of_kind(common, depth),
            ParameterKind::Array | ParameterKind::ArrayAsTexts => {
                typing::call_named("MAKE_ARRAY", self.list(common, depth, 0, 3)).unwrap_or(Expr::NULL)
            }
            ParameterKind::Any if self.pick(4) == 0 => self.argument(ParameterKind::Interval, common, depth),
            ParameterKind::Any | ParameterKind::AnyAsText | ParameterKind::AnyAsJson | ParameterKind::JsonSource => {
                let kind = self.one_of(&KINDS);
                self.of_kind(kind, depth)
            }
            ParameterKind::Interval => {
                let text = self.one_of(&["1 mon", "-3 days 04:00:00.5", "2 years ago", "178000000 years", "now"]);
                let length = typing::string(text);
                if self.pick(3) == 0 { length } else { typing::cast(length, SqlType::Interval).unwrap_or(Expr::NULL) }
            }
            ParameterKind::Boolean => self.of_kind(Kind::Condition, depth),
            ParameterKind::Integer => match self.pick(8) {
                0 => self.of_kind(Kind::Number, depth),
                n => Expr::Literal(Value::Int(n as i64 - 3), SqlType::BigInt),
            },
            ParameterKind::Unit => {
                let units = ["day", "WEEK", "months", "year", "hour", "minute", "microsecond", "quarter", "decade"];
                match self.pick(8) {
                    0 => self.of_kind(Kind::Text, depth),
                    _ => typing::string(self.one_of(&units)),
                }
            }
            ParameterKind::DatePattern => {
                let patterns = ["yyyy-MM-dd HH:mm:ss.SSS", "d MMM yy, h:mm a", "EEEE D/yyyy K X", "'x'", "YYYY"];
                typing::string(self.one_of(&patterns))
            }
            ParameterKind::DateFormat => {
                let patterns =
                    ["YYYY-MM-DD HH24:MI:SS.US", "FMDay, DDth Mon", "yyyy-MM-dd HH:mm", "Q J IW RM", "MM/DD"];
                typing::string(self.one_of(&patterns))
            }
            ParameterKind::NumberPattern | ParameterKind::NumberFormat => {
                let patterns = ["#,##0.00", "0", "#.##%", "(0.0);-0.0", "000000", "9", "S9,999.99", "FM99V9", "RN"];
                typing::string(self.one_of(&patterns))
            }
            ParameterKind::NormalForm => typing::string(self.one_of(&["NFC", "nfkd", "x"])),
            ParameterKind::TimeZone => {
                typing::string(self.one_of(&["UTC", "Europe/Berlin", "+05:30", "America/New_York", "Nowhere"]))
            }
            ParameterKind::Json => match self.pick(4) {
                0 => self.of_kind(Kind::Text, depth),
                1 => typing::call_named(
                    "CONCAT",
                    vec![typing::string("[1, \"a\", "), self.of_kind(Kind::Text, depth), typing::string("]")],
                )
                .unwrap_or(Expr::NULL),
                _ => typing::string(self.one_of(&[
                    "[1, [\"a\"]]",
                    "{\"a\": {\"b\": [2.50]}}",
                    "null",
                    "{",
                    "\"x\\u0041\"",
                ])),
            },
            ParameterKind::JsonPath => typing::string(self.one_of(&["$", "$.a", "$[1]", "$.a.\"b\"[0]", "$.*"])),
            ParameterKind::Stride => {
                typing::string(self.one_of(&["15 minutes", "1 day 3 hours", "7 seconds", "1 month"]))
            }
        }
    }
}

/// The column at this index of [`COLUMN_TYPES`].
pub(crate) fn column(index: usize) -> Expr {
    let ty = COLUMN_TYPES[index];
    Expr::Column(ColumnRef { index, name: format!("c{index}"), ty, nullable: true, span: None })
}
