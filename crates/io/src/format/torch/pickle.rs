//! The pickle in a PyTorch file, read without running anything.
//!
//! A pickle is a program for a small stack machine that may call any function of Python. Here it can
//! only put together texts, whole numbers and collections of them. Of functions it may call the few
//! that rebuild a tensor, and those are noted down and never run; any other call is an error.

use crate::error::{ErrorKind, Result};
use crate::format::Format;
use std::collections::HashMap;

#[cfg(test)]
pub(super) mod tests;

/// The steps that a pickle may take. Each makes a value at most, of less than 100 bytes in all, so
/// a hostile file ends here and not where the memory does. A million names with labels fit.
const MAX_STEPS: usize = 7_000_000;

/// A value. Collections lie in [`Pickle`], for a value may be used often and even hold itself:
/// copies cost nothing, and nothing is walked to free it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value<'a> {
    Int(i64),
    Text(&'a str),
    /// What no tensor needs: floats, bytes, None, …
    Other,
    /// A function or class: see [`Pickle::global`].
    Global(usize),
    Tuple(Items),
    List(Items),
    /// A key, its value, the next key, …
    Dict(Items),
    /// A persistent id: where PyTorch refers to a storage.
    Storage(Items),
    /// A tensor: the arguments of the function that rebuilds it.
    Tensor(Items),
}

/// The items of a collection in a [`Pickle`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Items(usize);

/// What a pickle describes.
pub(super) struct Pickle<'a> {
    pub(super) root: Value<'a>,
    collections: Vec<Vec<Value<'a>>>,
    /// Modules and names.
    globals: Vec<(&'a str, &'a str)>,
}

impl<'a> Pickle<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut machine = Machine { rest: bytes, ..Machine::default() };
        for _ in 0..MAX_STEPS {
            match machine.take(1)?[0] {
                b'.' => {
                    let root = machine.pop()?;
                    let Machine { collections, globals, .. } = machine;
                    return Ok(Pickle { root, collections, globals });
                }
                code => machine.step(code)?,
            }
        }
        Err(unsupported(format!("the pickle takes more than {MAX_STEPS} steps")))
    }

    pub(super) fn items(&self, items: Items) -> &[Value<'a>] {
        &self.collections[items.0]
    }

    /// The module and name of a function or class.
    pub(super) fn global(&self, value: Value<'a>) -> Option<(&'a str, &'a str)> {
        if let Value::Global(index) = value { Some(self.globals[index]) } else { None }
    }
}

/// Text from a file for a message: short, and without characters that steer a terminal.
pub(super) fn shown(text: &str) -> String {
    const SHOWN: usize = 60;
    let start: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() { start + "…" } else { start }
}

fn malformed(problem: &str) -> ErrorKind {
    ErrorKind::malformed(Format::Torch, problem)
}

fn missing() -> ErrorKind {
    malformed("the pickle uses a value that is not there")
}

fn unsupported(problem: String) -> ErrorKind {
    let instead = "save the tensor alone: torch.save(logits, path)".into();
    ErrorKind::Unsupported { problem, instead }
}

/// The error of a call that is not made.
fn refusal(module: &str, name: &str) -> ErrorKind {
    let called = format!("{}.{}", shown(module), shown(name));
    if module == "torch._utils" && name.starts_with("_rebuild_") {
        return ErrorKind::Unsupported {
            problem: format!("a tensor in it is sparse, quantised or of another kind ({called})"),
            instead: "save a plain tensor, as of .to_dense() or .dequantize()".into(),
        };
    }
    let problem =
        format!("the pickle calls {called}, which is not part of a tensor: nothing was run");
    if module == "numpy" || module.starts_with("numpy.") {
        let instead = "save numpy arrays as .npy or .npz: numpy.save(path, logits)".into();
        return ErrorKind::Unsupported { problem, instead };
    }
    unsupported(problem)
}

#[derive(Default)]
struct Machine<'a> {
    rest: &'a [u8],
    stack: Vec<Value<'a>>,
    /// How high the stack was at each open mark.
    marks: Vec<usize>,
    memo: HashMap<usize, Value<'a>>,
    collections: Vec<Vec<Value<'a>>>,
    globals: Vec<(&'a str, &'a str)>,
}

impl<'a> Machine<'a> {
    fn step(&mut self, code: u8) -> Result<()> {
        let value = match code {
            // A protocol; the start of a frame.
            0x80 => match self.take(1)?[0] {
                0..=5 => return Ok(()),
                newer => return Err(unsupported(format!("the pickle has the protocol {newer}"))),
            },
            0x95 => return self.take(8).map(drop),
            // Numbers.
            b'N' | 0x88 | 0x89 => Value::Other,
            b'G' => self.take(8).map(|_| Value::Other)?,
            b'J' => self.take(4).map(whole)?,
            b'K' => Value::Int(self.take(1)?[0].into()),
            b'M' => self.take(2).map(|b| Value::Int(u16::from_le_bytes([b[0], b[1]]).into()))?,
            0x8a => self.counted(1).map(whole)?,
            0x8b => self.counted(4).map(whole)?,
            // Texts and bytes.
            b'X' => self.counted(4).map(text)?,
            0x8c => self.counted(1).map(text)?,
            0x8d => self.counted(8).map(text)?,
            b'T' | b'B' => self.counted(4).map(|_| Value::Other)?,
            b'U' | b'C' => self.counted(1).map(|_| Value::Other)?,
            0x8e | 0x96 => self.counted(8).map(|_| Value::Other)?,
            // Functions and classes; calls of them, and objects of classes, which are calls too.
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.global(module, name)?
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                self.global(module, name)?
            }
            b'R' | 0x81 => {
                let (arguments, function) = (self.pop()?, self.pop()?);
                self.call(function, arguments)?
            }
            0x92 => {
                let (_, arguments, class) = (self.pop()?, self.pop()?, self.pop()?);
                self.call(class, arguments)?
            }
            b'Q' => match self.pop()? {
                Value::Tuple(items) => Value::Storage(items),
                _ => return Err(malformed("a persistent id is not a tuple")),
            },
            // Collections.
            b')' => Value::Tuple(self.collect(vec![])),
            b']' => Value::List(self.collect(vec![])),
            b'}' => Value::Dict(self.collect(vec![])),
            b't' => self.since_mark().map(|items| Value::Tuple(self.collect(items)))?,
            b'l' => self.since_mark().map(|items| Value::List(self.collect(items)))?,
            b'd' => self.pairs().map(|items| Value::Dict(self.collect(items)))?,
            0x85..=0x87 => {
                let start = self.stack.len().checked_sub(usize::from(code - 0x84));
                let start = start.filter(|&start| start >= self.floor());
                let items = self.stack.split_off(start.ok_or_else(missing)?);
                Value::Tuple(self.collect(items))
            }
            _ => return self.change(code),
        };
        self.stack.push(value);
        Ok(())
    }

    /// A step that changes what is there.
    fn change(&mut self, code: u8) -> Result<()> {
        match code {
            b'(' => self.marks.push(self.stack.len()),
            b'1' => self.since_mark().map(drop)?,
            b'0' if self.marks.last() == Some(&self.stack.len()) => drop(self.marks.pop()),
            b'0' => self.pop().map(drop)?,
            b'a' => {
                let item = self.pop()?;
                self.extend(false, [item])?;
            }
            b'e' => {
                let items = self.since_mark()?;
                self.extend(false, items)?;
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.extend(true, [key, value])?;
            }
            b'u' => {
                let items = self.pairs()?;
                self.extend(true, items)?;
            }
            // The state of a dictionary is what a model notes about its versions.
            b'b' => match (self.pop()?, self.top()?) {
                (_, Value::Dict(_) | Value::Other) => {}
                _ => return Err(unsupported("the pickle changes an object".into())),
            },
            b'q' | b'r' | 0x94 => {
                let key = match code {
                    b'q' => self.length(1)?,
                    b'r' => self.length(4)?,
                    _ => self.memo.len(),
                };
                self.memo.insert(key, self.top()?);
            }
            b'h' | b'j' => {
                let key = self.length(if code == b'h' { 1 } else { 4 })?;
                self.stack.push(*self.memo.get(&key).ok_or_else(missing)?);
            }
            _ => {
                let problem =
                    format!("the pickle has the instruction 0x{code:02x}, unlike tensors");
                return Err(unsupported(problem));
            }
        }
        Ok(())
    }

    /// What a call would make, for the few that are allowed.
    fn call(&mut self, function: Value<'a>, arguments: Value<'a>) -> Result<Value<'a>> {
        let Value::Global(index) = function else {
            return Err(malformed("something is called that is not a function"));
        };
        let (module, name) = self.globals[index];
        let Value::Tuple(items) = arguments else { return Err(refusal(module, name)) };
        let first = self.collections[items.0].first().copied();
        Ok(match (module, name) {
            ("torch._utils", "_rebuild_tensor_v2" | "_rebuild_tensor_v3") => Value::Tensor(items),
            // A parameter is its tensor, and a size its tuple.
            ("torch._utils", "_rebuild_parameter" | "_rebuild_parameter_with_state")
            | ("torch", "Size") => first.ok_or_else(missing)?,
            ("collections", "OrderedDict") if first.is_none() => Value::Dict(self.collect(vec![])),
            // Devices and single numbers of numpy; and what comes before the calls of sparse
            // tensors and numpy arrays, so that those are refused by name.
            ("torch", "device")
            | ("numpy", "dtype")
            | ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar")
            | ("torch.serialization", "_get_layout")
            | ("_codecs", "encode") => Value::Other,
            _ => return Err(refusal(module, name)),
        })
    }

    fn collect(&mut self, items: Vec<Value<'a>>) -> Items {
        self.collections.push(items);
        Items(self.collections.len() - 1)
    }

    fn global(&mut self, module: Value<'a>, name: Value<'a>) -> Result<Value<'a>> {
        let (Value::Text(module), Value::Text(name)) = (module, name) else {
            return Err(malformed("a function without a name"));
        };
        self.globals.push((module, name));
        Ok(Value::Global(self.globals.len() - 1))
    }

    /// Adds to the list or dictionary on top.
    fn extend(&mut self, pairs: bool, items: impl IntoIterator<Item = Value<'a>>) -> Result<()> {
        match (self.top()?, pairs) {
            (Value::List(to), false) | (Value::Dict(to), true) => {
                self.collections[to.0].extend(items);
                Ok(())
            }
            _ => Err(malformed("items are added to something that is not a collection of them")),
        }
    }

    /// What lies above the last mark may not be reached through it.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn pop(&mut self) -> Result<Value<'a>> {
        let value = self.top()?;
        self.stack.pop();
        Ok(value)
    }

    fn top(&self) -> Result<Value<'a>> {
        let above = self.stack.get(self.floor()..).and_then(<[_]>::last);
        above.copied().ok_or_else(missing)
    }

    fn since_mark(&mut self) -> Result<Vec<Value<'a>>> {
        let mark = self.marks.pop().ok_or_else(missing)?;
        Ok(self.stack.split_off(mark))
    }

    fn pairs(&mut self) -> Result<Vec<Value<'a>>> {
        let items = self.since_mark()?;
        let even = items.len().is_multiple_of(2);
        even.then_some(items).ok_or_else(|| malformed("a key without a value"))
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.rest.split_at_checked(count).ok_or_else(|| malformed("the pickle ends early"))?;
        self.rest = rest;
        Ok(taken)
    }

    /// A number without a sign.
    fn length(&mut self, width: usize) -> Result<usize> {
        let bytes = self.take(width)?.iter().rev();
        let number = bytes.fold(0u64, |number, &byte| number << 8 | u64::from(byte));
        usize::try_from(number).map_err(|_| malformed("the pickle ends early"))
    }

    /// Bytes after their number.
    fn counted(&mut self, width: usize) -> Result<&'a [u8]> {
        let count = self.length(width)?;
        self.take(count)
    }

    fn line(&mut self) -> Result<Value<'a>> {
        let end = self.rest.iter().position(|&byte| byte == b'\n');
        let line = self.take(end.ok_or_else(|| malformed("the pickle ends early"))?)?;
        self.take(1)?;
        Ok(text(line))
    }
}

/// File names on Linux need not be UTF-8, but nothing that tensors need is anything else.
fn text(bytes: &[u8]) -> Value<'_> {
    str::from_utf8(bytes).map_or(Value::Other, Value::Text)
}

/// A whole number with a sign; those that are too long are not sizes of anything.
fn whole<'a>(bytes: &[u8]) -> Value<'a> {
    let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
    let mut wide = [if negative { 0xff } else { 0 }; 8];
    match wide.get_mut(..bytes.len()) {
        Some(low) => low.copy_from_slice(bytes),
        None => return Value::Other,
    }
    Value::Int(i64::from_le_bytes(wide))
}
