"""Progress of long calls."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, Union

#: A function that is called with ``(done, total, task)``; True for a bar; False for none; None for
#: a bar if standard error is a terminal.
Progress = Union[bool, Callable[[int, int, str], Any], None]


@contextlib.contextmanager
def callback(progress: Progress) -> Iterator[Callable[[int, int, str], Any] | None]:
    """Yield the function to call with progress; a bar, if there is one, is removed at the end."""
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
    # `disable=None` is tqdm's way to show a bar on terminals only.
    bar = tqdm(total=1, leave=False, delay=1, disable=False if progress else None)

    def update(done: int, total: int, task: str) -> None:
        bar.total = total
        bar.set_description(task, refresh=False)
        bar.update(done - bar.n)

    with bar:
        yield update
