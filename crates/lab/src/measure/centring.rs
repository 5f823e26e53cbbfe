//! MaxLogit-pNorm under other centrings.

use super::rows::Rows;
use crate::protocol::{Holdings, Protocol, centring_methods};
use crate::split::Split;
use abstain::{Error, Profiles};

/// The methods of [`centring_methods`] with hold-outs of every size.
pub(crate) fn centring(
    profiles: &Profiles,
    protocol: &Protocol,
    splits: &[Split],
) -> Result<Vec<Holdings>, Error> {
    let rows = Rows::new(profiles, protocol);
    let nothing = |_: usize, _: usize, _: &Split, _: &[_]| Ok(Vec::new());
    Ok(rows.holdings(protocol, splits, &centring_methods(), nothing)?.0)
}
