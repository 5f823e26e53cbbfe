//! tsv: as csv, with tabs.

use super::{Definition, csv};

pub(super) const FORMAT: Definition = Definition {
    name: "tsv",
    extensions: &["tsv"],
    seeks: false,
    create: |out, columns| csv::delimited(out, columns, '\t'),
};
