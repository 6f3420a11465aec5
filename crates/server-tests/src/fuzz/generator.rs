//! The case of a seed, a batch and a number.

use super::case::Case;
use super::corpus::Corpus;
use super::{avatica_case, console_case, postgres_case};
use crate::Target;
use crate::random::Random;

/// A protocol that is fuzzed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// PostgreSQL's.
    Postgres,
    /// Phoenix's, and the console's calls.
    Http,
}

/// What cases are made of.
pub struct Generator<'a> {
    /// What all cases follow from.
    pub seed: u64,
    /// Texts.
    pub corpus: &'a Corpus,
    /// Who logs in.
    pub target: &'a Target,
    /// Whether the server has users.
    pub has_users: bool,
}

impl Generator<'_> {
    /// The case.
    pub fn case(&self, protocol: Protocol, batch: u64, number: usize) -> Case {
        let place = batch.wrapping_mul(1_000_003).wrapping_add(number as u64);
        let mut random = Random::new(self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ place);
        let (random, corpus) = (&mut random, self.corpus);
        match (protocol, random.below(10)) {
            (Protocol::Postgres, 0) => postgres_case::before_the_login(random, self.target),
            (Protocol::Postgres, _) => postgres_case::session(random, corpus),
            (Protocol::Http, 0..=2) => console_case::case(random, corpus),
            (Protocol::Http, _) => avatica_case::case(random, corpus, self.has_users),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Generator, Protocol};
    use crate::Target;
    use crate::fuzz::corpus::Corpus;

    #[test]
    fn a_case_follows_from_its_numbers() {
        let (corpus, target) = (Corpus::read().unwrap(), Target::parse("postgresql://a:b@127.0.0.1:1/d").unwrap());
        let generator = |seed| Generator { seed, corpus: &corpus, target: &target, has_users: true };
        for number in 0..200 {
            for protocol in [Protocol::Postgres, Protocol::Http] {
                let case = generator(7).case(protocol, 3, number);
                assert_eq!(case, generator(7).case(protocol, 3, number));
                assert!(case.shown().len() < 1 << 24);
            }
        }
        assert_ne!(generator(7).case(Protocol::Http, 0, 1), generator(8).case(Protocol::Http, 0, 1));
    }
}
