//! An image classifier in ONNX that is ready to run.

use crate::images::Pixels;
use crate::images::preprocess::{Layout, Preprocess, Size};
use crate::images::runtime::{
    self, Input, Runtime, RuntimeError, Session, SessionOptions, Tensor, Values,
};
use crate::onnx::{Decision, Dimension, ElementType, ModelSummary, ModelValue};
use std::path::{Path, PathBuf};

/// What to load, and how.
#[derive(Debug, Clone)]
pub struct ClassifierRequest<'a> {
    /// The model.
    pub path: &'a Path,
    /// What its file says of it.
    pub summary: ModelSummary,
    /// How images are prepared for it.
    pub preprocess: Preprocess,
    /// What runs it.
    pub runtime: &'a Runtime,
    /// How many threads it gets.
    pub threads: usize,
    /// The output with the logits, if it is not the only one.
    pub logits: Option<&'a str>,
}

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClassifierError {
    /// The runtime.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// Not one input.
    #[error("{}: a classifier of images has one input, but this model has {}: {}", path.display(), found.len(), found.join(", "))]
    Inputs {
        /// The model.
        path: PathBuf,
        /// Its inputs.
        found: Vec<String>,
    },
    /// An input that is no batch of images.
    #[error("{}: the input {found} is no batch of images of three channels", path.display())]
    Input {
        /// The model.
        path: PathBuf,
        /// Its input.
        found: String,
    },
    /// Images of another size.
    #[error("{}: the model takes images of {expected}, but preprocessing gives {found}", path.display())]
    Size {
        /// The model.
        path: PathBuf,
        /// The size that it takes.
        expected: String,
        /// The size that it would get.
        found: String,
    },
    /// It is not clear which output has the logits.
    #[error("{}: which output has the logits? There are {}", path.display(), found.join(", "))]
    Outputs {
        /// The model.
        path: PathBuf,
        /// Its outputs.
        found: Vec<String>,
    },
    /// An output that is no row for each image.
    #[error("{}: the output '{output}' has the shape {shape:?} for {images} images; expected is one row of logits for each", path.display())]
    Shape {
        /// The model.
        path: PathBuf,
        /// The output.
        output: String,
        /// Its shape.
        shape: Vec<usize>,
        /// The images of the batch.
        images: usize,
    },
}

/// A classifier that was loaded.
pub struct Classifier {
    path: PathBuf,
    summary: ModelSummary,
    preprocess: Preprocess,
    size: Size,
    session: Box<dyn Session>,
    element: ElementType,
    /// The only size of batches that it takes.
    batch: Option<usize>,
    /// The output of the logits; nothing in a selective model that does not give them.
    logits: Option<String>,
    outputs: Vec<String>,
}

impl Classifier {
    /// Loads a model.
    pub fn load(request: &ClassifierRequest<'_>) -> Result<Self, ClassifierError> {
        let path = request.path.to_path_buf();
        let summary = request.summary.clone();
        let [input] = &summary.inputs[..] else {
            let found = summary.inputs.iter().map(ToString::to_string).collect();
            return Err(ClassifierError::Inputs { path, found });
        };
        let mut preprocess = request.preprocess.clone();
        let shape = ImageShape::of(input).ok_or_else(|| ClassifierError::Input {
            path: path.clone(),
            found: input.to_string(),
        })?;
        if let Some(layout) = shape.layout {
            preprocess.layout = layout;
        }
        let wrong_size = |found: String| ClassifierError::Size {
            path: path.clone(),
            expected: shape.size(),
            found,
        };
        let size = preprocess
            .size()
            .ok_or_else(|| wrong_size("images of any size; give --crop or --resize HxW".into()))?;
        if !shape.takes(size) {
            return Err(wrong_size(size.to_string()));
        }
        let logits = logits_output(&summary, request)?;
        let mut outputs: Vec<String> = logits.iter().cloned().collect();
        if let Some(selective) = &summary.selective {
            outputs.extend(Decision::ALL.into_iter().filter_map(|one| selective.output(one)));
        }
        let options = SessionOptions {
            path: request.path,
            input: &input.name,
            outputs: &outputs,
            threads: request.threads,
        };
        let session = runtime::load(request.runtime, &options)?;
        let element = input.element.unwrap_or(ElementType::FLOAT32);
        Ok(Classifier {
            path,
            preprocess,
            size,
            session,
            element,
            batch: shape.batch,
            logits,
            outputs,
            summary,
        })
    }

    /// What the file says of the model.
    pub fn summary(&self) -> &ModelSummary {
        &self.summary
    }

    /// How images are prepared.
    pub fn preprocess(&self) -> &Preprocess {
        &self.preprocess
    }

    /// The size of its batches, if it takes only one.
    pub fn batch(&self) -> Option<usize> {
        self.batch
    }

    /// How many logits it gives for each image, if its file states that.
    pub fn classes(&self) -> Option<usize> {
        let name = self.logits.as_ref()?;
        let output = self.summary.outputs.iter().find(|output| output.name == *name)?;
        match output.shape.as_ref()?.get(1)? {
            // Some exporters write 0 where the number is not known.
            Dimension::Fixed(classes) => usize::try_from(*classes).ok().filter(|&count| count > 0),
            _ => None,
        }
    }

    /// The output that has the logits.
    pub(crate) fn logits(&self) -> Option<&str> {
        self.logits.as_deref()
    }

    /// Whether it gives logits.
    pub fn gives_logits(&self) -> bool {
        self.logits.is_some()
    }

    /// The parts that preparing images and running the model need, so that both go on at once.
    pub(crate) fn split(&mut self) -> (Preparation<'_>, Runner<'_>) {
        let preparation = Preparation {
            preprocess: &self.preprocess,
            element: self.element,
            size: self.size,
            batch: self.batch,
        };
        let runner = Runner {
            path: &self.path,
            session: &mut *self.session,
            outputs: &self.outputs,
            size: self.size,
            layout: self.preprocess.layout,
            batch: self.batch,
            logits: self.logits.is_some(),
        };
        (preparation, runner)
    }
}

/// What preparing images needs to know of a model.
#[derive(Clone, Copy)]
pub(crate) struct Preparation<'a> {
    pub(crate) preprocess: &'a Preprocess,
    element: ElementType,
    size: Size,
    batch: Option<usize>,
}

impl Preparation<'_> {
    /// The numbers of cropped images, for a batch.
    pub(crate) fn input(&self, images: &[Pixels]) -> Input {
        use rayon::prelude::*;
        let area = 3 * self.size.height * self.size.width;
        let rows = self.batch.unwrap_or(images.len());
        if self.element == ElementType::UINT8 {
            let mut values = vec![0; rows * area];
            let fill = |(image, into): (&Pixels, &mut [u8])| {
                self.preprocess.arrange(image, into, |_, value| value);
            };
            images.par_iter().zip(values.par_chunks_mut(area)).for_each(fill);
            return Input::Byte(values);
        }
        let mut values = vec![0.0; rows * area];
        let fill = |(image, into): (&Pixels, &mut [f32])| self.preprocess.normalise(image, into);
        images.par_iter().zip(values.par_chunks_mut(area)).for_each(fill);
        if self.element == ElementType::FLOAT16 {
            return Input::Half(values.into_par_iter().map(half::f16::from_f32).collect());
        }
        Input::Float(values)
    }
}

/// A model at work.
pub(crate) struct Runner<'a> {
    path: &'a Path,
    session: &'a mut dyn Session,
    outputs: &'a [String],
    size: Size,
    layout: Layout,
    batch: Option<usize>,
    logits: bool,
}

/// What a model gives for a batch.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Outputs {
    /// The logits, row by row; none if the model does not give them.
    pub(crate) logits: Vec<f32>,
    /// Numbers of each row of the logits.
    pub(crate) classes: usize,
    /// What `abstain export` added, in the order of the outputs.
    pub(crate) decisions: Vec<Values>,
}

impl Outputs {
    /// Whether every row could be probabilities, which logits are only by a rare accident.
    pub(crate) fn look_like_probabilities(&self) -> bool {
        self.logits.chunks_exact(self.classes.max(1)).all(|row| {
            let sum: f64 = row.iter().map(|&value| f64::from(value)).sum();
            row.iter().all(|value| (0.0..=1.0).contains(value)) && (sum - 1.0).abs() < 1e-2
        })
    }
}

impl Runner<'_> {
    /// Runs a batch of so many images.
    pub(crate) fn run(&mut self, input: Input, images: usize) -> Result<Outputs, ClassifierError> {
        let rows = self.batch.unwrap_or(images);
        let shape = match self.layout {
            Layout::Nchw => [rows, 3, self.size.height, self.size.width],
            Layout::Nhwc => [rows, self.size.height, self.size.width, 3],
        };
        let tensors = self.session.run(input, shape)?;
        let mut outputs = Outputs::default();
        for (at, (tensor, name)) in tensors.into_iter().zip(self.outputs).enumerate() {
            let wrong = |tensor: &Tensor| ClassifierError::Shape {
                path: self.path.to_path_buf(),
                output: name.clone(),
                shape: tensor.shape.clone(),
                images: rows,
            };
            if at == 0 && self.logits {
                // Some networks leave dimensions of one pixel behind the classes.
                let classes = tensor.shape.get(1).copied().unwrap_or(1);
                let flat = tensor.shape.iter().skip(2).all(|&extent| extent == 1);
                let fits = tensor.shape.first() == Some(&rows) && flat && classes > 0;
                match &tensor.values {
                    Values::Floats(values) if fits && values.len() == rows * classes => {
                        outputs.classes = classes;
                        outputs.logits = values[..images * classes].to_vec();
                    }
                    _ => return Err(wrong(&tensor)),
                }
                continue;
            }
            let values = match &tensor.values {
                Values::Floats(values) if values.len() == rows => {
                    Values::Floats(values[..images].to_vec())
                }
                Values::Integers(values) if values.len() == rows => {
                    Values::Integers(values[..images].to_vec())
                }
                _ => return Err(wrong(&tensor)),
            };
            outputs.decisions.push(values);
        }
        Ok(outputs)
    }
}

/// The shape of an input of images.
struct ImageShape {
    batch: Option<usize>,
    layout: Option<Layout>,
    height: Option<usize>,
    width: Option<usize>,
}

impl ImageShape {
    fn of(input: &ModelValue) -> Option<Self> {
        let known = [ElementType::FLOAT32, ElementType::FLOAT16, ElementType::UINT8];
        if input.element.is_some_and(|element| !known.contains(&element)) {
            return None;
        }
        let Some(shape) = &input.shape else {
            return Some(ImageShape { batch: None, layout: None, height: None, width: None });
        };
        let fixed = |dimension: &Dimension| match dimension {
            Dimension::Fixed(extent) => usize::try_from(*extent).ok().filter(|&extent| extent > 0),
            _ => None,
        };
        let extents: Vec<Option<usize>> = shape.iter().map(fixed).collect();
        let &[batch, second, third, last] = &extents[..] else { return None };
        let layout = match (second, last) {
            (Some(3), last) if last != Some(3) => Some(Layout::Nchw),
            (second, Some(3)) if second != Some(3) => Some(Layout::Nhwc),
            (None | Some(3), None | Some(3)) => None,
            _ => return None,
        };
        let (height, width) = match layout {
            Some(Layout::Nhwc) => (second, third),
            _ => (third, last),
        };
        Some(ImageShape { batch, layout, height, width })
    }

    fn takes(&self, size: Size) -> bool {
        self.height.is_none_or(|height| height == size.height)
            && self.width.is_none_or(|width| width == size.width)
    }

    fn size(&self) -> String {
        let side =
            |side: Option<usize>| side.map_or_else(|| "any".to_string(), |side| side.to_string());
        format!("{} x {}", side(self.height), side(self.width))
    }
}

/// The output of the logits.
fn logits_output(
    summary: &ModelSummary,
    request: &ClassifierRequest<'_>,
) -> Result<Option<String>, ClassifierError> {
    let names: Vec<&str> = summary.outputs.iter().map(|output| &output.name[..]).collect();
    let ambiguous = || ClassifierError::Outputs {
        path: request.path.to_path_buf(),
        found: summary.outputs.iter().map(ToString::to_string).collect(),
    };
    if let Some(name) = request.logits {
        return names.contains(&name).then(|| Some(name.to_string())).ok_or_else(ambiguous);
    }
    if let Some(selective) = &summary.selective {
        let given = names.contains(&selective.logits.as_str());
        return Ok(given.then(|| selective.logits.clone()));
    }
    match names[..] {
        [one] => Ok(Some(one.to_string())),
        _ => Err(ambiguous()),
    }
}
