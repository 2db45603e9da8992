import json
from dataclasses import replace
from functools import partial

import numpy as np, pytest
from hypothesis import given, settings, strategies as st

from dialeval.bleu import bleu, evaluate
from dialeval.compare import compare, compare_scores, corrected, exchanged, holm, pairwise
from dialeval.core import DialevalError, OptionError, PairingError
from dialeval.score import METRICS, Columns, Metric, Score, share


def right_turns(hits, turns=10, ids=None, **changed):
    rows = np.column_stack([hits, np.full(len(hits), turns)]).astype(float)
    ids = [f'{i:03}' for i in range(len(hits))] if ids is None else ids
    figure = partial(share, hits='right', of='turns')
    score = Score('right_turns', rows, Columns(['right', 'turns']), ids, figure, 'turns')
    return replace(score, **changed)


def words(texts):
    vocabulary = sorted(set(' '.join(texts).split()))
    counts = np.array([[t.split().count(w) for w in vocabulary] for t in texts], float)
    columns = Columns([*(('word', w) for w in vocabulary), 'tokens'])
    def distinct(totals): return (totals['word'] > 0).sum(-1) / totals['tokens']
    rows, ids = np.column_stack([counts, counts.sum(1)]), list(range(len(texts)))
    return Score('distinct', rows, columns, ids, distinct, 'tokens', resample='subsample')


@pytest.fixture(scope='module')
def texts():
    rng = np.random.default_rng(3)
    gold = [' '.join(rng.choice(list('abcdefgh'), rng.integers(3, 12))) for _ in range(200)]
    def worn(wear): return [' '.join(w if rng.random() > wear else 'x' for w in t.split()) for t in gold]
    return gold, {'a': worn(.25), 'b': worn(.28), 'c': worn(.4)}


def test_difference_and_tests_agree_with_sacrebleu(texts):
    significance = pytest.importorskip('sacrebleu.significance')
    from sacrebleu.metrics import BLEU
    gold, systems = texts
    result = compare(gold, systems, 'bleu', correction=None)
    found = {(d.a, d.b): d for d in result.differences}
    for kind, p, tails in ('bs', 'p_bootstrap', 1), ('ar', 'p_exchange', 2):    # its bootstrap counts one tail
        sacrebleu = BLEU(tokenize='none', effective_order=True)
        _, theirs = significance.PairedTest(list(systems.items()), {'BLEU': sacrebleu}, [gold], kind, 1000)()
        first, *others = theirs['BLEU']
        for name, other in zip('bc', others):
            d = found[name, 'a']
            assert d.value == pytest.approx((other.score - first.score)/100, abs=1e-9)
            assert getattr(d, p) == pytest.approx(other.p_value * 2/tails, abs=.04)


def test_a_system_equals_itself(texts):
    gold, systems = texts
    d, = compare(gold, {'one': systems['a'], 'two': systems['a']}, 'bleu').differences
    assert (d.value, d.low, d.high) == (0, 0, 0) and d.p_bootstrap == d.p_exchange == d.p == 1


def test_exchange_test_is_the_exact_permutation_test_in_the_limit():
    scipy = pytest.importorskip('scipy.stats')
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 11, 12), rng.integers(0, 11, 12)
    exact = scipy.permutation_test((a, b), lambda x, y: x.mean() - y.mean(), permutation_type='samples',
                                   n_resamples=np.inf)
    _, (d,) = pairwise({'a': right_turns(a), 'b': right_turns(b)}, n=20_000)
    assert d.p_exchange == pytest.approx(exact.pvalue, abs=.012)


def test_bootstrap_interval_is_scipys_paired_one():
    from scipy.stats import bootstrap
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 11, 40), rng.integers(0, 11, 40)
    _, (d,) = pairwise({'a': right_turns(a), 'b': right_turns(b)})
    theirs = bootstrap((a, b), lambda x, y, axis: (y.mean(axis) - x.mean(axis))/10, paired=True, method='percentile',
                       n_resamples=1000, rng=np.random.default_rng(0)).confidence_interval
    assert (d.low, d.high) == pytest.approx(tuple(theirs), abs=.01)


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=2, max_size=9), st.integers(0, 5))
@settings(deadline=None, max_examples=40)
def test_exchanging_all_or_nothing_only_turns_the_sign(pairs, seed):
    a, b = (right_turns(list(side)) for side in zip(*pairs))
    null = exchanged(a, b, 500, seed)
    assert np.abs(null).max() <= abs(np.abs(np.subtract(*map(np.array, zip(*pairs)))).sum()) / (10*len(pairs)) + 1e-12
    np.testing.assert_allclose(exchanged(b, a, 500, seed), -null, atol=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_statsmodels(ps):
    multitest = pytest.importorskip('statsmodels.stats.multitest')
    np.testing.assert_allclose(holm(ps), multitest.multipletests(ps, method='holm')[1], atol=1e-12)


def test_equal_length_takes_the_advantage_of_brevity_away():
    rng = np.random.default_rng(0)
    long = [' '.join(rng.choice(list('abcdefghijklmnopqrstuvwxyz'), 12)) for _ in range(60)]
    short = [t[:7] for t in long]
    scores = {'long': words(long), 'short': words(short)}
    assert scores['short'].value > 2*scores['long'].value
    _, (d,) = pairwise(scores)
    assert abs(d.value) < .1*scores['short'].value and d.p > .05 and np.isnan(d.p_exchange)


def test_not_exchangeable_and_ordered_metrics(monkeypatch):
    a, b = right_turns([1, 5, 9, 3]), right_turns([2, 5, 8, 3])
    info = Metric('right_turns', None, '', (0, 1), 'lower', (), '', '', '')
    object.__setattr__(info, 'exchangeable', False)
    monkeypatch.setitem(METRICS, 'right_turns', info)
    _, (d,) = pairwise({'a': a, 'b': b})
    assert np.isnan(d.p_exchange) and d.p == d.p_bootstrap
    ordered = compare_scores({'a': replace(a, resample=None), 'b': replace(b, resample=None)})
    assert not ordered.differences and ordered.frame()['low'].isna().all()


@pytest.mark.parametrize('direction', ['higher', 'lower'])
def test_marks_follow_the_direction(monkeypatch, direction):
    monkeypatch.setitem(METRICS, 'right_turns', Metric('right_turns', None, '', (0, 1), direction, (), '', '', ''))
    low, high = right_turns([1]*30), right_turns([2, 3]*15)
    result = compare_scores({'low': low, 'high': high})
    expected = ['', 'a'] if direction == 'higher' else ['b', '']
    assert [result.beaten('right_turns', s) for s in result.systems] == expected


def test_tables(texts):
    gold, systems = texts
    result = compare(gold, systems, evaluate, lowercase=True)
    assert list(result.scores) == ['bleu', 'bleu_1', 'bleu_2', 'bleu_3', 'brevity_penalty']
    assert result.frame().loc[('bleu', 'a'), 'value'] == bleu(gold, systems['a']).value
    assert result.frame().loc[('bleu', 'a'), 'low'] == bleu(gold, systems['a']).ci().low
    assert 'c' in result.beaten('bleu_1', 'a') and len(result.pairs()) == 15
    found = json.loads(result.to_json())
    assert found['systems']['b']['bleu'] == bleu(gold, systems['b']).value and 'case:lc' in found['signatures']['bleu']
    assert result.signature in repr(result) and result.signature in result._repr_html_()
    assert result.to_markdown().count('\n') == 7 and r'\begin{tabular}' in result.to_latex()


def test_one_system_is_a_table_without_pairs(texts):
    gold, systems = texts
    result = compare(gold, {'only': systems['a']}, 'bleu')
    assert not result.differences and 'only' in repr(result)


def test_correction_only_raises(texts):
    gold, systems = texts
    _, pairs = pairwise({name: bleu(gold, said) for name, said in systems.items()})
    assert all(c.p >= d.p and c.p_bootstrap == d.p_bootstrap for c, d in zip(corrected(pairs, 'holm'), pairs))


def test_units_without_anything_to_score_do_no_harm():
    a = right_turns([3, 0, 4])
    b = replace(a, rows=a.rows * [[1], [0], [1]])
    _, (d,) = pairwise({'a': a, 'b': b})
    assert np.isfinite([d.value, d.low, d.high, d.p]).all()


BAD = {
    'other units': (dict(a=right_turns([1, 2]), b=right_turns([1, 2], ids=['000', 'x'])), PairingError,
                    "same dialogues.*2 that only one has: str '001'"),
    'other order': (dict(a=right_turns([1, 2]), b=right_turns([1, 2], ids=['001', '000'])), PairingError, 'one order'),
    'other choices': (dict(a=right_turns([1]), b=right_turns([1], choices={'values': 'raw'})), PairingError,
                      'one signature.*values:raw'),
    'other metrics': (dict(a=right_turns([1]), b=right_turns([1], name='wrong_turns')), PairingError, 'wrong_turns'),
    'numbers': (dict(a=.3, b=.4), OptionError, 'a Score or a Report'),
    'nothing': ({}, OptionError, 'a mapping')}


@pytest.mark.parametrize('name', BAD)
def test_bad_scores(name):
    scores, error, message = BAD[name]
    with pytest.raises(error, match=message): compare_scores(scores)


@pytest.mark.parametrize('options', [dict(correction='bonferroni'), dict(level=95), dict(n=0)])
def test_bad_options(options):
    with pytest.raises(DialevalError): compare_scores({'a': right_turns([1, 2]), 'b': right_turns([2, 2])}, **options)


def test_unknown_metric():
    with pytest.raises(OptionError, match='bleu'): compare(['a'], {'x': ['a']}, 'blue')
