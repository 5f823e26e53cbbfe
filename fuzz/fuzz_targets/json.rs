#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| abstain_fuzz::read("file.jsonl", data));
