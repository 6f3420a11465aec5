//! How a pattern is read.

use super::{Item, Letters, PgNumberPattern, Sign};

/// Most digits that a pattern may ask for on either side of the point.
const PLACES_MAX: usize = 255;

/// The words, in upper case; V and G are among them, D and G are a point and a comma.
const WORDS: [&str; 13] = ["EEEE", "FM", "MI", "PL", "PR", "RN", "SG", "TH", "D", "G", "L", "S", "V"];

impl PgNumberPattern {
    /// Reads a pattern; `None` if it has nothing of this language: no 9, and none of its words.
    ///
    /// # Errors
    /// Says why a pattern with a 9 or a word of this language is none.
    pub(crate) fn parse(pattern: &str) -> Result<Option<Self>, &'static str> {
        let (mut reader, mut rest, mut is_of_ours) = (Reader::default(), pattern, false);
        while let Some(c) = rest.chars().next() {
            let after = rest.get(c.len_utf8()..).unwrap_or_default();
            rest = if c == '"' {
                match reader.quoted(after) {
                    Some(after) => after,
                    None if is_of_ours => return Err("a quote is not closed"),
                    None => return Ok(None),
                }
            } else if let Some((word, letters, after)) = word(rest) {
                is_of_ours = true;
                reader.word(word, letters)?;
                after
            } else {
                let is_foreign = c.is_alphabetic() || "#';¤".contains(c);
                if is_foreign && (is_of_ours || after.contains('9')) {
                    return Err("a pattern with 9, S, MI and the like has other letters, # and ; in double quotes");
                }
                if is_foreign {
                    return Ok(None);
                }
                is_of_ours |= c == '9';
                match reader.mark(c) {
                    Err(why) if is_of_ours || after.contains('9') => return Err(why),
                    Err(_) => return Ok(None),
                    Ok(()) => after,
                }
            };
        }
        if is_of_ours { reader.finish().map(Some) } else { Ok(None) }
    }
}

/// The word that a text begins with, all of it in one case, and the text after it.
fn word(text: &str) -> Option<(&'static str, Letters, &str)> {
    WORDS.into_iter().find_map(|word| {
        let lower = word.to_ascii_lowercase();
        let upper = text.strip_prefix(word).map(|after| (word, Letters::Upper, after));
        upper.or_else(|| text.strip_prefix(&lower).map(|after| (word, Letters::Lower, after)))
    })
}

/// What is read so far.
#[derive(Default)]
struct Reader {
    items: Vec<Item>,
    has_point: bool,
    is_plain: bool,
    is_scientific: bool,
    is_roman: bool,
    has_brackets: bool,
    /// MI, PL or SG.
    has_own_sign: bool,
    /// MI or SG.
    has_own_minus: bool,
    /// The places before the point that S comes after, and whether S comes after the point.
    sign: Option<(usize, bool)>,
    integer: usize,
    fraction: usize,
    first_zero: Option<usize>,
    kept_fraction: usize,
    /// Places after V.
    shifted: Option<usize>,
}

impl Reader {
    /// Takes the text up to the closing quote; a backslash makes the next character a part of it.
    fn quoted<'p>(&mut self, text: &'p str) -> Option<&'p str> {
        let mut chars = text.char_indices();
        while let Some((place, c)) = chars.next() {
            match c {
                '"' => return text.get(place + 1..),
                '\\' => self.items.push(Item::Text(chars.next()?.1)),
                c => self.items.push(Item::Text(c)),
            }
        }
        None
    }

    fn mark(&mut self, c: char) -> Result<(), &'static str> {
        if self.is_scientific {
            return Err("EEEE stands last");
        }
        match c {
            '9' | '0' => self.digit(c == '0')?,
            '.' => self.point()?,
            ',' => self.items.push(Item::Comma),
            c => self.items.push(Item::Text(c)),
        }
        Ok(())
    }

    fn digit(&mut self, is_zero: bool) -> Result<(), &'static str> {
        if self.has_brackets {
            return Err("digits stand before PR");
        }
        if is_zero && self.shifted.is_some() {
            return Err("the digits after V are 9");
        }
        self.items.push(Item::Digit);
        if self.has_point {
            self.fraction += 1;
            if is_zero {
                self.kept_fraction = self.fraction;
            }
        } else {
            if is_zero {
                self.first_zero.get_or_insert(self.integer);
            }
            self.integer += 1;
            self.shifted = self.shifted.map(|places| places + 1);
        }
        if self.integer.max(self.fraction) > PLACES_MAX { Err("it has more than 255 digits") } else { Ok(()) }
    }

    fn point(&mut self) -> Result<(), &'static str> {
        match (self.has_point, self.shifted) {
            (true, _) => Err("it has two points"),
            (_, Some(_)) => Err("it has V and a point"),
            _ => {
                self.has_point = true;
                self.items.push(Item::Point);
                Ok(())
            }
        }
    }

    fn word(&mut self, word: &str, letters: Letters) -> Result<(), &'static str> {
        const SIGNS: &str = "S, PR, and MI with its kin exclude each other";
        if self.is_scientific {
            return Err("EEEE stands last");
        }
        match word {
            "D" => self.point()?,
            "G" => self.items.push(Item::Comma),
            "L" => self.items.push(Item::Currency),
            "FM" => self.is_plain = true,
            "EEEE" => self.is_scientific = true,
            "TH" => self.items.push(Item::Ordinal(letters)),
            "V" if self.has_point || self.shifted.is_some() => return Err("it has V and a point, or V twice"),
            "V" => self.shifted = Some(0),
            "RN" if self.is_roman => return Err("it has RN twice"),
            "RN" => {
                self.is_roman = true;
                self.items.push(Item::Roman(letters));
            }
            "S" if self.sign.is_some() || self.has_own_sign || self.has_brackets => return Err(SIGNS),
            "S" => self.sign = Some((self.integer, self.has_point)),
            "PR" if self.sign.is_some() || self.has_own_sign || self.has_brackets => return Err(SIGNS),
            "PR" => self.has_brackets = true,
            _ if self.sign.is_some() || self.has_brackets => return Err(SIGNS),
            word => {
                self.has_own_sign = true;
                self.has_own_minus |= word != "PL";
                self.items.push(match word {
                    "MI" => Item::Minus,
                    "PL" => Item::Plus,
                    _ => Item::PlusOrMinus,
                });
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<PgNumberPattern, &'static str> {
        let has_sign = self.sign.is_some() || self.has_own_sign || self.has_brackets;
        let places = self.integer + self.fraction;
        let is_digit = |item: &Item| matches!(item, Item::Digit | Item::Point);
        if self.is_roman && (has_sign || self.items.iter().any(|item| !matches!(item, Item::Roman(_) | Item::Text(_))))
        {
            return Err("RN stands alone, with FM and text");
        }
        if self.is_scientific && (has_sign || self.is_plain || !self.items.iter().all(is_digit)) {
            return Err("EEEE stands after digits and a point alone");
        }
        if places == 0 && !self.is_roman {
            return Err("it needs digits such as 9,999.99");
        }
        let sign = match self.sign {
            // After V it stands before the number, as in PostgreSQL.
            Some(_) if self.shifted.is_some_and(|places| places > 0) => Sign::Before,
            Some((before, is_fraction)) if is_fraction || before == self.integer => Sign::After,
            Some(_) => Sign::Before,
            None if self.has_brackets => Sign::Brackets,
            None if self.has_own_minus => Sign::Elsewhere,
            None => Sign::MinusBefore,
        };
        Ok(PgNumberPattern {
            items: self.items,
            sign,
            is_plain: self.is_plain,
            is_scientific: self.is_scientific,
            integer: self.integer,
            fraction: self.fraction,
            first_zero: self.first_zero,
            kept_fraction: self.kept_fraction,
            factor_zeros: self.shifted.unwrap_or(0),
        })
    }
}
