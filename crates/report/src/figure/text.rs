//! How wide text is, and what to do if it is too wide.

use std::sync::LazyLock;
use ttf_parser::Face;

/// Of ticks, legends and notes. 7.1 pt in a column of 85 mm.
pub(super) const SMALL: f64 = 10.0;
/// Of titles and the labels of axes.
pub(super) const LARGE: f64 = 11.0;
/// From one line of text to the next.
pub(super) const LEADING: f64 = 1.25;
/// How high a digit or capital is, as a share of the size.
pub(super) const CAPITAL: f64 = 0.73;

/// The family that is built in, then fonts that are no wider, for viewers that lack it.
pub(super) const FAMILIES: &str = "DejaVu Sans, Verdana, Arial, Helvetica, sans-serif";

/// The font that is built in.
pub(super) fn face() -> Option<&'static Face<'static>> {
    static FACE: LazyLock<Option<Face<'static>>> =
        LazyLock::new(|| Face::parse(dejavu::sans::regular(), 0).ok());
    FACE.as_ref()
}

/// The width of a character as a share of the size.
pub(super) fn advance(character: char) -> f64 {
    // Wide enough for most of what the font lacks, such as Chinese.
    const UNKNOWN: f64 = 1.0;
    let Some(face) = face() else { return UNKNOWN };
    let glyph = face.glyph_index(character).and_then(|glyph| face.glyph_hor_advance(glyph));
    glyph.map_or(UNKNOWN, |units| f64::from(units) / f64::from(face.units_per_em()))
}

/// How wide a text is in points.
pub(super) fn width(text: &str, size: f64) -> f64 {
    size * text.chars().map(advance).sum::<f64>()
}

/// The text on one line, without characters that XML forbids.
pub(super) fn clean(text: &str) -> String {
    let clean = |character: char| match character {
        '\t' | '\n' | '\r' => ' ',
        '\u{FFFE}' | '\u{FFFF}' => '\u{FFFD}',
        other if other.is_control() => '\u{FFFD}',
        other => other,
    };
    text.chars().map(clean).collect::<String>().trim().to_string()
}

/// The text, with an ellipsis in its middle if it is too wide: names often differ in their last part.
pub(super) fn shorten(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_string();
    }
    let characters: Vec<char> = text.chars().collect();
    let mut left = room - width("…", size);
    let (mut front, mut back) = (0, 0);
    // A character from the front and one from the back in turn, as long as they fit.
    while front + back < characters.len() {
        let from_front = front <= back;
        let next =
            if from_front { characters[front] } else { characters[characters.len() - 1 - back] };
        left -= size * advance(next);
        if left < 0.0 {
            break;
        }
        if from_front { front += 1 } else { back += 1 }
    }
    let head: String = characters[..front].iter().collect();
    let tail: String = characters[characters.len() - back..].iter().collect();
    format!("{}…{}", head.trim_end(), tail.trim_start())
}

/// The text in lines no wider than `room`, at most `most` of them; an ellipsis stands for the rest.
pub(super) fn wrap(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(" ", size) + width(word, size) > room => {
                lines.push(word.to_string());
            }
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_string()),
        }
    }
    let cut = lines.len() > most;
    lines.truncate(most);
    if let Some(last) = lines.last_mut().filter(|_| cut) {
        // Whole words, as long as there are several.
        while width(last, size) + width(" …", size) > room
            && let Some((front, _)) = last.rsplit_once(' ')
        {
            last.truncate(front.len());
        }
        last.push_str(" …");
    }
    lines.iter().map(|line| shorten(line, size, room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_font_can_be_read() {
        assert!(face().is_some());
        assert!((width("0", 100.0) - 63.6).abs() < 0.1);
        assert!(advance('ρ') < 1.0 && advance('⁻') < 1.0);
    }

    #[test]
    fn long_names_keep_both_ends() {
        let short = shorten("vit_base_patch16_224.augreg_in21k_ft_in1k", 10.0, 90.0);
        assert!(width(&short, 10.0) <= 90.0);
        assert!(short.starts_with("vit_") && short.ends_with("_in1k"), "{short}");
        assert_eq!(shorten("anything", 10.0, 0.0), "…");
    }

    #[test]
    fn words_wrap_and_the_rest_is_left_out() {
        assert_eq!(wrap("one two", 10.0, 200.0, 2), ["one two"]);
        let lines = wrap("a rather long label of an axis that goes on and on", 10.0, 80.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].ends_with(" …"), "{lines:?}");
        assert!(lines.iter().all(|line| width(line, 10.0) <= 80.0));
        assert!(wrap("  ", 10.0, 80.0, 2).is_empty());
    }

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(clean("a\u{0}b\u{1b}\nc"), "a\u{FFFD}b\u{FFFD} c");
    }
}
