//! FORMAT: a text with directives for its arguments, those of PostgreSQL's `format` and of C's `printf`, as in SQLite.

use super::float_text::{shortest, with_exponent};
use super::quoting::{quoted_name, quoted_text};
use super::signature::{VARCHAR, of_kind, text};
use super::{Args, ParameterKind, ScalarFunction, Signature, SizeBound};
use crate::error::shorten;
use crate::{Decimal, SqlType, Value, ValueError};

pub(super) static ALL: &[&ScalarFunction] = &[&FORMAT];

static FORMAT: ScalarFunction = ScalarFunction::new(
    "FORMAT",
    &[Signature::new(&[text("format"), of_kind("value", ParameterKind::AnyAsText)], VARCHAR).repeated().optional(1)],
    |args| {
        if args.value(0)?.is_null() {
            return Ok(Value::Null);
        }
        let (mut text, mut next) = (String::new(), 1);
        for piece in pieces(args)? {
            match piece? {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Directive(directive) => {
                    next = directive.position.map_or(next, |position| position);
                    let shown = directive.shown(args, next)?;
                    directive.pad(&mut text, &shown);
                    next += 1;
                }
            }
        }
        Ok(Value::Text(text))
    },
)
.aliases(&["PRINTF"])
.with_own_nulls()
.size(SizeBound { bytes: result_bytes, multiplies: true })
.gives(
    "The text with its directives replaced by the values: %s the value, %I as a name and %L as a literal of SQL, %1$s the first \
     one, as in PostgreSQL; %d %x %o %f %e %g %c %q %Q with flags, width and precision, as in SQLite; %% a percent sign.",
)
.example("FORMAT('%s has %05.1f of %d', 'a', 2.25, 7)", "a has 002.2 of 7");

/// A part of a format.
enum Piece<'a> {
    Text(&'a str),
    Directive(Directive),
}

/// `%[position$][flags][width][.precision]kind`
#[derive(Clone, Copy, Default)]
struct Directive {
    /// From 1.
    position: Option<usize>,
    is_left: bool,
    has_zeros: bool,
    has_plus: bool,
    has_blank: bool,
    width: usize,
    precision: Option<usize>,
    kind: char,
}

/// Digits of %f, %e and %g: no DOUBLE has more than 767 that are not zero in a row.
const PRECISION_MAX: usize = 1000;

/// Bytes of a number without width and precision at most: those of %f of the greatest DOUBLE.
const NUMBER_BYTES: usize = 400;

fn result_bytes(args: &Args<'_>) -> Result<usize, ValueError> {
    if args.value(0)?.is_null() {
        return Ok(0);
    }
    let longest = args.texts_from(1)?.iter().map(|text| text.len()).max().unwrap_or_default();
    let bytes = |piece: Piece<'_>| match piece {
        Piece::Text(text) => text.len(),
        Piece::Directive(directive) => {
            let shown = longest.saturating_mul(2).saturating_add(NUMBER_BYTES);
            shown.saturating_add(directive.width).saturating_add(directive.precision.unwrap_or_default())
        }
    };
    pieces(args)?.try_fold(0, |sum: usize, piece| Ok(sum.saturating_add(bytes(piece?))))
}

/// The parts of the format, one after the other: there may be as many as it has bytes.
fn pieces<'a>(args: &'a Args<'a>) -> Result<impl Iterator<Item = Result<Piece<'a>, ValueError>>, ValueError> {
    let mut rest = args.text(0)?;
    Ok(std::iter::from_fn(move || {
        let (before, after) = match rest.strip_prefix('%') {
            Some(after) => ("", after),
            None => {
                let (text, directives) = rest.split_at_checked(rest.find('%').unwrap_or(rest.len()))?;
                (text, directives)
            }
        };
        if !before.is_empty() {
            rest = after;
            return Some(Ok(Piece::Text(before)));
        }
        if rest.is_empty() {
            return None;
        }
        let (directive, after) = match directive(args, after) {
            Ok(found) => found,
            Err(error) => {
                rest = "";
                return Some(Err(error));
            }
        };
        rest = after;
        Some(Ok(if directive.kind == '%' { Piece::Text("%") } else { Piece::Directive(directive) }))
    }))
}

/// The directive that a text begins with, after its percent sign, and the text after it.
fn directive<'a>(args: &Args<'_>, text: &'a str) -> Result<(Directive, &'a str), ValueError> {
    let mut directive = Directive::default();
    let (number, mut rest) = leading_number(args, text)?;
    match (number, rest.strip_prefix('$')) {
        (Some(0), Some(_)) => return Err(args.refused("values are counted from 1")),
        (Some(position), Some(after)) => (directive.position, rest) = (Some(position), after),
        _ => rest = text,
    }
    while let Some(flag) = rest.chars().next().filter(|c| "-0+ ".contains(*c)) {
        match flag {
            '-' => directive.is_left = true,
            '0' => directive.has_zeros = true,
            '+' => directive.has_plus = true,
            _ => directive.has_blank = true,
        }
        rest = rest.get(1..).unwrap_or_default();
    }
    let (width, after) = leading_number(args, rest)?;
    (directive.width, rest) = (width.unwrap_or_default(), after);
    if let Some(after) = rest.strip_prefix('.') {
        let (precision, after) = leading_number(args, after)?;
        (directive.precision, rest) = (Some(precision.unwrap_or_default()), after);
    }
    let Some(kind) = rest.chars().next() else { return Err(args.refused("a directive ends after its percent sign")) };
    directive.kind = kind;
    if !"%sILdiuxXofeEgGcqQ".contains(kind) {
        let known = "there are %s %I %L %d %x %o %f %e %g %c %q %Q, and %% for a percent sign";
        return Err(args.refused(format_args!("%{kind} is no directive; {known}")));
    }
    if "feEgG".contains(kind) && directive.precision.is_some_and(|digits| digits > PRECISION_MAX) {
        let text = format_args!("%{kind} takes a precision of {PRECISION_MAX} digits at most");
        return Err(args.refused(text));
    }
    Ok((directive, rest.get(kind.len_utf8()..).unwrap_or_default()))
}

fn leading_number<'a>(args: &Args<'_>, text: &'a str) -> Result<(Option<usize>, &'a str), ValueError> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() {
        return Ok((None, rest));
    }
    // The bound of the result's size sees it.
    let number = digits.parse::<u32>().map_err(|_| args.refused(format_args!("{} is too long", shorten(digits))))?;
    Ok((usize::try_from(number).ok(), rest))
}

impl Directive {
    /// The value of this number without padding.
    fn shown(&self, args: &Args<'_>, index: usize) -> Result<String, ValueError> {
        let value = args.values().get(index).ok_or_else(|| args.refused("there are fewer values than directives"))?;
        let text = value.as_text();
        let cut = |text: &str| match self.precision {
            Some(length) => text.chars().take(length).collect(),
            None => text.to_owned(),
        };
        Ok(match self.kind {
            's' => cut(text.unwrap_or_default()),
            'c' => text.unwrap_or_default().chars().take(1).collect(),
            'q' => text.unwrap_or("(NULL)").replace('\'', "''"),
            'Q' => text.map_or_else(|| "NULL".to_owned(), |text| format!("'{}'", text.replace('\'', "''"))),
            'L' => text.map_or_else(|| "NULL".to_owned(), quoted_text),
            'I' => match text {
                Some(name) => quoted_name(name),
                None => return Err(args.refused("NULL is no name for %I")),
            },
            'f' | 'e' | 'E' | 'g' | 'G' => self.float(number(args, text)?.to_f64()),
            _ => self.integer(args, number(args, text)?)?,
        })
    }

    fn float(&self, value: f64) -> String {
        let precision = self.precision.unwrap_or(6);
        let shown = match self.kind {
            'f' => format!("{value:.precision$}"),
            'e' | 'E' => with_exponent(value, precision),
            _ => shortest(value, precision.max(1)),
        };
        self.signed(if self.kind.is_ascii_uppercase() { shown.to_uppercase() } else { shown })
    }

    fn integer(&self, args: &Args<'_>, value: Decimal) -> Result<String, ValueError> {
        let whole = value.truncate(0);
        Ok(match self.kind {
            'd' | 'i' | 'u' => self.signed(whole.to_string()),
            kind => {
                let beyond = || ValueError::OutOfRange { value: args.shown(), target: SqlType::BigInt.to_string() };
                let bits = whole.to_i64().ok_or_else(beyond)?;
                match kind {
                    'x' => format!("{bits:x}"),
                    'X' => format!("{bits:X}"),
                    _ => format!("{bits:o}"),
                }
            }
        })
    }

    fn signed(&self, shown: String) -> String {
        match shown.starts_with('-') {
            false if self.has_plus => format!("+{shown}"),
            false if self.has_blank => format!(" {shown}"),
            _ => shown,
        }
    }

    fn pad(&self, text: &mut String, shown: &str) {
        let missing = self.width.saturating_sub(shown.chars().count());
        let is_number = !"sILcqQ".contains(self.kind);
        match (self.is_left, self.has_zeros && is_number) {
            (true, _) => {
                text.push_str(shown);
                text.extend(std::iter::repeat_n(' ', missing));
            }
            (false, true) => {
                let digits = shown.find(|c: char| c.is_ascii_alphanumeric()).unwrap_or_default();
                let (sign, digits) = shown.split_at(digits);
                text.push_str(sign);
                text.extend(std::iter::repeat_n('0', missing));
                text.push_str(digits);
            }
            (false, false) => {
                text.extend(std::iter::repeat_n(' ', missing));
                text.push_str(shown);
            }
        }
    }
}

/// The number that a text is; 0 of NULL.
fn number(args: &Args<'_>, text: Option<&str>) -> Result<Decimal, ValueError> {
    let Some(text) = text else { return Ok(Decimal::ZERO) };
    match crate::text::parse(text.trim(), SqlType::Decimal(None)) {
        Ok(Value::Decimal(number)) => Ok(number),
        _ => Err(args.refused(format_args!("'{}' is no number for a directive of numbers", shorten(text)))),
    }
}
