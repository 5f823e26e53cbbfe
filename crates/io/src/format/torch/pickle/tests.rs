use super::*;

/// A persistent id, as PyTorch has it.
pub(in crate::format) fn storage(class: &str, key: &str) -> Vec<u8> {
    let class = format!("ctorch\n{class}\n");
    [b"(", &text("storage")[..], class.as_bytes(), &text(key), &text("cpu"), b"K\x01tQ"].concat()
}

/// A tensor of numbers below 2³¹.
pub(in crate::format) fn tensor(
    storage: &[u8],
    first: i32,
    size: &[i32],
    strides: &[i32],
) -> Vec<u8> {
    let hooks = b"\x89ccollections\nOrderedDict\n)R";
    let numbers = [int(first), ints(size), ints(strides)].concat();
    [b"ctorch._utils\n_rebuild_tensor_v2\n(", storage, &numbers, &hooks[..], b"tR"].concat()
}

pub(in crate::format) fn text(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len()).expect("short").to_le_bytes();
    [b"X", &length[..], text.as_bytes()].concat()
}

pub(in crate::format) fn program(body: &[u8]) -> Vec<u8> {
    [b"\x80\x02", body, b"."].concat()
}

/// A sequence of numbers in 0..2³¹, always the same.
pub(in crate::format) struct Random(pub(in crate::format) u64);

impl Random {
    pub(in crate::format) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        usize::try_from(self.0 >> 33).expect("31 bits") % end
    }

    pub(in crate::format) fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).expect("a byte")
    }
}

fn int(value: i32) -> Vec<u8> {
    [b"J", &value.to_le_bytes()[..]].concat()
}

fn ints(values: &[i32]) -> Vec<u8> {
    let values = values.iter().flat_map(|&value| int(value)).collect::<Vec<u8>>();
    [b"(", &values[..], b"t"].concat()
}

fn problem(body: &[u8]) -> String {
    Pickle::read(&program(body)).err().expect("an error").to_string()
}

/// The root with everything in it.
fn printed(body: &[u8]) -> String {
    fn print(pickle: &Pickle<'_>, value: Value<'_>) -> String {
        let (name, items) = match value {
            Value::Int(int) => return int.to_string(),
            Value::Text(text) => return text.to_string(),
            Value::Other => return "-".into(),
            Value::Global(_) => {
                let (module, name) = pickle.global(value).expect("a global");
                return format!("{module}.{name}");
            }
            Value::Tuple(items) => ("tuple", items),
            Value::List(items) => ("list", items),
            Value::Dict(items) => ("dict", items),
            Value::Storage(items) => ("storage", items),
            Value::Tensor(items) => ("tensor", items),
        };
        let items = pickle.items(items).iter().map(|&item| print(pickle, item));
        format!("{name}({})", items.collect::<Vec<_>>().join(" "))
    }
    let bytes = program(body);
    let pickle = Pickle::read(&bytes).expect("a sound pickle");
    print(&pickle, pickle.root)
}

#[test]
fn values_of_every_type_are_read() {
    let numbers = b"(K\xffM\x00\x80J\xfe\xff\xff\xff\x8a\x00\x8a\x01\xff\x8a\x03\x00\x00\x01l";
    assert_eq!(printed(numbers), "list(255 32768 -2 0 -1 65536)");
    assert_eq!(printed(b"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"), i64::MAX.to_string());
    assert_eq!(printed(b"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00"), "-");
    assert_eq!(printed(b"(N\x88\x89G12345678U\x01aC\x01aB\x01\0\0\0at"), "tuple(- - - - - - -)");
    assert_eq!(
        printed(b"(\x8c\x02\xc3\xa4\x8d\x01\0\0\0\0\0\0\0bX\x01\0\0\0\xfft"),
        "tuple(ä b -)"
    );
    assert_eq!(
        printed(b"\x95\0\0\0\0\0\0\0\0K\x01K\x02K\x03\x87\x85)\x86"),
        "tuple(tuple(tuple(1 2 3)) tuple())"
    );
    assert_eq!(printed(b"]K\x01a(K\x02K\x03e"), "list(1 2 3)");
    assert_eq!(printed(b"}K\x01K\x02s(K\x03K\x04K\x05K\x06u"), "dict(1 2 3 4 5 6)");
    assert_eq!(printed(b"(K\x01K\x02dK\x070(0(K\x081"), "dict(1 2)");
    assert_eq!(
        printed(b"(K\x07q\x00r\x00\x01\0\0\x94h\0j\0\x01\0\0j\x02\0\0\0t"),
        "tuple(7 7 7 7)"
    );
    assert_eq!(printed(b"\x8c\x01a\x8c\x01b\x93"), "a.b");
    // A function that is only named does nothing.
    assert_eq!(printed(b"cos\nsystem\n"), "os.system");
}

#[test]
fn tensors_and_their_storages_are_read() {
    let a = tensor(&storage("FloatStorage", "0"), 5, &[2, 3], &[3, 1]);
    let inner =
        "tensor(storage(storage torch.FloatStorage 0 cpu 1) 5 tuple(2 3) tuple(3 1) - dict())";
    assert_eq!(printed(&a), inner);
    let parameter = [b"ctorch._utils\n_rebuild_parameter\n(", &a[..], b"\x88NtR"].concat();
    assert_eq!(printed(&parameter), inner);
    assert_eq!(printed(b"ctorch\nSize\n(K\x03K\x04t\x85R"), "tuple(3 4)");
    let state = b"ccollections\nOrderedDict\n)R(K\x01K\x02u}X\x09\0\0\0_metadataK\x03sb";
    assert_eq!(printed(state), "dict(1 2)");
    let scalar = b"cnumpy.core.multiarray\nscalar\n(cnumpy\ndtype\n)R(K\x03NtbC\x01atR";
    assert_eq!(printed(scalar), "-");
}

#[test]
fn calls_are_refused_by_name() {
    let refused = |called: &str| {
        format!("the pickle calls {called}, which is not part of a tensor: nothing was run")
    };
    assert_eq!(problem(b"cos\nsystem\nX\x02\0\0\0ls\x85R"), refused("os.system"));
    assert_eq!(problem(b"\x8c\x02os\x8c\x06system\x93\x8c\x02ls\x85R"), refused("os.system"));
    assert_eq!(problem(b"cos\nsystem\n]R"), refused("os.system"));
    assert_eq!(problem(b"cmodels\nNet\n)\x81"), refused("models.Net"));
    assert_eq!(problem(b"cmodels\nNet\n)}\x92"), refused("models.Net"));
    assert_eq!(problem(b"ccollections\nOrderedDict\n]\x85R"), refused("collections.OrderedDict"));
    assert_eq!(problem(b"ca\x1b[2J\nb\n)R"), refused("a\\u{1b}[2J.b"));
    let long = [&b"c"[..], &[b'x'; 9999], b"\nb\n)R"].concat();
    assert!(problem(&long).len() < 200);

    // Numpy writes bytes by calling this, before the call that has its name.
    let array =
        b"cnumpy._core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85c_codecs\nencode\n\
        (X\x01\0\0\0bX\x06\0\0\0latin1tRtR";
    let error = Pickle::read(&program(array)).err().expect("an error");
    assert_eq!(error.to_string(), refused("numpy._core.multiarray._reconstruct"));
    assert!(matches!(error, ErrorKind::Unsupported { instead, .. } if instead.contains(".npy")));
    assert!(problem(b"ctorch._utils\n_rebuild_qtensor\n)R").contains("quantised"));
}

#[test]
fn unsound_pickles_are_refused() {
    let early = "not a sound pt file: the pickle ends early";
    assert_eq!(problem(b"X\xff\xff\xff\xffabc"), early);
    assert_eq!(problem(b"\x8d\xff\xff\xff\xff\xff\xff\xff\xffabc"), early);
    assert_eq!(problem(b"cos"), early);
    let missing = "not a sound pt file: the pickle uses a value that is not there";
    let bodies =
        [&b""[..], b"0", b"t", b"h\x07", b"(K\x01R", b"K\x01(\x85", b"\x86", b"K\x01(", b"u", b"a"];
    for body in bodies {
        assert_eq!(problem(body), missing, "{body:?}");
    }
    for body in
        [&b"K\x01K\x02R"[..], b"K\x01Q", b"K\x01K\x02a", b"](K\x01K\x02u", b"}(K\x01u", b"NN\x93"]
    {
        assert!(problem(body).starts_with("not a sound pt file"), "{body:?}");
    }
    for body in [&b"\x80\x06"[..], b"\xff", b"o", b"cos\nsystem\n}b", b"I1\n"] {
        assert!(problem(body).starts_with("the pickle "), "{body:?}");
    }
}

#[test]
fn hostile_pickles_are_refused_soon() {
    // A list in itself, and a million lists in each other, whose freeing must not recurse.
    assert!(Pickle::read(&program(b"]q\0h\0a")).is_ok());
    assert!(
        Pickle::read(&program(&[b"]".repeat(1 << 20), b"a".repeat((1 << 20) - 1)].concat()))
            .is_ok()
    );
    assert!(Pickle::read(&program(&[b")", &b"\x85".repeat(1 << 20)[..]].concat())).is_ok());
    assert!(problem(&b"N0".repeat(MAX_STEPS / 2)).contains("steps"));
}

#[test]
fn damaged_pickles_never_panic() {
    let parts = [storage("FloatStorage", "0"), storage("LongStorage", "1")];
    let tensors = parts.map(|storage| tensor(&storage, 0, &[2, 3], &[3, 1]));
    let body = [
        b"}q\0(",
        &text("logits")[..],
        &tensors[0],
        &text("labels"),
        &tensors[1],
        b"uq\x01h\0\x86",
    ];
    let whole = program(&body.concat());
    assert!(Pickle::read(&whole).is_ok());
    for length in 0..whole.len() {
        assert!(Pickle::read(&whole[..length]).is_err(), "{length} bytes");
    }
    let mut random = Random(1);
    for _ in 0..50_000 {
        let mut bytes = whole.clone();
        for _ in 0..=random.below(8) {
            let (at, from) = (random.below(bytes.len()), random.below(bytes.len()));
            bytes[at] = if random.below(2) == 0 { bytes[from] } else { random.byte() };
        }
        drop(Pickle::read(&bytes));
    }
}
