//! Tables of other libraries, by Arrow's PyCapsule interface: the only file of the extension with unsafe
//! code, which takes over what a capsule points to.
#![expect(unsafe_code, reason = "a stream of Arrow is passed as a pointer")]

use crate::errors::Failure;
use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The batches of an object that has the method `__arrow_c_stream__`.
pub(crate) fn batches(table: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let broken = |error: ArrowError| Failure::Input(format!("table: {error}"));
    let capsule = table.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>().map_err(PyErr::from)?;
    // A capsule of another name is refused.
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: By the interface, a capsule of this name points to a stream that is valid until it is
    // released, and nobody else uses the capsule: the call above made it. The stream is moved out of it,
    // and what is left is marked as released, so that the capsule's destructor does nothing.
    let reader = unsafe { RecordBatchStreamReader::from_raw(stream.cast().as_ptr()) };
    let reader = reader.map_err(broken)?;
    let schema = reader.schema();
    let batches = reader.collect::<Result<Vec<RecordBatch>, ArrowError>>().map_err(broken)?;
    Ok((schema, batches))
}
