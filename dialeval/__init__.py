"""Evaluate task-oriented dialogue, turn by turn. Rooms are imported when they are first used: `dialeval.dst.evaluate(...)`."""
__version__ = "0.1.0"

from importlib import import_module as _import
from pathlib import Path as _Path

_rooms = sorted(p.stem for p in _Path(__file__).parent.glob('[a-z]*.py'))


def __getattr__(name):
    if name in _rooms: return _import(f'{__name__}.{name}')
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__(): return [*globals(), *_rooms]
