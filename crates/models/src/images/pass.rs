//! One pass over images: they are read, decoded and prepared on all cores while the model runs.

use crate::images::Pixels;
use crate::images::classifier::{Classifier, ClassifierError, Outputs, Preparation};
use crate::images::corrupt::{CorruptError, Corruption};
use crate::images::dataset::{Dataset, DatasetError, Encoded, Raw};
use crate::images::decode::decode;
use crate::images::runtime::Input;
use rayon::prelude::*;
use std::collections::HashSet;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// What a pass is over.
pub(crate) struct Pass<'a> {
    pub(crate) dataset: &'a Dataset,
    /// Items that are left out.
    pub(crate) without: &'a HashSet<usize>,
    /// The image at which it begins.
    pub(crate) start: usize,
    /// Images of a batch.
    pub(crate) batch: usize,
    /// Whether the orientation of EXIF data is applied.
    pub(crate) orient: bool,
    /// What is done to the images; each is a further run of the model.
    pub(crate) variants: &'a [Variant],
    /// The seed of the corruptions.
    pub(crate) seed: u64,
    /// How many threads prepare images.
    pub(crate) threads: usize,
}

/// The images as they are, or a corruption of them.
pub(crate) type Variant = Option<(Corruption, u8)>;

/// A batch that went through the model.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The item after the last one.
    pub(crate) end: usize,
    /// The items of the rows.
    pub(crate) rows: Vec<usize>,
    /// Items that cannot be decoded, and why.
    pub(crate) broken: Vec<(usize, String)>,
    /// How many images state an orientation.
    pub(crate) oriented: usize,
    /// What the model gives, for each variant.
    pub(crate) outputs: Vec<Outputs>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum PassError {
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    #[error(transparent)]
    Classifier(#[from] ClassifierError),
    #[error(transparent)]
    Corrupt(#[from] CorruptError),
    #[error("the threads that prepare images cannot be started: {0}")]
    Threads(String),
}

/// An item with its image and whether that states an orientation, or why there is none.
type Cropped = (usize, Result<(Pixels, bool), String>);

/// What the preparing thread hands over.
enum Message {
    /// The rows of the next batch.
    Rows(Batch),
    /// The numbers of one of its variants.
    Input(Input),
}

impl Pass<'_> {
    /// Runs the model over the images. Batches do not depend on where a pass begins, if that is the
    /// end of a batch.
    pub(crate) fn run<E: From<PassError>>(
        &self,
        classifier: &mut Classifier,
        mut on_batch: impl FnMut(Batch) -> Result<(), E>,
    ) -> Result<(), E> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads)
            .build()
            .map_err(|error| PassError::Threads(error.to_string()))?;
        let (preparation, mut runner) = classifier.split();
        std::thread::scope(|scope| {
            // Few batches wait, because each may be large.
            let (sender, receiver) = sync_channel(2);
            let preparing =
                scope.spawn(move || pool.install(|| self.prepare(preparation, &sender)));
            let mut run = |receiver: &Receiver<Message>| -> Result<(), E> {
                let mut batch = Batch::default();
                for message in receiver {
                    match message {
                        Message::Rows(next) => batch = next,
                        Message::Input(input) => {
                            let outputs = runner.run(input, batch.rows.len());
                            batch.outputs.push(outputs.map_err(PassError::from)?);
                        }
                    }
                    let runs = if batch.rows.is_empty() { 0 } else { self.variants.len() };
                    if batch.outputs.len() == runs {
                        on_batch(std::mem::take(&mut batch))?;
                    }
                }
                Ok(())
            };
            let ran = run(&receiver);
            // The other thread stops when nobody listens.
            drop(receiver);
            let prepared =
                preparing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            ran?;
            prepared.map_err(E::from)
        })
    }

    fn prepare(
        &self,
        preparation: Preparation<'_>,
        sender: &SyncSender<Message>,
    ) -> Result<(), PassError> {
        let mut reader = self.dataset.reader(self.start)?;
        let mut gathered = Gathered::default();
        let mut next = self.start;
        loop {
            while gathered.images.len() < self.batch && next < self.dataset.items.len() {
                let end = (next + self.batch).min(self.dataset.items.len());
                let raws = reader.read(next..end)?;
                let wanted: Vec<(usize, Raw)> = (next..end)
                    .zip(raws)
                    .filter(|(item, _)| !self.without.contains(item))
                    .collect();
                let cropped: Result<Vec<Cropped>, DatasetError> = wanted
                    .into_par_iter()
                    .map(|(item, raw)| Ok((item, self.cropped(preparation, raw)?)))
                    .collect();
                gathered.extend(cropped?);
                next = end;
            }
            let last = next == self.dataset.items.len();
            let (batch, images) = gathered.take(self.batch, last.then_some(next));
            let done = last && gathered.images.is_empty();
            let rows = batch.rows.clone();
            if sender.send(Message::Rows(batch)).is_err() {
                return Ok(());
            }
            if !images.is_empty() {
                for variant in self.variants {
                    let input = match *variant {
                        None => preparation.input(&images),
                        Some((corruption, severity)) => {
                            let corrupted: Result<Vec<Pixels>, CorruptError> = rows
                                .par_iter()
                                .zip(&images)
                                .map(|(&item, image)| {
                                    corruption.apply(image, severity, self.seed, item as u64)
                                })
                                .collect();
                            preparation.input(&corrupted?)
                        }
                    };
                    if sender.send(Message::Input(input)).is_err() {
                        return Ok(());
                    }
                }
            }
            if done {
                return Ok(());
            }
        }
    }

    fn cropped(
        &self,
        preparation: Preparation<'_>,
        raw: Raw,
    ) -> Result<Result<(Pixels, bool), String>, DatasetError> {
        let crop = |pixels: &Pixels| preparation.preprocess.crop(pixels);
        Ok(raw.bytes()?.and_then(|encoded| match encoded {
            Encoded::Pixels(pixels) => Ok((crop(&pixels), false)),
            Encoded::Bytes(bytes) => {
                let decoded = decode(&bytes, self.orient).map_err(|error| error.to_string())?;
                Ok((crop(&decoded.pixels), decoded.oriented))
            }
        }))
    }
}

/// Images that wait for their batch.
#[derive(Default)]
struct Gathered {
    images: Vec<(usize, Pixels, bool)>,
    broken: Vec<(usize, String)>,
}

impl Gathered {
    fn extend(&mut self, images: Vec<Cropped>) {
        for (item, image) in images {
            match image {
                Ok((pixels, oriented)) => self.images.push((item, pixels, oriented)),
                Err(why) => self.broken.push((item, why)),
            }
        }
    }

    /// The next batch: it ends with its last image, or at the end of all items.
    fn take(&mut self, size: usize, end: Option<usize>) -> (Batch, Vec<Pixels>) {
        let count = size.min(self.images.len());
        let rest = self.images.split_off(count);
        let taken = std::mem::replace(&mut self.images, rest);
        let last = taken.last().map_or(0, |(item, ..)| item + 1);
        let end = end.filter(|_| self.images.is_empty()).unwrap_or(last);
        let broken = self.broken.partition_point(|(item, _)| *item < end);
        let later = self.broken.split_off(broken);
        let batch = Batch {
            end,
            rows: taken.iter().map(|(item, ..)| *item).collect(),
            broken: std::mem::replace(&mut self.broken, later),
            oriented: taken.iter().filter(|(.., oriented)| *oriented).count(),
            outputs: Vec::new(),
        };
        (batch, taken.into_iter().map(|(_, pixels, _)| pixels).collect())
    }
}
