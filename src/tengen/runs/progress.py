"""The progress bar of long training, with the time that is left."""

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


def new_bar(shown: bool = True) -> Progress:
    """A bar that shows what a task's description says, its share done, and the time spent and left."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>5.1f}%"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        disable=not shown,
    )
