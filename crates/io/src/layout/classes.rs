//! Which columns are the classes, and in which order.
//!
//! Numbered columns are classes by their numbers. Columns named by words are classes in the order of
//! the file, and only if nothing else can be among them: labels decide, or what the names have in
//! common. Names of other things are never classes.

use super::names::{
    LOGITS, PROBABILITIES, identifies, is_other, normalised, says_classes, says_logits,
    says_probabilities,
};
use super::{Field, FieldKind, Quantity, ambiguous, named, names_of};
use crate::error::{ErrorKind, Result};
use std::collections::{BTreeMap, BTreeSet};

/// What is known before the columns are looked at.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ClassRequest<'a> {
    /// The requested name: of a list, or of columns with commas and a star at the end.
    pub(crate) name: Option<&'a str>,
    /// The names of the classes, in the order of their numbers.
    pub(crate) class_names: Option<&'a [String]>,
    /// The labels that occur, where they are text.
    pub(crate) seen: Option<&'a BTreeSet<String>>,
    /// Whether the numbers are stated to be probabilities.
    pub(crate) probabilities: bool,
    /// Columns that are requested for something else.
    pub(crate) reserved: &'a [&'a str],
    /// Whether fields are arrays: one of two dimensions holds all classes.
    pub(crate) arrays: bool,
}

/// What the order of the classes follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Numbering {
    /// The order inside one array or list.
    Array,
    /// The numbers in the names of the columns, of which this is the first.
    Numbers(usize),
    /// The columns are named by words. If they are not certain to be the classes, and all of them,
    /// labels must confirm it.
    Words {
        /// Whether nothing more is needed.
        certain: bool,
    },
    /// The order of columns without names.
    Positions,
}

/// The columns of the classes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassColumns {
    /// Their indices in the order of the classes; that of the list or array, if there is one.
    pub columns: Vec<usize>,
    /// Their names in the file.
    pub names: Vec<String>,
    /// The names of the classes, where columns have them.
    pub class_names: Option<Vec<String>>,
    /// What the order follows from.
    pub numbering: Numbering,
    /// Columns of numbers that are not used as classes.
    pub others: Vec<String>,
}

impl ClassColumns {
    /// One column, where a row is one number.
    pub(crate) fn one(index: usize, fields: &[Field]) -> Self {
        ClassColumns {
            columns: vec![index],
            names: vec![fields[index].name.clone()],
            class_names: None,
            numbering: Numbering::Array,
            others: Vec::new(),
        }
    }
}

/// The columns of the classes, if they are certain.
pub(crate) fn class_columns(fields: &[Field], request: &ClassRequest<'_>) -> Result<ClassColumns> {
    let search = Search { fields, request };
    let found = match request.name {
        Some(name) => search.by_request(name)?,
        None => search.by_looks()?,
    };
    search.check_names(&found)?;
    Ok(found)
}

struct Search<'a> {
    fields: &'a [Field],
    request: &'a ClassRequest<'a>,
}

/// A name around its last number: before, the number, behind.
fn numbered(name: &str) -> Option<(&str, usize, &str)> {
    let end = name.rfind(|c: char| c.is_ascii_digit())? + 1;
    let digits =
        name[..end].len() - name[..end].trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let number = name[end - digits..end].parse().ok()?;
    Some((&name[..end - digits], number, &name[end..]))
}

/// Whether a name is one of those in a list with commas; a star at the end stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == pattern,
    }
}

/// Columns that have the beginning or the ending of their names in common, in the order of the file.
struct Group {
    affix: (String, String),
    columns: Vec<usize>,
}

impl Search<'_> {
    fn name(&self, index: usize) -> &str {
        &self.fields[index].name
    }

    fn is_reserved(&self, index: usize) -> bool {
        self.request.reserved.contains(&self.name(index))
    }

    /// Columns of one number in each row that are not requested for something else.
    fn scalars(&self) -> Vec<usize> {
        let fits = |&i: &usize| {
            self.fields[i].depth == 0 && self.fields[i].kind.is_number() && !self.is_reserved(i)
        };
        (0..self.fields.len()).filter(fits).collect()
    }

    fn found(&self, columns: Vec<usize>, numbering: Numbering) -> ClassColumns {
        let used = |i: &usize| columns.contains(i) || self.is_reserved(*i);
        let others = (0..self.fields.len())
            .filter(|i| !used(i) && self.fields[*i].kind.is_number())
            .map(|i| self.name(i).to_string())
            .filter(|name| !name.is_empty() && !Quantity::Labels.has_name(name))
            .collect();
        let names = columns.iter().map(|&i| self.name(i).to_string()).collect();
        ClassColumns { columns, names, class_names: None, numbering, others }
    }

    /// The list of a name, or the columns that patterns match.
    fn by_request(&self, name: &str) -> Result<ClassColumns> {
        let exactly = self.fields.iter().any(|field| field.name == name);
        if exactly && !name.contains('*') {
            let index = named(self.fields, Quantity::Logits, name)?;
            return Ok(self.found(vec![index], Numbering::Array));
        }
        if self.request.arrays {
            let index = named(self.fields, Quantity::Logits, name)?;
            return Ok(self.found(vec![index], Numbering::Array));
        }
        if self.fields.iter().all(|field| field.name.is_empty()) {
            return self.by_requested_positions(name);
        }
        let patterns: Vec<&str> = name.split(',').map(str::trim).collect();
        if let [pattern] = patterns[..] {
            return self.by_pattern(pattern);
        }
        let mut columns = Vec::new();
        for pattern in &patterns {
            if pattern.ends_with('*') {
                columns.extend(self.by_pattern(pattern)?.columns);
            } else {
                columns.push(named(self.fields, Quantity::Logits, pattern)?);
            }
        }
        // Names state an order; patterns leave it to the file.
        if patterns.iter().any(|pattern| pattern.ends_with('*')) {
            columns.sort_unstable();
            columns.dedup();
        }
        let mut found = self.found(columns, Numbering::Words { certain: true });
        found.class_names = Some(found.names.clone());
        Ok(found)
    }

    /// Columns without names, by their numbers from 0 on.
    fn by_requested_positions(&self, name: &str) -> Result<ClassColumns> {
        let position = |text: &str| text.trim().parse().ok().filter(|i| *i < self.fields.len());
        let columns = name.split(',').map(position).collect::<Option<Vec<usize>>>();
        if let Some(columns) = columns {
            return Ok(self.found(columns, Numbering::Words { certain: true }));
        }
        let names = (0..self.fields.len()).map(|i| i.to_string()).collect();
        Err(ErrorKind::NoSuchName { what: Quantity::Logits, name: name.into(), names })
    }

    /// The columns that one pattern matches: by their numbers, or in the order of the file.
    fn by_pattern(&self, pattern: &str) -> Result<ClassColumns> {
        let fits = |&i: &usize| {
            let (name, label) = (self.name(i), Quantity::Labels.has_name(self.name(i)));
            matches(pattern, name) && self.fields[i].depth == 0 && !label && !self.is_reserved(i)
        };
        let columns: Vec<usize> = (0..self.fields.len()).filter(fits).collect();
        if columns.is_empty() {
            let (what, names) = (Quantity::Logits, names_of(self.fields));
            return Err(ErrorKind::NoSuchName { what, name: pattern.into(), names });
        }
        let prefix = pattern.trim_end_matches('*');
        let all_numbered = columns.iter().all(|&i| {
            numbered(self.name(i)).is_some_and(|(before, _, behind)| {
                before == prefix && behind.trim_matches([']', ')']).is_empty()
            })
        });
        if all_numbered {
            return self.by_number(columns);
        }
        let names = columns.iter().map(|&i| self.name(i)[prefix.len()..].to_string()).collect();
        let mut found = self.found(columns, Numbering::Words { certain: true });
        found.class_names = Some(names);
        Ok(found)
    }

    fn by_looks(&self) -> Result<ClassColumns> {
        if let Some(list) = self.list()? {
            return Ok(self.found(vec![list], Numbering::Array));
        }
        if self.request.arrays {
            return match self.fields {
                // Its shape is wrong, which its reader describes.
                [_] => Ok(self.found(vec![0], Numbering::Array)),
                _ => Err(self.ask(&(0..self.fields.len()).collect::<Vec<_>>())),
            };
        }
        if self.fields.iter().all(|field| field.name.is_empty()) {
            return Ok(self.by_position());
        }
        if let Some(found) = self.by_class_names()? {
            return Ok(found);
        }
        if let Some(kind) = self.as_long_table() {
            return Err(kind);
        }
        if let Some(found) = self.by_numbers()? {
            return Ok(found);
        }
        self.by_words()
    }

    /// The error of a table with one line for each class of a row: its columns are a row, a class and a number,
    /// and none of the others may be a class.
    fn as_long_table(&self) -> Option<ErrorKind> {
        const ROWS: [&str; 6] = ["row", "row_id", "sample", "sample_id", "index", "example"];
        const CLASSES: [&str; 6] =
            ["class", "class_name", "class_id", "category", "candidate", "option"];
        const NUMBERS: [&str; 9] =
            ["score", "prob", "proba", "probability", "logit", "logprob", "value", "p", "output"];
        let find = |fits: &dyn Fn(&str) -> bool| {
            let fits = |&i: &usize| {
                self.fields[i].depth == 0 && !self.is_reserved(i) && fits(&normalised(self.name(i)))
            };
            (0..self.fields.len()).find(fits)
        };
        let row = find(&|name| ROWS.contains(&name) || identifies(name))?;
        let class = find(&|name| CLASSES.contains(&name))?;
        let number = find(&|name| NUMBERS.contains(&name))?;
        let used = [row, class, number];
        let others = self.scalars().into_iter().filter(|i| !used.contains(i));
        if others.into_iter().any(|i| !is_other(self.name(i))) {
            return None;
        }
        let [row, class, number] = used.map(|i| self.name(i).to_string());
        Some(ErrorKind::LongTable { row, class, number })
    }

    /// The only list or array of a usual name, or the only one that may be the logits.
    fn list(&self) -> Result<Option<usize>> {
        let usual = if self.request.probabilities { &PROBABILITIES } else { &LOGITS };
        let fits = |&i: &usize| {
            let Field { kind, depth, .. } = self.fields[i];
            depth == 1 && kind.is_number() && !self.is_reserved(i)
        };
        let lists: Vec<usize> = (0..self.fields.len()).filter(fits).collect();
        for rank in 0..2 {
            let named = |&i: &usize| usual.rank(&normalised(self.name(i))) == Some(rank);
            let found: Vec<usize> = lists.iter().copied().filter(named).collect();
            match found[..] {
                [] => {}
                [only] => return Ok(Some(only)),
                _ => return Err(self.ask(&found)),
            }
        }
        let possible = |&i: &usize| {
            let name = self.name(i);
            name.is_empty() || !is_other(name) || says_probabilities(name)
        };
        let unknown: Vec<usize> = lists.iter().copied().filter(possible).collect();
        match unknown[..] {
            [] => Ok(None),
            [only] => Ok(Some(only)),
            _ => Err(self.ask(&unknown)),
        }
    }

    /// Columns without names, in their order.
    ///
    /// What is text among them is for the reader to describe.
    fn by_position(&self) -> ClassColumns {
        self.found((0..self.fields.len()).collect(), Numbering::Positions)
    }

    /// The columns that have the names of the classes, with something in common or as they are; in another
    /// case if that leaves no choice. Where some of the classes have a column and others have none, the order
    /// of the columns is not that of the classes.
    fn by_class_names(&self) -> Result<Option<ClassColumns>> {
        let Some(class_names) = self.request.class_names else { return Ok(None) };
        let scalars = self.scalars();
        let mut affixes = self.affixes(&scalars);
        affixes.sort_by_key(|group| !self.preferred(&group.affix));
        affixes.push(Group { affix: Default::default(), columns: scalars });
        let mut missing = None;
        for Group { affix: (before, behind), columns } in affixes {
            let column = |class: &String| {
                let whole = format!("{before}{class}{behind}");
                let same = columns.iter().copied().find(|&i| self.name(i) == whole);
                let folded = whole.to_lowercase();
                let mut alike =
                    columns.iter().copied().filter(|&i| self.name(i).to_lowercase() == folded);
                same.or(alike.next().filter(|_| alike.next().is_none()))
            };
            let of_classes: Vec<Option<usize>> = class_names.iter().map(column).collect();
            if let Some(columns) = of_classes.iter().copied().collect::<Option<Vec<usize>>>() {
                let mut found = self.found(columns, Numbering::Words { certain: true });
                found.class_names = Some(class_names.to_vec());
                return Ok(Some(found));
            }
            // Numbers may be those of columns as well as names of classes.
            let words = class_names.iter().all(|name| name.parse::<f64>().is_err());
            if words && of_classes.iter().any(Option::is_some) {
                missing = missing.or(of_classes.iter().position(Option::is_none));
            }
        }
        match missing {
            None => Ok(None),
            Some(class) => {
                let (what, name) = (Quantity::Logits, class_names[class].clone());
                Err(ErrorKind::NoSuchName { what, name, names: names_of(self.fields) })
            }
        }
    }

    /// Whether what columns have in common says what the numbers are stated to be.
    fn preferred(&self, (before, behind): &(String, String)) -> bool {
        let says = if self.request.probabilities { says_probabilities } else { says_logits };
        says(before) || says(behind)
    }

    /// Of several groups the one that names what is read, or the only one.
    fn choose(&self, groups: Vec<Group>) -> Result<Option<Group>> {
        let (mut better, mut rest): (Vec<Group>, Vec<Group>) =
            groups.into_iter().partition(|group| self.preferred(&group.affix));
        match (better.len(), rest.len()) {
            (1, _) => Ok(better.pop()),
            (0, 0) => Ok(None),
            (0, 1) => Ok(rest.pop()),
            _ => {
                let all = better.iter().chain(&rest);
                Err(self.ask(
                    &all.filter_map(|group| group.columns.first().copied()).collect::<Vec<_>>(),
                ))
            }
        }
    }

    /// Columns that are numbered alike.
    fn by_numbers(&self) -> Result<Option<ClassColumns>> {
        let mut groups: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
        let scalars = self.scalars();
        for &i in &scalars {
            if let Some((before, _, behind)) = numbered(self.name(i)) {
                groups.entry((before.into(), behind.into())).or_default().push(i);
            }
        }
        let says = |affix: &(String, String)| says_classes(&format!("{}_{}", affix.0, affix.1));
        let groups: Vec<Group> = groups
            .into_iter()
            .map(|(affix, columns)| Group { affix, columns })
            .filter(|Group { affix, columns }| {
                let other = columns.iter().all(|&i| is_other(self.name(i)));
                columns.len() > 1 && (says(affix) || (!other && self.starts_a_count(columns)))
            })
            .collect();
        let (known, unknown): (Vec<Group>, Vec<Group>) =
            groups.into_iter().partition(|group| says(&group.affix));
        if let Some(group) = self.choose(known)? {
            return self.by_number(group.columns).map(Some);
        }
        // Words that say that they are classes go before numbers that do not.
        if !self.affixes(&scalars).is_empty() {
            return Ok(None);
        }
        let Some(group) = self.choose(unknown)? else { return Ok(None) };
        // Beside columns that may be classes as well, numbers decide nothing.
        let unplaced = scalars.iter().filter(|i| !group.columns.contains(i));
        let unplaced: Vec<usize> = unplaced.copied().filter(|&i| !is_other(self.name(i))).collect();
        if unplaced.is_empty() {
            return self.by_number(group.columns).map(Some);
        }
        let first = group.columns.first().copied();
        Err(self.ask(&first.into_iter().chain(unplaced).collect::<Vec<_>>()))
    }

    /// Whether the numbers of columns begin with 0 or 1; others may be part of words, as in mp3.
    fn starts_a_count(&self, columns: &[usize]) -> bool {
        columns.iter().filter_map(|&i| numbered(self.name(i))).any(|(_, number, _)| number <= 1)
    }

    /// Columns in the order of their numbers, which count from 0 or 1 without gaps.
    fn by_number(&self, mut columns: Vec<usize>) -> Result<ClassColumns> {
        let number = |i: usize| numbered(self.name(i)).map_or(0, |(_, number, _)| number);
        columns.sort_by_key(|&i| number(i));
        let first = columns.first().map_or(0, |&i| number(i));
        for pair in columns.windows(2) {
            if number(pair[0]) == number(pair[1]) {
                let names = [self.name(pair[0]).into(), self.name(pair[1]).into()];
                return Err(ErrorKind::SameNumber { names });
            }
        }
        let missing = if first > 1 {
            Some(0)
        } else {
            (first..).zip(&columns).find(|(expected, i)| number(**i) != *expected).map(|(n, _)| n)
        };
        if let Some(missing) = missing {
            let names = columns.iter().map(|&i| self.name(i).to_string()).collect();
            return Err(ErrorKind::MissingNumber { missing, names });
        }
        Ok(self.found(columns, Numbering::Numbers(first)))
    }

    /// Groups of columns whose names begin or end alike, and say by that that they are classes.
    fn affixes(&self, scalars: &[usize]) -> Vec<Group> {
        const SEPARATORS: [char; 10] = ['_', '.', ':', ' ', '-', '/', '[', ']', '(', ')'];
        let mut groups: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
        for &i in scalars {
            let name = self.name(i);
            if let Some(at) = name.find(SEPARATORS) {
                groups.entry((name[..=at].into(), String::new())).or_default().push(i);
            }
            if let Some(at) = name.rfind(SEPARATORS) {
                groups.entry((String::new(), name[at..].into())).or_default().push(i);
            }
        }
        let says = |(before, behind): &(String, String)| {
            let common = normalised(&format!("{before}{behind}"));
            !common.is_empty() && says_classes(&common)
        };
        groups
            .into_iter()
            .filter(|(affix, columns)| columns.len() > 1 && says(affix))
            .map(|(affix, columns)| Group { affix, columns })
            .collect()
    }

    /// Columns that are named by words.
    fn by_words(&self) -> Result<ClassColumns> {
        let scalars = self.scalars();
        if let Some(Group { affix: (before, behind), columns }) =
            self.choose(self.affixes(&scalars))?
        {
            let class = |&i: &usize| {
                let name = self.name(i);
                name[before.len()..name.len() - behind.len()].to_string()
            };
            let names = columns.iter().map(class).collect();
            let mut found = self.found(columns, Numbering::Words { certain: true });
            found.class_names = Some(names);
            return Ok(found);
        }
        let is_label = |i: usize| self.request.seen.is_some_and(|seen| seen.contains(self.name(i)));
        let columns: Vec<usize> =
            scalars.into_iter().filter(|&i| is_label(i) || !is_other(self.name(i))).collect();
        self.check_words(&columns)?;
        let certain = self.request.seen.is_some();
        let mut found = self.found(columns, Numbering::Words { certain });
        found.class_names = Some(found.names.clone());
        Ok(found)
    }

    /// Refuses words that cannot all be classes.
    fn check_words(&self, columns: &[usize]) -> Result<()> {
        match columns {
            [] => {
                return Err(ErrorKind::NoClasses { names: names_of(self.fields) });
            }
            [only] => {
                return Err(ErrorKind::OneColumn { name: self.name(*only).to_string() });
            }
            _ => {}
        }
        let of_kind = |kind| columns.iter().any(|&i| self.fields[i].kind == kind);
        if of_kind(FieldKind::Float) && of_kind(FieldKind::Integer) {
            return Err(self.ask(columns));
        }
        let Some(seen) = self.request.seen else { return Ok(()) };
        let names: BTreeSet<&str> = columns.iter().map(|&i| self.name(i)).collect();
        if let Some(label) = seen.iter().find(|label| !names.contains(&***label)) {
            let names = columns.iter().map(|&i| self.name(i).to_string()).collect();
            return Err(ErrorKind::NoColumnOfLabel { label: label.clone(), names });
        }
        let never: Vec<String> =
            (names.iter().filter(|name| !seen.contains(**name))).map(ToString::to_string).collect();
        if never.is_empty() { Ok(()) } else { Err(ErrorKind::NeverALabel { names: never }) }
    }

    fn ask(&self, among: &[usize]) -> ErrorKind {
        ambiguous(self.fields, Quantity::Logits, among)
    }

    /// Refuses two columns of one name, and names that contradict what the numbers are stated to be.
    fn check_names(&self, found: &ClassColumns) -> Result<()> {
        let mut seen = BTreeSet::new();
        let named = found.names.iter().filter(|name| !name.is_empty());
        if let Some(name) = named.clone().find(|name| !seen.insert(*name)) {
            return Err(ErrorKind::SameName { name: name.clone() });
        }
        if self.request.probabilities || self.request.name.is_some() {
            return Ok(());
        }
        match found.names.first() {
            Some(name)
                if says_probabilities(name)
                    && found.names.iter().all(|n| says_probabilities(n)) =>
            {
                Err(ErrorKind::NamedProbabilities { name: name.clone() })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
