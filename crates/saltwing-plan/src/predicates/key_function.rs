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
use crate::predicates::constant::Constant;
use crate::predicates::open_comparison::OpenComparison;
use crate::predicates::prefix::{TextPrefix, char_place, trimmed_place};
use crate::predicates::text_of_key::KeyText;
use crate::span::Cut;
use crate::value_rank::ValueRanks;
use crate::value_set::ValueSet;

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
    /// A function with a value in it that is not known yet, which would tell how it moves.
    Open,
}

/// A function that goes up or down.
struct Curve {
    /// The function, over a row of the column alone.
    expr: Expr,
    monotonicity: Monotonicity,
    ranks: ValueRanks,
}

/// The position of a constant among a subject's values.
pub(super) struct Located {
    parts: Vec<Part>,
    /// Where equality alone says something: the one value that equals the constant, if there is one.
    equal: Option<Option<Value>>,
    /// Values of the column for which the function fails.
    failing: ValueSet,
    loose: bool,
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
    pub(super) fn satisfying(&self, op: CompareOp, domain: &Domain) -> ValueSet {
        let of = |part: &Part| {
            let op = if part.direction == Direction::Up { op } else { op.swapped() };
            let set = satisfying(op, &part.place, domain);
            match (&part.lo, &part.hi) {
                (Cut::Low, Cut::High) => set,
                (lo, hi) => {
                    let nulls = if set.has_null() { ValueSet::null(domain) } else { ValueSet::EMPTY };
                    let inside = set.intersect(&ValueSet::between(lo.clone(), hi.clone(), domain), domain);
                    ValueSet::union([&inside, &nulls], domain)
                }
            }
        };
        match (&self.equal, self.parts.as_slice()) {
            (Some(value), _) if !op.is_ordering() => equality(op, value.clone(), domain),
            (_, [part]) => of(part),
            (_, parts) => ValueSet::union(&parts.iter().map(of).collect::<Vec<_>>(), domain),
        }
    }

    /// For a set made for an operator, the values for which the comparison is false; `None` if the result may have
    /// others.
    pub(super) fn doubt(&self, op: CompareOp, set: &ColumnSet, domain: &Domain) -> Option<ValueSet> {
        match (&self.equal, set) {
            (Some(_), _) if !op.is_ordering() => Some(ValueSet::EMPTY),
            _ if self.loose => None,
            (_, ColumnSet::Known(set)) => Some(self.failing.intersect(set, domain)),
            (_, ColumnSet::Open(_)) => Some(self.failing.clone()),
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

    fn whole(place: LiteralPosition) -> Self {
        let loose = matches!(place, LiteralPosition::Approximate { .. });
        let part = Part { lo: Cut::Low, hi: Cut::High, place, direction: Direction::Up };
        Self { parts: vec![part], equal: None, failing: ValueSet::EMPTY, loose }
    }
}

/// The values that equal the one, or differ from it.
fn equality(op: CompareOp, value: Option<Value>, domain: &Domain) -> ValueSet {
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
            let image = prefix.map_or(Image::Open, Image::Prefix);
            return Some(KeyFunction { position: self.text_column(text)?, image: Some(image) });
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
        let (column, monotonicity) = monotonicity(expr)?;
        let position = self.space.position(column)?;
        let ranks = ValueRanks::of(self.space.domain(position))?;
        let Some(monotonicity) = monotonicity else {
            return Some(KeyFunction { position, image: Some(Image::Open) });
        };
        let mut expr = expr.clone();
        expr.map_columns(&mut |column| column.index = 0);
        Some(KeyFunction { position, image: Some(Image::Curve(Box::new(Curve { expr, monotonicity, ranks }))) })
    }
}

impl KeyFunction {
    /// Whether it is the key column itself.
    pub(super) fn is_column(&self) -> bool {
        self.image.is_none()
    }

    /// Whether only execution knows how it moves.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.image, Some(Image::Open))
    }

    /// The position of a constant for an operator; `None` for NULL, for another family, and if it is not known yet.
    pub(super) fn locate(&self, op: CompareOp, constant: &Constant, domain: &Domain) -> Option<Located> {
        match &self.image {
            None => constant.place(domain).map(Located::whole),
            Some(Image::KeyText(key_text)) => locate_text(*key_text, op, constant, domain),
            Some(Image::Prefix(prefix)) => Some(Located::whole(prefix.locate(constant.text()?, domain))),
            // The function falls where blanks meet control characters: an ordering says nothing.
            Some(Image::TrimmedEnd) if op.is_ordering() => None,
            Some(Image::TrimmedEnd) => Some(Located::whole(trimmed_place(constant.text()?, domain))),
            Some(Image::Curve(curve)) => match constant {
                Constant::Value { value, .. } => curve.locate(value, domain),
                Constant::Null | Constant::Open(_) => None,
            },
            Some(Image::Open) => None,
        }
    }

    /// What is known of a comparison with a constant, if this or that is not known yet. `None` if all is known, and if the key
    /// does not bound it.
    pub(super) fn open_comparison(
        &self,
        op: CompareOp,
        constant: &Constant,
        domain: &Domain,
    ) -> Option<OpenComparison> {
        let Constant::Open(ty) = *constant else { return self.is_open().then_some(OpenComparison::LOOSE) };
        let padded = matches!(ty, Some(SqlType::Char(_)));
        match &self.image {
            // As CHAR the text may equal others between them.
            None if padded && matches!(domain.ty(), SqlType::Varchar(_)) => Some(OpenComparison::LOOSE),
            None => Some(OpenComparison::POINT),
            Some(Image::Open) => Some(OpenComparison::LOOSE),
            Some(Image::Prefix(_)) => Some(match domain.ty() {
                SqlType::Varchar(_) => OpenComparison::SPAN,
                _ => OpenComparison::LOOSE,
            }),
            Some(Image::TrimmedEnd) => (!op.is_ordering()).then_some(OpenComparison::LOOSE),
            Some(Image::KeyText(KeyText::Whole(_))) => (!op.is_ordering() && !padded).then_some(OpenComparison::POINT),
            Some(Image::KeyText(KeyText::Substring(_))) => None,
            Some(Image::Curve(curve)) => curve.open_comparison(ty, domain),
        }
    }
}

fn locate_text(key_text: KeyText, op: CompareOp, constant: &Constant, domain: &Domain) -> Option<Located> {
    let whole_text = matches!((key_text, domain.ty()), (KeyText::Whole(_), SqlType::Char(_)));
    match constant {
        // CHAR goes without its padding here, and so nearly as texts do.
        Constant::Value { value: Value::Text(text), padded: false } if op.is_ordering() && whole_text => {
            Some(Located::whole(char_place(text, domain)))
        }
        _ if op.is_ordering() => None,
        Constant::Value { value: Value::Text(text), padded: false } => {
            let equal = key_text.value(text, domain)?;
            Some(Located { equal: Some(equal), ..Located::whole(LiteralPosition::Gap(Cut::High)) })
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
        Some(Located { parts, equal: None, failing, loose: self.monotonicity.in_floats })
    }

    /// A comparison of the function with a value of this type that is not known yet.
    fn open_comparison(&self, ty: Option<SqlType>, domain: &Domain) -> Option<OpenComparison> {
        let Monotonicity { below, above, in_floats, is_strict } = self.monotonicity;
        let ranks = &self.ranks;
        let value = self.value(&ranks.value(ranks.zero())?)?;
        let moves = if ranks.zero() == ranks.first { (above, above) } else { (below, above) };
        let is_point = is_strict && domain.is_discrete();
        // A float may be infinite, or no number, of which the function tells nothing.
        let is_float = ty.is_some_and(SqlType::is_float) || matches!(value, Value::Float(_) | Value::Double(_));
        let is_loose = in_floats || is_float;
        Some(OpenComparison {
            equal: is_point.then_some(if moves.0 == moves.1 { 1 } else { 2 }),
            moves,
            failing: if is_loose { None } else { Some(self.failing(domain)?) },
        })
    }

    /// The values at the ends for which the function fails; it does not for 0.
    fn failing(&self, domain: &Domain) -> Option<ValueSet> {
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
        let below = ValueSet::between(Cut::Low, self.end(low)?, domain);
        Some(ValueSet::union([&below, &ValueSet::between(self.end(high)?, Cut::High, domain)], domain))
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
            // If the function fails, the value is outside its domain: below it if negative, else above it.
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
