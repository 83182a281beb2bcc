//! Numbers as exact decimals, in ECMAScript's layout.

use crate::json::Decimal;

/// Positions of the point in which a number is written without an exponent: 21 digits before it at most, 5 zeros after
/// it at most (ECMAScript, Number::toString).
const MAX_PLAIN_POINT: i64 = 21;
const MIN_PLAIN_POINT: i64 = -5;

/// As many zeros as the layout ever fills in.
const ZEROS: &str = "000000000000000000000";

/// Writes a number; `text` is a number token.
pub(super) fn write(text: &str, sink: &mut impl FnMut(&str)) {
    let decimal = Decimal::read(text);
    let len = decimal.len();
    if len > 0 && decimal.negative {
        sink("-");
    }
    match decimal.point {
        _ if len == 0 => sink("0"),
        point @ 1..=MAX_PLAIN_POINT if point as usize >= len => {
            decimal.digits(0, len).into_iter().for_each(&mut *sink);
            sink(&ZEROS[..point as usize - len]);
        }
        point @ 1..=MAX_PLAIN_POINT => write_split(&decimal, point as usize, sink),
        point @ MIN_PLAIN_POINT..=0 => {
            sink("0.");
            sink(&ZEROS[..point.unsigned_abs() as usize]);
            decimal.digits(0, len).into_iter().for_each(sink);
        }
        point => {
            write_split(&decimal, 1, sink);
            sink(if point > 0 { "e+" } else { "e-" });
            sink(&(point - 1).unsigned_abs().to_string());
        }
    }
}

/// All digits, with the point after `whole` of them if more follow.
fn write_split(decimal: &Decimal<'_>, whole: usize, sink: &mut impl FnMut(&str)) {
    decimal.digits(0, whole).into_iter().for_each(&mut *sink);
    if whole < decimal.len() {
        sink(".");
        decimal.digits(whole, decimal.len()).into_iter().for_each(sink);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        let mut written = String::new();
        write(text, &mut |piece| written.push_str(piece));
        written
    }

    #[test]
    fn equal_numbers_have_one_form() {
        for (form, spellings) in [
            ("0", &["0", "-0", "0.0", "-0.0e5", "0e-999999999999999999", "0.000"][..]),
            ("1", &["1", "1.0", "1e0", "1E+0", "10e-1", "0.1e1", "0.0001e4", "1.000e-000"]),
            ("-100", &["-100", "-1e2", "-1E+02", "-100.00", "-0.01e4"]),
            ("0.000001", &["0.000001", "1e-6", "10e-7"]),
            ("1e-7", &["0.0000001", "1e-7", "0.1e-6"]),
            ("100000000000000000000", &["100000000000000000000", "1e20"]),
            ("1e+21", &["1000000000000000000000", "1e21", "0.1e22"]),
            ("9007199254740993", &["9007199254740993", "9007199254740993.0", "9.007199254740993e15"]),
            ("1.5e+400", &["1.5e400", "15e399", "0.15E401"]),
            ("1e+999999999999999999", &["1e999999999999999999", "10e999999999999999998"]),
            ("123.456", &["123.456", "123456e-3", "0.123456e3", "123.4560"]),
        ] {
            for spelling in spellings {
                assert_eq!(canonical(spelling), form, "{spelling}");
            }
        }
    }

    #[test]
    fn no_digit_is_lost() {
        for exact in [
            "9007199254740992",
            "9007199254740993",
            "0.1000000000000000055511151231257827",
            "-12345678901234567890.5",
        ] {
            assert_eq!(canonical(exact), exact);
        }
        assert_eq!(canonical("1234567890123456789012345"), "1.234567890123456789012345e+24");
    }
}
