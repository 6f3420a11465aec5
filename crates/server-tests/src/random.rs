/// A source of numbers (splitmix64) that are the same in each run.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// What follows from this number.
    pub fn new(seed: u64) -> Self {
        // Seeds that are near each other must not give the same numbers one step later.
        Self(seed.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 on below this one; 0 if there is none.
    pub fn below(&mut self, end: i64) -> i64 {
        let end = end.max(1).unsigned_abs();
        // Below an i64, and so one itself.
        (self.next() % end) as i64
    }

    /// One of these; `None` if there are none.
    pub fn one_of<'a, T>(&mut self, values: &'a [T]) -> Option<&'a T> {
        let index = self.below(i64::try_from(values.len()).unwrap_or(i64::MAX));
        values.get(usize::try_from(index).unwrap_or_default())
    }

    /// One of these texts; an empty one if there are none.
    pub fn text_of(&mut self, texts: &[&'static str]) -> &'static str {
        self.one_of(texts).copied().unwrap_or_default()
    }

    /// True in one of `cases` calls, on average.
    pub fn one_in(&mut self, cases: i64) -> bool {
        self.below(cases) == 0
    }

    /// An index into a list of this length; 0 if it is empty.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(i64::try_from(length).unwrap_or(i64::MAX))).unwrap_or_default()
    }

    /// Bytes, at most so many.
    pub fn bytes(&mut self, most: i64) -> Vec<u8> {
        let count = self.below(most.saturating_add(1));
        (0..count).map(|_| self.next() as u8).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn numbers_are_spread_and_repeatable() {
        let counts = |seed| {
            let (mut random, mut counts) = (Random::new(seed), [0; 10]);
            (0..10_000).for_each(|_| counts[random.below(10) as usize] += 1);
            counts
        };
        assert_eq!(counts(1), counts(1));
        assert_ne!(counts(1), counts(2));
        assert!((0..20).all(|seed| counts(seed).iter().all(|count| (850..1150).contains(count))));
        assert_eq!((Random::new(1).below(0), Random::new(1).below(-5)), (0, 0));
        assert_eq!(
            (Random::new(1).one_of::<u8>(&[]), Random::new(1).text_of(&["a"]), Random::new(1).index(0)),
            (None, "a", 0)
        );
    }

    #[test]
    fn bytes_are_at_most_so_many() {
        let mut random = Random::new(3);
        let lengths: Vec<usize> = (0..1000).map(|_| random.bytes(5).len()).collect();
        assert_eq!((lengths.iter().min(), lengths.iter().max()), (Some(&0), Some(&5)));
    }
}
