"""Examples of modules whose library is not installed are left out."""

import importlib.util

collect_ignore_glob = [
    f"python/abstain/{name}*"
    for name in ("sklearn", "torch")
    if importlib.util.find_spec(name) is None
]
