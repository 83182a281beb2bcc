//! JSON values, and the many texts that mean one of them.

use std::collections::BTreeMap;

use proptest::prelude::*;

/// A JSON value. Equal values are equal here: a number is kept without zeros at the end of its digits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number { negative: bool, digits: String, exponent: i64 },
    String(String),
    Array(Vec<Value>),
    Object(BTreeMap<String, Value>),
}

impl Value {
    /// `digits` × 10^`exponent`.
    pub(crate) fn number(negative: bool, digits: &str, exponent: i64) -> Self {
        let kept = digits.trim_start_matches('0').trim_end_matches('0');
        if kept.is_empty() {
            return Self::Number { negative: false, digits: "0".to_owned(), exponent: 0 };
        }
        let dropped = digits.len() - digits.trim_end_matches('0').len();
        Self::Number { negative, digits: kept.to_owned(), exponent: exponent + dropped as i64 }
    }

    pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Self {
        Self::Object(members.map(|(name, value)| (name.to_owned(), value)).into())
    }

    /// Changes one place inside, chosen by `choices`, so that the value is another.
    pub(crate) fn change(&mut self, choices: &mut Choices) {
        match self {
            Self::Array(elements) if !elements.is_empty() && choices.below(4) > 0 => {
                let place = choices.below(elements.len());
                elements[place].change(choices);
            }
            Self::Object(members) if !members.is_empty() && choices.below(4) > 0 => {
                let place = choices.below(members.len());
                members.values_mut().nth(place).expect("the place is below the length").change(choices);
            }
            _ => self.change_here(choices),
        }
    }

    fn change_here(&mut self, choices: &mut Choices) {
        let before = self.clone();
        match self {
            Self::Null => *self = Self::Bool(false),
            Self::Bool(value) if choices.below(2) == 0 => *value = !*value,
            Self::Bool(value) => *self = Self::String(value.to_string()),
            Self::Number { digits, exponent, negative } => match choices.below(3) {
                0 => *self = Self::number(*negative, &format!("{digits}1"), *exponent - 1),
                1 => *self = Self::number(*negative, &format!("1{digits}"), *exponent),
                _ => *self = Self::String(digits.clone()),
            },
            Self::String(text) => {
                text.insert(0, *choices.of(&['\u{200b}', 'x', '\u{e0041}', ' ', '\\', '"']))
            }
            Self::Array(elements) => match choices.below(2) {
                0 => elements.push(Self::Null),
                _ => *self = Self::Object(BTreeMap::new()),
            },
            Self::Object(members) => match members.pop_first() {
                Some((name, value)) if choices.below(2) == 0 => {
                    drop(members.insert(name + "\u{200b}", value))
                }
                Some(_) => {}
                None => drop(members.insert("added".to_owned(), Self::Null)),
            },
        }
        if *self == before {
            *self = Self::Array(vec![before]);
        }
    }

    /// Writes the value in a way that `choices` pick: order, white space, escapes and the look of numbers.
    pub(crate) fn spell(&self, choices: &mut Choices) -> String {
        let mut text = String::new();
        self.spell_into(&mut text, choices);
        text
    }

    fn spell_into(&self, text: &mut String, choices: &mut Choices) {
        text.push_str(choices.space());
        match self {
            Self::Null => text.push_str("null"),
            Self::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
            Self::Number { negative, digits, exponent } => {
                spell_number(*negative, digits, *exponent, text, choices)
            }
            Self::String(content) => spell_string(content, text, choices),
            Self::Array(elements) => {
                text.push('[');
                for (place, element) in elements.iter().enumerate() {
                    text.push_str(if place > 0 { "," } else { "" });
                    element.spell_into(text, choices);
                }
                text.push_str(choices.space());
                text.push(']');
            }
            Self::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                let rotation = choices.below(members.len().max(1));
                members.rotate_left(rotation);
                text.push('{');
                for (place, (name, value)) in members.into_iter().enumerate() {
                    text.push_str(if place > 0 { "," } else { "" });
                    text.push_str(choices.space());
                    spell_string(name, text, choices);
                    text.push_str(choices.space());
                    text.push(':');
                    value.spell_into(text, choices);
                }
                text.push_str(choices.space());
                text.push('}');
            }
        }
        text.push_str(choices.space());
    }
}

fn spell_string(content: &str, text: &mut String, choices: &mut Choices) {
    text.push('"');
    for character in content.chars() {
        let short = match character {
            '"' => Some("\\\""),
            '\\' => Some("\\\\"),
            '/' => Some("\\/"),
            '\u{8}' => Some("\\b"),
            '\u{c}' => Some("\\f"),
            '\n' => Some("\\n"),
            '\r' => Some("\\r"),
            '\t' => Some("\\t"),
            _ => None,
        };
        let must_escape = character < ' ' || matches!(character, '"' | '\\');
        match (choices.below(4), short) {
            (0, Some(short)) => text.push_str(short),
            (1..=3, _) if !must_escape => text.push(character),
            (pick, _) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let escape =
                        if pick % 2 == 0 { format!("\\u{unit:04x}") } else { format!("\\u{unit:04X}") };
                    text.push_str(&escape);
                }
            }
        }
    }
    text.push('"');
}

fn spell_number(negative: bool, digits: &str, exponent: i64, text: &mut String, choices: &mut Choices) {
    let zero = digits == "0";
    if negative || (zero && choices.below(2) == 0) {
        text.push('-');
    }
    let (zeros, e) = (choices.below(3), *choices.of(&["e", "E"]));
    let padding = "0".repeat(zeros);
    let (mantissa, exponent) = match choices.below(5) {
        0 if zero => ("0".to_owned(), exponent),
        1 if zero => (format!("0.{padding}0"), exponent + 7),
        _ if zero => ("0.0".to_owned(), exponent),
        0 => (digits.to_owned(), exponent),
        1 => (format!("{digits}{padding}"), exponent - zeros as i64),
        2 => (format!("{digits}.0{padding}"), exponent),
        3 => (format!("0.{padding}{digits}{padding}"), exponent + (digits.len() + zeros) as i64),
        _ if digits.len() > 1 => {
            let point = 1 + choices.below(digits.len() - 1);
            let (whole, fraction) = digits.split_at(point);
            (format!("{whole}.{fraction}"), exponent + fraction.len() as i64)
        }
        _ => (format!("{digits}.0"), exponent),
    };
    text.push_str(&mantissa);
    let padding = if exponent.unsigned_abs() < 1_000_000 { padding } else { String::new() };
    match exponent {
        0 if choices.below(2) == 0 => {}
        0.. => text.push_str(&format!("{e}{}{padding}{exponent}", choices.of(&["", "+"]))),
        _ => text.push_str(&format!("{e}-{padding}{}", exponent.unsigned_abs())),
    }
}

/// Answers small questions from a list of bytes, over and over.
#[derive(Debug, Clone)]
pub(crate) struct Choices {
    bytes: Vec<u8>,
    next: usize,
}

impl Choices {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let byte = self.bytes[self.next % self.bytes.len()];
        self.next += 1;
        usize::from(byte) % bound
    }

    fn of<'a, T>(&mut self, options: &'a [T]) -> &'a T {
        &options[self.below(options.len())]
    }

    fn space(&mut self) -> &'static str {
        self.of::<&str>(&["", "", "", " ", "\n", "\t", "\r\n", "  "])
    }
}

pub(crate) fn choices() -> impl Strategy<Value = Choices> {
    prop::collection::vec(any::<u8>(), 1..64).prop_map(|bytes| Choices { bytes, next: 0 })
}

/// Any string, with more of the characters that are easy to get wrong.
fn string() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{0,3}",
        "[\"\\\\/\u{0}\u{8}\t\n\u{c}\r\u{1f} a\u{7f}\u{e9}\u{d7ff}\u{e000}\u{fb33}\u{ffff}\u{10000}\u{10ffff}\u{200b}]{0,6}",
        any::<String>(),
    ]
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (any::<bool>(), "[0-9]{1,4}", -9_i64..25),
        (any::<bool>(), "[0-9]{1,40}", -50_i64..50),
        (any::<bool>(), "[0-9]{1,3}", -900_000_000_000_000_000_i64..900_000_000_000_000_000),
    ]
    .prop_map(|(negative, digits, exponent)| Value::number(negative, &digits, exponent))
}

pub(crate) fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number(),
        string().prop_map(Value::String),
    ];
    scalar.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::btree_map(string(), inner, 0..6).prop_map(Value::Object),
        ]
    })
}

/// A definition with every member that MCP names, one that it does not, and any values in between.
pub(crate) fn definition() -> impl Strategy<Value = Value> {
    let parts = ("[a-z]{1,8}", string(), value(), value(), value(), value());
    parts.prop_map(|(name, description, properties, annotation, meta, other)| {
        Value::object([
            ("name", Value::String(name)),
            ("title", Value::String("Title".to_owned())),
            ("description", Value::String(description)),
            ("icons", Value::Array(vec![Value::object([("src", Value::String("data:,".to_owned()))])])),
            (
                "inputSchema",
                Value::object([("type", Value::String("object".to_owned())), ("properties", properties)]),
            ),
            ("outputSchema", Value::object([("type", Value::String("object".to_owned()))])),
            ("annotations", Value::object([("readOnlyHint", Value::Bool(true)), ("x", annotation)])),
            ("execution", Value::object([("taskSupport", Value::String("optional".to_owned()))])),
            ("_meta", Value::object([("vendor/a", meta)])),
            ("unheardOf", other),
        ])
    })
}
