//! Numbers as exact decimals, in ECMAScript's layout.

/// Positions of the point in which a number is written without an exponent: 21 digits before it at most, 6 zeros after
/// it at most (ECMAScript, Number::toString).
const MAX_PLAIN_POINT: i64 = 21;
const MIN_PLAIN_POINT: i64 = -5;

/// As many zeros as the layout ever fills in.
const ZEROS: &str = "000000000000000000000";

/// The value 0.`digits` × 10^`point`: no zero at either end of the digits, none at all for zero.
struct Decimal<'a> {
    /// The digits, in two parts because a point may stand between them.
    digits: [&'a str; 2],
    point: i64,
}

/// Writes a number; `text` is a number token.
pub(super) fn write(text: &str, sink: &mut impl FnMut(&str)) {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let decimal = Decimal::read(unsigned);
    if decimal.len() == 0 {
        return sink("0");
    }
    if unsigned.len() < text.len() {
        sink("-");
    }
    decimal.write(sink);
}

impl<'a> Decimal<'a> {
    fn read(unsigned: &'a str) -> Self {
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent: i64 = exponent.parse().expect("the lexer bounds an exponent to 18 digits");
        let leading = whole.trim_start_matches('0');
        let (head, tail) = match leading {
            "" => ("", fraction.trim_start_matches('0')),
            _ => (leading, fraction),
        };
        let skipped = fraction.len() - tail.len();
        let point = exponent + head.len() as i64 - skipped as i64;
        let tail = tail.trim_end_matches('0');
        let head = if tail.is_empty() { head.trim_end_matches('0') } else { head };
        Self { digits: [head, tail], point }
    }

    fn len(&self) -> usize {
        self.digits[0].len() + self.digits[1].len()
    }

    fn write(&self, sink: &mut impl FnMut(&str)) {
        let len = self.len();
        match self.point {
            point @ 1..=MAX_PLAIN_POINT if point as usize >= len => {
                self.write_digits(0, len, sink);
                sink(&ZEROS[..point as usize - len]);
            }
            point @ 1..=MAX_PLAIN_POINT => self.write_split(point as usize, sink),
            point @ MIN_PLAIN_POINT..=0 => {
                sink("0.");
                sink(&ZEROS[..point.unsigned_abs() as usize]);
                self.write_digits(0, len, sink);
            }
            point => {
                if len == 1 {
                    self.write_digits(0, 1, sink)
                } else {
                    self.write_split(1, sink)
                }
                sink(if point > 0 { "e+" } else { "e-" });
                sink(&(point - 1).unsigned_abs().to_string());
            }
        }
    }

    /// All digits, with the point after `whole` of them.
    fn write_split(&self, whole: usize, sink: &mut impl FnMut(&str)) {
        self.write_digits(0, whole, sink);
        sink(".");
        self.write_digits(whole, self.len(), sink);
    }

    fn write_digits(&self, from: usize, to: usize, sink: &mut impl FnMut(&str)) {
        let [head, tail] = self.digits;
        let split = head.len();
        sink(&head[from.min(split)..to.min(split)]);
        sink(&tail[from.saturating_sub(split)..to.saturating_sub(split)]);
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
            ("1e+1000000000000000000", &["10e999999999999999999"]),
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
