//! The SQLSTATEs of Phoenix's errors.
//!
//! Programs that were written for Phoenix know an error by its number and by this state, which often is another one than PostgreSQL's, that the
//! library has for the same. So a client of this protocol gets Phoenix's state wherever Phoenix has the error.

/// Numbers of Phoenix's `SQLExceptionCode` that the library gives, with their states; by number.
const STATES: [(u16, &str); 41] = [
    (201, "22000"),
    (202, "22012"),
    (203, "22005"),
    (206, "22003"),
    (215, "22015"),
    (218, "23018"),
    (502, "42702"),
    (504, "42703"),
    (506, "42817"),
    (514, "42892"),
    (518, "25502"),
    (523, "42900"),
    (530, "42907"),
    (601, "42P00"),
    (721, "42M04"),
    (722, "43M05"),
    (1003, "42J01"),
    (1005, "42J03"),
    (1006, "42J04"),
    (1010, "42M01"),
    (1012, "42M03"),
    (1013, "42M04"),
    (1020, "42Y60"),
    (1021, "42Y80"),
    (1022, "42Y81"),
    (1056, "43A13"),
    (1200, "42Z00"),
    (1201, "42Z01"),
    (1204, "42Z04"),
    (1205, "42Z05"),
    (1206, "42Z06"),
    (1210, "42Z10"),
    (1211, "42Z11"),
    (1212, "42Z12"),
    (1213, "42Z13"),
    (1214, "42Z14"),
    (1215, "42Z15"),
    (1216, "42Z16"),
    (1218, "42Z18"),
    (6000, "TIM01"),
    (6001, "42F01"),
];

/// The state of a number.
pub(crate) fn state(number: u16) -> Option<&'static str> {
    let place = STATES.binary_search_by_key(&number, |(number, _)| *number).ok();
    place.and_then(|place| STATES.get(place)).map(|(_, state)| *state)
}

#[cfg(test)]
mod tests {
    use super::{STATES, state};

    #[test]
    fn each_number_has_its_state() {
        assert!(STATES.is_sorted_by_key(|(number, _)| *number));
        for (number, expected) in STATES {
            assert_eq!(state(number), Some(expected), "{number}");
            assert!(
                expected.len() == 5 && expected.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()),
                "{expected}"
            );
        }
        assert_eq!(state(0), None);
    }
}
