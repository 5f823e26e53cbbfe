//! `abstain export`: an estimator inside an ONNX model.

use crate::failure::hinted;
use crate::input::{estimator, not_over};
use abstain_models::onnx::{
    ExportRequest, ExportResult, ModelProblem, ModelValue, OnnxError, Origin, Precision, export,
};
use anyhow::Result;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  abstain export deployed.json model.onnx -o selective.onnx
  abstain export deployed.json model.onnx --logits /head/Gemm_output_0 -o selective.onnx
  abstain export deployed.json -o confidence.onnx

The model gets the outputs prediction, confidence (on the scale of the threshold), probability_right
(where the estimator has one) and accept (where it has a threshold), and runs wherever it ran before.
All else in the file is copied as it is. `abstain show selective.onnx` explains it.")]
pub(crate) struct Arguments {
    /// Estimator: a file of `abstain tune`, or a text such as 'MaxLogit-pNorm(p=5)'
    estimator: PathBuf,
    /// Model in ONNX, of opset 13 or later; without one, a graph from logits to the outputs is written
    model: Option<PathBuf>,
    /// File to write
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: PathBuf,
    /// Value of the model that holds the logits, or the probabilities of an estimator for them; without
    /// a model, the name of the input [default: the only output, or what its softmax is taken of]
    #[arg(long, value_name = "NAME")]
    logits: Option<String>,
    /// Text that the names of the outputs begin with, as in 'selective_' for selective_accept
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true,
        help_heading = "Output"
    )]
    prefix: String,
    #[arg(long, value_name = "TYPE", default_value_t, help_heading = "Output", help = format!("Numbers in which the confidence is computed: {}", Precision::NAMES.join(" or ")))]
    precision: Precision,
    #[arg(long, value_name = "N", conflicts_with = "model", help_heading = "Output", help = format!("Version of the operators, without a model [default: {}]", ExportRequest::DEFAULT_OPSET))]
    opset: Option<i64>,
    /// Print what was written as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// No notes
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<()> {
    let artifact = estimator(&arguments.estimator)?;
    if arguments.output.as_os_str() == "-" {
        return Err(hinted("a model is written to a file", "give -o FILE"));
    }
    let inputs: Vec<&Path> = [Some(&arguments.estimator), arguments.model.as_ref()]
        .into_iter()
        .flatten()
        .map(PathBuf::as_path)
        .collect();
    not_over(&arguments.output, &inputs)?;
    let request = ExportRequest {
        model: arguments.model.clone(),
        output: arguments.output.clone(),
        logits: arguments.logits.clone(),
        prefix: arguments.prefix.clone(),
        precision: arguments.precision,
        opset: arguments.opset,
    };
    let result = export(&artifact, &request)?;
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&result)?)?;
    } else {
        write!(out, "{}", text(&result))?;
    }
    out.flush()?;
    if !arguments.quiet && !arguments.json {
        if artifact.rule.is_none() {
            eprintln!(
                "note: the estimator has no threshold, so there is no output `accept`; \
                 `abstain certify` finds one"
            );
        }
        eprintln!("written: {}", arguments.output.display());
    }
    Ok(())
}

/// What was written, in words.
fn text(result: &ExportResult) -> String {
    let name = &result.logits.name;
    let from = match &result.logits.origin {
        Origin::Before { operator, output } => {
            format!("'{name}', of which '{output}' is the {operator}")
        }
        Origin::OnlyOutput => format!("'{name}', the only output"),
        Origin::Recorded => format!("'{name}', as before"),
        Origin::Input => format!("'{name}', the input"),
        _ => format!("'{name}'"),
    };
    let outputs: Vec<String> = result.outputs.iter().map(ModelValue::to_string).collect();
    let nodes: usize = result.operators.values().sum();
    format!(
        "Computed from {from}\nOutputs: {}\n{nodes} nodes of opset {} in {}{}\n",
        outputs.join(", "),
        result.opset,
        result.precision,
        if result.replaced { "; those of an earlier export are replaced" } else { "" },
    )
}

/// What to do about a model that cannot be used, in terms of the program's options.
pub(crate) fn hint_for(error: &OnnxError) -> Option<String> {
    Some(match error {
        OnnxError::OutOfRange { .. } => "give --precision float64".into(),
        OnnxError::OpsetOfModel => "leave out --opset".into(),
        OnnxError::NotOfLogits { bare: false, .. } => {
            "tune without --extra, or score rows with `abstain score`".into()
        }
        OnnxError::Model { problem, .. } => match &**problem {
            ModelProblem::Outputs { .. } | ModelProblem::NoSuchValue { .. } => {
                "choose with --logits NAME; any value of the graph may be named".into()
            }
            ModelProblem::Uncertain { output, encoding, .. } => format!(
                "if '{output}' is what the estimator was tuned on, give --logits {output}; if not, \
                 name the value that holds the {}",
                if encoding.is_probabilities() { "probabilities" } else { "logits" }
            ),
            ModelProblem::Shape { one_number: false, .. } => {
                "name another value with --logits".into()
            }
            ModelProblem::Shape { one_number: true, .. } => {
                "name the value of one number for each row with --logits".into()
            }
            ModelProblem::Classes { .. } => "tune an estimator on rows of this classifier".into(),
            ModelProblem::NameTaken { .. } => {
                "give --prefix, with which the names of the outputs begin".into()
            }
            ModelProblem::ExternalData => "write the output into the folder of the model".into(),
            ModelProblem::OldOpset { .. } => {
                "export it again with a later opset, or convert it with onnx.version_converter"
                    .into()
            }
            _ => return None,
        },
        _ => return None,
    })
}
