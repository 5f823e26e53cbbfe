//! MaxLogit-pNorm under other centrings.

use super::rows::ProfiledRows;
use crate::protocol::{HoldoutResult, Protocol, centring_methods};
use abstain::{Error, internal::Profiles};
use abstain_lab::Split;

/// Measures the methods of [`centring_methods`] with hold-outs of every size.
pub(crate) fn centring(
    profiles: &Profiles,
    protocol: &Protocol,
    splits: &[Split],
) -> Result<Vec<HoldoutResult>, Error> {
    let rows = ProfiledRows::new(profiles, protocol);
    Ok(rows.holdouts(protocol, splits, &centring_methods(), |_| Vec::new())?.0)
}
