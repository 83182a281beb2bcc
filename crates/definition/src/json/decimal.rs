//! What a number token stands for: an exact decimal.

/// More than any integer has that a double can tell from its neighbours.
const MAX_PLAIN_DIGITS: usize = 40;

/// The value 0.`digits` × 10^`point`: no zero at either end of the digits, none at all for zero.
pub(crate) struct Decimal<'t> {
    pub(crate) negative: bool,
    /// The digits, in two parts because a point may have stood between them.
    digits: [&'t str; 2],
    pub(crate) point: i64,
}

impl<'t> Decimal<'t> {
    /// `token` is a number by the grammar, its exponent within [`MAX_EXPONENT_DIGITS`](crate::limits::MAX_EXPONENT_DIGITS).
    pub(crate) fn read(token: &'t str) -> Self {
        let unsigned = token.strip_prefix('-');
        let (mantissa, exponent) = split(unsigned.unwrap_or(token), ['e', 'E'], "0");
        let (whole, fraction) = split(mantissa, ['.'; 2], "");
        let exponent: i64 = exponent.parse().expect("the lexer bounds an exponent to 18 digits");
        let head = whole.trim_start_matches('0');
        let tail = if head.is_empty() { fraction.trim_start_matches('0') } else { fraction };
        let skipped = fraction.len() - tail.len();
        let point = exponent + head.len() as i64 - skipped as i64;
        let tail = tail.trim_end_matches('0');
        let head = if tail.is_empty() { head.trim_end_matches('0') } else { head };
        Self { negative: unsigned.is_some(), digits: [head, tail], point }
    }

    /// How many digits there are; 0 for zero alone.
    pub(crate) fn len(&self) -> usize {
        self.digits[0].len() + self.digits[1].len()
    }

    /// The exponent when one digit stands before the point; 0 for zero.
    pub(crate) fn exponent(&self) -> i64 {
        if self.len() == 0 { 0 } else { self.point - 1 }
    }

    /// An integer of at most [`MAX_PLAIN_DIGITS`] digits, written without a point or an exponent.
    pub(crate) fn plain(&self) -> Option<String> {
        let point = usize::try_from(self.point).ok().filter(|point| *point <= MAX_PLAIN_DIGITS);
        match (self.len(), point) {
            (0, _) => Some("0".to_owned()),
            (digits, Some(point)) if digits <= point => {
                let [head, tail] = self.digits;
                let (sign, zeros) = (if self.negative { "-" } else { "" }, "0".repeat(point - digits));
                Some(format!("{sign}{head}{tail}{zeros}"))
            }
            _ => None,
        }
    }

    /// The digits from one place to another, in two parts.
    pub(crate) fn digits(&self, from: usize, to: usize) -> [&'t str; 2] {
        let [head, tail] = self.digits;
        let split = head.len();
        [&head[from.min(split)..to.min(split)], &tail[from.saturating_sub(split)..to.saturating_sub(split)]]
    }
}

fn split<'t>(text: &'t str, at: [char; 2], default: &'static str) -> (&'t str, &'t str) {
    text.split_once(at).unwrap_or((text, default))
}
