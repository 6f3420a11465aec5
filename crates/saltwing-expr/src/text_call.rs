//! Functions of text.

use arrow::array::{AsArray, BooleanArray, Int32Array};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use saltwing_types::{SqlType, VALUE_BYTES_MAX, Value};

use crate::ColumnBuilder;
use crate::batch::{Batch, Columnwise, RowByRow};
use crate::operand::{Operand, Texts, integers, valid};
use crate::step::{Compute, Step, Vector};

/// The result of a function whose arguments are not NULL in all rows.
pub(crate) type Kernel = fn(&[Vector], Rows) -> Columnwise<Vector>;

/// A call of a function that is NULL when an argument is.
#[derive(Debug)]
pub(crate) struct TextCall {
    pub(crate) kernel: Kernel,
    pub(crate) args: Vec<Step>,
}

impl Compute for TextCall {
    fn compute(&self, batch: &Batch) -> Columnwise<Vector> {
        let args = self.args.iter().map(|step| step.compute(batch)).collect::<Columnwise<Vec<_>>>()?;
        if args.iter().any(|arg| matches!(arg, Vector::Constant(Value::Null))) {
            return Ok(Vector::Constant(Value::Null));
        }
        let nulls = args.iter().fold(None, |nulls, arg| NullBuffer::union(nulls.as_ref(), valid(arg)));
        (self.kernel)(&args, Rows { count: batch.rows, nulls })
    }
}

fn texts(args: &[Vector], index: usize) -> Columnwise<Texts<'_>> {
    args.get(index).and_then(Texts::of).ok_or(RowByRow)
}

pub(crate) fn length(args: &[Vector], rows: Rows) -> Columnwise<Vector> {
    if let Some(Vector::Array(array)) = args.first()
        && let Some(bytes) = array.as_binary_opt::<i32>()
    {
        return rows.lengths(|row| bytes.value(row).len());
    }
    let text = texts(args, 0)?;
    rows.lengths(|row| char_count(text.get(row)))
}

pub(crate) fn starts_with(args: &[Vector], rows: Rows) -> Columnwise<Vector> {
    let (text, prefix) = (texts(args, 0)?, texts(args, 1)?);
    let starts = |row| text.get(row).as_bytes().starts_with(prefix.get(row).as_bytes());
    let mask = BooleanBuffer::collect_bool(rows.count, starts);
    Ok(Vector::of(BooleanArray::new(mask, rows.nulls)))
}

pub(crate) fn trim(args: &[Vector], rows: Rows) -> Columnwise<Vector> {
    let text = texts(args, 0)?;
    rows.texts(|row, out| out.push_str(text.get(row).trim_matches(' ')))
}

pub(crate) fn reverse(args: &[Vector], rows: Rows) -> Columnwise<Vector> {
    let text = texts(args, 0)?;
    rows.texts(|row, out| out.extend(text.get(row).chars().rev()))
}

pub(crate) fn lower(args: &[Vector], rows: Rows) -> Columnwise<Vector> {
    let text = texts(args, 0)?;
    rows.texts(|row, out| change_case(text.get(row), out, str::make_ascii_lowercase, str::to_lowercase))
}

pub(crate) fn upper(args: &[Vector], rows: Rows) -> Columnwise<Vector> {
    let text = texts(args, 0)?;
    rows.texts(|row, out| change_case(text.get(row), out, str::make_ascii_uppercase, str::to_uppercase))
}

pub(crate) fn concat(args: &[Vector], rows: Rows) -> Columnwise<Vector> {
    let texts = args.iter().map(Texts::of).collect::<Option<Vec<_>>>().ok_or(RowByRow)?;
    let bytes = |row| texts.iter().map(|text| text.get(row).len()).fold(0, usize::saturating_add);
    if (0..rows.count).any(|row| bytes(row) > VALUE_BYTES_MAX) {
        return Err(RowByRow);
    }
    rows.texts(|row, out| texts.iter().for_each(|text| out.push_str(text.get(row))))
}

pub(crate) fn left(args: &[Vector], rows: Rows) -> Columnwise<Vector> {
    let text = texts(args, 0)?;
    let count = integers(args.get(1).ok_or(RowByRow)?)?;
    rows.texts(|row, out| out.push_str(first_chars(text.get(row), at(&count, row))))
}

pub(crate) fn substr(args: &[Vector], rows: Rows) -> Columnwise<Vector> {
    let text = texts(args, 0)?;
    let from = integers(args.get(1).ok_or(RowByRow)?)?;
    let count = args.get(2).map(integers).transpose()?;
    rows.texts(|row, out| {
        let count = count.as_ref().map(|count| at(count, row));
        out.push_str(chars_from(text.get(row), at(&from, row), count));
    })
}

/// The rows of a result.
pub(crate) struct Rows {
    count: usize,
    nulls: Option<NullBuffer>,
}

impl Rows {
    fn texts(self, write: impl Fn(usize, &mut String)) -> Columnwise<Vector> {
        let mut builder = ColumnBuilder::new(SqlType::Varchar(None), self.count);
        let mut text = String::new();
        for row in 0..self.count {
            if self.nulls.as_ref().is_some_and(|valid| valid.is_null(row)) {
                builder.append_null().map_err(|_| RowByRow)?;
                continue;
            }
            text.clear();
            write(row, &mut text);
            builder.append_str(&text).map_err(|_| RowByRow)?;
        }
        Ok(Vector::Array(builder.finish()))
    }

    fn lengths(self, length: impl Fn(usize) -> usize) -> Columnwise<Vector> {
        let lengths = (0..self.count).map(|row| i32::try_from(length(row)).map_err(|_| RowByRow));
        let lengths = lengths.collect::<Columnwise<Vec<i32>>>()?;
        Ok(Vector::of(Int32Array::new(lengths.into(), self.nulls)))
    }
}

fn at(operand: &Operand<'_, i64>, row: usize) -> i64 {
    match operand {
        Operand::Constant(value) => *value,
        Operand::Values(values) => {
            debug_assert!(row < values.len(), "row {row} of {} values", values.len());
            values.get(row).copied().unwrap_or(0)
        }
    }
}

fn char_count(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// The byte where the character with this number starts; the text's end when it has fewer.
fn byte_of_char(text: &str, number: usize) -> usize {
    if text.is_ascii() {
        return number.min(text.len());
    }
    text.char_indices().nth(number).map_or(text.len(), |(byte, _)| byte)
}

fn change_case(text: &str, out: &mut String, in_place: impl Fn(&mut str), whole: impl Fn(&str) -> String) {
    if !text.is_ascii() {
        return out.push_str(&whole(text));
    }
    let start = out.len();
    out.push_str(text);
    if let Some(added) = out.get_mut(start..) {
        in_place(added);
    }
}

/// As `LEFT`: a negative count leaves that many characters off at the end.
fn first_chars(text: &str, count: i64) -> &str {
    let count = if count < 0 { (char_count(text) as i64 + count).max(0) } else { count };
    text.get(..byte_of_char(text, count as usize)).unwrap_or_default()
}

/// As `SUBSTR`: from 1, 0 is 1 too, a negative start counts from the end.
fn chars_from(text: &str, from: i64, count: Option<i64>) -> &str {
    let skip = match from {
        0 => 0,
        from if from < 0 => match char_count(text) as i64 + from {
            skip if skip >= 0 => skip,
            _ => return "",
        },
        from => from - 1,
    };
    let rest = text.get(byte_of_char(text, skip as usize)..).unwrap_or_default();
    match count {
        None => rest,
        Some(count) => rest.get(..byte_of_char(rest, count.max(0) as usize)).unwrap_or_default(),
    }
}
