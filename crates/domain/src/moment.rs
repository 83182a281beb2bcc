//! Points in time.

use std::time::Duration;

use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// A point in time in whole milliseconds since 1970-01-01T00:00:00Z, which is as exact as the product speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Moment(i64);

/// 9999-12-31T23:59:59.999Z, the last moment that RFC 3339 can write.
const LAST_UNIX_MS: i64 = 253_402_300_799_999;

impl Moment {
    /// From milliseconds since the epoch, held within the years 1970 to 9999.
    pub fn from_unix_ms(ms: i64) -> Self {
        Self(ms.clamp(0, LAST_UNIX_MS))
    }

    /// Milliseconds since the epoch.
    pub fn unix_ms(self) -> i64 {
        self.0
    }

    /// So much later, in whole milliseconds.
    pub fn plus(self, time: Duration) -> Self {
        let ms = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        Self::from_unix_ms(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to this; 0 when it is not earlier.
    pub fn ms_since(self, earlier: Self) -> i64 {
        (self.0 - earlier.0).max(0)
    }
}

/// RFC 3339 in UTC with `Z`, for example `2026-11-30T21:20:05.123Z`.
impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000)
            .map_err(|_| std::fmt::Error)?;
        let text = at.format(&Rfc3339).map_err(|_| std::fmt::Error)?;
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_reads_as_rfc_3339_in_utc() {
        assert_eq!(Moment::from_unix_ms(1_796_073_605_120).to_string(), "2026-11-30T21:20:05.12Z");
        assert_eq!(Moment::from_unix_ms(0).to_string(), "1970-01-01T00:00:00Z");
        assert_eq!(Moment::from_unix_ms(i64::MAX).to_string(), "9999-12-31T23:59:59.999Z");
    }
}
