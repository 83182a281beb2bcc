//! Lower-case hexadecimal text of fixed-size values.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Appends two lower-case digits for each byte.
pub(crate) fn encode_into(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

/// Fills `out` from exactly `2 * out.len()` digits of either case; false, with `out` half written, for any
/// other text.
pub(crate) fn decode_into(text: &[u8], out: &mut [u8]) -> bool {
    if text.len() != out.len() * 2 {
        return false;
    }
    text.chunks_exact(2).zip(out).all(|(pair, byte)| match (digit(pair[0]), digit(pair[1])) {
        (Some(high), Some(low)) => {
            *byte = high << 4 | low;
            true
        }
        _ => false,
    })
}

fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        b'A'..=b'F' => Some(character - b'A' + 10),
        _ => None,
    }
}
