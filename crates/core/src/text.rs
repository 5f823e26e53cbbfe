//! Types that are written as text in JSON too.

/// Writes a type with `Display` and reads it with `FromStr`.
macro_rules! json_as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(reader)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use json_as_text;
