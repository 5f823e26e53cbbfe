//! The index of a folder of results: Markdown, with the figures beside it.

use super::{About, Presentation};
use std::fmt::Write;

/// The index of a folder of results.
pub(crate) fn index(studies: &[Presentation], about: &About) -> String {
    let mut out = format!("# {}\n\n", escaped(&about.zoo));
    let _ = writeln!(out, "{}; {}.", escaped(&capital(&about.models())), about.protocol());
    let _ = writeln!(out, "{}. {}.\n", escaped(&about.settings), escaped(&about.shown()));
    for study in studies {
        let _ = writeln!(out, "- [{}](#{})", study.title, study.name);
    }
    for study in studies {
        // An anchor that does not depend on the heading.
        let _ = write!(out, "\n<a id=\"{}\"></a>\n\n## {}\n", study.name, study.title);
        for remark in &study.content.remarks {
            let _ = write!(out, "\n{}\n", escaped(remark));
        }
        for figure in &study.content.figures {
            let (name, caption) = (&figure.name, escaped(&figure.caption));
            let _ = write!(out, "\n![{caption}](figures/{name}.svg)\n\n*{caption}.*\n");
        }
        for sheet in &study.content.sheets {
            let _ = write!(out, "\n{}", sheet.markdown());
        }
    }
    out
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Names of models and zoos are user input: nothing in them is markup.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '!' | '|' | '#' | '$' | '~' => {
                out.extend(['\\', c]);
            }
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
