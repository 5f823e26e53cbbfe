//! What the formats of rows and the formats of scores have in common: a registry and names.

/// Declares an enum of formats from lines `Variant => module, "summary";`.
///
/// Each module is a file with a constant `FORMAT`, which has at least the fields `name` and
/// `extensions`. Names, parsing and listings follow from the lines.
macro_rules! formats {
    ($(#[$attribute:meta])* $enum:ident: $definition:ty {
        $($(#[$gate:meta])* $variant:ident => $module:ident, $summary:literal;)*
    }) => {
        $($(#[$gate])* mod $module;)*

        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $enum {
            $($(#[$gate])* #[doc = $summary] $variant,)*
        }

        impl $enum {
            /// Every format, in the order of listings.
            pub const ALL: &'static [$enum] = &[$($(#[$gate])* $enum::$variant),*];

            fn definition(self) -> &'static $definition {
                match self {
                    $($(#[$gate])* $enum::$variant => &$module::FORMAT,)*
                }
            }

            /// One sentence on what it is.
            pub fn summary(self) -> &'static str {
                match self {
                    $($(#[$gate])* $enum::$variant => $summary,)*
                }
            }

            /// Its name, which is also its usual extension.
            pub fn name(self) -> &'static str {
                self.definition().name
            }

            /// The extensions of its files, without the dot.
            pub fn extensions(self) -> &'static [&'static str] {
                self.definition().extensions
            }

            /// The names of all formats, for help and messages.
            pub fn names() -> String {
                Self::ALL.iter().map(|format| format.name()).collect::<Vec<_>>().join(", ")
            }

            fn of_extension(extension: &str) -> Option<Self> {
                let has = |format: &&Self| format.extensions().contains(&extension);
                Self::ALL.iter().find(has).copied()
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $enum {
            type Err = String;

            /// Reads a name or an extension, in either case.
            fn from_str(text: &str) -> std::result::Result<Self, String> {
                let known = Self::of_extension(&text.to_ascii_lowercase());
                known.ok_or_else(|| format!("one of {}", Self::names()))
            }
        }
    };
}

pub(crate) use formats;
