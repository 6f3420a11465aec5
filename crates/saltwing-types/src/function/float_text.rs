//! Floating-point numbers as C's `printf` writes them.

/// As C's %e: the exponent has a sign and at least two digits.
pub(super) fn with_exponent(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => text,
    }
}

/// As C's %g: the shorter of %f and %e in so many digits, without zeros at the end.
pub(super) fn shortest(value: f64, digits: usize) -> String {
    let scientific = with_exponent(value, digits - 1);
    let exponent =
        scientific.split_once('e').and_then(|(_, exponent)| exponent.parse::<i64>().ok()).unwrap_or_default();
    let places = digits as i64 - 1 - exponent;
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    match usize::try_from(places) {
        Ok(places) if exponent >= -4 => trimmed(&format!("{value:.places$}")),
        _ => match scientific.split_once('e') {
            Some((digits, exponent)) => format!("{}e{exponent}", trimmed(digits)),
            None => scientific,
        },
    }
}
