#[path = "../src/roman.rs"]
mod roman;

#[test]
fn numerals_become_numbers() {
    assert_eq!(roman::from_roman("MMXXVI"), Some(2026));
    assert_eq!(roman::from_roman("XLIX"), Some(49));
}

#[test]
fn every_number_survives_both_ways() {
    for number in 1..4000 {
        assert_eq!(roman::from_roman(&roman::to_roman(number)), Some(number));
    }
}

#[test]
fn what_is_no_numeral_is_refused() {
    for text in ["", "IIII", "VX", "abc"] {
        assert_eq!(roman::from_roman(text), None, "{text}");
    }
}
