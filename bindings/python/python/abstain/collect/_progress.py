"""Progress: a bar of tqdm on a terminal, and plain lines otherwise."""

import sys
import time
from collections.abc import Callable
from typing import Any, Optional

#: Seconds between plain lines.
_PAUSE = 10.0


class Reporter:
    """Where lines and progress go."""

    def __init__(self, report: Optional[Callable[[str], object]]) -> None:
        self.report, self.model = report, ""
        self._bar: Any = None
        self._start: Optional[tuple[float, int]] = None
        self._said, self._done, self._total = 0.0, 0, 0

    def line(self, text: str) -> None:
        """A line of text."""
        if self.report is not None:
            self.report(text)
        else:
            print(text, file=sys.stderr, flush=True)

    def progress(self, done: int, total: int) -> None:
        """Images that are done, counted from the first call on for the speed."""
        now = time.monotonic()
        if self._start is None:
            self._start, self._said = (now, done), now
            self._bar = self._new_bar(done, total)
        self._done, self._total = done, total
        if self._bar is not None:
            self._bar.update(done - self._bar.n)
        elif now - self._said >= _PAUSE:
            self._said = now
            self.line(f"{self.model}: {done:,} of {total:,} images{self._speed(now)}")

    def end(self, text: str = "") -> None:
        """The end of what was in progress."""
        if self._start is None:
            return
        if self._bar is not None:
            self._bar.close()
        if text:
            speed = self._speed(time.monotonic())
            self.line(f"{self.model}: {self._total:,} images{speed}, {text}")
        self._start, self._bar = None, None

    def _speed(self, now: float) -> str:
        assert self._start is not None
        began, before = self._start
        seconds, images = now - began, self._done - before
        if images <= 0 or seconds <= 0:
            return ""
        left = (self._total - self._done) * seconds / images
        text = f", {images / seconds:,.1f} images/s"
        return text + (f", {left / 60:,.0f} min left" if left >= 60 else "")

    def _new_bar(self, done: int, total: int) -> Any:
        if self.report is not None or not sys.stderr.isatty():
            return None
        try:
            from tqdm import tqdm
        except ImportError:
            return None
        return tqdm(total=total, initial=done, desc=self.model, unit="image", leave=False)
