//! Single fields of requests, with errors that name them.

use std::str::FromStr;

use prost_types::Timestamp;
use toolgate_domain::{Fault, Moment};

/// A field that must be there.
pub(crate) fn required<T: FromStr<Err: std::fmt::Display>>(text: &str, field: &str) -> Result<T, Fault> {
    optional(text, field)?.ok_or_else(|| Fault::invalid(field, "is required"))
}

/// A field for which the empty text means that it is absent.
pub(crate) fn optional<T: FromStr<Err: std::fmt::Display>>(
    text: &str,
    field: &str,
) -> Result<Option<T>, Fault> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|error: T::Err| Fault::invalid(field, error.to_string()))
}

/// A text that must be there and has a most.
pub(crate) fn bounded<'a>(text: &'a str, field: &str, max_chars: usize) -> Result<&'a str, Fault> {
    match text.chars().count() {
        0 => Err(Fault::invalid(field, "is required: an id or a name")),
        chars if chars > max_chars => {
            Err(Fault::invalid(field, format!("is longer than {max_chars} characters")))
        }
        _ => Ok(text),
    }
}

/// A page size: 0 for the default, more than the most is the most.
pub(crate) fn page_size(asked: i32, default: usize, most: usize) -> Result<usize, Fault> {
    match usize::try_from(asked) {
        Ok(0) => Ok(default),
        Ok(size) => Ok(size.min(most)),
        Err(_) => Err(Fault::invalid("page_size", "is negative; use 0 for the default")),
    }
}

/// A point in time as protobuf writes it.
pub(crate) fn timestamp(at: Moment) -> Timestamp {
    let ms = at.unix_ms();
    let nanos = i32::try_from(ms.rem_euclid(1000)).expect("less than 1000") * 1_000_000;
    Timestamp { seconds: ms.div_euclid(1000), nanos }
}

/// A point in time of a request, in whole milliseconds.
pub(crate) fn moment(at: Option<Timestamp>) -> Option<Moment> {
    let ms = |at: Timestamp| at.seconds.saturating_mul(1000).saturating_add(i64::from(at.nanos) / 1_000_000);
    at.map(|at| Moment::from_unix_ms(ms(at)))
}

/// A count as protobuf carries it.
pub(crate) fn count(n: usize) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}
