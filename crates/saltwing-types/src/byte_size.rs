//! Numbers of bytes as text: `512MB`.

/// Units by name, in lower case; powers of 1,024, as PostgreSQL has them.
const UNITS: [(&str, u64); 6] = [("", 1), ("b", 1), ("kb", 1 << 10), ("mb", 1 << 20), ("gb", 1 << 30), ("tb", 1 << 40)];

/// Reads `1000000`, `512MB`, `2 GB`; `None` for anything else, and for what 64 bits cannot hold.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim().to_lowercase();
    let (_, bytes) = UNITS.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units() {
        let all = ["1000", "512MB", " 2 gb ", "3kB", "0"].map(parse_bytes);
        assert_eq!(all, [Some(1000), Some(512 << 20), Some(2 << 30), Some(3 << 10), Some(0)]);
        for bad in ["", "MB", "-1", "1.5GB", "1 mib", "99999999999TB"] {
            assert_eq!(parse_bytes(bad), None, "{bad}");
        }
    }
}
