//! The runtime that comes with the program.

use super::{Input, RuntimeError, Session, SessionOptions, Tensor, Values, one_line};
use abstain_io::guarded;
use rten::{NodeId, RunOptions, ThreadPool, Value};
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

const NAME: &str = "rten";

pub(super) struct Model {
    path: PathBuf,
    loaded: rten::Model,
    input: NodeId,
    outputs: Vec<NodeId>,
    threads: Arc<ThreadPool>,
}

impl Model {
    pub(super) fn load(options: &SessionOptions<'_>) -> Result<Self, RuntimeError> {
        let path = options.path.to_path_buf();
        let problem = |text: &dyn Display| RuntimeError::Load {
            path: path.clone(),
            runtime: NAME,
            problem: one_line(&text.to_string()),
        };
        // It panics on some models that it does not expect.
        let model = guarded(|| {
            let mut loading = rten::ModelOptions::with_all_ops();
            loading.prepack_weights(true);
            loading.load_file(options.path)
        });
        let model = model.map_err(|text| problem(&text))?.map_err(|error| problem(&error))?;
        let node = |name: &str| model.node_id(name).map_err(|error| problem(&error));
        let input = node(options.input)?;
        let outputs = options.outputs.iter().map(|name| node(name)).collect::<Result<_, _>>()?;
        let threads = Arc::new(ThreadPool::with_num_threads(options.threads));
        Ok(Model { path: path.clone(), loaded: model, input, outputs, threads })
    }
}

impl Session for Model {
    fn run(&mut self, input: Input, shape: [usize; 4]) -> Result<Vec<Tensor>, RuntimeError> {
        let problem = |text: &dyn Display| RuntimeError::Run {
            path: self.path.clone(),
            runtime: NAME,
            problem: one_line(&text.to_string()),
        };
        let value = match input {
            Input::Float(values) => Value::from_shape(shape, values).map_err(|e| problem(&e))?,
            Input::Byte(values) => Value::from_shape(shape, values).map_err(|e| problem(&e))?,
            Input::Half(_) => return Err(problem(&"it has no half precision; use ONNX Runtime")),
        };
        let mut options = RunOptions::default();
        options.thread_pool = Some(Arc::clone(&self.threads));
        let run =
            || self.loaded.run(vec![(self.input, value.into())], &self.outputs, Some(options));
        let outputs =
            guarded(run).map_err(|text| problem(&text))?.map_err(|error| problem(&error))?;
        let tensor = |value: Value| match value {
            Value::FloatTensor(tensor) => Ok(Tensor {
                shape: rten_tensor::Layout::shape(&tensor).to_vec(),
                values: Values::Floats(tensor.into_data()),
            }),
            Value::Int32Tensor(tensor) => {
                let shape = rten_tensor::Layout::shape(&tensor).to_vec();
                let values = tensor.into_data().into_iter().map(i64::from).collect();
                Ok(Tensor { shape, values: Values::Integers(values) })
            }
            _ => Err(problem(&"an output is neither floating-point nor whole numbers")),
        };
        outputs.into_iter().map(tensor).collect()
    }
}
