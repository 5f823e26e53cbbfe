#!/usr/bin/env python3
"""The oracle behind corruptions.txt: common corruptions of a tiny image, written naively.

Sums are over all pixels, one at a time and in double precision; nothing is separated, padded or shared with
the library. Only the random numbers are the library's, so that noise can be compared too. Frost is not here:
its pictures are drawn by the library and defined by nothing else.

    python3 testdata/corruption_oracle.py            rewrite corruptions.txt beside this file
    python3 testdata/corruption_oracle.py --check    exit 1 if corruptions.txt is out of date

Each line is a corruption, a severity, and the levels of the corrupted image in hexadecimal. The seed is 7 and
the index of the image 3. The image is `image()`.
"""

import math
import sys
from pathlib import Path

WIDTH, HEIGHT = 11, 9
SEED, INDEX = 7, 3
GOLDEN = Path(__file__).resolve().parent / "corruptions.txt"
MASK = (1 << 64) - 1
PLACES = [(x, y) for y in range(HEIGHT) for x in range(WIDTH)]


def image():
    """A slope in each direction, with a dark square and a bright one: {(x, y): (red, green, blue)}."""
    levels = {}
    for x, y in PLACES:
        if 3 <= x <= 5 and 2 <= y <= 4:
            levels[x, y] = (10, 30 + x, 0)
        elif x >= 8 and y >= 5:
            levels[x, y] = (250, 255, 200 + y)
        else:
            levels[x, y] = (20 * x, 25 * y, 255 - 9 * (x + y))
    return levels


# Random numbers.


def mixed(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def rotated(x, k):
    return ((x << k) | (x >> (64 - k))) & MASK


class Random:
    """Xoshiro256++, seeded by SplitMix64."""

    def __init__(self, name, severity):
        text = 0
        for byte in name.encode():
            text = mixed(text ^ byte)
        state = mixed(SEED)
        for part in (text, severity, INDEX):
            state = mixed(state ^ part)
        self.state = []
        for _ in range(4):
            self.state.append(mixed(state))
            state = (state + 0x9E3779B97F4A7C15) & MASK
        self.spare = None

    def bits(self):
        a, b, c, d = self.state
        result = (rotated((a + d) & MASK, 23) + a) & MASK
        shifted = (b << 17) & MASK
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        self.state = [a, b, c ^ shifted, rotated(d, 45)]
        return result

    def share(self):
        return (self.bits() >> 11) / 2**53

    def between(self, low, high):
        return low + (high - low) * self.share()

    def below(self, n):
        return self.bits() * n >> 64

    def normal(self):
        if self.spare is not None:
            spare, self.spare = self.spare, None
            return spare
        while True:
            u, v = self.between(-1, 1), self.between(-1, 1)
            square = u * u + v * v
            if 0 < square < 1:
                scale = math.sqrt(-2 * math.log(square) / square)
                self.spare = v * scale
                return u * scale


# What several corruptions need.


def cut(level):
    """Whole levels. A level that is whole but for rounding errors stays."""
    return min(max(math.floor(level + 2**-10), 0), 255)


def rounded(level):
    return min(max(math.floor(level + 0.5), 0), 255)


def nearest(at, size):
    return min(max(at, 0), size - 1)


def mirror(at, size):
    """…cba|abc|cba…"""
    while not 0 <= at < size:
        at = -1 - at if at < 0 else 2 * size - 1 - at
    return at


def mirror_inside(at, size):
    """…cb|abc|ba…"""
    while not 0 <= at < size:
        at = -at if at < 0 else 2 * size - 2 - at
    return at


def per_channel(levels, function):
    channels = [function({place: float(level[c]) for place, level in levels.items()}) for c in range(3)]
    return {place: tuple(channel[place] for channel in channels) for place in PLACES}


def filtered(channel, kernel, border):
    """A sum over the neighbours of each pixel, weighted by kernel: {(right, down): weight}."""
    return {
        (x, y): sum(
            weight * channel[border(x + i, WIDTH), border(y + j, HEIGHT)] for (i, j), weight in kernel.items()
        )
        for x, y in PLACES
    }


def normal_kernel(deviation, radius):
    weights = {
        (i, j): math.exp(-(i * i + j * j) / (2 * deviation**2))
        for i in range(-radius, radius + 1)
        for j in range(-radius, radius + 1)
    }
    total = sum(weights.values())
    return {place: weight / total for place, weight in weights.items()}


def between(channel, x, y, border):
    left, top = math.floor(x), math.floor(y)
    total = 0.0
    for i, j in ((0, 0), (1, 0), (0, 1), (1, 1)):
        weight = (1 - abs(x - left - i)) * (1 - abs(y - top - j))
        total += weight * channel[border(left + i, WIDTH), border(top + j, HEIGHT)]
    return total


def enlarged(channel, factor):
    def sources(size):
        part = math.ceil(size / factor)
        large = round(part * factor)
        step = (part - 1) / (large - 1)
        return [(size - part) // 2 + step * (i + (large - size) // 2) for i in range(size)]

    columns, rows = sources(WIDTH), sources(HEIGHT)
    return {(x, y): between(channel, columns[x], rows[y], nearest) for x, y in PLACES}


def moved(channel, radius, deviation, degrees):
    count = 2 * radius + 1
    weights = [math.exp(-(i**2) / (2 * deviation**2)) for i in range(count)]
    radians = math.radians(degrees)
    steps = [(math.ceil(i * math.cos(radians) - 0.5), math.ceil(i * math.sin(radians) - 0.5)) for i in range(count)]
    kernel = {}
    for step, weight in zip(steps, weights):
        kernel[step] = kernel.get(step, 0) + weight / sum(weights)
    return filtered(channel, kernel, nearest)


# The corruptions.


def every_level(levels, function):
    """In the order of the library: pixel by pixel, red, green and blue."""
    return {place: tuple(function(level) for level in levels[place]) for place in PLACES}


def gaussian_noise(levels, severity, random):
    deviation = 255 * [0.08, 0.12, 0.18, 0.26, 0.38][severity - 1]
    return every_level(levels, lambda level: cut(level + deviation * random.normal()))


def shot_noise(levels, severity, random):
    largest = [60, 25, 12, 5, 3][severity - 1]

    def count(level):
        mean, share = level / 255 * largest, random.share()
        below, k = 0.0, 0
        while k < largest:
            below += math.exp(-mean) * mean**k / math.factorial(k)
            if share < below:
                break
            k += 1
        return cut(255 * k / largest)

    return every_level(levels, count)


def impulse_noise(levels, severity, random):
    amount = [0.03, 0.06, 0.09, 0.17, 0.27][severity - 1]

    def flipped(level):
        share = random.share()
        return level if share >= amount else 255 if share < amount / 2 else 0

    return every_level(levels, flipped)


def defocus_blur(levels, severity, random):
    radius, deviation = [(3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5)][severity - 1]
    reach = max(radius, 8)
    span = range(-reach, reach + 1)
    disk = {(i, j): float(i * i + j * j <= radius**2) for i in span for j in span}
    smoothing = normal_kernel(deviation, 1 if radius <= 8 else 2)
    size = 2 * reach + 1
    smooth = {
        (i, j): sum(
            weight * disk[mirror_inside(i + reach + k, size) - reach, mirror_inside(j + reach + l, size) - reach]
            for (k, l), weight in smoothing.items()
        )
        / sum(disk.values())
        for i, j in disk
    }
    return per_channel(levels, lambda channel: filtered(channel, smooth, mirror_inside))


def glass_blur(levels, severity, random):
    deviation, reach, times = [(0.7, 1, 2), (0.9, 2, 1), (1, 2, 3), (1.1, 3, 2), (1.5, 4, 2)][severity - 1]
    kernel = normal_kernel(deviation, int(4 * deviation + 0.5))
    blur = lambda channel: filtered(channel, kernel, nearest)
    levels = every_level(per_channel(levels, blur), cut)
    for _ in range(times):
        for y in range(HEIGHT - reach, reach, -1):
            for x in range(WIDTH - reach, reach, -1):
                right = random.below(2 * reach) - reach
                down = random.below(2 * reach) - reach
                levels[x, y] = levels[x + right, y + down]
    return per_channel(levels, blur)


def motion_blur(levels, severity, random):
    radius, deviation = [(10, 3), (15, 5), (15, 8), (15, 12), (20, 15)][severity - 1]
    degrees = random.between(-45, 45)
    return every_level(per_channel(levels, lambda channel: moved(channel, radius, deviation, degrees)), rounded)


def zoom_blur(levels, severity, random):
    count, step = [(12, 0.01), (16, 0.01), (11, 0.02), (13, 0.02), (11, 0.03)][severity - 1]

    def mean(channel):
        all_of_them = [channel] + [enlarged(channel, 1 + step * i) for i in range(count)]
        return {place: sum(one[place] for one in all_of_them) / (count + 1) for place in PLACES}

    return per_channel(levels, mean)


def snow(levels, severity, random):
    mean, deviation, factor, threshold, radius, blur, share = [
        (0.1, 0.3, 3, 0.5, 10, 4, 0.8),
        (0.2, 0.3, 2, 0.5, 12, 4, 0.7),
        (0.55, 0.3, 4, 0.9, 12, 8, 0.7),
        (0.55, 0.3, 4.5, 0.85, 12, 8, 0.65),
        (0.55, 0.3, 2.5, 0.85, 12, 12, 0.55),
    ][severity - 1]
    noise = {place: mean + deviation * random.normal() for place in PLACES}
    flakes = {place: cut(255 * min(f, 1)) if f >= threshold else 0 for place, f in enlarged(noise, factor).items()}
    layer = {place: rounded(f) for place, f in moved(flakes, radius, blur, random.between(-135, -45)).items()}
    result = {}
    for x, y in PLACES:
        red, green, blue = levels[x, y]
        lighter = 1.5 * (0.299 * red + 0.587 * green + 0.114 * blue) + 0.5 * 255
        flake = layer[x, y] + layer[WIDTH - 1 - x, HEIGHT - 1 - y]
        result[x, y] = tuple(share * v + (1 - share) * max(v, lighter) + flake for v in (red, green, blue))
    return result


def height_map(side, decay, random):
    heights, step, roughness = {(0, 0): 0.0}, side, 100.0

    def fill(x, y, neighbours):
        around = sum(heights[i % side, j % side] for i, j in neighbours) / 4
        heights[x, y] = around + roughness * random.between(-roughness, roughness)

    while step >= 2:
        half, grid = step // 2, [(x, y) for y in range(0, side, step) for x in range(0, side, step)]
        for x, y in grid:
            fill(x + half, y + half, [(x, y), (x + step, y), (x, y + step), (x + step, y + step)])
        for x, y in grid:
            fill(x + half, y, [(x, y), (x + step, y), (x + half, y + half), (x + half, y - half)])
        for x, y in grid:
            fill(x, y + half, [(x, y), (x, y + step), (x + half, y + half), (x - half, y + half)])
        step, roughness = half, roughness / decay
    low, high = min(heights.values()), max(heights.values())
    return {place: (height - low) / (high - low) for place, height in heights.items()}


def fog(levels, severity, random):
    amount, decay = [(1.5, 2), (2, 2), (2.5, 1.7), (2.5, 1.5), (3, 1.4)][severity - 1]
    heights = height_map(16, decay, random)
    largest = max(max(level) for level in levels.values()) / 255
    scale = largest / (largest + amount)
    return {
        place: tuple((level + 255 * amount * heights[place]) * scale for level in levels[place]) for place in PLACES
    }


def brightness(levels, severity, random):
    def brighter(red, green, blue):
        value = max(red, green, blue)
        raised = min(value + 255 * severity / 10, 255)
        return tuple(raised * level / value if value else raised for level in (red, green, blue))

    return {place: brighter(*level) for place, level in levels.items()}


def contrast(levels, severity, random):
    factor = [0.4, 0.3, 0.2, 0.1, 0.05][severity - 1]

    def flatter(channel):
        mean = sum(channel.values()) / len(channel)
        return {place: mean + factor * (level - mean) for place, level in channel.items()}

    return per_channel(levels, flatter)


def elastic_transform(levels, severity, random):
    size, smoothing, movement = [
        (2, 0.7, 0.1),
        (2, 0.08, 0.2),
        (0.05, 0.01, 0.02),
        (0.07, 0.01, 0.02),
        (0.12, 0.01, 0.02),
    ][severity - 1]
    side = min(WIDTH, HEIGHT) * 244 / 224
    x, y, half = WIDTH // 2, HEIGHT // 2, min(WIDTH, HEIGHT) // 3
    corners = [(x + half, y + half), (x + half, y - half), (x - half, y - half)]
    limit = movement * side
    moved = [(i + random.between(-limit, limit), j + random.between(-limit, limit)) for i, j in corners]
    (x0, y0), (x1, y1), (x2, y2) = moved
    # A point is upper left + u (upper right − upper left) + v (lower right − upper right), in sides.
    ux, uy, vx, vy = (x1 - x2) / (2 * half), (y1 - y2) / (2 * half), (x0 - x1) / (2 * half), (y0 - y1) / (2 * half)
    area = ux * vy - uy * vx

    def source(i, j):
        if area < 0.1:
            return i, j
        di, dj = i - x2, j - y2
        return corners[2][0] + (di * vy - dj * vx) / area, corners[2][1] + (ux * dj - uy * di) / area

    def field():
        noise = {place: random.between(-1, 1) for place in PLACES}
        kernel = normal_kernel(smoothing * side, int(3 * smoothing * side + 0.5))
        return filtered(noise, kernel, mirror)

    right, down = field(), field()

    def stretched(channel):
        first = {(i, j): between(channel, *source(i, j), mirror_inside) for i, j in PLACES}
        return {
            (i, j): between(first, i + size * side * right[i, j], j + size * side * down[i, j], mirror)
            for i, j in PLACES
        }

    return per_channel(levels, stretched)


def pixelate(levels, severity, random):
    share = [0.6, 0.5, 0.4, 0.3, 0.25][severity - 1]
    columns, rows = int(WIDTH * share + 1e-9), int(HEIGHT * share + 1e-9)

    def reduced(size, count):
        """The pixels whose centres are in each box; one on an edge is in the first."""
        boxes = []
        for k in range(count):
            low, high = k * size / count + 1e-9, (k + 1) * size / count + 1e-9
            boxes.append([i for i in range(size) if low < i + 0.5 <= high])
        return boxes

    def coarse(channel):
        narrow = {
            (k, y): rounded(sum(channel[x, y] for x in box) / len(box))
            for k, box in enumerate(reduced(WIDTH, columns))
            for y in range(HEIGHT)
        }
        small = {
            (k, l): rounded(sum(narrow[k, y] for y in box) / len(box))
            for l, box in enumerate(reduced(HEIGHT, rows))
            for k in range(columns)
        }
        return {
            (x, y): small[int((x + 0.5) * columns / WIDTH + 1e-9), int((y + 0.5) * rows / HEIGHT + 1e-9)]
            for x, y in PLACES
        }

    return per_channel(levels, coarse)


LUMA = """16 11 10 16 24 40 51 61 12 12 14 19 26 58 60 55 14 13 16 24 40 57 69 56 14 17 22 29 51 87 80 62
18 22 37 56 68 109 103 77 24 35 55 64 81 104 113 92 49 64 78 87 103 121 120 101 72 92 95 98 112 100 103 99"""
CHROMA = """17 18 24 47 99 99 99 99 18 21 26 66 99 99 99 99 24 26 56 99 99 99 99 99 47 66 99 99 99 99 99 99"""


def jpeg_compression(levels, severity, random):
    quality = [25, 18, 15, 10, 7][severity - 1]

    def table(text):
        steps = [int(step) for step in text.split()]
        steps += [99] * (64 - len(steps))
        return [min(max((step * (5000 // quality) + 50) // 100, 1), 255) for step in steps]

    def cosine(k, i):
        return (math.sqrt(1 / 8) if k == 0 else 1 / 2) * math.cos(math.pi * k * (2 * i + 1) / 16)

    def compressed(level, width, height, steps):
        """Levels of blocks; level is a function, also of places beyond the edges."""
        result = {}
        eight = range(8)
        for left in range(0, width, 8):
            for top in range(0, height, 8):
                block = {(i, j): level(left + i, top + j) - 128 for i in eight for j in eight}
                waves = {}
                for k in eight:
                    for l in eight:
                        wave = sum(cosine(k, i) * cosine(l, j) * block[i, j] for i in eight for j in eight)
                        eighths, step = math.floor(8 * abs(wave) + 0.5), steps[8 * l + k]
                        waves[k, l] = math.copysign(math.floor(eighths / (8 * step) + 0.5) * step, wave)
                for i in eight:
                    for j in eight:
                        value = sum(cosine(k, i) * cosine(l, j) * waves[k, l] for k in eight for l in eight)
                        result[left + i, top + j] = min(max(math.floor(value + 128.5), 0), 255)
        return result

    def parts(red, green, blue):
        def fixed(weights, middle, half):
            sum_ = sum(round(weight * 65536) * level for weight, level in zip(weights, (red, green, blue)))
            return (sum_ + (middle << 16) + half) >> 16

        return (
            fixed((0.299, 0.587, 0.114), 0, 32768),
            fixed((-0.168735892, -0.331264108, 0.5), 128, 32767),
            fixed((0.5, -0.418687589, -0.081312411), 128, 32767),
        )

    split = {place: parts(*level) for place, level in levels.items()}
    at = lambda part, x, y: split[nearest(x, WIDTH), nearest(y, HEIGHT)][part]
    luma = compressed(lambda x, y: at(0, x, y), WIDTH, HEIGHT, table(LUMA))
    columns, rows = (WIDTH + 1) // 2, (HEIGHT + 1) // 2

    def chroma(part):
        def half(x, y):
            y = min(y, rows - 1)
            square = sum(at(part, 2 * x + i, 2 * y + j) for i in (0, 1) for j in (0, 1))
            return (square + 1 + x % 2) >> 2

        small = compressed(half, columns, rows, table(CHROMA))
        level = lambda x, y: small[nearest(x, columns), nearest(y, rows)]
        result = {}
        for x, y in PLACES:
            beside, above = x // 2 + (1 if x % 2 else -1), y // 2 + (1 if y % 2 else -1)
            total = 9 * level(x // 2, y // 2) + 3 * level(beside, y // 2)
            total += 3 * level(x // 2, above) + level(beside, above)
            result[x, y] = (total + (7 if x % 2 else 8)) >> 4
        return result

    blue, red = chroma(1), chroma(2)
    result = {}
    for place in PLACES:
        y, b, r = luma[place], blue[place] - 128, red[place] - 128
        result[place] = (
            y + math.floor(1.402 * r + 0.5),
            y + math.floor(-0.344136286 * b - 0.714136286 * r + 0.5),
            y + math.floor(1.772 * b + 0.5),
        )
    return result


CORRUPTIONS = [
    gaussian_noise,
    shot_noise,
    impulse_noise,
    defocus_blur,
    glass_blur,
    motion_blur,
    zoom_blur,
    snow,
    fog,
    brightness,
    contrast,
    elastic_transform,
    pixelate,
    jpeg_compression,
]


def golden():
    lines = []
    for corruption in CORRUPTIONS:
        name = corruption.__name__.replace("_", "-")
        for severity in range(1, 6):
            result = corruption(image(), severity, Random(name, severity))
            levels = bytes(cut(level) for place in PLACES for level in result[place])
            lines.append(f"{name} {severity} {levels.hex()}\n")
    return "".join(lines)


if __name__ == "__main__":
    text = golden()
    if "--check" in sys.argv:
        sys.exit(0 if GOLDEN.read_text() == text else "corruptions.txt is out of date")
    GOLDEN.write_text(text)
