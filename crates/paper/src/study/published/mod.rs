//! The figures of the paper's tables beside those of the zoo.

mod present;

use super::shift::{Column, ShiftTable};
use super::{Context, NotMeasured, Study, Unsuited, over_splits, shift};
use crate::measure::MeasuredPart;
use crate::measure::ModelResults;
use abstain::Method;
use abstain_io::zoo::Zoo;
use abstain_lab::Spread;
use serde::{Deserialize, Serialize};

/// The figures were measured on ImageNet.
const CLASSES: usize = 1000;

/// The number of models behind the average positive gains.
const MODELS: usize = 84;

/// The figures of the paper that the zoo has models for.
#[derive(Debug, Clone, Serialize)]
pub struct PublishedStudy {
    /// In the order of the paper.
    pub comparisons: Vec<PublishedComparison>,
}

/// A figure of the paper and that of the zoo.
#[derive(Debug, Clone, Serialize)]
pub struct PublishedComparison {
    /// The figure of the paper.
    pub published: Figure,
    /// The model of the zoo, unless the figure is an average over models.
    pub model: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// The number of corruptions behind the figure here, of rows that are corrupted.
    pub corruptions: Option<usize>,
    /// The figure here.
    pub here: Option<Spread>,
    /// By how much the mean here is above the published one.
    pub difference: Option<f64>,
}

/// A figure of the paper.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The number of its table.
    pub table: u8,
    /// The title of its model, unless it is an average over models.
    pub model: Option<String>,
    /// The rows it was measured on, if they are not all of the validation set.
    pub rows: Option<String>,
    /// The method, except of an accuracy.
    pub method: Option<Method>,
    /// What it is.
    pub metric: FigureMetric,
    /// The mean over splits.
    pub mean: f64,
    /// The standard deviation over splits, if it is printed.
    pub std: Option<f64>,
}

/// What a figure of the paper is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FigureMetric {
    /// NAURC, of a method as tuned, even where it falls back.
    #[serde(rename = "NAURC")]
    Naurc,
    /// The average positive gain over the models.
    #[serde(rename = "APG")]
    Apg,
    /// The accuracy.
    Accuracy,
    /// The coverage at the accuracy on the validation set.
    Coverage,
}

/// A model with published figures.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedModel {
    /// Its title in the paper.
    pub title: String,
    /// Names under which models of a zoo are recognised, in any case and without punctuation.
    pub names: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    models: Vec<PublishedModel>,
    figures: Vec<Figure>,
}

impl Published {
    fn read() -> Self {
        // The tests read it too.
        toml::from_str(include_str!("published.toml")).unwrap_or_default()
    }

    /// The model of which a model of the zoo has the name.
    fn model(&self, name: &str) -> Option<&PublishedModel> {
        self.models.iter().find(|model| model.names.iter().any(|known| plain(known) == plain(name)))
    }

    /// Whether the zoo has the models behind the averages, by their number and the known names.
    fn has_all(&self, zoo: &Zoo) -> bool {
        let has = |model: &PublishedModel| {
            zoo.models.iter().any(|other| self.model(&other.name) == Some(model))
        };
        zoo.models.len() == MODELS && self.models.iter().all(has)
    }
}

/// The models that have published figures.
pub fn published_models() -> Vec<PublishedModel> {
    Published::read().models
}

/// A name in lower case and without punctuation.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

impl Study for PublishedStudy {
    const NAME: &'static str = "published";
    const USES: &'static [MeasuredPart] = &[MeasuredPart::Shift];

    fn suits(zoo: &Zoo) -> Result<(), Unsuited> {
        let published = Published::read();
        let known = zoo.models.iter().any(|model| published.model(&model.name).is_some());
        if known && zoo.classes == CLASSES { Ok(()) } else { Err(Unsuited::NoPublishedModel) }
    }

    fn new(context: &Context<'_>) -> Result<Self, NotMeasured> {
        let published = Published::read();
        let mut comparisons = Vec::new();
        for title in published.models.iter().map(|model| &model.title) {
            let named = |model: &&ModelResults| {
                published.model(&model.model.name).is_some_and(|known| known.title == *title)
            };
            for model in context.models().iter().filter(named) {
                let here = Here::new(context, model);
                let figures = published.figures.iter();
                let of_model = figures.filter(|figure| figure.model.as_ref() == Some(title));
                comparisons.extend(of_model.filter_map(|figure| here.comparison(figure)));
            }
        }
        if published.has_all(context.zoo) {
            let averages = published.figures.iter().filter(|figure| figure.model.is_none());
            comparisons.extend(averages.map(|figure| {
                let here = figure.method.and_then(|method| context.apg_of(method, 0));
                PublishedComparison::new(figure, None, None, here)
            }));
        }
        comparisons.sort_by_key(|comparison| comparison.published.table);
        Ok(PublishedStudy { comparisons })
    }
}

impl PublishedComparison {
    fn new(
        figure: &Figure,
        model: Option<&ModelResults>,
        corruptions: Option<usize>,
        here: Option<Spread>,
    ) -> Self {
        PublishedComparison {
            published: figure.clone(),
            model: model.map(|results| results.model.name.clone()),
            title: model.map(|results| results.model.title.clone()),
            corruptions,
            here,
            difference: here.map(|here| here.mean - figure.mean),
        }
    }
}

/// What was measured on a model.
struct Here<'a> {
    model: &'a ModelResults,
    shift: Option<ShiftTable>,
}

impl<'a> Here<'a> {
    fn new(context: &Context<'a>, model: &'a ModelResults) -> Self {
        // The published coverages are those that the test rows show.
        let measured = Context { certified: false, ..*context };
        Here { model, shift: shift::table(&measured, model) }
    }

    /// A figure and that of the model; `None` if the zoo does not have the rows of the figure.
    fn comparison(&self, figure: &Figure) -> Option<PublishedComparison> {
        if figure.metric == FigureMetric::Naurc {
            let here = over_splits(self.model.full(), |split| {
                split.outcome(figure.method?)?.measured.naurc
            });
            return Some(PublishedComparison::new(figure, Some(self.model), None, here));
        }
        let rows = figure.rows.as_ref()?;
        if figure.metric == FigureMetric::Accuracy && *rows == Column::Clean.to_string() {
            let here = over_splits(self.model.full(), |split| Some(split.accuracy));
            return Some(PublishedComparison::new(figure, Some(self.model), None, here));
        }
        let table = self.shift.as_ref()?;
        let column = table.columns.iter().find(|column| match &column.column {
            Column::Set(name) => plain(name).trim_start_matches("imagenet") == plain(rows),
            level => level.to_string() == *rows,
        })?;
        let here = match figure.method {
            Some(method) => column.coverage_of(method),
            None => column.accuracy,
        };
        let corruptions = matches!(column.column, Column::Severity(_)).then_some(column.sets);
        Some(PublishedComparison::new(figure, Some(self.model), corruptions, here))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_complete() {
        let published: Published =
            toml::from_str(include_str!("published.toml")).expect("a valid file");
        let count = |table: u8| published.figures.iter().filter(|f| f.table == table).count();
        // Of two scores a temperature does not change the ranking.
        assert_eq!([count(1), count(2), count(3)], [2 * 20, 20, 4 * 7]);
        for figure in &published.figures {
            assert!((0.0..=1.0).contains(&figure.mean), "{figure:?}");
            assert!(figure.std.is_none_or(|std| std < 0.006), "{figure:?}");
            let known = |title: &String| published.models.iter().any(|m| m.title == *title);
            assert!(figure.model.as_ref().is_none_or(known), "{figure:?}");
            assert_eq!(figure.model.is_none(), figure.metric == FigureMetric::Apg, "{figure:?}");
            assert_eq!(figure.method.is_none(), figure.metric == FigureMetric::Accuracy);
            assert_eq!(figure.rows.is_some(), figure.table == 3, "{figure:?}");
            let same = |other: &&Figure| {
                (other.table, &other.model, &other.rows, other.method, other.metric)
                    == (figure.table, &figure.model, &figure.rows, figure.method, figure.metric)
            };
            assert_eq!(published.figures.iter().filter(same).count(), 1, "{figure:?}");
        }
    }

    /// What the paper's text says of its tables.
    #[test]
    fn the_tables_agree_with_the_text_of_the_paper() {
        let published = Published::read();
        let find = |model: &str, method: &str| {
            let named = |f: &&Figure| {
                f.table == 1
                    && f.model.as_deref() == Some(model)
                    && f.method.is_some_and(|m| m.to_string() == method)
            };
            published.figures.iter().find(named).expect("a figure").mean
        };
        let (before, after) =
            (find("EfficientNet-V2-XL", "MSP"), find("EfficientNet-V2-XL", "MaxLogit-pNorm"));
        assert_eq!(format!("{:.2}", before - after), "0.27");
        assert_eq!(format!("{:.0}", 100.0 * (1.0 - after / before)), "62");
        let of = |table: u8| published.figures.iter().filter(move |figure| figure.table == table);
        let efficient =
            of(1).filter(|figure| figure.model.as_deref() == Some("EfficientNet-V2-XL"));
        assert_eq!(efficient.map(|figure| figure.mean).fold(1.0, f64::min), after);
        let highest = of(2).max_by(|a, b| a.mean.total_cmp(&b.mean)).expect("a figure");
        assert_eq!(highest.method.map(|m| m.to_string()).as_deref(), Some("MaxLogit-pNorm"));
    }

    #[test]
    fn models_are_recognised_by_their_usual_names() {
        let published = Published::read();
        let title = |name: &str| published.model(name).map(|model| &model.title[..]);
        for name in ["vgg16", "VGG-16", "vgg16.tv_in1k"] {
            assert_eq!(title(name), Some("VGG16"), "{name}");
        }
        for name in ["efficientnet_v2_xl", "tf_efficientnetv2_xl.in21k_ft_in1k"] {
            assert_eq!(title(name), Some("EfficientNet-V2-XL"), "{name}");
        }
        assert_eq!(title("resnet50"), Some("ResNet-50"));
        for name in ["vgg16_bn", "wide_resnet50_2", "resnet50@IMAGENET1K_V1", "resnet-50-mine", ""]
        {
            assert_eq!(title(name), None, "{name}");
        }
    }
}
