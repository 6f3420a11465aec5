use std::time::Duration;

/// How long answers took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    micros: Vec<u32>,
}

impl Times {
    /// Notes an answer. More than an hour counts as that.
    pub fn push(&mut self, took: Duration) {
        self.micros.push(u32::try_from(took.as_micros()).unwrap_or(u32::MAX));
    }
}

/// What a server has answered in a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    times: Times,
    /// Answers, or rows of a COPY.
    count: u64,
    took: Duration,
}

impl Measured {
    /// The answers of all connections in a time.
    pub fn new(times: Vec<Times>, took: Duration) -> Self {
        let micros: Vec<u32> = times.into_iter().flat_map(|times| times.micros).collect();
        Self { count: micros.len() as u64, times: Times { micros }, took }
    }

    /// So many rows in a time.
    pub fn of_count(count: u64, took: Duration) -> Self {
        Self { times: Times::default(), count, took }
    }

    /// Adds another round.
    pub fn add(&mut self, other: Self) {
        self.times.micros.extend(other.times.micros);
        self.count += other.count;
        self.took += other.took;
    }

    /// Answers in a second; 0 without a time.
    pub fn per_second(&self) -> f64 {
        if self.took.is_zero() { 0.0 } else { self.count as f64 / self.took.as_secs_f64() }
    }

    /// The time in which this share of the answers came, in milliseconds: the smallest one that holds for at least so many. `None` without answers.
    pub fn percentile_ms(&self, share: f64) -> Option<f64> {
        let mut micros = self.times.micros.clone();
        let place = (share.clamp(0.0, 1.0) * micros.len() as f64).ceil() as usize;
        let index = place.saturating_sub(1).min(micros.len().checked_sub(1)?);
        let (_, found, _) = micros.select_nth_unstable(index);
        Some(f64::from(*found) / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Measured, Times};

    fn times(millis: impl IntoIterator<Item = u64>) -> Times {
        let mut times = Times::default();
        millis.into_iter().for_each(|millis| times.push(Duration::from_millis(millis)));
        times
    }

    #[test]
    fn percentiles_are_times_of_answers() {
        let mut measured = Measured::new(vec![times(51..=100), times(1..=50)], Duration::from_secs(2));
        assert_eq!(
            [0.5, 0.99, 1.0, 0.0].map(|share| measured.percentile_ms(share)),
            [50.0, 99.0, 100.0, 1.0].map(Some)
        );
        measured.add(Measured::new(vec![times([1000])], Duration::from_secs(1)));
        assert_eq!((measured.percentile_ms(1.0), measured.per_second()), (Some(1000.0), 101.0 / 3.0));
    }

    #[test]
    fn nothing_measured_has_no_percentile() {
        assert_eq!((Measured::default().percentile_ms(0.5), Measured::default().per_second()), (None, 0.0));
        assert_eq!(Measured::of_count(10, Duration::from_secs(2)).per_second(), 5.0);
    }
}
