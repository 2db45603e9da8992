"Opening the inspector on 10,000 dialogues, and stepping: time in the kernel, size of messages, number of widgets."
import json, statistics, sys
from time import perf_counter

from dialeval.inspector import Inspector
from dialeval.sample import simulate
from dialeval.values import encode
from ipywidgets.widgets.widget import _instances

STEPS = [('turn', 1)]*20 + [('error', 1)]*20 + [('dialogue', 1)]*20 + [('error', -1)]*20


def clock(f, *args):
    start = perf_counter()
    found = f(*args)
    return perf_counter() - start, found


def listen(widget):
    "The sizes of the state messages that the widget sends from now on"
    sizes = []
    send = widget._send
    def counted(msg, buffers=None):
        sizes.append(len(json.dumps(msg).encode()))
        return send(msg, buffers)
    widget._send = counted
    return sizes


def measure(dialogues=10_000):
    gold, pred = simulate(dialogues)
    encoding, _ = clock(encode, gold, pred)
    opening, widget = clock(Inspector, gold, pred)
    state = len(json.dumps(widget.get_state(), default=str))
    models, sizes, times = len(_instances), listen(widget), []
    for kind, by in STEPS:
        before = len(sizes)
        times.append(clock(widget.move, kind, by)[0])
        sizes[before:] = [sum(sizes[before:])]
    stepping = {'slowest step': max(times), 'median step': statistics.median(times), 'largest step': max(sizes)}
    query, _ = clock(setattr, widget, 'query', '`hotel-area` == "missed" and position > 2')
    search, _ = clock(setattr, widget, 'search', 'north')
    overview, _ = clock(setattr, widget, 'mode', 'overview')
    asking = {'query': query, 'search': search, 'overview': overview}
    return {'encoding': encoding, 'opening': opening, 'first message': state, **stepping, **asking,
            'new models': len(_instances) - models}


def check(dialogues=10_000):
    "Ratios within one run"
    m = measure(dialogues)
    return {'opening / encoding': m['opening']/m['encoding'], 'step / opening': m['slowest step']/m['opening'],
            'largest step / first message': m['largest step']/m['first message'], 'new models': m['new models']}


def main(dialogues=10_000):
    units = {'first message': '{:9.1f} kB'.format, 'largest step': '{:9.1f} kB'.format, 'new models': '{:9.0f}'.format}
    for name, value in measure(dialogues).items():
        scale = {'first message': .001, 'largest step': .001, 'new models': 1}.get(name, 1000)
        print(f'{name:14}', units.get(name, '{:9.1f} ms'.format)(value*scale))


if __name__ == '__main__': main(*map(int, sys.argv[1:]))
