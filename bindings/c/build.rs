//! Names the shared library by the version of its interface, so that a program finds one that fits.

/// As `ABSTAIN_ABI_VERSION` in `abstain.h`; a test compares them.
const ABI_VERSION: u32 = 1;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=ABSTAIN_ABI_VERSION={ABI_VERSION}");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libabstain_c.so.{ABI_VERSION}");
    }
}
