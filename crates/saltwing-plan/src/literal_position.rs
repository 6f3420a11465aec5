//! The position of a constant of any type among a column's values.
//!
//! # Law
//! For every value `v` that the column can hold and every constant `c` of its family, `locate(c)` gives `v < c`, `v =
//! c` and `v > c` as SQL compares them (`Value::compare_as`): at `c` itself, below or above the gap, or, if it is
//! approximate, at least on the outer sides. Of an array it gives `v = c` alone, as the order of arrays in a key is not that of
//! their values.

use saltwing_types::sql_type::TypeFamily;
use saltwing_types::value::Timestamp;
use saltwing_types::{Decimal, SqlType, Value, number, text};

use crate::domain::{Domain, instants};
use crate::span::Cut;

/// The position of a constant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LiteralPosition {
    /// It is this value of the column.
    At(Value),
    /// No value equals it; the cut separates smaller from larger values.
    Gap(Cut),
    /// The values between the cuts, possibly none, all equal it; a function can have several.
    Within {
        /// Values below are smaller than the constant.
        lo: Cut,
        /// Values above are larger.
        hi: Cut,
    },
    /// The values that may equal it are between the cuts, with others among them.
    Approximate {
        /// Values below are smaller than the constant.
        lo: Cut,
        /// Values above are larger.
        hi: Cut,
    },
}

impl LiteralPosition {
    /// The lowest cut with no value below the constant above it.
    pub(crate) fn before(&self) -> Cut {
        match self {
            LiteralPosition::At(value) => Cut::Before(value.clone()),
            LiteralPosition::Gap(cut) => cut.clone(),
            LiteralPosition::Within { lo, .. } | LiteralPosition::Approximate { lo, .. } => lo.clone(),
        }
    }

    /// The highest cut with no value above the constant below it.
    pub(crate) fn after(&self) -> Cut {
        match self {
            LiteralPosition::At(value) => Cut::After(value.clone()),
            LiteralPosition::Gap(cut) => cut.clone(),
            LiteralPosition::Within { hi, .. } | LiteralPosition::Approximate { hi, .. } => hi.clone(),
        }
    }
}

impl Domain {
    /// Where a constant that is not NULL stands; `padded` when the comparison pads with blanks (see CHAR).
    ///
    /// `None` when it is of another family and does not compare.
    pub(crate) fn locate(&self, constant: &Value, padded: bool) -> Option<LiteralPosition> {
        let ty = self.ty();
        if constant.family() != ty.family() {
            return None;
        }
        match (ty, constant) {
            (SqlType::Boolean, Value::Bool(b)) => Some(LiteralPosition::At(Value::Bool(*b))),
            (SqlType::Decimal(limits), _) => decimal(constant, limits, self),
            (SqlType::Char(width), Value::Text(text)) if self.is_unpadded() && !padded => {
                Some(unpadded_text(text, width as usize))
            }
            (SqlType::Char(width), Value::Text(text)) => Some(char_text(text, width as usize)),
            (SqlType::Varchar(limit), Value::Text(text)) if padded => Some(padded_text(self, text, limit)),
            (SqlType::Varchar(limit), Value::Text(text)) => Some(varchar(self, text, limit)),
            (_, Value::Bytes(bytes)) => Some(binary(self, bytes)),
            (_, Value::Array(_)) => Some(match self.stored(constant) {
                Some(_) => LiteralPosition::At(constant.clone()),
                None => LiteralPosition::Gap(Cut::High),
            }),
            _ if ty.is_integer() => integer(constant, ty.integer_range()?),
            _ if ty.is_float() => float(constant, ty),
            _ if ty.family() == TypeFamily::Instant => instant(constant, ty),
            _ => None,
        }
    }
}

fn integer(constant: &Value, (min, max): (i64, i64)) -> Option<LiteralPosition> {
    // The largest integer that is not above the constant, and whether it is the constant.
    let (floor, exact) = match constant {
        Value::Int(i) => (i128::from(*i), true),
        Value::Decimal(d) => match d.floor(0).ok().and_then(|floor| floor.unscaled_at(0)) {
            Some(floor) => (floor, d.is_integer()),
            None => (if d.is_negative() { i128::MIN } else { i128::MAX }, false),
        },
        Value::Float(_) | Value::Double(_) => {
            let value = number::to_f64(constant);
            // NaN is above every number; `as` keeps to the limits of i128.
            let floor = if value.is_nan() { i128::MAX } else { value.floor() as i128 };
            (floor, value.fract() == 0.0)
        }
        _ => return None,
    };
    Some(match i64::try_from(floor) {
        Ok(floor) if floor >= min && floor <= max => match exact {
            true => LiteralPosition::At(Value::Int(floor)),
            false => LiteralPosition::Gap(Cut::After(Value::Int(floor))),
        },
        _ => LiteralPosition::Gap(if floor < i128::from(min) { Cut::Low } else { Cut::High }),
    })
}

/// Smallest power of ten that is too large for a key, and for one in a nullable DESC column.
const DECIMAL_DIGITS_MAX: i32 = 126;
const DECIMAL_NULLABLE_DESC_DIGITS_MAX: i32 = 122;
/// The same below zero.
const DECIMAL_NEGATIVE_DIGITS_MAX: i32 = 124;
/// Digits before the point of the smallest number above zero that a key holds, 1E-126.
const DECIMAL_DIGITS_MIN: i32 = -125;

fn decimal(constant: &Value, limits: Option<(u8, u8)>, domain: &Domain) -> Option<LiteralPosition> {
    let Ok(value) = number::to_decimal(constant) else {
        // NaN and the infinities stand outside all decimals.
        let below = number::to_f64(constant) == f64::NEG_INFINITY;
        return Some(LiteralPosition::Gap(if below { Cut::Low } else { Cut::High }));
    };
    let (floor, exact) = match limits {
        Some((_, scale)) => {
            let floor = value.floor(scale.into()).ok()?;
            (floor, floor == value)
        }
        None => (value, true),
    };
    if let Some((precision, scale)) = limits
        && floor.integer_digits() > i32::from(precision) - i32::from(scale)
    {
        return Some(LiteralPosition::Gap(if floor.is_negative() { Cut::Low } else { Cut::High }));
    }
    let digits_max = match (floor.is_negative(), domain.nullable() && !domain.is_ascending()) {
        (true, _) => DECIMAL_NEGATIVE_DIGITS_MAX,
        (false, true) => DECIMAL_NULLABLE_DESC_DIGITS_MAX,
        (false, false) => DECIMAL_DIGITS_MAX,
    };
    Some(if floor.integer_digits() > digits_max {
        LiteralPosition::Gap(if floor.is_negative() { Cut::Low } else { Cut::High })
    } else if floor != Decimal::ZERO && floor.integer_digits() < DECIMAL_DIGITS_MIN {
        let zero = Value::Decimal(Decimal::ZERO);
        LiteralPosition::Gap(if floor.is_negative() { Cut::Before(zero) } else { Cut::After(zero) })
    } else if exact {
        LiteralPosition::At(Value::Decimal(floor))
    } else {
        LiteralPosition::Gap(Cut::After(Value::Decimal(floor)))
    })
}

fn float(constant: &Value, ty: SqlType) -> Option<LiteralPosition> {
    // Adding 0.0 turns -0.0 into 0.0.
    let nearest = match (constant, ty.is_single_float()) {
        (Value::Float(f), true) => Value::Float(*f + 0.0),
        (Value::Decimal(d), true) => Value::Float(d.to_f32() + 0.0),
        (Value::Int(i), true) => Value::Float(*i as f32),
        (other, true) => Value::Float(number::to_f64(other) as f32 + 0.0),
        (other, false) => Value::Double(number::to_f64(other) + 0.0),
    };
    if ty.is_unsigned() && number::to_f64(&nearest) < 0.0 {
        return Some(LiteralPosition::Gap(Cut::Low));
    }
    // The nearest float has the constant on one side of it, and no other float between.
    Some(match nearest.compare(constant)? {
        std::cmp::Ordering::Equal => LiteralPosition::At(nearest),
        std::cmp::Ordering::Less => LiteralPosition::Gap(Cut::After(nearest)),
        std::cmp::Ordering::Greater => LiteralPosition::Gap(Cut::Before(nearest)),
    })
}

fn instant(constant: &Value, ty: SqlType) -> Option<LiteralPosition> {
    let at = text::instant(constant)?;
    let (first, last) = instants(ty);
    if at.ms < first || at.ms > last {
        return Some(LiteralPosition::Gap(if at.ms < first { Cut::Low } else { Cut::High }));
    }
    Some(match (ty.is_timestamp(), at.nanos) {
        (true, _) => LiteralPosition::At(Value::Timestamp(Timestamp { ms: at.ms, nanos: at.nanos })),
        (false, 0) => LiteralPosition::At(Value::Date(at.ms)),
        (false, _) => LiteralPosition::Gap(Cut::After(Value::Date(at.ms))),
    })
}

/// CHAR(n) holds ASCII and compares padded, so a constant is cut where it leaves that.
fn char_text(constant: &str, width: usize) -> LiteralPosition {
    let constant = constant.trim_end_matches(' ');
    let bytes = constant.as_bytes();
    let head_bytes = bytes.iter().take(width).take_while(|byte| byte.is_ascii()).count();
    let head = constant.get(..head_bytes).unwrap_or_default();
    if head_bytes == bytes.len() {
        return LiteralPosition::At(Value::text(constant));
    }
    if head_bytes < width {
        // A byte above ASCII: every value that begins with `head` is below it.
        let last = format!("{head}{}", "\u{7f}".repeat(width - head_bytes));
        return LiteralPosition::Gap(Cut::After(Value::Text(last)));
    }
    // Longer than the column: the value meets the rest with blanks.
    let rest = bytes.iter().skip(width).find(|byte| **byte != b' ');
    let value = Value::text(head.trim_end_matches(' '));
    LiteralPosition::Gap(if rest.is_some_and(|byte| *byte < b' ') { Cut::Before(value) } else { Cut::After(value) })
}

/// Values of exactly `width` characters, none of them a blank, that compare as they are:
/// a shorter constant is below all that begin with it, a longer one above.
fn unpadded_text(constant: &str, width: usize) -> LiteralPosition {
    let trimmed = constant.trim_end_matches(' ');
    match char_text(constant, width) {
        LiteralPosition::At(value) if trimmed.len() == width && constant.len() == width => LiteralPosition::At(value),
        LiteralPosition::At(value) if trimmed.len() < width => LiteralPosition::Gap(Cut::Before(value)),
        LiteralPosition::At(value) | LiteralPosition::Gap(Cut::Before(value)) => {
            LiteralPosition::Gap(Cut::After(value))
        }
        other => other,
    }
}

fn varchar(domain: &Domain, constant: &str, limit: Option<u32>) -> LiteralPosition {
    let nul = constant.bytes().position(|byte| byte == 0);
    let head = match nul {
        Some(0) if domain.nullable() => Some(0),
        Some(at) if !domain.has_nul_text() => Some(at),
        _ => None,
    };
    if let Some(head) = head.and_then(|end| constant.get(..end)) {
        return text_gap(domain, head.to_owned());
    }
    if let Some(limit) = limit
        && let Some(gap) = beyond_limit(constant, limit as usize)
    {
        return text_gap(domain, gap);
    }
    match constant {
        "" if !domain.has_empty_text() => LiteralPosition::Gap(Cut::Low),
        _ => LiteralPosition::At(Value::text(constant)),
    }
}

/// The gap after `value`, which is a value of the column unless it is the empty text.
fn text_gap(domain: &Domain, value: String) -> LiteralPosition {
    LiteralPosition::Gap(if value.is_empty() && !domain.has_empty_text() {
        Cut::Low
    } else {
        Cut::After(Value::Text(value))
    })
}

/// The largest text of at most `limit` UTF-16 units below a longer constant; `None` for one that fits.
fn beyond_limit(constant: &str, limit: usize) -> Option<String> {
    let mut units = 0;
    for (at, c) in constant.char_indices() {
        if units + c.len_utf16() > limit {
            let head = constant.get(..at)?;
            // One unit is left where two were needed: any character of one unit fits, and all are smaller.
            return Some(if units < limit { format!("{head}\u{ffff}") } else { head.to_owned() });
        }
        units += c.len_utf16();
    }
    None
}

/// VARCHAR compared as CHAR: 'ab' equals 'ab  ', and blanks stand above control characters.
///
/// Values equal to it are the trimmed constant and any number of blanks after it. Smaller values are below the constant
/// with `!`, the character after the blank; larger ones are above the part before the first control character. Loose on
/// purpose: others are in between.
fn padded_text(domain: &Domain, constant: &str, limit: Option<u32>) -> LiteralPosition {
    let trimmed = constant.trim_end_matches(' ');
    let control = trimmed.bytes().position(|byte| byte < b' ').unwrap_or(trimmed.len());
    let low = trimmed.get(..control).unwrap_or_default().trim_end_matches(' ');
    LiteralPosition::Approximate {
        lo: varchar(domain, low, limit).before(),
        hi: varchar(domain, &format!("{trimmed}!"), limit).before(),
    }
}

fn binary(domain: &Domain, constant: &[u8]) -> LiteralPosition {
    let Some(width) = domain.ty().fixed_key_bytes() else {
        return match constant {
            [] if !domain.has_empty_text() => LiteralPosition::Gap(Cut::Low),
            [0xff, ..] if domain.reserves_ff() => LiteralPosition::Gap(Cut::High),
            _ => LiteralPosition::At(Value::Bytes(constant.to_vec())),
        };
    };
    let mut value = constant.to_vec();
    value.resize(width, 0);
    match constant.len().cmp(&width) {
        std::cmp::Ordering::Equal => LiteralPosition::At(Value::Bytes(value)),
        // A shorter constant is a prefix of the value at most, and so below it.
        std::cmp::Ordering::Less => LiteralPosition::Gap(Cut::Before(Value::Bytes(value))),
        std::cmp::Ordering::Greater => LiteralPosition::Gap(Cut::After(Value::Bytes(value))),
    }
}

#[cfg(test)]
mod tests;
