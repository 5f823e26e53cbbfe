//! The confidence of an estimator as a graph of ONNX operators.
