//! How LaTeX spells a character, with no package but the kernel.

use std::fmt::Write;

/// Characters that have to be set in a formula, each with its command.
const FORMULA: &str = r"
    < < > > | |
    α \alpha β \beta γ \gamma δ \delta ε \varepsilon ϵ \epsilon ζ \zeta η \eta θ \theta ϑ \vartheta
    ι \iota κ \kappa λ \lambda μ \mu µ \mu ν \nu ξ \xi ο o π \pi ρ \rho ς \varsigma σ \sigma τ \tau
    υ \upsilon φ \varphi ϕ \phi χ \chi ψ \psi ω \omega
    Α \mathrm{A} Β \mathrm{B} Γ \Gamma Δ \Delta ∆ \Delta Ε \mathrm{E} Ζ \mathrm{Z} Η \mathrm{H}
    Θ \Theta Ι \mathrm{I} Κ \mathrm{K} Λ \Lambda Μ \mathrm{M} Ν \mathrm{N} Ξ \Xi Ο \mathrm{O} Π \Pi
    Ρ \mathrm{P} Σ \Sigma Τ \mathrm{T} Υ \Upsilon Φ \Phi Χ \mathrm{X} Ψ \Psi Ω \Omega
    − - ± \pm ∓ \mp × \times ÷ \div · \cdot ∗ * ∘ \circ ° ^\circ ½ \frac12 ⅓ \frac13 ¼ \frac14 ¾ \frac34
    ≤ \leq ≥ \geq ≪ \ll ≫ \gg ≠ \neq ≈ \approx ≡ \equiv ∼ \sim ∝ \propto
    √ \surd ∞ \infty ∂ \partial ∇ \nabla ∫ \int ∑ \sum ∏ \prod ℓ \ell ′ '
    ∈ \in ∉ \notin ∅ \emptyset ∪ \cup ∩ \cap ⊂ \subset ⊆ \subseteq ∀ \forall ∃ \exists
    ¬ \neg ∧ \wedge ∨ \vee ⊕ \oplus ⊗ \otimes
    ‖ \| ∥ \| ⌈ \lceil ⌉ \rceil ⌊ \lfloor ⌋ \rfloor ⟨ \langle ⟩ \rangle
    ← \leftarrow → \rightarrow ↑ \uparrow ↓ \downarrow ↔ \leftrightarrow ⇒ \Rightarrow ⇔ \Leftrightarrow
    † \dagger ‡ \ddagger • \bullet ★ \star ▸ \triangleright ✓ \surd ✗ \times
    ⁰ ^0 ¹ ^1 ² ^2 ³ ^3 ⁴ ^4 ⁵ ^5 ⁶ ^6 ⁷ ^7 ⁸ ^8 ⁹ ^9 ⁺ ^+ ⁻ ^- ⁿ ^n ᵀ ^\top
    ₀ _0 ₁ _1 ₂ _2 ₃ _3 ₄ _4 ₅ _5 ₆ _6 ₇ _7 ₈ _8 ₉ _9 ₊ _+ ₋ _-
    ᵢ _i ⱼ _j ₖ _k ₙ _n ₚ _p ₜ _t ₓ _x
";

/// Characters that text spells otherwise, each with its command.
const TEXT: &str = r"
    & \& % \% $ \$ # \# _ \_ { \{ } \} ~ \textasciitilde{} ^ \textasciicircum{} \ \textbackslash{}
    ‐ - ‑ - – -- — --- … \dots{} ` {`} ‘ {`} ’ ' “ `` ” '' § \S{} ¶ \P{} © \copyright{} £ \pounds{}
    ® \textregistered{} ™ \texttrademark{}
";

/// Letters from À to ž that the standard fonts of LaTeX lack.
const LACKING: &str = "ÐðÞþĄąĐđĘęĦħĮįĸĿŀŉŊŋŦŧŲųſ";

/// Appends a character of plain text. What pdflatex cannot print appears as its number: a name
/// that is hard to read is better than a document that does not compile.
pub(super) fn tex(c: char, out: &mut String) {
    if c.is_ascii_alphanumeric() || c == ' ' {
        out.push(c);
    } else if let Some(command) = command(c, TEXT) {
        *out += command;
    } else if let Some(command) = command(c, FORMULA) {
        let _ = write!(out, "${command}$");
    } else {
        match c {
            '"' => *out += "''",
            '\u{a0}' => out.push('~'),
            '\u{202f}' => *out += "\\,",
            // A place where a word may be broken, which LaTeX finds itself.
            '\u{ad}' => {}
            'À'..='ž' if !LACKING.contains(c) => out.push(c),
            _ if c.is_ascii() => out.push(c),
            _ => {
                let _ = write!(out, "{{\\scriptsize [U+{:04X}]}}", u32::from(c));
            }
        }
    }
}

fn command(c: char, list: &'static str) -> Option<&'static str> {
    let mut words = list.split_whitespace();
    while let (Some(sign), Some(command)) = (words.next(), words.next()) {
        if sign.chars().eq([c]) {
            return Some(command);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_pairs_and_name_each_character_once() {
        let words: Vec<&str> =
            [TEXT, FORMULA].into_iter().flat_map(str::split_whitespace).collect();
        let characters: Vec<&str> = words.iter().step_by(2).copied().collect();
        assert!(words.len().is_multiple_of(2));
        for (i, sign) in characters.iter().enumerate() {
            assert_eq!(sign.chars().count(), 1, "{sign}");
            assert!(!characters[..i].contains(sign), "{sign}");
        }
        assert!(words.iter().skip(1).step_by(2).all(|command| command.is_ascii()));
    }

    #[test]
    fn what_comes_out_is_known_to_latex() {
        for c in (' '..='\u{2fff}').chain(['中', '🎲', '\u{10ffff}']) {
            let mut out = String::new();
            tex(c, &mut out);
            let known = |c: char| c.is_ascii() || ('À'..='ž').contains(&c);
            assert!(out.chars().all(known), "{c}: {out}");
        }
    }
}
