"""Makes the images of the tests: `pip install datasets pillow`, then `python testdata/images/make.py`.

The same picture in many encodings, `expected.npy` with the pixels that Pillow gives for each of them
in the order of their names, `oriented.npy` with those of the images that an EXIF tag turns, and
`photos.parquet`, three of them as HuggingFace's `datasets` stores images and labels.
"""

from pathlib import Path

import datasets
import numpy as np
from PIL import Image, ImageOps

FOLDER = Path(__file__).parent
WIDTH, HEIGHT = 24, 16


def picture():
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    red = 255 * x / (WIDTH - 1)
    green = 255 * y / (HEIGHT - 1)
    blue = 128 + 100 * np.sin(x / 4) * np.cos(y / 3)
    return Image.fromarray(np.stack([red, green, blue], -1).round().astype(np.uint8))


def save(image, name, **options):
    image.save(FOLDER / name, **options)


def pixels(name, turned=False):
    with Image.open(FOLDER / name) as image:
        image = ImageOps.exif_transpose(image) if turned else image
        return np.asarray(image.convert("RGB"))


def main():
    rgb = picture()
    grey, alpha = rgb.convert("L"), rgb.convert("L").point(lambda level: 255 - level)
    transparent = rgb.copy()
    transparent.putalpha(alpha)
    save(rgb, "baseline.jpg", quality=90)
    save(rgb, "progressive.jpg", quality=90, progressive=True)
    save(rgb, "full-chroma.jpg", quality=95, subsampling=0)
    save(rgb.convert("CMYK"), "cmyk.jpg", quality=95)
    save(grey, "grey.jpg", quality=90)
    save(rgb, "rgb.png")
    save(grey, "grey.png")
    save(rgb.convert("1"), "one-bit.png")
    save(rgb.quantize(32), "palette.png")
    save(rgb.quantize(32), "palette-transparent.png", transparency=3)
    save(transparent, "transparent.png")
    save(transparent.convert("LA"), "grey-transparent.png")
    save(rgb, "rgb.bmp")
    save(rgb, "rgb.ppm")
    save(grey, "grey.pgm")
    save(rgb, "rgb.tif")
    save(rgb, "lzw.tif", compression="tiff_lzw")
    save(rgb, "deflate.tif", compression="tiff_adobe_deflate")
    save(grey, "grey.tif")
    save(rgb.convert("CMYK"), "cmyk.tif")
    # Refused: no decoder of ours reads it.
    (FOLDER / "refused").mkdir(exist_ok=True)
    save(rgb.quantize(32), "refused/palette.tif")
    save(rgb, "lossy.webp", quality=90)
    save(rgb, "lossless.webp", lossless=True)
    save(transparent, "transparent.webp", lossless=True)
    # A picture of PNG in a file that is called JPEG, as one of ImageNet's.
    (FOLDER / "png.jpg").write_bytes((FOLDER / "rgb.png").read_bytes())
    for orientation in range(2, 9):
        tags = Image.Exif()
        tags[0x0112] = orientation
        save(rgb, f"orientation-{orientation}.png", exif=tags)

    others = {".npy", ".parquet", ".py"}
    files = (path for path in FOLDER.iterdir() if path.is_file())
    names = sorted(path.name for path in files if path.suffix not in others)
    np.save(FOLDER / "expected.npy", np.stack([pixels(name) for name in names]))
    turned = [pixels(f"orientation-{number}.png", turned=True) for number in range(2, 9)]
    np.save(FOLDER / "oriented.npy", np.stack([image.ravel() for image in turned]))
    features = datasets.Features(
        {"image": datasets.Image(), "label": datasets.ClassLabel(names=["blue", "green", "red"])}
    )
    stored = ["rgb.png", "grey.png", "lossless.webp"]
    images = [{"bytes": (FOLDER / name).read_bytes(), "path": f"photos/{name}"} for name in stored]
    rows = {"image": images, "label": [2, 0, 1]}
    datasets.Dataset.from_dict(rows, features=features).to_parquet(FOLDER / "photos.parquet")
    print("\n".join(names))


if __name__ == "__main__":
    main()
