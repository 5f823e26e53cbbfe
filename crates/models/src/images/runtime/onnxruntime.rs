//! ONNX Runtime, from a library that is loaded when it is needed.

use super::{Input, RuntimeError, Session, SessionOptions, Tensor, Values, one_line};
use ort::environment::Environment;
use ort::session::builder::GraphOptimizationLevel;
use ort::value::{DynValue, Tensor as OrtTensor, TensorElementType};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const NAME: &str = "ONNX Runtime";

/// The library of ONNX Runtime: the one that `ORT_DYLIB_PATH` names, that of the active Python
/// environment, or one in the usual folders of the system.
pub fn find_library() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("ORT_DYLIB_PATH").map(PathBuf::from) {
        // What the user names is not passed over, even if it is not there.
        return Some(path);
    }
    let environments = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(std::env::var_os);
    let packages = environments.flat_map(|root| {
        let root = PathBuf::from(root);
        let unix = std::fs::read_dir(root.join("lib")).into_iter().flatten().flatten();
        let unix = unix.map(|entry| entry.path().join("site-packages"));
        let folders: Vec<PathBuf> = unix.chain([root.join("Lib/site-packages")]).collect();
        folders.into_iter().map(|folder| folder.join("onnxruntime/capi"))
    });
    let system = [
        "/usr/local/lib",
        "/usr/lib",
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/opt/homebrew/lib",
    ];
    packages.chain(system.map(PathBuf::from)).find_map(|folder| library_in(&folder))
}

fn library_in(folder: &Path) -> Option<PathBuf> {
    let is_library = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| {
            name.starts_with("libonnxruntime.so")
                || (name.starts_with("libonnxruntime.") && name.contains(".dylib"))
                || name == "onnxruntime.dll"
        })
    };
    let entries = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    // The shortest name is the one without a version.
    entries.filter(is_library).min_by_key(|path| path.as_os_str().len())
}

pub(super) struct Model {
    path: PathBuf,
    session: ort::session::Session,
    input: String,
    outputs: Vec<String>,
}

/// The environment of the library: a process has one, which must live as long as its models.
fn environment(library: &Path) -> Result<Environment, String> {
    static LOADED: Mutex<Option<(PathBuf, Environment)>> = Mutex::new(None);
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    match &*loaded {
        Some((path, environment)) if path == library => return Ok(environment.clone()),
        Some((path, _)) => return Err(format!("{} is loaded already", path.display())),
        None => {}
    }
    let builder = ort::init_from(library).map_err(|error| error.to_string())?;
    let environment = builder.with_telemetry(false).build().map_err(|error| error.to_string())?;
    *loaded = Some((library.to_path_buf(), environment.clone()));
    Ok(environment)
}

impl Model {
    pub(super) fn load(library: &Path, options: &SessionOptions<'_>) -> Result<Self, RuntimeError> {
        let of_library = |problem: &dyn Display| RuntimeError::Library {
            path: library.to_path_buf(),
            problem: one_line(&problem.to_string()),
        };
        let of_model = |problem: &dyn Display| RuntimeError::Load {
            path: options.path.to_path_buf(),
            runtime: NAME,
            problem: one_line(&problem.to_string()),
        };
        let environment = environment(library).map_err(|problem| of_library(&problem))?;
        let builder =
            ort::session::Session::builder(&environment).map_err(|error| of_library(&error))?;
        let mut builder = builder
            .with_optimization_level(GraphOptimizationLevel::All)
            .unwrap_or_else(ort::Error::recover)
            .with_intra_threads(options.threads)
            .unwrap_or_else(ort::Error::recover)
            // Threads that spin while they wait take the cores on which images are prepared.
            .with_intra_op_spinning(false)
            .unwrap_or_else(ort::Error::recover);
        let session = builder.commit_from_file(options.path).map_err(|error| of_model(&error))?;
        Ok(Model {
            path: options.path.to_path_buf(),
            session,
            input: options.input.to_string(),
            outputs: options.outputs.to_vec(),
        })
    }
}

impl Session for Model {
    fn run(&mut self, input: Input, shape: [usize; 4]) -> Result<Vec<Tensor>, RuntimeError> {
        let path = &self.path;
        let problem = |problem: &dyn Display| RuntimeError::Run {
            path: path.clone(),
            runtime: NAME,
            problem: one_line(&problem.to_string()),
        };
        let value = match input {
            Input::Float(values) => OrtTensor::from_array((shape, values)).map(OrtTensor::into_dyn),
            Input::Half(values) => OrtTensor::from_array((shape, values)).map(OrtTensor::into_dyn),
            Input::Byte(values) => OrtTensor::from_array((shape, values)).map(OrtTensor::into_dyn),
        };
        let value: DynValue = value.map_err(|error| problem(&error))?.into_dyn();
        let outputs = self
            .session
            .run(vec![(self.input.as_str(), value)])
            .map_err(|error| problem(&error))?;
        let tensor = |name: &String| {
            let value = outputs.get(name).ok_or_else(|| problem(&format!("no output '{name}'")))?;
            let failed = |error: ort::Error| problem(&error);
            let extents = |shape: &[i64]| {
                shape.iter().map(|&extent| usize::try_from(extent).unwrap_or_default()).collect()
            };
            match value.dtype().tensor_type() {
                Some(TensorElementType::Float16) => {
                    let (shape, values) =
                        value.try_extract_tensor::<half::f16>().map_err(failed)?;
                    let values = values.iter().map(|value| value.to_f32()).collect();
                    Ok(Tensor { shape: extents(shape), values: Values::Floats(values) })
                }
                Some(TensorElementType::Float64) => {
                    let (shape, values) = value.try_extract_tensor::<f64>().map_err(failed)?;
                    #[expect(clippy::cast_possible_truncation, reason = "logits are stored so")]
                    let values = values.iter().map(|&value| value as f32).collect();
                    Ok(Tensor { shape: extents(shape), values: Values::Floats(values) })
                }
                Some(TensorElementType::Int64) => {
                    let (shape, values) = value.try_extract_tensor::<i64>().map_err(failed)?;
                    Ok(Tensor { shape: extents(shape), values: Values::Integers(values.to_vec()) })
                }
                Some(TensorElementType::Bool) => {
                    let (shape, values) = value.try_extract_tensor::<bool>().map_err(failed)?;
                    let values = values.iter().map(|&value| i64::from(value)).collect();
                    Ok(Tensor { shape: extents(shape), values: Values::Integers(values) })
                }
                _ => {
                    let (shape, values) = value.try_extract_tensor::<f32>().map_err(failed)?;
                    Ok(Tensor { shape: extents(shape), values: Values::Floats(values.to_vec()) })
                }
            }
        };
        self.outputs.iter().map(tensor).collect()
    }
}
