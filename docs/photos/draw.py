"""Draws photos with their decisions: python draw.py PHOTOS DECISIONS.csv NAMES.csv OUT.png

DECISIONS is written by `abstain predict --class-names` or has numbers of classes; NAMES has a line
`number,name` for those that occur. Accepted photos are framed in blue, the others in grey. Needs
Pillow.
"""

import csv
import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont, ImageOps

SIDE, CAPTION, GAP, COLUMNS = 220, 46, 14, 5
BLUE, GREY = (0, 114, 178), (150, 150, 150)


def main(photos, decisions, names, out):
    with open(names, newline="") as file:
        names = {number: name for number, name in csv.reader(file)}
    with open(decisions, newline="") as file:
        rows = list(csv.DictReader(file))
    rows.sort(key=lambda row: -float(row["confidence"]))
    lines = -(-len(rows) // COLUMNS)
    size = (GAP + COLUMNS * (SIDE + GAP), GAP + lines * (SIDE + CAPTION + GAP))
    sheet = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(15)
    for index, row in enumerate(rows):
        left = GAP + index % COLUMNS * (SIDE + GAP)
        top = GAP + index // COLUMNS * (SIDE + CAPTION + GAP)
        accepted = row["accept"] == "true"
        colour = BLUE if accepted else GREY
        photo = ImageOps.fit(Image.open(Path(photos) / row["image"]).convert("RGB"), (SIDE, SIDE))
        sheet.paste(ImageOps.expand(ImageOps.fit(photo, (SIDE - 10, SIDE - 10)), 5, colour), (left, top))
        name = names.get(row["prediction"], row["prediction"])
        verdict = "accepted" if accepted else "abstains"
        draw.text((left, top + SIDE + 4), f"{name}?" if not accepted else name, "black", font)
        draw.text((left, top + SIDE + 24), f"{verdict}, {float(row['confidence']):.2f}", colour, font)
    sheet.save(out, optimize=True)


main(*sys.argv[1:])
