"""A million items, 2,000 clusters, 1,000 intents: the whole report beside what its two heaviest steps take alone in scikit-learn and scipy.

Run it as a script. Intervals are left out; the alignment table, the per-intent table and the JSON are in.
"""
from time import perf_counter

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from dialeval.intents import evaluate


def labels(items=1_000_000, intents=1000, seed=0):
    "Intents, and two clusters for each of them that hold six items of ten; the others fell anywhere"
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, intents, items)
    return gold, np.where(rng.random(items) < .6, 2*gold + rng.integers(0, 2, items), rng.integers(0, 2*intents, items))


def named(codes, prefix): return np.array([f'{prefix}{i}' for i in range(codes.max() + 1)], object)[codes]


def theirs(gold, clusters): return linear_sum_assignment(contingency_matrix(gold, clusters, sparse=True).toarray(), maximize=True)


def ours(gold, clusters):
    report = evaluate(gold, clusters)
    return report.to_json(), report.alignment, report.per_intent


def best(function, *arguments, times=5):
    "The shortest of several runs, in seconds"
    found = []
    for _ in range(times):
        start = perf_counter()
        function(*arguments)
        found.append(perf_counter() - start)
    return min(found)


def measure():
    "Seconds for the peers and for the report, by kind of label"
    gold, clusters = labels()
    kinds = {'numbers': (gold, clusters), 'text': (named(gold, 'intent '), named(clusters, 'c')), 'lists of text': (named(gold, 'intent ').tolist(), named(clusters, 'c').tolist())}
    return {kind: (best(theirs, *pair), best(ours, *pair)) for kind, pair in kinds.items()}


def check(): return {kind: mine/their for kind, (their, mine) in measure().items()}


def main():
    print(f'{"labels":14} {"contingency + assignment":>26} {"report":>8} {"ratio":>6}')
    for kind, (their, mine) in measure().items(): print(f'{kind:14} {their:25.2f}s {mine:7.2f}s {mine/their:6.2f}')


if __name__ == '__main__': main()
