"""How far long work has come."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, Union

#: A function that is told what is done, what there is in all, and what is being done now; True for a
#: bar; False for nothing; None for a bar where people watch a terminal.
Progress = Union[bool, Callable[[int, int, str], Any], None]


@contextlib.contextmanager
def callback(progress: Progress) -> Iterator[Callable[[int, int, str], Any] | None]:
    """A function to be told, and the bar it moves, if there is one, taken away afterwards."""
    if progress is False or callable(progress):
        yield progress or None
        return
    try:
        if progress:
            from tqdm.auto import tqdm
        else:
            from tqdm import tqdm
    except ImportError:
        if progress:
            raise ImportError("a progress bar needs tqdm: pip install tqdm") from None
        yield None
        return
    # Without being asked, only on a terminal, and only where the work takes more than a moment.
    bar = tqdm(total=1, leave=False, delay=1, disable=False if progress else None)

    def told(done: int, all_: int, what: str) -> None:
        bar.total = all_
        bar.set_description(what, refresh=False)
        bar.update(done - bar.n)

    with bar:
        yield told
