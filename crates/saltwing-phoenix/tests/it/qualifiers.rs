//! Qualifiers of all schemes.

use proptest::prelude::*;
use saltwing_phoenix::QualifierScheme as S;
use saltwing_types::text::hex;

const ALL: [S; 5] = [S::Names, S::OneByte, S::TwoBytes, S::ThreeBytes, S::FourBytes];

proptest! {
    #[test]
    fn numbers_read_back(number in prop_oneof![0u32..300, 65_000..66_000u32, any::<u32>()]) {
        for scheme in ALL {
            let fits = scheme.largest().is_some_and(|largest| number <= largest);
            let qualifier = scheme.encode(number);
            prop_assert_eq!(qualifier.is_some(), fits);
            prop_assert_eq!(qualifier.and_then(|qualifier| scheme.decode(&qualifier)), fits.then_some(number));
        }
    }

    #[test]
    fn a_number_has_one_qualifier(bytes in prop::collection::vec(any::<u8>(), 0..6)) {
        for scheme in ALL {
            if let Some(number) = scheme.decode(&bytes) {
                prop_assert_eq!(scheme.encode(number), Some(bytes.clone()));
            }
        }
    }
}

#[test]
fn qualifiers_of_phoenix() {
    let written = |number| ALL.map(|scheme| scheme.encode(number).map(|qualifier| hex(&qualifier)));
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(written(11), [None, some("8b"), some("800b"), some("00000b"), some("0000000b")]);
    assert_eq!(written(1)[1..], [(); 4].map(|()| some("00000001")));
    assert_eq!(written(300)[1..3], [None, some("812c")]);
    for number in 0..5 {
        assert_eq!(S::from_number(number).map(S::number), Some(number));
    }
    assert_eq!(S::from_number(5), None);
}
