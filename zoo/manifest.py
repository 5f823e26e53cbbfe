"""Writes zoo.toml, the list of what the zoo holds."""

import os

from corruptions import CORRUPTIONS
from recipes import MODELS, SHIFTED, TITLES, ZOO

HEAD = """\
# Written by manifest.py.
title = "Fashion-MNIST, fourteen small nets"
labels = "labels.npy"
kind = "logits"
"""

MODEL = """
[[model]]
name = "{name}"
title = "{title}"
logits = "clean/{name}.npy"
"""

SHIFT = """
[[set]]
name = "{group}-{severity}"
title = "{title}, level {severity}"
group = "{group}"
severity = {severity}
aligned = true
logits = "shift/{group}-{severity}/{{model}}.npy"
models = [{models}]
"""

V2 = """
[[set]]
name = "v2"
title = "v2: held-back rows, rotated, scaled, dimmed"
aligned = false
labels = "v2/labels.npy"
logits = "v2/{model}.npy"
"""


def main() -> None:
    parts = [HEAD]
    parts += [MODEL.format(name=name, title=TITLES[name]) for name in MODELS]
    models = ", ".join(f'"{name}"' for name in SHIFTED)
    for group, (_, title, parameters) in CORRUPTIONS.items():
        for severity in range(1, len(parameters) + 1):
            parts.append(SHIFT.format(group=group, title=title, severity=severity, models=models))
    parts.append(V2)
    partial = ZOO / "zoo.toml.partial"
    partial.write_text("".join(parts))
    os.replace(partial, ZOO / "zoo.toml")


if __name__ == "__main__":
    main()
