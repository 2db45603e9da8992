"""Diversity of 100,000 made-up utterances beside Python sets of tuples: the same figures, ratios within one run.

usage: bench_diversity.py [UTTERANCES]

1. D-1, D-2, D-U: from strings, and from utterances that were encoded before, beside sets;
2. the whole report (types, entropies, MSTTR as well) beside sets, counters and slices;
3. 1000 subsamples of each figure beside one pass that computes it."""
import math, sys
from collections import Counter
from time import perf_counter

import numpy as np

from dialeval import diversity
from dialeval.diversity import distinct, evaluate, utterances
from dialeval.score import intervals


def made_up(n, seed=0, vocabulary=5000):
    "Utterances of 1 to 24 words with frequencies as in real text"
    rng = np.random.default_rng(seed)
    words, odds = np.array([f'w{i}' for i in range(vocabulary)]), 1/np.arange(1, vocabulary + 1)
    lens = rng.integers(1, 25, n)
    said = rng.choice(words, lens.sum(), p=odds/odds.sum())
    return [' '.join(t) for t in np.split(said, lens.cumsum()[:-1])]


def timed(f):
    start = perf_counter()
    return f(), perf_counter() - start


def sets(texts):
    "D-1, D-2, D-U"
    split = [t.split() for t in texts]
    seen, total = (set(), set(), set()), [0, 0, 0]
    for words in split:
        for i, grams in enumerate((list(zip(words)), list(zip(words, words[1:])), [tuple(words)])):
            seen[i].update(grams)
            total[i] += len(grams)
    return [len(s)/t for s, t in zip(seen, total)]


def plain_report(texts, segment=50):
    "All figures of the report, with the means of the standard library"
    split = [t.split() for t in texts]
    words, pairs, triples = (Counter(g for t in split for g in zip(*(t[i:] for i in range(n)))) for n in (1, 2, 3))
    said, running = Counter(map(tuple, split)), [w for t in split for w in t]
    total = len(running)
    shares = [len(set(running[i:i + segment]))/segment for i in range(0, total - segment + 1, segment)]
    entropy = -sum(c/total*math.log2(c/total) for c in words.values())
    conditional = -sum(c/total*math.log2(c/words[a,]) for (a, _), c in pairs.items())
    return [*(len(c)/c.total() for c in (words, pairs, said)), *map(len, (words, pairs, triples)), entropy, conditional,
            sum(shares)/len(shares), total/len(texts)]


def ours(said): return [distinct(said, None, n).value for n in (1, 2, 'u')]
def report(said): return [s.value for s in evaluate(said).scores.values()]
def fresh(said): said.memo.clear(); return said


def check(n=100_000):
    "Ratios, and the seconds behind them"
    texts = made_up(n)
    said, encoding = timed(lambda: utterances(texts))
    runs = {'D-1, D-2, D-U with sets': lambda: sets(texts),
            'D-1, D-2, D-U from strings': lambda: ours(utterances(texts)),
            'D-1, D-2, D-U from encoded': lambda: ours(fresh(said)),
            'report with counters': lambda: plain_report(texts),
            'report from strings': lambda: report(utterances(texts)),
            'report from encoded': lambda: report(fresh(said))}
    found = {name: timed(run) for name, run in runs.items()}
    def best(name): return min(found[name][1], *(timed(runs[name])[1] for _ in range(2)))
    seconds = {'encoding': encoding} | {name: best(name) for name in runs}
    values = [value for value, _ in found.values()]
    assert np.allclose(values[0], values[1:3], rtol=1e-12) and np.allclose(values[3], values[4:], rtol=1e-9)
    peers = {'D-1, D-2, D-U': 'with sets', 'report': 'with counters'}
    ratios = {f'times faster: {what} {how}': seconds[f'{what} {peer}']/seconds[f'{what} {how}']
              for what, peer in peers.items() for how in ('from strings', 'from encoded')}
    return ratios | subsamples(texts), seconds


def subsamples(texts):
    "1000 subsamples in units of one pass over the strings for the same figure; an interval must contain its figure"
    found = {}
    for name in ('distinct_1', 'distinct_2', 'distinct_u', 'token_entropy', 'conditional_entropy'):
        score, once = timed(lambda: (s := getattr(diversity, name)(texts), s.value)[0])
        interval, seconds = timed(score.ci)
        assert interval.low <= score.value <= interval.high
        found[f'passes that 1000 subsamples take: {name}'] = seconds/once
    every = [s for s in evaluate(utterances(texts)).scores.values() if s.resample == 'subsample']
    _, once = timed(lambda: report(utterances(texts)))
    _, seconds = timed(lambda: intervals(every))
    return found | {'passes that 1000 subsamples take: the whole report': seconds/once}


def main():
    ratios, seconds = check(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
    for name, s in seconds.items(): print(f'{name:60}{s:8.3f} s')
    for name, ratio in ratios.items(): print(f'{name:60}{ratio:8.1f}')


if __name__ == '__main__': main()
