//! The relation of a side of a comparison to the key: a key column, or a function of one.
//!
//! Of a function that goes up or down ([`crate::monotonicity`]) the column's values that compare so with
//! a constant are found by halving: the scalar evaluator computes the function, so that ranges and residual
//! filter cannot differ. Overflow, rounding and the calendar need no inverse.
//!
//! ```text
//!   k:            ..  1   2   3   4   5   6   7   8  ..
//!   k / 3:        ..  0   0   1   1   1   2   2   2  ..
//!   k / 3 = 1              [ equal   ]
//!   k / 3 > 1                          [ greater     ..
//! ```

use std::cmp::Ordering;

use ethnum::I256;
use saltwing_types::function::KeyProperty;
use saltwing_types::{CompareOp, Decimal, Expr, SqlType, Value, eval};

use crate::column_set::ColumnSet;
use crate::domain::Domain;
use crate::literal_position::LiteralPosition;
use crate::monotonicity::{Direction, Monotonicity, monotonicity};
use crate::predicates::CoverBuilder;
use crate::predicates::compare::satisfying;
use crate::predicates::constant::{Constant, unknown};
use crate::predicates::prefix::{TextPrefix, char_place, trimmed_place};
use crate::predicates::text_of_key::KeyText;
use crate::span::Cut;
use crate::value_rank::ValueRanks;

/// A side of a comparison that the key bounds.
pub(super) struct KeyFunction {
    /// The key column's position.
    pub(super) position: usize,
    /// The function of it; `None`: the column itself.
    image: Option<Image>,
}

enum Image {
    Curve(Box<Curve>),
    Prefix(TextPrefix),
    /// The text without the blanks at its end.
    TrimmedEnd,
    KeyText(KeyText),
}

/// A function that goes up or down.
struct Curve {
    /// The function, over a row of the column alone.
    expr: Expr,
    monotonicity: Monotonicity,
    ranks: ValueRanks,
    /// Whether a parameter is in it, for which a sample stands.
    made_up: bool,
}

/// The position of a constant among a subject's values.
pub(super) struct Located {
    parts: Vec<Part>,
    /// Where equality alone says something: the one value that equals the constant, if there is one.
    equal: Option<Option<Value>>,
    /// Values of the column for which the function fails.
    failing: ColumnSet,
    loose: bool,
    /// Whether the place is made up for a parameter.
    pub(super) made_up: bool,
}

/// The values of the column between two cuts, and the constant's place among them.
struct Part {
    lo: Cut,
    hi: Cut,
    place: LiteralPosition,
    direction: Direction,
}

impl Located {
    /// The column's values for which the subject compares so with the constant; NULL only for IS DISTINCT FROM.
    pub(super) fn satisfying(&self, op: CompareOp, domain: &Domain) -> ColumnSet {
        let of = |part: &Part| {
            let op = if part.direction == Direction::Up { op } else { op.swapped() };
            let set = satisfying(op, &part.place, domain);
            match (&part.lo, &part.hi) {
                (Cut::Low, Cut::High) => set,
                (lo, hi) => {
                    let nulls = if set.has_null() { ColumnSet::null(domain) } else { ColumnSet::EMPTY };
                    let inside = set.intersect(&ColumnSet::between(lo.clone(), hi.clone(), domain), domain);
                    ColumnSet::union([&inside, &nulls], domain)
                }
            }
        };
        let set = match (&self.equal, self.parts.as_slice()) {
            (Some(value), _) if !op.is_ordering() => equality(op, value.clone(), domain),
            (_, [part]) => of(part),
            (_, parts) => ColumnSet::union(&parts.iter().map(of).collect::<Vec<_>>(), domain),
        };
        match self.made_up {
            false => set,
            // That a made-up constant has no equal says nothing about the real one.
            true if set.is_empty() => ColumnSet::points(vec![domain.sample(0)], domain).into_unknown(),
            true => set.into_unknown(),
        }
    }

    /// For a set made for an operator, the values for which the comparison is false; `None` if the result may have
    /// others.
    pub(super) fn doubt(&self, op: CompareOp, set: &ColumnSet, domain: &Domain) -> Option<ColumnSet> {
        match self.equal {
            Some(_) if !op.is_ordering() => Some(ColumnSet::EMPTY),
            _ if self.loose => None,
            _ => Some(self.failing.intersect(set, domain)),
        }
    }

    /// The one value of the column that equals the constant.
    pub(super) fn as_value(&self) -> Option<&Value> {
        match self.parts.as_slice() {
            _ if self.equal.is_some() => self.equal.as_ref().and_then(Option::as_ref),
            [Part { place: LiteralPosition::At(value), lo: Cut::Low, hi: Cut::High, .. }] => Some(value),
            _ => None,
        }
    }

    fn whole(place: LiteralPosition, made_up: bool) -> Self {
        let loose = matches!(place, LiteralPosition::Approximate { .. });
        let part = Part { lo: Cut::Low, hi: Cut::High, place, direction: Direction::Up };
        Self { parts: vec![part], equal: None, failing: ColumnSet::EMPTY, loose, made_up }
    }
}

/// The values that equal the one, or differ from it.
fn equality(op: CompareOp, value: Option<Value>, domain: &Domain) -> ColumnSet {
    match value {
        Some(value) => satisfying(op, &LiteralPosition::At(value), domain),
        // Equal to none of the column's values, wherever it stands.
        None => satisfying(op, &LiteralPosition::Gap(Cut::High), domain),
    }
}

impl CoverBuilder<'_> {
    /// The relation of `expr` to the key, if the key can bound it.
    pub(super) fn subject(&self, expr: &Expr) -> Option<KeyFunction> {
        if let Some(position) = self.key_column(expr) {
            return Some(KeyFunction { position, image: None });
        }
        if let Some((text, prefix)) = TextPrefix::of(expr) {
            return Some(KeyFunction { position: self.text_column(text)?, image: Some(Image::Prefix(prefix)) });
        }
        if let Expr::Call(function, args, _) = expr
            && let (KeyProperty::TrimmedEnd, [text]) = (function.key_property, args.as_slice())
        {
            return Some(KeyFunction { position: self.text_column(text)?, image: Some(Image::TrimmedEnd) });
        }
        if let Some((inner, key_text)) = KeyText::of(expr)
            && let Some(position) = self.key_column(inner)
        {
            return Some(KeyFunction { position, image: Some(Image::KeyText(key_text)) });
        }
        let (sampled, made_up) = with_samples(expr);
        let (column, monotonicity) = monotonicity(sampled.as_ref().unwrap_or(expr))?;
        let position = self.space.position(column)?;
        let ranks = ValueRanks::of(self.space.domain(position))?;
        let mut expr = sampled.clone().unwrap_or_else(|| expr.clone());
        expr.map_columns(&mut |column| column.index = 0);
        Some(KeyFunction {
            position,
            image: Some(Image::Curve(Box::new(Curve { expr, monotonicity, ranks, made_up }))),
        })
    }
}

/// The expression with samples for its parameters, if it has any.
fn with_samples(expr: &Expr) -> (Option<Expr>, bool) {
    let mut has_parameter = false;
    expr.walk(&mut |e| has_parameter |= unknown(e).is_some());
    if !has_parameter {
        return (None, false);
    }
    fn fill(e: &mut Expr) {
        let is_text = matches!(e.sql_type(), Some(SqlType::Varchar(_) | SqlType::Char(_)));
        match unknown(e) {
            None => e.for_each_child_mut(&mut fill),
            Some(_) if is_text => *e = Expr::Literal(Value::text("day"), SqlType::Varchar(None)),
            Some(_) => *e = Expr::Literal(Value::Int(1), SqlType::BigInt),
        }
    }
    let mut sampled = expr.clone();
    fill(&mut sampled);
    (Some(sampled), true)
}

impl KeyFunction {
    /// Whether it is the key column itself.
    pub(super) fn is_column(&self) -> bool {
        self.image.is_none()
    }

    /// The position of a constant for an operator; `None` for NULL, for another family, and if it is unknown.
    pub(super) fn locate(&self, op: CompareOp, constant: &Constant, domain: &Domain) -> Option<Located> {
        match (&self.image, constant) {
            (_, Constant::Null) => None,
            (Some(Image::KeyText(key_text)), constant) => locate_text(*key_text, op, constant, domain),
            (None, constant) => constant.place(domain).map(|(place, made_up)| Located::whole(place, made_up)),
            (Some(Image::Prefix(prefix)), _) => {
                let (text, typical) = constant.text(domain)?;
                Some(Located::whole(prefix.locate(&text, typical, domain), typical || prefix.made_up))
            }
            // The function falls where blanks meet control characters: an ordering says nothing.
            (Some(Image::TrimmedEnd), _) if op.is_ordering() => None,
            (Some(Image::TrimmedEnd), _) => {
                constant.text(domain).map(|(text, typical)| Located::whole(trimmed_place(&text, domain), typical))
            }
            (Some(Image::Curve(curve)), Constant::Value { value, .. }) => curve.locate(value, domain),
            (Some(Image::Curve(curve)), Constant::Parameter(index)) => {
                let value = curve.value(&domain.sample(*index))?;
                let located = curve.locate(&value, domain)?;
                Some(Located { made_up: true, ..located })
            }
        }
    }
}

fn locate_text(key_text: KeyText, op: CompareOp, constant: &Constant, domain: &Domain) -> Option<Located> {
    let whole_text = matches!((key_text, domain.ty()), (KeyText::Whole(_), SqlType::Char(_)));
    match constant {
        // CHAR goes without its padding here, and so nearly as texts do.
        Constant::Value { value: Value::Text(text), padded: false } if op.is_ordering() && whole_text => {
            Some(Located::whole(char_place(text, domain), false))
        }
        _ if op.is_ordering() => None,
        Constant::Value { value: Value::Text(text), padded: false } => {
            let equal = key_text.value(text, domain)?;
            Some(Located { equal: Some(equal), ..Located::whole(LiteralPosition::Gap(Cut::High), false) })
        }
        Constant::Parameter(index) if matches!(key_text, KeyText::Whole(_)) => {
            let equal = Some(Some(domain.sample(*index)));
            Some(Located { equal, ..Located::whole(LiteralPosition::Gap(Cut::High), true) })
        }
        _ => None,
    }
}

impl Curve {
    /// The function's value; `None` where it fails, or is NULL.
    fn value(&self, value: &Value) -> Option<Value> {
        eval::operand(&self.expr, std::slice::from_ref(value)).ok().filter(|value| !value.is_null())
    }

    fn locate(&self, constant: &Value, domain: &Domain) -> Option<Located> {
        if matches!(constant, Value::Float(_) | Value::Double(_))
            && !saltwing_types::number::to_f64(constant).is_finite()
        {
            return None;
        }
        let ranks = &self.ranks;
        // What fails at an end is taken for beyond all values there; between the ends something must be known.
        let zero = ranks.zero();
        self.value(&ranks.value(zero)?)?.compare(constant)?;
        let end = ranks.last + 1;
        let mut parts = match (self.monotonicity.below == self.monotonicity.above, zero == ranks.first) {
            (true, _) | (_, true) => vec![self.part(ranks.first, end, self.monotonicity.above, constant)?],
            _ => vec![
                self.part(ranks.first, zero, self.monotonicity.below, constant)?,
                self.part(zero, end, self.monotonicity.above, constant)?,
            ],
        };
        if let (Some(nan), Some(last)) = (ranks.nan(), parts.last_mut()) {
            last.hi = Cut::Before(nan.clone());
            parts.extend(self.lone(nan, constant));
        }
        let failing = self.failing(domain)?;
        Some(Located { parts, equal: None, failing, loose: self.monotonicity.in_floats, made_up: self.made_up })
    }

    /// The values at the ends for which the function fails; it does not for 0.
    fn failing(&self, domain: &Domain) -> Option<ColumnSet> {
        let ranks = &self.ranks;
        let fails = |value: &Value| self.value(value).is_none();
        let end = ranks.last + 1;
        let low = match fails(&ranks.value(ranks.first)?) {
            true => ranks.partition(ranks.first, ranks.zero(), fails)?,
            false => ranks.first,
        };
        let high = match fails(&ranks.value(ranks.last)?) {
            true => ranks.partition(ranks.zero(), end, |value| !fails(value))?,
            false => end,
        };
        let below = ColumnSet::between(Cut::Low, self.end(low)?, domain);
        Some(ColumnSet::union([&below, &ColumnSet::between(self.end(high)?, Cut::High, domain)], domain))
    }

    /// One value; `None` if the function fails for it, and then no row of it need be read.
    fn lone(&self, value: Value, constant: &Value) -> Option<Part> {
        let (lo, hi) = (Cut::Before(value.clone()), Cut::High);
        let place = match self.value(&value)?.compare(constant)? {
            Ordering::Less => LiteralPosition::Gap(Cut::High),
            Ordering::Equal => LiteralPosition::At(value),
            Ordering::Greater => LiteralPosition::Gap(lo.clone()),
        };
        Some(Part { lo, hi, place, direction: Direction::Up })
    }

    /// The constant's place among the values from one ordinal to before another.
    fn part(&self, from: I256, to: I256, direction: Direction, constant: &Value) -> Option<Part> {
        let zero = self.ranks.value(self.ranks.zero())?;
        let side = |value: &Value| match self.value(value).and_then(|value| value.compare(constant)) {
            Some(ordering) if direction == Direction::Up => ordering,
            Some(ordering) => ordering.reverse(),
            // Where the function fails it has left all that it reaches behind, on this side or on that.
            None if value.compare(&zero) == Some(Ordering::Less) => Ordering::Less,
            None => Ordering::Greater,
        };
        let equal = self.ranks.partition(from, to, |value| side(value).is_lt())?;
        let greater = self.ranks.partition(equal, to, |value| side(value).is_le())?;
        let lo = self.boundary(equal, from, to, Cut::Before)?;
        let hi = if greater == equal { lo.clone() } else { self.boundary(greater, from, to, Cut::After)? };
        let place = LiteralPosition::Within { lo, hi };
        let (lo, hi) = (self.end(from)?, self.end(to)?);
        Some(Part { lo, hi, place, direction })
    }

    /// The cut between an ordinal and the one before it: named by the plainer of their values.
    fn boundary(&self, at: I256, from: I256, to: I256, preferred: fn(Value) -> Cut) -> Option<Cut> {
        if at == from || at == to {
            return self.end(at);
        }
        let (before, after) = (self.ranks.value(at - 1)?, self.ranks.value(at)?);
        Some(match digits(&before).cmp(&digits(&after)) {
            Ordering::Less => Cut::After(before),
            Ordering::Greater => Cut::Before(after),
            Ordering::Equal => match preferred(Value::Null) {
                Cut::After(_) => Cut::After(before),
                _ => Cut::Before(after),
            },
        })
    }

    fn end(&self, at: I256) -> Option<Cut> {
        Some(if at <= self.ranks.first {
            Cut::Low
        } else if at > self.ranks.last {
            Cut::High
        } else {
            Cut::Before(self.ranks.value(at)?)
        })
    }
}

/// Digits of a decimal; other values are all as plain.
fn digits(value: &Value) -> u32 {
    if let Value::Decimal(d) = value { Decimal::precision(*d) } else { 0 }
}
