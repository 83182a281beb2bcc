//! JSON values as a validator takes them, with numbers that lose nothing on the way.

use std::borrow::Cow;

use serde_json::{Number, Value};

use crate::json::{Decimal, Kind, Node};

/// A number that neither a 64-bit integer nor a double stands for: rounded, it could equal another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InexactNumber;

/// Recurses as deep as the value is nested, which its document bounds.
pub(super) fn data(node: Node<'_>) -> Result<Value, InexactNumber> {
    with_numbers(node, &number)
}

/// The same with the double next to each number that has no exact one.
pub(crate) fn rounded(node: Node<'_>) -> Value {
    with_numbers(node, &|token| Ok(number(token).unwrap_or_else(|InexactNumber| nearest(token))))
        .expect("every number has one next to it")
}

fn with_numbers(
    node: Node<'_>,
    number: &impl Fn(&str) -> Result<Number, InexactNumber>,
) -> Result<Value, InexactNumber> {
    Ok(match node.kind() {
        Kind::Null => Value::Null,
        Kind::Bool => Value::Bool(node.as_bool() == Some(true)),
        Kind::Number => Value::Number(number(node.text())?),
        Kind::String => Value::String(node.as_str().unwrap_or_default().into_owned()),
        Kind::Array => {
            Value::Array(node.elements().map(|node| with_numbers(node, number)).collect::<Result<_, _>>()?)
        }
        Kind::Object => {
            let member =
                |(name, value): (Cow<'_, str>, _)| Ok((name.into_owned(), with_numbers(value, number)?));
            Value::Object(node.members().map(member).collect::<Result<_, _>>()?)
        }
    })
}

fn nearest(token: &str) -> Number {
    let double: f64 = token.parse().unwrap_or_default();
    Number::from_f64(double.clamp(f64::MIN, f64::MAX)).unwrap_or_else(|| 0.into())
}

/// Nesting of a value; 0 for a scalar.
pub(crate) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn number(token: &str) -> Result<Number, InexactNumber> {
    if let Ok(integer) = token.parse::<i64>() {
        return Ok(integer.into());
    }
    if let Ok(integer) = token.parse::<u64>() {
        return Ok(integer.into());
    }
    let double: f64 = token.parse().map_err(|_| InexactNumber)?;
    let number = Number::from_f64(double).ok_or(InexactNumber)?;
    // The shortest decimal that reads as this double stands for it, and no other does.
    let shortest = format!("{double:e}");
    if same(&Decimal::read(token), &Decimal::read(&shortest)) { Ok(number) } else { Err(InexactNumber) }
}

fn same(left: &Decimal<'_>, right: &Decimal<'_>) -> bool {
    let digits = |of: &Decimal<'_>| of.digits(0, of.len()).concat();
    let sign_and_point = |of: &Decimal<'_>| (of.len() > 0).then_some((of.negative, of.point));
    sign_and_point(left) == sign_and_point(right) && digits(left) == digits(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_kept_or_refused_and_never_rounded() {
        for kept in [
            "0",
            "-0",
            "-0.0",
            "1.0",
            "1e2",
            "0.1",
            "0.30000000000000004",
            "9007199254740993",
            "-9223372036854775808",
            "18446744073709551615",
            "18446744073709552000",
            "1e22",
            "1e308",
            "1.7976931348623157e+308",
            "5e-324",
            "123.4560",
        ] {
            let number = number(kept).expect(kept).to_string();
            assert!(same(&Decimal::read(kept), &Decimal::read(&number)), "{kept} became {number}");
        }
        for refused in [
            "9007199254740993.0",
            "18446744073709551616",
            "0.1000000000000000055511151231257827",
            "1e309",
            "-1e999999999999999999",
            "1e-400",
        ] {
            assert_eq!(number(refused), Err(InexactNumber), "{refused}");
        }
    }
}
