//! Graphs of operators, written as formulas.
//!
//! [`Real`], [`Whole`] and [`Truth`] are tensors of the graph, with the arithmetic of numbers: each
//! operation appends a node, unless there is one already that computes the same. So formulas are
//! written as they are read, and what several of them need is computed once.
//!
//! Statistics of rows have the shape `[N, 1]`, numbers for each class `[N, C]`, and constants are
//! scalars: operators broadcast them against each other.

use super::inspect::ElementType;
use super::message::{self, Attribute};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::ops::{Add, Div, Mul, Sub};
use std::str::FromStr;

/// What the names of nodes and values begin with.
pub(crate) const PREFIX: &str = "abstain.";

/// The axis of the classes.
const CLASSES: i64 = 1;

/// The numbers in which a graph computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Precision {
    /// 32-bit floats, which every runtime has.
    #[default]
    #[serde(rename = "float32")]
    Single,
    /// 64-bit floats, with which decisions are those of `abstain score` to twelve digits.
    #[serde(rename = "float64")]
    Double,
}

impl Precision {
    /// The texts of both.
    pub const NAMES: [&'static str; 2] = ["float32", "float64"];

    pub(crate) fn element(self) -> ElementType {
        match self {
            Precision::Single => ElementType::FLOAT32,
            Precision::Double => ElementType::FLOAT64,
        }
    }

    /// Beyond this magnitude a logit is refused: sums and differences must stay finite.
    pub(crate) fn largest_logit(self) -> f64 {
        match self {
            Precision::Single => 1e32,
            Precision::Double => 1e100,
        }
    }

    /// The smallest positive number whose reciprocal is finite, and the largest temperature.
    pub(crate) fn range(self) -> (f64, f64) {
        match self {
            Precision::Single => (1e-37, 1e37),
            Precision::Double => (1e-100, 1e100),
        }
    }

    /// Up to this the largest deviation of a row counts as zero.
    pub(crate) fn no_deviation(self) -> f64 {
        match self {
            Precision::Single => 0.0,
            Precision::Double => 1e-150,
        }
    }

    /// From this log-odds on `1 + e^−x` is 1.
    pub(crate) fn saturated(self) -> f64 {
        match self {
            Precision::Single => 17.0,
            Precision::Double => 37.0,
        }
    }

    /// Whether a number that is neither 0 nor infinite stays so.
    fn holds(self, number: f64) -> bool {
        #[expect(clippy::cast_possible_truncation, reason = "this is the question")]
        let single = number as f32;
        self == Precision::Double
            || !number.is_finite()
            || number == 0.0
            || (single.is_finite() && single.is_normal())
    }

    /// The nearest number that is not above this one.
    pub(crate) fn rounded_down(self, number: f64) -> f64 {
        #[expect(clippy::cast_possible_truncation, reason = "rounding is what is wanted")]
        let single = number as f32;
        // A number beyond the range is left, to be refused as such.
        if self == Precision::Single && single.is_finite() && f64::from(single) > number {
            single.next_down().into()
        } else {
            number
        }
    }

    fn bytes(self, number: f64) -> Vec<u8> {
        #[expect(clippy::cast_possible_truncation, reason = "rounding is what is wanted")]
        match self {
            Precision::Single => (number as f32).to_le_bytes().to_vec(),
            Precision::Double => number.to_le_bytes().to_vec(),
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES[usize::from(*self == Precision::Double)])
    }
}

impl FromStr for Precision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "float32" => Ok(Precision::Single),
            "float64" => Ok(Precision::Double),
            _ => Err(Self::NAMES.join(" or ")),
        }
    }
}

/// A graph that is being written.
pub(crate) struct Graph {
    precision: Precision,
    opset: i64,
    parts: RefCell<Parts>,
}

#[derive(Default)]
struct Parts {
    /// The names of values; places in this list identify them.
    names: Vec<String>,
    /// The values of real constants.
    constants: HashMap<usize, f64>,
    nodes: Vec<message::Node>,
    initialisers: Vec<message::Tensor>,
    outputs: Vec<message::ValueInfo>,
    /// What computes each value: the same is not computed twice.
    known: HashMap<(String, Vec<usize>), usize>,
    /// A number that the precision cannot hold.
    out_of_range: Option<f64>,
}

impl Parts {
    fn name(&mut self, name: String) -> usize {
        self.names.push(name);
        self.names.len() - 1
    }
}

impl Graph {
    pub(crate) fn new(precision: Precision, opset: i64) -> Self {
        Graph { precision, opset, parts: RefCell::default() }
    }

    pub(crate) fn precision(&self) -> Precision {
        self.precision
    }

    /// A value of the model, as real numbers.
    pub(crate) fn input(&self, name: &str) -> Real<'_> {
        let id = self.parts.borrow_mut().name(name.to_string());
        let to = Attribute::integer("to", self.precision.element().number().into());
        self.real_op("Cast", &[id], vec![to])
    }

    /// A real constant.
    pub(crate) fn real(&self, number: f64) -> Real<'_> {
        let mut parts = self.parts.borrow_mut();
        if !self.precision.holds(number) {
            parts.out_of_range.get_or_insert(number);
        }
        let (element, data) = (self.precision.element(), self.precision.bytes(number));
        let id = constant(&mut parts, element, &[], data);
        parts.constants.insert(id, number);
        Real { graph: self, id }
    }

    /// Real constants, one after the other.
    pub(crate) fn reals(&self, numbers: &[f64]) -> Real<'_> {
        let mut parts = self.parts.borrow_mut();
        let wrong = numbers.iter().copied().find(|number| !self.precision.holds(*number));
        parts.out_of_range = parts.out_of_range.or(wrong);
        let data = numbers.iter().flat_map(|number| self.precision.bytes(*number)).collect();
        let shape = [i64::try_from(numbers.len()).unwrap_or(i64::MAX)];
        let id = constant(&mut parts, self.precision.element(), &shape, data);
        Real { graph: self, id }
    }

    /// Whole numbers, one after the other.
    pub(crate) fn wholes(&self, numbers: &[i64]) -> Whole<'_> {
        let shape = [i64::try_from(numbers.len()).unwrap_or(i64::MAX)];
        let data = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let id = constant(&mut self.parts.borrow_mut(), ElementType::INT64, &shape, data);
        Whole { graph: self, id }
    }

    /// Appends a node, unless there is one that computes the same, and returns its first output.
    fn op(&self, operator: &str, inputs: &[usize], attributes: Vec<Attribute>) -> usize {
        let mut parts = self.parts.borrow_mut();
        let described = attributes.iter().map(|a| (&a.name, a.integer, &a.integers));
        let key = (format!("{operator} {:?}", described.collect::<Vec<_>>()), inputs.to_vec());
        if let Some(&known) = parts.known.get(&key) {
            return known;
        }
        let name = format!("{PREFIX}{operator}_{}", parts.nodes.len());
        let mut outputs = vec![name.clone()];
        if operator == "TopK" {
            outputs.push(format!("{name}_indices"));
        }
        let id = push(&mut parts, operator, inputs, attributes, name, outputs);
        parts.known.insert(key, id);
        id
    }

    fn real_op(&self, operator: &str, inputs: &[usize], attributes: Vec<Attribute>) -> Real<'_> {
        Real { graph: self, id: self.op(operator, inputs, attributes) }
    }

    fn truth_op(&self, operator: &str, inputs: &[usize]) -> Truth<'_> {
        Truth { graph: self, id: self.op(operator, inputs, Vec::new()) }
    }

    fn whole_op(&self, operator: &str, inputs: &[usize], attributes: Vec<Attribute>) -> Whole<'_> {
        Whole { graph: self, id: self.op(operator, inputs, attributes) }
    }

    /// The shape `[N, 1]` is written as an output of the shape `[N]`.
    fn output(&self, id: usize, element: ElementType, name: &str, rows: &message::Dimension) {
        let axes = self.wholes(&[CLASSES]).id;
        let mut parts = self.parts.borrow_mut();
        let node = format!("{PREFIX}output_{}", parts.outputs.len());
        push(&mut parts, "Squeeze", &[id, axes], Vec::new(), node, vec![name.to_string()]);
        parts.outputs.push(value_info(name, element, vec![rows.clone()]));
    }

    /// What was written, or a number that the precision cannot hold.
    pub(crate) fn finish(self) -> Result<message::Graph, f64> {
        let Parts { nodes, initialisers, outputs, out_of_range, .. } = self.parts.into_inner();
        match out_of_range {
            Some(number) => Err(number),
            None => Ok(message::Graph { nodes, initialisers, outputs, ..Default::default() }),
        }
    }
}

/// The description of a tensor.
pub(crate) fn value_info(
    name: &str,
    element: ElementType,
    dimensions: Vec<message::Dimension>,
) -> message::ValueInfo {
    let shape = Some(message::Shape { dimensions });
    let tensor = Some(message::TensorType { element: element.number(), shape });
    message::ValueInfo { name: name.into(), kind: Some(message::Type { tensor }) }
}

fn constant(parts: &mut Parts, element: ElementType, shape: &[i64], data: Vec<u8>) -> usize {
    let key = (format!("{element} {shape:?} {data:?}"), Vec::new());
    if let Some(&known) = parts.known.get(&key) {
        return known;
    }
    let name = format!("{PREFIX}constant_{}", parts.initialisers.len());
    let (dimensions, element) = (shape.to_vec(), element.number());
    parts.initialisers.push(message::Tensor { dimensions, element, name: name.clone(), data });
    let id = parts.name(name);
    parts.known.insert(key, id);
    id
}

/// Appends a node and returns its first output; further outputs have the places after it.
fn push(
    parts: &mut Parts,
    operator: &str,
    inputs: &[usize],
    attributes: Vec<Attribute>,
    name: String,
    outputs: Vec<String>,
) -> usize {
    let inputs = inputs.iter().map(|&id| parts.names[id].clone()).collect();
    let id = parts.names.len();
    parts.names.extend_from_slice(&outputs);
    let operator = operator.to_string();
    parts.nodes.push(message::Node { inputs, outputs, name, operator, attributes });
    id
}

/// Real numbers of a graph.
#[derive(Clone, Copy)]
pub(crate) struct Real<'g> {
    graph: &'g Graph,
    id: usize,
}

/// Whole numbers of a graph.
#[derive(Clone, Copy)]
pub(crate) struct Whole<'g> {
    graph: &'g Graph,
    id: usize,
}

/// Truth values of a graph.
#[derive(Clone, Copy)]
pub(crate) struct Truth<'g> {
    graph: &'g Graph,
    id: usize,
}

/// What formulas are made of: values of the graph, and numbers.
pub(crate) trait Operand<'g> {
    fn on(self, graph: &'g Graph) -> Real<'g>;
}

impl<'g> Operand<'g> for Real<'g> {
    fn on(self, _graph: &'g Graph) -> Real<'g> {
        self
    }
}

impl<'g> Operand<'g> for f64 {
    fn on(self, graph: &'g Graph) -> Real<'g> {
        graph.real(self)
    }
}

impl<'g> Real<'g> {
    pub(crate) fn graph(self) -> &'g Graph {
        self.graph
    }

    /// The number of a constant.
    fn known(self) -> Option<f64> {
        self.graph.parts.borrow().constants.get(&self.id).copied()
    }

    fn unary(self, operator: &str) -> Self {
        self.graph.real_op(operator, &[self.id], Vec::new())
    }

    /// Constants are computed here; what leaves a value as it is is left out.
    fn binary(
        self,
        operator: &str,
        other: impl Operand<'g>,
        of: impl Fn(f64, f64) -> f64,
        neutral: Option<f64>,
    ) -> Self {
        let other = other.on(self.graph);
        match (self.known(), other.known()) {
            (Some(a), Some(b)) => self.graph.real(of(a, b)),
            (None, Some(b)) if neutral == Some(b) => self,
            _ => self.graph.real_op(operator, &[self.id, other.id], Vec::new()),
        }
    }

    fn compare(self, operator: &str, other: impl Operand<'g>) -> Truth<'g> {
        let other = other.on(self.graph);
        self.graph.truth_op(operator, &[self.id, other.id])
    }

    /// A reduction over the classes.
    fn reduce(self, operator: &str) -> Self {
        let keep = Attribute::integer("keepdims", 1);
        // The axes of a sum are an input from opset 13 on, all others from 18 on.
        if operator == "ReduceSum" || self.graph.opset >= 18 {
            let axes = self.graph.wholes(&[CLASSES]).id;
            self.graph.real_op(operator, &[self.id, axes], vec![keep])
        } else {
            let axes = Attribute::integers("axes", &[CLASSES]);
            self.graph.real_op(operator, &[self.id], vec![axes, keep])
        }
    }

    pub(crate) fn exp(self) -> Self {
        self.unary("Exp")
    }

    pub(crate) fn ln(self) -> Self {
        self.known().map_or_else(|| self.unary("Log"), |number| self.graph.real(number.ln()))
    }

    pub(crate) fn sqrt(self) -> Self {
        self.known().map_or_else(|| self.unary("Sqrt"), |number| self.graph.real(number.sqrt()))
    }

    pub(crate) fn abs(self) -> Self {
        self.unary("Abs")
    }

    pub(crate) fn tanh(self) -> Self {
        self.unary("Tanh")
    }

    pub(crate) fn pow(self, p: f64) -> Self {
        if p == 1.0 { self } else { self.binary("Pow", p, f64::powf, None) }
    }

    pub(crate) fn max(self, other: impl Operand<'g>) -> Self {
        self.binary("Max", other, f64::max, None)
    }

    pub(crate) fn min(self, other: impl Operand<'g>) -> Self {
        self.binary("Min", other, f64::min, None)
    }

    pub(crate) fn less(self, other: impl Operand<'g>) -> Truth<'g> {
        self.compare("Less", other)
    }

    pub(crate) fn at_most(self, other: impl Operand<'g>) -> Truth<'g> {
        self.compare("LessOrEqual", other)
    }

    pub(crate) fn greater(self, other: impl Operand<'g>) -> Truth<'g> {
        self.compare("Greater", other)
    }

    pub(crate) fn at_least(self, other: impl Operand<'g>) -> Truth<'g> {
        self.compare("GreaterOrEqual", other)
    }

    pub(crate) fn equals(self, other: impl Operand<'g>) -> Truth<'g> {
        self.compare("Equal", other)
    }

    /// The largest of each row.
    pub(crate) fn row_max(self) -> Self {
        self.reduce("ReduceMax")
    }

    /// The smallest of each row.
    pub(crate) fn row_min(self) -> Self {
        self.reduce("ReduceMin")
    }

    /// The sum of each row.
    pub(crate) fn row_sum(self) -> Self {
        self.reduce("ReduceSum")
    }

    /// The class of the largest number of each row; the first of them if several tie.
    ///
    /// `TopK` rather than `ArgMax`, of which rten takes the last of ties.
    pub(crate) fn row_arg_max(self) -> Whole<'g> {
        let largest = self.row_largest(self.graph.wholes(&[1]));
        // The second output of the operator, which has the place after the first.
        Whole { graph: self.graph, id: largest.id + 1 }
    }

    /// The rows with one number of each replaced.
    pub(crate) fn with(self, class: Whole<'g>, number: impl Operand<'g>) -> Self {
        let number = number.on(self.graph);
        let number = if number.known().is_some() {
            let shape = self.graph.whole_op("Shape", &[class.id], Vec::new());
            self.graph.op("Expand", &[number.id, shape.id], Vec::new())
        } else {
            number.id
        };
        let axis = Attribute::integer("axis", CLASSES);
        self.graph.real_op("ScatterElements", &[self.id, class.id, number], vec![axis])
    }

    /// The largest numbers of each row, as many as `count` says.
    pub(crate) fn row_largest(self, count: Whole<'g>) -> Self {
        let axis = Attribute::integer("axis", CLASSES);
        self.graph.real_op("TopK", &[self.id, count.id], vec![axis])
    }

    /// The numbers at these places of a list.
    pub(crate) fn at(self, places: Whole<'g>) -> Self {
        self.graph.real_op("Gather", &[self.id, places.id], Vec::new())
    }

    /// Two columns beside each other.
    pub(crate) fn beside(self, other: Self) -> Self {
        let axis = Attribute::integer("axis", CLASSES);
        self.graph.real_op("Concat", &[self.id, other.id], vec![axis])
    }

    /// All numbers as one column.
    pub(crate) fn column(self) -> Self {
        let shape = self.graph.wholes(&[-1, 1]).id;
        self.graph.real_op("Reshape", &[self.id, shape], Vec::new())
    }

    /// How many numbers a row has.
    pub(crate) fn row_length(self) -> Whole<'g> {
        let shape = self.graph.whole_op("Shape", &[self.id], Vec::new());
        let place = self.graph.wholes(&[CLASSES]).id;
        self.graph.whole_op("Gather", &[shape.id, place], Vec::new())
    }

    /// Writes an output: one number for each row.
    pub(crate) fn output(self, name: &str, rows: &message::Dimension) {
        let to = ElementType::FLOAT32;
        let id = match self.graph.precision {
            Precision::Single => self.id,
            Precision::Double => {
                let to = Attribute::integer("to", to.number().into());
                self.graph.op("Cast", &[self.id], vec![to])
            }
        };
        self.graph.output(id, to, name, rows);
    }
}

impl<'g> Whole<'g> {
    pub(crate) fn to_real(self) -> Real<'g> {
        let to = Attribute::integer("to", self.graph.precision.element().number().into());
        self.graph.real_op("Cast", &[self.id], vec![to])
    }

    pub(crate) fn min(self, other: Whole<'g>) -> Self {
        self.graph.whole_op("Min", &[self.id, other.id], Vec::new())
    }

    pub(crate) fn minus(self, other: Whole<'g>) -> Self {
        self.graph.whole_op("Sub", &[self.id, other.id], Vec::new())
    }

    /// Writes an output: one number for each row.
    pub(crate) fn output(self, name: &str, rows: &message::Dimension) {
        self.graph.output(self.id, ElementType::INT64, name, rows);
    }
}

impl<'g> Truth<'g> {
    pub(crate) fn and(self, other: Truth<'g>) -> Self {
        self.graph.truth_op("And", &[self.id, other.id])
    }

    pub(crate) fn or(self, other: Truth<'g>) -> Self {
        self.graph.truth_op("Or", &[self.id, other.id])
    }

    /// The first number where it is true, and the second elsewhere.
    pub(crate) fn choose(self, yes: impl Operand<'g>, no: impl Operand<'g>) -> Real<'g> {
        let (yes, no) = (yes.on(self.graph), no.on(self.graph));
        self.graph.real_op("Where", &[self.id, yes.id, no.id], Vec::new())
    }

    /// Writes an output: one truth value for each row.
    pub(crate) fn output(self, name: &str, rows: &message::Dimension) {
        self.graph.output(self.id, ElementType::BOOL, name, rows);
    }
}

/// An operator between values, and between a value and a number.
macro_rules! arithmetic {
    ($($trait:ident, $method:ident, $operator:literal, $of:expr, $neutral:expr;)*) => {
        $(
            impl<'g, O: Operand<'g>> $trait<O> for Real<'g> {
                type Output = Real<'g>;

                fn $method(self, other: O) -> Real<'g> {
                    self.binary($operator, other, $of, Some($neutral))
                }
            }

            impl<'g> $trait<Real<'g>> for f64 {
                type Output = Real<'g>;

                fn $method(self, other: Real<'g>) -> Real<'g> {
                    self.on(other.graph).binary($operator, other, $of, Some($neutral))
                }
            }
        )*
    };
}

arithmetic! {
    Add, add, "Add", |a, b| a + b, 0.0;
    Sub, sub, "Sub", |a, b| a - b, 0.0;
    Mul, mul, "Mul", |a, b| a * b, 1.0;
    Div, div, "Div", |a, b| a / b, 1.0;
}
