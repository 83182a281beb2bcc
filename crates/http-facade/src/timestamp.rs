//! RFC 3339 in UTC with exactly three digits of a second.

use std::io::Write;

use prost_types::Timestamp;
use time::OffsetDateTime;

/// Writes `timestamp` as a JSON string. What is finer than a millisecond is cut off.
///
/// None, with nothing written, for what is not a moment of the years 0 to 9999.
pub(crate) fn write(out: &mut Vec<u8>, timestamp: &Timestamp) -> Option<()> {
    let moment = OffsetDateTime::from_unix_timestamp(timestamp.seconds).ok()?;
    let year = u16::try_from(moment.year()).ok()?;
    let millisecond = u32::try_from(timestamp.nanos).ok().filter(|nanos| *nanos < 1_000_000_000)? / 1_000_000;
    let (month, day) = (u8::from(moment.month()), moment.day());
    let (hour, minute, second) = moment.to_hms();
    write!(out, r#""{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}Z""#)
        .expect("a vector takes every write");
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(seconds: i64, nanos: i32) -> Option<String> {
        let mut out = Vec::new();
        write(&mut out, &Timestamp { seconds, nanos })?;
        Some(String::from_utf8(out).unwrap())
    }

    #[test]
    fn milliseconds_always_have_three_digits() {
        let expected = [
            (0, 0, r#""1970-01-01T00:00:00.000Z""#),
            (1_709_210_096, 7_999_999, r#""2024-02-29T12:34:56.007Z""#),
            (1_709_210_096, 999_999_999, r#""2024-02-29T12:34:56.999Z""#),
            (-1, 250_000_000, r#""1969-12-31T23:59:59.250Z""#),
            (253_402_300_799, 0, r#""9999-12-31T23:59:59.000Z""#),
        ];
        for (seconds, nanos, text) in expected {
            assert_eq!(written(seconds, nanos).as_deref(), Some(text));
        }
    }

    #[test]
    fn what_is_no_moment_is_not_written() {
        for (seconds, nanos) in
            [(253_402_300_800, 0), (i64::MIN, 0), (i64::MAX, 0), (0, -1), (0, 1_000_000_000)]
        {
            assert_eq!(written(seconds, nanos), None, "{seconds} {nanos}");
        }
    }
}
