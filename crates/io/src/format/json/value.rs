//! Values of JSON as they are read: the fields of objects stay in the order of the file, which is that
//! of the classes where their names give none, and lists of numbers are numbers at once.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use std::fmt::{self, Write};

/// A value of JSON.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    /// A list of numbers, which is never empty.
    Numbers(Vec<f64>),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// A number, also where it is infinite or not one, which JSON has no word for.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Json::Number(number) => number.as_f64(),
            Json::Text(text) => match text.as_str() {
                "inf" | "Infinity" => Some(f64::INFINITY),
                "-inf" | "-Infinity" => Some(f64::NEG_INFINITY),
                "nan" | "NaN" => Some(f64::NAN),
                _ => None,
            },
            _ => None,
        }
    }

    /// How many elements a list has; nothing if it is none.
    pub(super) fn length(&self) -> Option<usize> {
        match self {
            Json::Numbers(numbers) => Some(numbers.len()),
            Json::List(list) => Some(list.len()),
            _ => None,
        }
    }

    /// An element of a list.
    pub(super) fn element(&self, index: usize) -> Option<Json> {
        match self {
            Json::Numbers(numbers) => numbers.get(index).map(|&number| of_number(number)),
            Json::List(list) => list.get(index).cloned(),
            _ => None,
        }
    }

    pub(super) fn object(&self) -> Option<&[(String, Json)]> {
        match self {
            Json::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// The value of a field.
    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        self.object()?.iter().find(|(other, _)| other == name).map(|(_, value)| value)
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// A number of a list; a whole one reads as such.
fn of_number(number: f64) -> Json {
    #[expect(clippy::cast_possible_truncation, reason = "whole, and small")]
    let whole = (number.fract() == 0.0 && number.abs() < 1e15).then_some(number as i64);
    let number = whole.map_or_else(|| Number::from_f64(number), |whole| Some(whole.into()));
    number.map_or(Json::Null, Json::Number)
}

/// The way that it reads in a table and in messages.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => value.fmt(f),
            Json::Number(number) => number.fmt(f),
            Json::Text(text) => f.write_str(text),
            Json::Numbers(numbers) => write!(f, "{numbers:?}"),
            Json::List(list) => {
                f.write_char('[')?;
                for (index, element) in list.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    element.fmt(f)?;
                }
                f.write_char(']')
            }
            Json::Object(_) => f.write_str("{…}"),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        Number::from_f64(value).map(Json::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_string()))
    }

    fn visit_string<E>(self, text: String) -> Result<Json, E> {
        Ok(Json::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut numbers: Vec<f64> = Vec::new();
        while let Some(element) = list.next_element::<Json>()? {
            match element.number() {
                Some(number) => numbers.push(number),
                None => return rest_of_list(&numbers, element, list),
            }
        }
        Ok(if numbers.is_empty() { Json::List(Vec::new()) } else { Json::Numbers(numbers) })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Json, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = object.next_entry()? {
            fields.push(field);
        }
        Ok(Json::Object(fields))
    }
}

/// A list that has something else than numbers in it.
fn rest_of_list<'de, A: SeqAccess<'de>>(
    numbers: &[f64],
    element: Json,
    mut list: A,
) -> Result<Json, A::Error> {
    let mut elements: Vec<Json> = numbers.iter().map(|&number| of_number(number)).collect();
    elements.push(element);
    while let Some(element) = list.next_element()? {
        elements.push(element);
    }
    Ok(Json::List(elements))
}
