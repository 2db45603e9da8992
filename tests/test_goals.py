"Goal slots and the table of a generation paper: scikit-learn, reference figures, promises."
import json, math, pickle

import numpy as np, pytest
from hypothesis import given, strategies as st
from sklearn.metrics import precision_recall_fscore_support

from dialeval import bleu, diversity
from dialeval.core import Corpus, FormatError, OptionError, PairingError
from dialeval.goals import (AVERAGES, FIGURES, PROTOCOL, evaluate, goal_adherence, goal_slots, pair_dialogues, prepared,
                            slot_matrices, slot_sets, slot_table)
from dialeval.sample import load_sample
from dialeval.score import METRICS, merge, part

SAMPLE = load_sample()
GOLD, PRED = prepared(SAMPLE.gold, 'delex'), prepared(SAMPLE.systems['B'], 'delex')
sets = st.frozensets(st.sampled_from('abcd'))
sides = st.lists(st.tuples(sets, sets), min_size=1, max_size=8)
every = pytest.mark.parametrize('average, figure', [(a, f) for a in AVERAGES for f in FIGURES])


def same(a, b): return a == pytest.approx(b, abs=1e-12, nan_ok=True)
def both(pairs): return tuple({str(i): p[side] for i, p in enumerate(pairs)} for side in (0, 1))


@given(sides, st.sampled_from(AVERAGES), st.booleans())
def test_scikit_learn(pairs, average, fixed):
    if average == 'samples': pairs = [p for p in pairs if p[0] | p[1]]     # else there is nothing to score
    found = slot_matrices(*both(pairs), labels='abcd' if fixed else None)
    if len(found.labels) < 2 or not (found.gold + found.pred).any(): return       # one column is a binary problem
    theirs = precision_recall_fscore_support(found.gold, found.pred, average=average, zero_division=0)[:3]
    if average == 'weighted' and not found.gold.any(): return
    assert same([goal_slots(found, average=average, figure=f).value for f in FIGURES], list(theirs))


@given(sides, st.sampled_from(AVERAGES), st.sampled_from(FIGURES), st.integers(0, 8))
def test_merge_and_subsets(pairs, average, figure, cut):
    gold, pred = both(pairs)
    whole, ids = goal_slots(gold, pred, average=average, figure=figure), sorted(gold)
    def score(some): return goal_slots(*({i: s[i] for i in some} for s in (gold, pred)), average=average, figure=figure)
    pieces = [score(some) for some in (ids[cut:], ids[:cut]) if some]
    assert same(merge(pieces).value, whole.value) and merge(pieces).n == whole.n
    some = np.arange(len(ids)) % 2
    assert same(whole.at(some), part(whole, np.flatnonzero(some)).value) if some.any() else True


@every
def test_interval_contains_the_figure(average, figure):
    score = goal_slots(GOLD, PRED, average=average, figure=figure)
    low, high = score.ci()[:2]
    assert low <= score.value <= high and score.info is METRICS['goal_slots']
    assert goal_slots(GOLD, GOLD, average=average, figure=figure).value == 1


def test_intervals_of_the_report_contain_their_figures():
    report = evaluate(SAMPLE.gold, SAMPLE.systems['A'], text='delex')
    for name, (low, high, *_) in report.ci().items(): assert low <= report[name].value <= high, name
    low, high = goal_adherence(GOLD, PRED).ci()[:2]
    assert low <= goal_adherence(GOLD, PRED).value <= high


@pytest.mark.parametrize('placeholders, text, expected', [
    ('value', 'a [value_area] b [VALUE_Post_Code] [area] SLOT_X NAME', {'area', 'post_code'}),
    ('bracket', 'a [area] [price range] [value_x] SLOT_X', {'area', 'price range', 'value_x'}),
    ('slot', 'SLOT_AREA and slot_name [value_x]', {'area', 'name'}),
    ('capitals', 'NAME is in the AREA. I know TRAINID', {'name', 'area', 'trainid'}),
    (r'<(\w+)>', '<a> <b c>', {'a'}), (lambda text: text.split(), 'X y', {'x', 'y'})])
def test_patterns(placeholders, text, expected): assert slot_sets({'d': [text]}, placeholders) == {'d': expected}


def test_given_sets():
    assert slot_sets({'d': ['NAME', 'AREA']}, None) == slot_sets({'d': {'NAME', 'AREA'}}) == {'d': {'name', 'area'}}
    assert slot_sets({'d': [['[value_a]', '[value_b]'], None]}) == {'d': {'a', 'b'}}


def test_missing_dialogues():
    gold, pred = {'a': {'x', 'y'}, 'b': {'x'}}, {'a': {'x'}, 'z': {'x'}}
    assert goal_slots(gold, pred, figure='recall').value == 1/3
    assert goal_slots(gold, pred, figure='recall', missing='skip').value == 1/2
    report = slot_matrices(gold, pred).report
    assert report.missing == ['b'] and report.extra == ['z']
    assert 'missing:skip' in goal_slots(gold, pred, missing='skip').signature
    with pytest.raises(PairingError, match='b.*z'): slot_matrices(gold, pred, strict=True)
    with pytest.raises(PairingError, match='no dialogue id in common'): slot_matrices(gold, {'A': {'x'}})
    with pytest.raises(OptionError): pair_dialogues(gold, pred, missing='drop')


def test_nothing():
    for nothing in ({}, {'a': set()}):
        for average in AVERAGES:
            score = goal_slots(nothing, nothing, average=average)
            assert math.isnan(score.value) and score.n == 0
    assert math.isnan(goal_adherence({'a': {'taxi': {'requests': []}}}, {'a': ['hello']}).value)


def test_bad_options():
    for bad in (dict(average='mean'), dict(figure='f2'), *(dict(placeholders=p) for p in ('(', 'abc', 3))):
        with pytest.raises(OptionError): goal_slots({'a': ['x']}, {'a': ['x']}, **bad)
    with pytest.raises(FormatError): goal_slots(['x'], ['x'])
    found = slot_matrices({'a': {'x'}}, {'a': {'x'}})
    with pytest.raises(OptionError, match='found'): goal_slots(found, missing='skip')
    with pytest.raises(OptionError): goal_adherence({}, {}, level='turn')
    for bad in (dict(max_turns=0), dict(max_tokens=-1), dict(text='user')):
        with pytest.raises(OptionError): evaluate({'a': ['x']}, {'a': ['x']}, **bad)
    with pytest.raises(OptionError): goal_slots(GOLD, PRED).by('domain')


def test_by_slot_is_the_table():
    table = slot_table(GOLD, PRED)
    parts = goal_slots(GOLD, PRED).by('slot')
    assert list(parts) == list(table.index)
    assert [p.value for p in parts.values()] == pytest.approx(list(table.f1), nan_ok=True)
    assert (table.both <= table[['gold', 'pred']].min(axis=1)).all()


def test_adherence():
    goals = {'a': {'hotel': {'requests': ['Phone'], 'book': {'x': '1'}}, 'topic': 'none'},
             'b': {'taxi': {'requests': []}}}
    said = {'a': ['[value_phone]'], 'b': []}
    assert [goal_adherence(goals, said, level=level).value for level in ('slot', 'dialogue')] == [.5, 0]
    assert goal_adherence(goals, {'a': ['[value_phone]', '[value_reference]']}, level='dialogue').value == 1
    assert goal_adherence(SAMPLE.gold, GOLD).value > goal_adherence(SAMPLE.gold, PRED).value


def test_report_is_the_pages_together():
    report = evaluate(SAMPLE.gold, SAMPLE.systems['A'], text='delex')
    a, b = prepared(SAMPLE.gold, 'delex'), prepared(SAMPLE.systems['A'], 'delex')
    found = report.to_dict()
    assert found['bleu'] == found['bleu_4'] == bleu.bleu(a, b).value
    assert found['bleu_2'] == bleu.bleu(a, b, order=2).value
    assert found['distinct_u'] == diversity.distinct_u(a, b).value
    assert found['distinct_1'] == diversity.distinct_1(b).value
    assert found['goal_slots']['macro']['recall'] == goal_slots(a, b, average='macro', figure='recall').value
    assert set(found['goal_slots']) == set(AVERAGES)
    assert all(set(v) == set(FIGURES) for v in found['goal_slots'].values())
    assert {'bleu_1', 'bleu_3', 'distinct_2', 'signature', 'pairing'} <= set(found)
    assert json.loads(report.to_json())['signature'] == report.signature


def test_gold_against_itself():
    found = evaluate(GOLD, GOLD).to_dict()
    assert found['bleu'] == found['bleu_1'] == 1
    assert all(x == 1 for average in found['goal_slots'].values() for x in average.values())


def test_scores_can_be_sent_to_other_processes():
    for score in (goal_slots(GOLD, PRED), goal_adherence(SAMPLE.gold, PRED), diversity.distinct_2(PRED, lowercase=True),
                  diversity.conditional_entropy(PRED)):
        again = pickle.loads(pickle.dumps(score))
        assert again.value == score.value == merge([again]).value and again.signature == score.signature


def test_caps_are_explicit():
    gold = {'a': [' '.join(['word']*40 + ['[value_x]'])]*30}
    report = evaluate(gold, gold, **PROTOCOL)
    assert report.counts['segments'] == 22 and report['distinct_1'].n == 22*36 and report.counts['slots'] == 0
    assert 'max_turns:22|max_tokens:36' in report.signature and 'max_turns' not in evaluate(gold, gold).signature
    assert evaluate(gold, gold).counts == {'dialogues': 1, 'segments': 30, 'slots': 1}
    assert gold['a'][0].endswith('[value_x]')


def test_missing_responses_are_empty_or_skipped():
    gold, pred = {'a': ['[value_x] .'], 'b': ['[value_y] .']}, {'a': ['[value_x] .']}
    empty, skipped = evaluate(gold, pred), evaluate(gold, pred, missing='skip')
    assert empty.to_dict()['goal_slots']['micro']['recall'] == .5
    assert skipped.to_dict()['goal_slots']['micro']['recall'] == 1
    assert empty['distinct_u'].value == .5 and skipped['bleu'].value == 1 and empty.pairing.missing == ['b']
    assert 'b' in str(empty)


def test_the_recipes_single_set():
    gold, pred = {'a': {'x', 'y'}, 'b': {'z'}}, {'a': {'z'}, 'b': {'x', 'y'}}
    pooled = [{'all': set().union(*side.values())} for side in (gold, pred)]
    assert goal_slots(*pooled).value == 1 and goal_slots(gold, pred).value == 0


# real files

@pytest.mark.data('multiwoz', 'references/multiwoz_goal_slots.json')
@pytest.mark.parametrize('system', ['hdsa', 'damd', 'labes', 'augpt'])
def test_four_systems(data, system):
    def load(name): return json.loads((data/name).read_text())
    cases = load('multiwoz/goal_slot_cases.json')
    reference = load('references/multiwoz_goal_slots.json')['multilabel'][system]
    sides = cases['gold'], cases['pred'][system]
    def sets(**how): return slot_matrices(*sides, placeholders=None, missing='skip', **how)
    found = sets()
    listed = sets(labels=[*found.labels, 'one', 'two', 'three'])
    for average in AVERAGES:
        values = [100*goal_slots(listed, average=average, figure=f).value for f in FIGURES]
        assert values == pytest.approx(reference[average], abs=1e-6)
    score = goal_slots(found)
    both, gold, pred = (int(score.whole[k].sum()) for k in ('both', 'gold', 'pred'))
    counts = {'tp': both, 'fp': pred - both, 'fn': gold - both, 'n_dialogues': len(found.ids)}
    assert counts == {k: reference[k] for k in counts}
    texts = {d: [t['response'] for t in turns] for d, turns in load(f'multiwoz/pred_norm_{system}.json').items()}
    said = slot_matrices(load('multiwoz/ref_hdsa_norm.json'), texts, placeholders='capitals', missing='skip')
    assert (said.gold == found.gold).all() and (said.pred == found.pred).all()
    pooled = [{'all': frozenset().union(*side.values())} for side in (cases['gold'], cases['pred'][system])]
    one_set = next(v for k, v in reference.items() if 'one set' in k)
    assert [100*goal_slots(*pooled, figure=f).value for f in FIGURES[:2]] == pytest.approx(one_set)


@pytest.mark.data('multiwoz')
def test_hdsa_by_average(data):
    cases = json.loads((data/'multiwoz/goal_slot_cases.json').read_text())
    found = slot_matrices(cases['gold'], cases['pred']['hdsa'], placeholders=None)
    printed = {'micro': (86.90, 81.65, 84.19), 'macro': (85.34, 77.18, 78.91), 'samples': (86.76, 82.25, 83.11)}
    for average, figures in printed.items():
        assert [round(100*goal_slots(found, average=average, figure=f).value, 2) for f in FIGURES] == list(figures)


@pytest.mark.data('multiwoz')
def test_missing_dialogues_of_labes(data):
    cases = json.loads((data/'multiwoz/goal_slot_cases.json').read_text())
    sides = cases['gold'], cases['pred']['labes']
    skipped, empty = (slot_matrices(*sides, placeholders=None, missing=m) for m in ('skip', 'empty'))
    assert (len(skipped.ids), len(empty.ids), len(empty.report.missing)) == (944, 1000, 56)
    assert [round(100*goal_slots(s, figure='recall').value, 2) for s in (skipped, empty)] == [77.10, 72.18]
    assert round(100*goal_slots(empty).value, 2) == 73.62
