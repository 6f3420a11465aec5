//! How long a client waits that has guessed passwords.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Failures of one address that cost nothing: a user mistypes.
const FREE: u32 = 3;
/// The longest delay of an answer.
const DELAY_MAX: Duration = Duration::from_secs(5);
/// After this time without a failure, an address is as good as new.
const FORGET_AFTER: Duration = Duration::from_secs(600);
/// Addresses that are remembered at once. An attacker with more of them gets the delay of a new one for each.
const ADDRESSES_MAX: usize = 10_000;

/// The failed logins of each address.
#[derive(Default)]
pub(crate) struct FailedLogins(Mutex<HashMap<IpAddr, Failures>>);

struct Failures {
    count: u32,
    last: Instant,
}

impl FailedLogins {
    /// Notes a failure at this time, and gives the delay of its answer: none for the first three, then 100 ms, doubled with each failure
    /// up to 5 seconds.
    pub(crate) fn note(&self, address: IpAddr, now: Instant) -> Duration {
        let mut known = self.0.lock();
        if known.len() >= ADDRESSES_MAX && !known.contains_key(&address) {
            known.retain(|_, failures| now.saturating_duration_since(failures.last) < FORGET_AFTER);
            if known.len() >= ADDRESSES_MAX {
                return DELAY_MAX;
            }
        }
        let failures = known.entry(address).or_insert(Failures { count: 0, last: now });
        if now.saturating_duration_since(failures.last) >= FORGET_AFTER {
            failures.count = 0;
        }
        failures.count = failures.count.saturating_add(1);
        failures.last = now;
        match failures.count.checked_sub(FREE + 1) {
            None => Duration::ZERO,
            Some(doublings) => Duration::from_millis(100).saturating_mul(1 << doublings.min(10)).min(DELAY_MAX),
        }
    }

    /// Forgets the failures of an address from which a login succeeded.
    pub(crate) fn forget(&self, address: IpAddr) {
        self.0.lock().remove(&address);
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::time::{Duration, Instant};

    use super::{ADDRESSES_MAX, DELAY_MAX, FORGET_AFTER, FailedLogins};

    fn address(number: u32) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from_bits(number))
    }

    #[test]
    fn the_delay_grows_with_the_failures_of_an_address() {
        let (logins, now) = (FailedLogins::default(), Instant::now());
        let delays: Vec<u128> = (0..12).map(|_| logins.note(address(1), now).as_millis()).collect();
        assert_eq!(delays, [0, 0, 0, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
        assert_eq!(logins.note(address(2), now), Duration::ZERO);
        logins.forget(address(1));
        assert_eq!(logins.note(address(1), now), Duration::ZERO);
    }

    #[test]
    fn old_failures_are_forgotten_and_their_number_is_bounded() {
        let (logins, now) = (FailedLogins::default(), Instant::now());
        for _ in 0..9 {
            logins.note(address(1), now);
        }
        assert_eq!(logins.note(address(1), now + FORGET_AFTER), Duration::ZERO);
        for number in 2..=ADDRESSES_MAX as u32 + 5 {
            logins.note(address(number), now + FORGET_AFTER);
        }
        assert_eq!(logins.0.lock().len(), ADDRESSES_MAX);
        assert_eq!(logins.note(address(u32::MAX), now + FORGET_AFTER), DELAY_MAX);
        assert_eq!(logins.note(address(u32::MAX), now + FORGET_AFTER * 2), Duration::ZERO);
    }
}
