"""The zoo's recipes, fixed before any net was trained, and the paths of what they produce."""

from dataclasses import dataclass
from pathlib import Path

ZOO = Path(__file__).resolve().parent
WORK = ZOO / ".work"


@dataclass(frozen=True)
class Run:
    """One training run; `keeps` names the nets kept from it by the epoch they are taken after."""

    architecture: str
    keeps: dict[int, str]
    seed: int
    rate: float  # peak learning rate
    decay: float = 5e-4  # weight decay
    smoothing: float = 0.0  # label smoothing
    mixup: float = 0.0  # alpha of mixup's Beta(alpha, alpha); 0 is none
    augment: bool = True  # random shift of up to 2 pixels, and random mirror image
    constant: bool = False  # keep the peak rate, instead of a warm-up and a cosine down to 0
    adam: bool = False  # AdamW, instead of SGD with Nesterov momentum 0.9

    @property
    def epochs(self) -> int:
        return max(self.keeps)


# The longest first, so that two workers finish at about the same time.
RUNS = [
    Run("resnet", {16: "resnet-ce"}, seed=1, rate=0.1),
    Run("resnet", {16: "resnet-ls"}, seed=2, rate=0.1, smoothing=0.1),
    Run("resnet", {16: "resnet-mixup"}, seed=3, rate=0.1, mixup=0.4),
    Run("resnet", {16: "resnet-ls-mixup"}, seed=4, rate=0.1, smoothing=0.1, mixup=0.4),
    Run("resnet", {16: "resnet-wd"}, seed=5, rate=0.1, decay=5e-3),
    Run("mobile", {16: "mobile-ce"}, seed=6, rate=0.1),
    Run("mobile", {16: "mobile-ls"}, seed=7, rate=0.1, smoothing=0.1),
    Run(
        "lenet",
        {2: "lenet-early", 30: "lenet-late"},
        seed=8,
        rate=0.03,
        decay=0.0,
        augment=False,
        constant=True,
    ),
    Run(
        "mixer",
        {16: "mixer-ls-mixup"},
        seed=9,
        rate=3e-3,
        decay=0.05,
        smoothing=0.1,
        mixup=0.4,
        adam=True,
    ),
    Run("lenet", {16: "lenet-mixup"}, seed=10, rate=0.05, mixup=0.4),
    Run("mlp", {20: "mlp-ce"}, seed=11, rate=0.05, augment=False),
    Run("mlp", {20: "mlp-ls"}, seed=12, rate=0.05, smoothing=0.1, augment=False),
    Run("linear", {5: "linear-ce"}, seed=13, rate=0.01, augment=False),
]

TITLES = {
    "lenet-early": "LeNet, cross-entropy, after 2 epochs",
    "lenet-late": "LeNet, cross-entropy, overfitted",
    "lenet-mixup": "LeNet, mixup",
    "linear-ce": "Linear, cross-entropy",
    "mixer-ls-mixup": "MLP-Mixer, label smoothing and mixup",
    "mlp-ce": "MLP, cross-entropy",
    "mlp-ls": "MLP, label smoothing",
    "mobile-ce": "Depthwise-separable CNN, cross-entropy",
    "mobile-ls": "Depthwise-separable CNN, label smoothing",
    "resnet-ce": "ResNet, cross-entropy",
    "resnet-ls": "ResNet, label smoothing",
    "resnet-ls-mixup": "ResNet, label smoothing and mixup",
    "resnet-mixup": "ResNet, mixup",
    "resnet-wd": "ResNet, strong weight decay",
}

MODELS = sorted(TITLES)

# The nets that are also run on the shifted sets: the four losses on one architecture, an overfitted net, and a
# second architecture with label smoothing.
SHIFTED = ["lenet-late", "mobile-ls", "resnet-ce", "resnet-ls", "resnet-ls-mixup", "resnet-mixup"]


def weights_path(model: str) -> Path:
    return WORK / f"{model}.pt"


def clean_path(model: str) -> Path:
    return ZOO / "clean" / f"{model}.npy"


def shift_path(shift: str, model: str) -> Path:
    return ZOO / "shift" / shift / f"{model}.npy"


def v2_path(model: str) -> Path:
    return ZOO / "v2" / f"{model}.npy"
