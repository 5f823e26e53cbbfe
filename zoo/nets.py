"""The six small architectures. Every one maps (n, 1, 28, 28) images to (n, 10) logits."""

import torch
from torch import Tensor, nn

CLASSES = 10


def linear() -> nn.Module:
    """Multinomial logistic regression: the net of low accuracy."""
    return nn.Sequential(nn.Flatten(), nn.Linear(784, CLASSES))


def mlp() -> nn.Module:
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(784, 256),
        nn.ReLU(),
        nn.Linear(256, 256),
        nn.ReLU(),
        nn.Linear(256, CLASSES),
    )


def lenet() -> nn.Module:
    """LeNet-5's plan, with ReLU and max pooling."""
    return nn.Sequential(
        nn.Conv2d(1, 8, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 24, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(24 * 5 * 5, 128),
        nn.ReLU(),
        nn.Linear(128, CLASSES),
    )


class Residual(nn.Module):
    """Two 3x3 convolutions with batch normalisation around a shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.body(x) + self.shortcut(x))


def pooled(channels: int) -> list[nn.Module]:
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, CLASSES)]


def resnet() -> nn.Module:
    """Eight layers; the stem halves the image, which is where the time would go."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, 2, 1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        Residual(16, 16, 1),
        Residual(16, 32, 2),
        Residual(32, 64, 2),
        *pooled(64),
    )


def separable(inputs: int, outputs: int, stride: int) -> nn.Module:
    """MobileNet's block: a filter per channel, then a mix of the channels."""
    return nn.Sequential(
        nn.Conv2d(inputs, inputs, 3, stride, 1, groups=inputs, bias=False),
        nn.BatchNorm2d(inputs),
        nn.ReLU(),
        nn.Conv2d(inputs, outputs, 1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    )


def mobile() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, 2, 1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        separable(16, 32, 1),
        separable(32, 64, 2),
        separable(64, 64, 1),
        separable(64, 128, 2),
        *pooled(128),
    )


class MixerBlock(nn.Module):
    """MLP-Mixer's block: one MLP over the patches, one over the channels."""

    def __init__(self, patches: int, width: int) -> None:
        super().__init__()
        self.before_patches = nn.LayerNorm(width)
        self.over_patches = nn.Sequential(
            nn.Linear(patches, 48), nn.ReLU(), nn.Linear(48, patches)
        )
        self.before_channels = nn.LayerNorm(width)
        self.over_channels = nn.Sequential(
            nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.over_patches(self.before_patches(x).transpose(1, 2)).transpose(1, 2)
        return x + self.over_channels(self.before_channels(x))


class Mixer(nn.Module):
    """An MLP-Mixer of two blocks over the 49 patches of 4 by 4 pixels."""

    def __init__(self) -> None:
        super().__init__()
        width = 48
        self.cut = nn.Unfold(4, stride=4)
        self.embed = nn.Linear(16, width)
        self.blocks = nn.Sequential(*[MixerBlock(49, width) for _ in range(2)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        x = self.embed(self.cut(x).transpose(1, 2))
        return self.head(self.norm(self.blocks(x)).mean(1))


ARCHITECTURES = {
    "linear": linear,
    "mlp": mlp,
    "lenet": lenet,
    "resnet": resnet,
    "mobile": mobile,
    "mixer": Mixer,
}
