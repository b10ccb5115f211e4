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
pub fn from_roman(text: &str) -> Option<u32> {
    let mut rest = text;
    let mut number = 0;
    for (value, digits) in DIGITS {
        while let Some(after) = rest.strip_prefix(digits) {
            number += value;
            rest = after;
        }
    }
    (number > 0 && rest.is_empty() && to_roman(number) == text).then_some(number)
}
