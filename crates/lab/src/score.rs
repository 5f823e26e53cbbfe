//! The use case *score*: prediction, confidence and acceptance of rows.

use crate::error::LabError;
use crate::threshold::{GivenThreshold, check_classes, set_threshold};
use crate::warning::{self, Warning, unlabelled_warnings};
use abstain::{Answer, Artifact, Encoding, Error, Logits, internal::RowFacts};
use abstain_io::{
    BadRowsOf, LogitsReader, PredictionColumn, ScoreColumns, ScoreFormat, ScoreWriter,
};
use std::path::Path;

/// Scores rows with an artifact.
#[derive(Debug, Clone)]
pub struct Scorer {
    artifact: Artifact,
    values: bool,
}

/// Where scores are written, and how.
#[derive(Debug, Clone)]
pub struct ScoreOutput<'a> {
    /// The file; `-` is standard output.
    pub path: &'a Path,
    /// Its format.
    pub format: ScoreFormat,
    /// The names of the classes, unless the rows have them.
    pub class_names: Option<Vec<String>>,
    /// Whether predictions are numbers where names are known.
    pub ids: bool,
    /// Whether each row is written as soon as it is there.
    pub line_buffered: bool,
}

/// Some rows, scored.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The prediction of each row, its confidence, and whether it is accepted.
    pub answers: Vec<Answer>,
    /// The confidences on the scale of the paper's formula, if they were requested.
    pub values: Vec<f64>,
    /// What some of the rows look like.
    pub facts: RowFacts,
}

/// What was scored so far, which shows whether the rows are like those of the artifact.
#[derive(Debug, Clone, Default)]
pub struct ScoreSummary {
    rows: usize,
    accepted: usize,
    facts: RowFacts,
    /// The smallest and the largest confidence.
    range: Option<(f64, f64)>,
    /// Rows that could not be scored, and what is wrong with the first of them.
    bad: usize,
    first_bad: Option<String>,
}

impl ScoreSummary {
    /// Adds scored rows.
    pub fn push(&mut self, scored: &Scored) {
        self.facts.merge(&scored.facts);
        self.push_answers(&scored.answers);
    }

    /// Adds answers of rows without logits.
    pub fn push_answers(&mut self, answers: &[Answer]) {
        self.rows += answers.len();
        for answer in answers.iter().filter(|answer| answer.prediction != Answer::NO_CLASS) {
            self.accepted += usize::from(answer.accept == Some(true));
            let (low, high) = self.range.unwrap_or((answer.confidence, answer.confidence));
            self.range = Some((low.min(answer.confidence), high.max(answer.confidence)));
        }
    }

    /// Puts abstentions in the places of rows that could not be scored.
    fn abstain(&mut self, answers: &mut [Answer], bad: &BadRowsOf, has_rule: bool) {
        self.bad += bad.len();
        for (place, kind) in bad {
            answers[*place] = Answer::abstention(has_rule);
            self.first_bad.get_or_insert_with(|| kind.to_string());
        }
    }

    /// How many rows could not be scored, and what is wrong with the first of them.
    pub fn bad_rows(&self) -> Option<(usize, &str)> {
        self.first_bad.as_deref().map(|first| (self.bad, first))
    }

    /// The rows so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// What looks wrong with the rows for an artifact.
    pub fn warnings(&self, artifact: &Artifact, encoding: Encoding) -> Vec<Warning> {
        let constant = self.rows > 1 && self.range.is_some_and(|(low, high)| low == high);
        let mut warnings = unlabelled_warnings(artifact, encoding, &self.facts, &[]);
        warnings.extend(constant.then_some(Warning::ConstantConfidence));
        let rows = (self.rows - self.bad) as f64;
        warnings.extend(warning::of_coverage(artifact, self.accepted as f64 / rows, rows));
        warnings
    }
}

/// Rows of a piece whose facts are collected.
const ROWS_LOOKED_AT: usize = 4;

impl Scorer {
    /// A scorer; another threshold replaces the rule of the artifact, and `values` adds the values of the
    /// paper's formula.
    pub fn new(
        artifact: &Artifact,
        threshold: Option<f64>,
        values: bool,
    ) -> Result<Self, LabError> {
        if values && artifact.input == Encoding::Confidence {
            return Err(LabError::NoOtherValue);
        }
        let artifact = match threshold {
            Some(at) => set_threshold(artifact, GivenThreshold::Confidence(at))?,
            None => artifact.clone(),
        };
        if let Some(rule) = &artifact.rule {
            rule.check_rows(artifact.input != Encoding::Confidence, false)?;
        }
        Ok(Scorer { artifact, values })
    }

    /// Whether rows are accepted or not, which needs a rule.
    pub fn accepts(&self) -> bool {
        self.artifact.rule.is_some()
    }

    /// Scores some rows.
    pub fn score(&self, logits: &Logits<'_>) -> Result<Scored, Error> {
        let answers = self.artifact.answers(logits)?;
        let estimator = &self.artifact.estimator;
        let value = |answer: &Answer| estimator.value(answer.confidence, logits.classes());
        let values = if self.values { answers.iter().map(value).collect() } else { Vec::new() };
        Ok(Scored { answers, values, facts: RowFacts::of(logits, ROWS_LOOKED_AT) })
    }

    /// The answers to rows of a bare confidence; no classes are predicted.
    pub fn accept(&self, confidences: &[f64]) -> Vec<Answer> {
        let rule = self.artifact.rule.as_ref();
        let answer = |&confidence: &f64| Answer {
            prediction: 0,
            confidence,
            accept: rule.map(|rule| rule.decide(confidence, None, None).is_accept()),
        };
        confidences.iter().map(answer).collect()
    }

    /// Scores all rows of a reader and writes them; memory does not grow with the rows. `on_rows` is called
    /// from time to time with the number of rows that are done.
    pub fn write(
        &self,
        reader: LogitsReader<'_>,
        output: ScoreOutput<'_>,
        on_rows: &mut dyn FnMut(usize),
    ) -> Result<ScoreSummary, LabError> {
        let bare = reader.encoding() == Encoding::Confidence;
        if !bare {
            check_classes(&self.artifact, reader.classes())?;
        }
        let names = reader.columns().class_names.clone().or(output.class_names);
        let predictions = match names {
            _ if bare => PredictionColumn::None,
            Some(names) if !output.ids => PredictionColumn::Names(names),
            _ => PredictionColumn::Numbers,
        };
        let (value, accept, kept) = (self.values, self.accepts(), reader.kept().to_vec());
        let columns = ScoreColumns { predictions, value, accept, kept };
        let writer = ScoreWriter::create(output.path, output.format, columns)?;
        let mut writer = writer.line_buffered(output.line_buffered);
        let (mut summary, mut first_bad) = (ScoreSummary::default(), None);
        let path = reader.path().to_path_buf();
        if bare {
            reader.each_number(|numbers, kept, bad| -> Result<(), LabError> {
                let mut answers = self.accept(numbers);
                summary.abstain(&mut answers, &bad, self.accepts());
                first_bad = first_bad.take().or(bad.into_iter().next());
                summary.push_answers(&answers);
                writer.write(&answers, &[], kept)?;
                on_rows(summary.rows());
                Ok(())
            })?;
        } else {
            reader.map_pieces(
                |logits| Ok::<Scored, LabError>(self.score(logits)?),
                |mut scored, kept, bad| {
                    summary.abstain(&mut scored.answers, &bad, self.accepts());
                    if self.values {
                        for (place, _) in &bad {
                            scored.values[*place] = f64::NAN;
                        }
                    }
                    first_bad = first_bad.take().or(bad.into_iter().next());
                    summary.push(&scored);
                    writer.write(&scored.answers, &scored.values, kept)?;
                    on_rows(summary.rows());
                    Ok(())
                },
            )?;
        }
        // Where most rows cannot be scored, something is wrong with the file, not with some rows.
        if let Some((_, kind)) = first_bad
            && 2 * summary.bad > summary.rows
        {
            return Err(kind.of(&path).into());
        }
        writer.finish()?;
        Ok(summary)
    }

    /// The artifact, with the threshold that is used.
    pub fn artifact(&self) -> &Artifact {
        &self.artifact
    }
}
