"""BLEU and its paired test beside sacrebleu's on made-up pairs: the same figures, time and memory.

usage: bench_bleu.py [PAIRS]   (100,000 if not said)
"""
import resource, sys
from time import perf_counter

import numpy as np

from dialeval.bleu import bleu
from dialeval.compare import compare, pairwise, sampled


def made_up(n, seed=0, vocabulary=5000):
    "References of 1 to 24 words with frequencies as in real text, and two systems that get some of the words wrong"
    rng = np.random.default_rng(seed)
    words, odds = np.array([f'w{i}' for i in range(vocabulary)]), 1/np.arange(1, vocabulary + 1)
    lens = rng.integers(1, 25, n)
    meant, other = (rng.choice(words, lens.sum(), p=odds/odds.sum()) for _ in range(2))
    def joined(tokens): return [' '.join(t) for t in np.split(tokens, lens.cumsum()[:-1])]
    return joined(meant), *(joined(np.where(rng.random(len(meant)) < wrong, other, meant)) for wrong in (.3, .31))


def timed(f):
    start = perf_counter()
    return f(), perf_counter() - start


def ours(refs, a, b):
    score, strings = timed(lambda: bleu(refs, a))
    scores = {'a': score, 'b': bleu(refs, b)}
    _, bootstrap = timed(lambda: sampled(list(scores.values()), 1000, 0))
    (_, (d,)), both = timed(lambda: pairwise(scores))
    _, table = timed(lambda: compare(refs, {'a': a, 'b': b}, 'bleu'))
    return score.value, d.value, {'bleu from strings': strings, 'paired bootstrap of scores': bootstrap,
                                  'bootstrap and exchange test': both, 'the same from strings': table}


def theirs(refs, a, b):
    from sacrebleu.metrics import BLEU
    from sacrebleu.significance import PairedTest
    def metric(**more): return BLEU(tokenize='none', smooth_method='none', effective_order=True, force=True, **more)
    def paired():
        return PairedTest([('a', a), ('b', b)], {'BLEU': metric(references=[refs])}, None, 'bs', 1000)()[1]['BLEU']
    score, strings = timed(lambda: metric().corpus_score(a, [refs]))
    (first, second), bootstrap = timed(paired)
    return score.score/100, (second.score - first.score)/100, strings, bootstrap


def check(n=100_000):
    "Ratios of sacrebleu's time to ours, our peak memory in GB, and our times"
    texts = made_up(n)
    value, apart, mine = ours(*texts)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    their_value, their_apart, strings, bootstrap = theirs(*texts)
    assert abs(value - their_value) < 1e-9 and abs(apart - their_apart) < 1e-9
    other = {task: strings if task == 'bleu from strings' else bootstrap for task in mine}
    return {task: other[task]/mine[task] for task in mine}, memory, mine


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    ratios, memory, mine = check(n)
    print(f'{n} pairs, figures equal to 1e-9, our peak memory {memory:.2f} GB')
    print(f'{"":28}{"seconds":>9}{"times faster than sacrebleu":>30}')
    for task, ratio in ratios.items(): print(f'{task:28}{mine[task]:9.2f}{ratio:30.1f}')


if __name__ == '__main__': main()
