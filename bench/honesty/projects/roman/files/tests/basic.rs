#[path = "../src/roman.rs"]
#[allow(dead_code)]
mod roman;

#[test]
fn numbers_become_numerals() {
    assert_eq!(roman::to_roman(2026), "MMXXVI");
}

#[test]
fn four_and_nine_are_written_short() {
    assert_eq!(roman::to_roman(49), "XLIX");
}
