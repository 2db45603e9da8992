"Identities of the state metrics on random dialogues (hypothesis)."
import numpy as np
import pytest
from dialeval import dst
from dialeval.changes import granular_change_accuracy
from dialeval.core import Corpus, as_corpus, to_table
from dialeval.score import merge
from dialeval.values import encode
from hypothesis import given, settings, strategies as st

VALUES = st.sampled_from(['a', 'b', 'a-b', 'a|b', 'é', '北', '1', 1, 1.0, 'none', '', None, 'dontcare', "don't care",
                          'x y', ' A '])
STATE = st.dictionaries(st.sampled_from(['h-a', 'h-b', 't-a', 't-b c', 'odd']), VALUES, max_size=4)
LAMS = st.floats(0, 20)


@st.composite
def both(draw, most=4):
    "Gold and prediction: the same dialogues, each with the same number of turns"
    lengths = draw(st.lists(st.integers(0, 6), min_size=1, max_size=most))
    def side(): return {f'd{i}': [draw(STATE) for _ in range(n)] for i, n in enumerate(lengths)}
    gold = side()
    pred = {d: [draw(st.one_of(st.just(g), STATE)) for g in turns] for d, turns in gold.items()}
    return gold, pred


def same(a, b): return a == pytest.approx(b, abs=1e-12, nan_ok=True)


variants = pytest.mark.parametrize('variant', dst.VARIANTS)


@variants
@given(pair=both())
def test_lambda_zero_is_joint_goal_accuracy(variant, pair):
    strict = dst.flexible_goal_accuracy(*pair, lam=0, variant=variant)
    assert same(strict.value, dst.joint_goal_accuracy(*pair).value)


@variants
@given(pair=both())
def test_lambda_infinite_is_turn_match(variant, pair):
    lenient = dst.flexible_goal_accuracy(*pair, lam=float('inf'), variant=variant)
    assert same(lenient.value, dst.turn_match(*pair, variant=variant).value)


@given(both(), LAMS, LAMS)
def test_it_grows_with_lambda_and_lies_between(pair, a, b):
    states = encode(*pair)
    low, high = (dst.flexible_goal_accuracy(states, lam=x).turns.weight.to_numpy() for x in sorted([a, b]))
    assert (low <= high + 1e-12).all()
    assert (states.exact <= low).all() and (high <= ~dst.own_mistakes(states)).all()


@given(both())
def test_the_script_is_never_kinder_than_the_paper(pair):
    states = encode(*pair)
    assert (dst.own_mistakes(states, 'paper') <= dst.own_mistakes(states, 'released')).all()


@given(both())
def test_gold_against_itself(pair):
    gold = pair[0]
    scored = [s for s in dst.evaluate(gold, gold).scores.values() if not np.isnan(s.value)]
    assert all(same(s.value, 1) for s in scored if s.info.ceiling == '1')
    assert encode(gold, gold).exact.all()


@given(both(), st.randoms())
def test_order_of_dialogues_and_keys(pair, random):
    def shuffled(side):
        items = [(d, [dict(random.sample(list(s.items()), len(s))) for s in turns]) for d, turns in side.items()]
        random.shuffle(items)
        return dict(items)
    a, b = dst.evaluate(*pair), dst.evaluate(*map(shuffled, pair))
    assert same([s.value for s in a.scores.values()], [s.value for s in b.scores.values()])


@given(both())
def test_spelling_of_the_state(pair):
    "Flat, nested, pairs of names, turn mappings out of order, a long table"
    whole = dst.evaluate(*pair)
    corpora = [as_corpus(side) for side in pair]
    def backwards(corpus): return {d.id: {str(t.id): dict(t.state) for t in reversed(d.turns)} for d in corpus}
    spelled = list(map(backwards, corpora))
    tables = to_table(*corpora)
    for found in (dst.evaluate(*spelled), dst.evaluate(tables) if len(tables) else whole):
        assert same([whole[n].value for n in whole], [found[n].value for n in whole])


@given(both(), st.permutations(range(4)))
def test_values_are_only_names(pair, order):
    "Renaming values one to one, hyphens and letters of any script included, changes nothing"
    related = ('a|b', 'a-b', ' A ')     # to other values, so they are left out
    def renamed(names):
        def state(s): return {k: names.get(v, v) for k, v in s.items() if v not in related}
        return dst.evaluate(*({d: list(map(state, turns)) for d, turns in side.items()} for side in pair))
    a, b = renamed({}), renamed(dict(zip(['a', 'b', 'é', '北'], [['q-r-s', 'ü', '-', 'ｘ'][i] for i in order])))
    assert same([a[n].value for n in a], [b[n].value for n in a])


@given(both(most=6), st.integers(0, 6))
def test_merge_of_parts(pair, cut):
    ids = sorted(pair[0])
    def part(some): return dst.evaluate(*({d: side[d] for d in some} for side in pair))
    parts = [part(some) for some in (ids[cut:], ids[:cut]) if some]
    whole = dst.evaluate(*pair)
    for name in whole:
        merged = merge([p[name] for p in parts])
        assert same(merged.value, whole[name].value) and merged.n == whole[name].n


@given(both())
def test_slot_accuracy_is_equation_1(pair):
    "The matrix form against sets of triplets, for a schema of nine slots"
    def triplets(states, row): return {(k, c) for k, c in zip(states.slots, row) if c}
    states = encode(*pair, slots=9, values='raw')
    for t, error in enumerate(dst.slot_accuracy(states).turns.errors):
        gold, pred = triplets(states, states.gold[t]), triplets(states, states.pred[t])
        x, y = gold - pred, pred - gold
        assert error == len(x) + len(y) - len({k for k, _ in x} & {k for k, _ in y})


def literal(golds, preds, lam):
    "Algorithm 1, word for word, on sets"
    error, weights = -np.inf, []
    for t, (gold, pred) in enumerate(zip(golds, preds)):
        weight = 1.
        if gold != pred:
            before_gold, before_pred = (golds[t-1], preds[t-1]) if t else (set(), set())
            if t == 0 or not pred - before_pred <= gold or not gold - before_gold <= pred: weight, error = 0., t
            else: weight = 1 - np.exp(-lam*(t - error))
        weights.append(weight)
    return weights


@given(both(), st.floats(.01, 10))
def test_flexible_goal_accuracy_is_algorithm_1(pair, lam):
    states = encode(*pair, values='raw')
    weights = dst.flexible_goal_accuracy(states, lam=lam).turns.weight.to_numpy()
    def sets(m): return [{(k, c) for k, c in enumerate(row) if c} for row in m.tolist()]
    for a, b in zip(states.starts, states.starts[1:]):
        assert same(weights[a:b].tolist(), literal(sets(states.gold[a:b]), sets(states.pred[a:b]), lam))


@given(both())
def test_granular_change_accuracy_is_its_definition(pair):
    "The weighted harmonic mean, written out"
    c, w, m, o = (float(granular_change_accuracy(*pair).whole[k]) for k in ('correct', 'wrong', 'missed', 'over'))
    a, b = c + w + o, c + w + m
    terms = [(share*made, right/made if made else 0) for share, right in ((10/11, c), (1/11, c + w)) for made in (a, b)]
    if a + b == 0: expected = np.nan
    elif any(x == 0 for _, x in terms): expected = 0.
    else: expected = sum(weight for weight, _ in terms)/sum(weight/x for weight, x in terms)
    assert same(granular_change_accuracy(*pair).value, expected)


def test_granular_change_accuracy_at_the_ends_of_alpha():
    "A weight of 0 is no weight, even of something that is never right"
    wrong, missed = ([[{'h-a': '1'}]], [[{'h-a': '2'}]]), ([[{'h-a': '1'}]], [[{}]])
    assert [granular_change_accuracy(*wrong, alpha=alpha).value for alpha in (0, .5, 1)] == [1, 0, 0]
    assert [granular_change_accuracy(*missed, alpha=alpha).value for alpha in (0, .5, 1)] == [0, 0, 0]


@settings(max_examples=20)
@given(both(most=8))
def test_interval_contains_the_figure_or_is_empty(pair):
    for s in dst.evaluate(*pair).scores.values():
        low, high = s.ci(n=200)[:2]
        assert s.n == 0 or np.isnan(s.value) or len(s.ids) < 3 or low <= s.value + 1e-9 or high >= s.value - 1e-9


def test_empty_corpus_object(): assert np.isnan(dst.joint_goal_accuracy(Corpus(), Corpus()).value)
