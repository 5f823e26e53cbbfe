//! The messages of ONNX that are read or written here, with the fields that are needed of each. The
//! numbers of the fields are those of the specification.

use prost::{Message, Oneof};

/// The numbers of the fields of messages that are read lazily.
pub(crate) mod field {
    pub(crate) mod model {
        pub(crate) const IR_VERSION: u64 = 1;
        pub(crate) const PRODUCER_NAME: u64 = 2;
        pub(crate) const GRAPH: u64 = 7;
        pub(crate) const OPSET_IMPORT: u64 = 8;
        pub(crate) const METADATA_PROPS: u64 = 14;
        pub(crate) const FUNCTIONS: u64 = 25;
    }
    pub(crate) mod graph {
        pub(crate) const NODE: u64 = 1;
        pub(crate) const INITIALIZER: u64 = 5;
        pub(crate) const INPUT: u64 = 11;
        pub(crate) const OUTPUT: u64 = 12;
        pub(crate) const VALUE_INFO: u64 = 13;
        pub(crate) const SPARSE_INITIALIZER: u64 = 15;
    }
    pub(crate) mod node {
        pub(crate) const INPUT: u64 = 1;
        pub(crate) const OUTPUT: u64 = 2;
        pub(crate) const NAME: u64 = 3;
        pub(crate) const OP_TYPE: u64 = 4;
        pub(crate) const ATTRIBUTE: u64 = 5;
        pub(crate) const DOMAIN: u64 = 7;
    }
    pub(crate) mod attribute {
        pub(crate) const NAME: u64 = 1;
        pub(crate) const I: u64 = 3;
        pub(crate) const TENSOR: u64 = 5;
        pub(crate) const GRAPH: u64 = 6;
        pub(crate) const TENSORS: u64 = 10;
        pub(crate) const GRAPHS: u64 = 11;
        pub(crate) const SPARSE_TENSOR: u64 = 22;
        pub(crate) const SPARSE_TENSORS: u64 = 23;
    }
    pub(crate) mod tensor {
        pub(crate) const NAME: u64 = 8;
        pub(crate) const EXTERNAL_DATA: u64 = 13;
        pub(crate) const DATA_LOCATION: u64 = 14;
    }
    pub(crate) mod sparse_tensor {
        pub(crate) const VALUES: u64 = 1;
        pub(crate) const INDICES: u64 = 2;
    }
    pub(crate) mod function {
        pub(crate) const NAME: u64 = 1;
        pub(crate) const NODE: u64 = 7;
        pub(crate) const DOMAIN: u64 = 10;
    }
}

/// A version of a set of operators.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct OperatorSetId {
    #[prost(string, tag = "1")]
    pub(crate) domain: String,
    #[prost(int64, tag = "2")]
    pub(crate) version: i64,
}

/// A text under a key.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Entry {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    #[prost(string, tag = "2")]
    pub(crate) value: String,
}

/// An input, output or inner value with its type.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ValueInfo {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) kind: Option<Type>,
}

/// A type; of other types than tensors nothing is known here.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Type {
    #[prost(message, optional, tag = "1")]
    pub(crate) tensor: Option<TensorType>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TensorType {
    #[prost(int32, tag = "1")]
    pub(crate) element: i32,
    #[prost(message, optional, tag = "2")]
    pub(crate) shape: Option<Shape>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Shape {
    #[prost(message, repeated, tag = "1")]
    pub(crate) dimensions: Vec<Dimension>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Dimension {
    #[prost(oneof = "Extent", tags = "1, 2")]
    pub(crate) extent: Option<Extent>,
}

/// The extent of a dimension, or its name.
#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum Extent {
    #[prost(int64, tag = "1")]
    Fixed(i64),
    #[prost(string, tag = "2")]
    Named(String),
}

/// A whole model, for graphs without one.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Model {
    #[prost(int64, tag = "1")]
    pub(crate) ir_version: i64,
    #[prost(string, tag = "2")]
    pub(crate) producer_name: String,
    #[prost(string, tag = "3")]
    pub(crate) producer_version: String,
    #[prost(message, optional, tag = "7")]
    pub(crate) graph: Option<Graph>,
    #[prost(message, repeated, tag = "8")]
    pub(crate) opset_import: Vec<OperatorSetId>,
    #[prost(message, repeated, tag = "14")]
    pub(crate) metadata_props: Vec<Entry>,
}

/// A graph, or what is added to one.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Graph {
    #[prost(message, repeated, tag = "1")]
    pub(crate) nodes: Vec<Node>,
    #[prost(string, tag = "2")]
    pub(crate) name: String,
    #[prost(message, repeated, tag = "5")]
    pub(crate) initialisers: Vec<Tensor>,
    #[prost(message, repeated, tag = "11")]
    pub(crate) inputs: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub(crate) outputs: Vec<ValueInfo>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Node {
    #[prost(string, repeated, tag = "1")]
    pub(crate) inputs: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(crate) outputs: Vec<String>,
    #[prost(string, tag = "3")]
    pub(crate) name: String,
    #[prost(string, tag = "4")]
    pub(crate) operator: String,
    #[prost(message, repeated, tag = "5")]
    pub(crate) attributes: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Attribute {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(int64, tag = "3")]
    pub(crate) integer: i64,
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub(crate) integers: Vec<i64>,
    /// Which of the fields it is.
    #[prost(int32, tag = "20")]
    pub(crate) kind: i32,
}

impl Attribute {
    pub(crate) fn integer(name: &str, integer: i64) -> Self {
        Attribute { name: name.into(), integer, integers: Vec::new(), kind: 2 }
    }

    pub(crate) fn integers(name: &str, integers: &[i64]) -> Self {
        Attribute { name: name.into(), integer: 0, integers: integers.to_vec(), kind: 7 }
    }
}

/// Numbers, little-endian.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Tensor {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub(crate) dimensions: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub(crate) element: i32,
    #[prost(string, tag = "8")]
    pub(crate) name: String,
    #[prost(bytes = "vec", tag = "9")]
    pub(crate) data: Vec<u8>,
}
