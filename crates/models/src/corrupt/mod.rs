//! Common corruptions of images, at five severities.
