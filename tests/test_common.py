"What every registered metric promises, and the identities of the score behind them."
import copy, inspect, math

import numpy as np
import pytest
from dialeval import changes, dst, sample
from dialeval.core import Corpus, DialevalError, OptionError, PairingError
from dialeval.score import METRICS, Report, merge, metrics, part, percentiles
from dialeval.values import encode
from scipy.stats import bootstrap

DST = {m.name: m.function for m in METRICS.values() if 'hits' in m.needs or 'values' in m.needs or 'filled' in m.needs}
SAMPLE = sample.load_sample()
GOLD, PRED = SAMPLE.gold, SAMPLE.systems['A']


def scores(function, *args, **kwargs):
    found = function(*args, **kwargs)
    return list(found.scores.values()) if isinstance(found, Report) else [found]


def only(corpus, ids): return Corpus([corpus[i] for i in ids], corpus.name)


each = pytest.mark.parametrize('function', DST.values(), ids=DST)


@each
def test_gold_against_itself(function):
    for s in scores(function, GOLD, GOLD):
        if s.info.ceiling == '1': assert s.value == pytest.approx(1, abs=1e-12) or s.n == 0
        else: assert s.value < 1


@each
def test_interval_contains_the_figure(function):
    for s in scores(function, GOLD, PRED):
        low, high = s.ci()[:2]
        assert low <= s.value <= high or s.n == 0
        assert s.ci() == s.ci() and (s.n < 20 or s.ci(seed=1) != s.ci())


@each
def test_same_draws_as_scipy(function):
    for s in scores(function, GOLD, PRED):
        if not s.n: continue
        units = np.arange(s.n_units)
        def figure(drawn, axis): return s.at((drawn[..., None] == units).sum(-2))      # how often each unit was drawn
        theirs = bootstrap((units,), figure, n_resamples=200, method='percentile', rng=np.random.default_rng(3))
        if not np.isnan(theirs.bootstrap_distribution).any():
            assert s.ci(n=200, seed=3)[:2] == pytest.approx(tuple(theirs.confidence_interval), nan_ok=True)


@each
def test_order_changes_nothing(function):
    ids = list(GOLD.dialogues)
    shuffled = only(GOLD, ids[::-1]), only(PRED, sorted(ids, key=hash))
    for a, b in zip(scores(function, GOLD, PRED), scores(function, *shuffled)):
        assert a.value == b.value or math.isnan(a.value)
        assert a.ci() == b.ci() or math.isnan(a.ci().low)


@each
def test_merge_equals_the_whole(function):
    ids = list(GOLD.dialogues)
    parts = [scores(function, only(GOLD, some), only(PRED, some)) for some in (ids[20:], ids[:7], ids[7:20])]
    for whole, *pieces in zip(scores(function, GOLD, PRED), *parts):
        merged = merge(pieces)
        assert merged.value == pytest.approx(whole.value, abs=1e-12, nan_ok=True)
        assert merged.ci()[:2] == pytest.approx(whole.ci()[:2], abs=1e-12, nan_ok=True)
        assert (merged.n, merged.ids) == (whole.n, whole.ids)
        for axis in ('domain', 'slot', 'turn'):
            a, b = merged.by(axis), whole.by(axis)
            assert {k: s.value for k, s in a.items()} == pytest.approx({k: s.value for k, s in b.items()}, nan_ok=True)
        assert len(merged.turns) == len(whole.turns)


@each
def test_weights(function):
    for s in scores(function, GOLD, PRED):
        assert s.at(np.ones(s.n_units)) == pytest.approx(s.value, nan_ok=True)
        assert s.at(3*np.ones(s.n_units)) == pytest.approx(s.value, nan_ok=True)
        some = np.arange(s.n_units) % 2
        assert s.at(some) == pytest.approx(part(s, np.nonzero(some)[0]).value, nan_ok=True) or s.name == 'slot_accuracy'
        assert s.at(np.stack([some, 1 - some])).shape == (2,)
        assert len(s.units) == s.n_units


@each
def test_nothing_to_score(function):
    for gold in ({}, {'a': []}):
        for s in scores(function, gold, gold): assert math.isnan(s.value) and s.n == 0 and math.isnan(s.ci().low)


@each
def test_inputs_are_left_alone(function):
    gold = {'a': [{'hotel': {'area': ['north', 'centre'], 'stars': 4}}, {}]}
    pred = {'a': [{'hotel-area': 'North'}, {('hotel', 'stars'): None}]}
    kept = copy.deepcopy((gold, pred))
    scores(function, gold, pred)
    assert (gold, pred) == kept


@each
def test_signature_and_display(function):
    for s in scores(function, GOLD, PRED, values='raw', missing='skip'):
        assert all(part in s.signature for part in (s.name, 'values:raw', 'missing:skip', 'unit:dialogue', 'v:'))
        assert s.name in repr(s) and s.signature in s._repr_html_() and float(s) == s.value or math.isnan(s.value)


@each
def test_unknown_option(function):
    with pytest.raises(TypeError): function(GOLD, PRED, valeus='raw')


def test_options_are_in_the_signature_of_the_function():
    shared = {'values', 'names', 'slots', 'missing', 'strict'}
    for function in DST.values(): assert shared <= set(inspect.signature(function).parameters)


def test_table_of_metrics():
    table = metrics('dst')
    assert {'joint_goal_accuracy', 'granular_change_accuracy'} <= set(table.index)


def test_merge_knows_the_schema_of_the_whole():
    "A slot that only the second part fills belongs to |S| of the whole"
    a = ({'a': [{'x-a': '1'}]}, {'a': [{}]})
    b = ({'b': [{'x-b': '1'}]}, {'b': [{'x-b': '1'}]})
    parts, whole = [dst.slot_accuracy(*a), dst.slot_accuracy(*b)], dst.slot_accuracy(a[0] | b[0], a[1] | b[1])
    assert [s.value for s in parts] == [0, 1] and merge(parts).value == whole.value == 1 - 1/(2*2)


def test_merge_refuses():
    a, b = (dst.joint_goal_accuracy({'a': [{}]}, {'a': [{}]}, values=policy) for policy in ('default', 'raw'))
    with pytest.raises(PairingError, match='one signature'): merge([a, b])
    with pytest.raises(PairingError, match="'a' twice"): merge([a, a])
    with pytest.raises(OptionError): merge([])


@pytest.mark.parametrize('bad', [dict(level=0), dict(level=1.5), dict(n=0)])
def test_bad_intervals(bad):
    with pytest.raises(OptionError): dst.joint_goal_accuracy(GOLD, PRED).ci(**bad)


def test_bad_weights():
    with pytest.raises(OptionError, match='31 dialogues'): dst.joint_goal_accuracy(GOLD, PRED).at([1, 2])


def test_subsample_contains_its_figure():
    "A figure that grows with size: how many different slots gold fills"
    from dataclasses import replace
    s = dst.slot_accuracy(GOLD, PRED)
    grows = replace(s, name='slots', figure=lambda t: np.count_nonzero(t['slot'], axis=-1)*1., resample='subsample')
    low, high = grows.ci()[:2]
    assert low <= grows.value <= high and percentiles(np.array([np.nan]), .95) != (0, 0)
    with pytest.raises(OptionError, match='order'): replace(grows, resample=None).ci()


def test_blocks_of_draws_change_nothing(monkeypatch):
    from dialeval import score
    s = dst.joint_goal_accuracy(GOLD, PRED)
    whole = s.ci()
    monkeypatch.setattr(score, 'BLOCK', 100)
    assert s.ci() == whole


def test_report():
    report = dst.evaluate(GOLD, PRED)
    report.ci()
    found = report.to_dict(by=['domain'])
    assert set(found['by']['domain']) == {'attraction', 'hotel', 'restaurant'}
    assert found['intervals']['joint_goal_accuracy'][0] < found['joint_goal_accuracy']
    competing = sum('[released]' in line for line in report.to_latex().splitlines())
    assert competing and report.to_markdown().count('\n| ') == len(report.scores) + competing
    assert r'flexible\_goal\_accuracy@0.5' in report.to_latex() and '[released]' in repr(report)
    assert set(report.variants) == {'paper', 'released'} and report.variants['released'].intervals


def test_parts_of_a_report():
    parts = dst.evaluate(GOLD, PRED, values='raw').by('turn')
    assert parts[0].counts['n'] == 31
    assert parts[0].signature.startswith('dst|values:raw|') and 'turn:0' in parts[0].signature
    table, score = parts.frame(ci=True), parts[1]['slot_f1']
    assert tuple(table.loc[1, ['slot_f1 low', 'slot_f1 high']]) == score.ci()[:2]
    groups = dst.evaluate(GOLD, PRED).by({d.id: len(d) > 5 for d in GOLD})
    assert 'group:True' in groups[True].signature and groups.axis == 'group'


def test_group_by_goal_or_length():
    s = dst.joint_goal_accuracy(GOLD, PRED)
    parts = s.by({d.id: 'long' if len(d) > 5 else 'short' for d in GOLD})
    assert sum(p.n for p in parts.values()) == s.n and parts.axis == 'dialogue group'
    with pytest.raises(DialevalError, match='none for'): s.by({'R01': 'x'})
    with pytest.raises(DialevalError, match='"domain", "slot", "turn"'): s.by('colour')


def test_by_turns_options():
    states = encode(GOLD, PRED)
    score = dst.joint_goal_accuracy(states)
    hotel = {turns: score.by('domain', turns=turns)['hotel'] for turns in ('active', 'dialogues', 'all')}
    assert hotel['active'].n < hotel['dialogues'].n < hotel['all'].n == 167
    assert 'turns:all' in hotel['all'].signature
    with pytest.raises(OptionError): score.by('domain', turns='some')


def test_metric_modules_are_registered():
    assert changes.granular_change_accuracy is METRICS['granular_change_accuracy'].function
