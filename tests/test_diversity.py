"Distinct-n and its kin: reference figures, plain-Python peers, and the promises of every score."
import json, math, re
from collections import Counter

import numpy as np, pytest
from hypothesis import given, strategies as st
from scipy.stats import entropy

from dialeval import diversity as page
from dialeval.core import Corpus, Dialogue, FormatError, OptionError, PairingError, Turn
from dialeval.diversity import distinct, distinct_1, evaluate, msttr, token_entropy, types, utterances
from dialeval.sample import load_sample
from dialeval.score import METRICS, Report, merge, part

text = st.lists(st.sampled_from('a b c d [value_x] .'.split()), max_size=8).map(' '.join)
dialogues = st.dictionaries(st.sampled_from('pqrst'), st.lists(text, max_size=5), min_size=1)
orders = st.sampled_from([1, 2, 3, 'u'])
SAMPLE = load_sample()
each = pytest.mark.parametrize('name', [m.name for m in METRICS.values() if m.family == 'diversity'])


def measure(name, *sides, **how): return METRICS[name].function(*sides, **how)
def same(a, b): return a == pytest.approx(b, abs=1e-12, nan_ok=True)


def grams(texts, n):
    "The plain definition"
    if n == 'u': return [tuple(t.split()) for t in texts if t.split()], len(texts)
    found = [g for t in texts for g in zip(*(t.split()[i:] for i in range(n)))]
    return found, len(found)


@given(dialogues, orders)
def test_plain_definition(said, n):
    found, total = grams([t for turns in said.values() for t in turns], n)
    score = distinct(said, None, n)
    assert same(score.value, len(set(found))/total if total else math.nan) and score.n == total
    assert types(said, None, n).value == len(set(found)) or total == 0
    words = sum(len(t.split()) for turns in said.values() for t in turns)
    if n != 'u': assert same(distinct(said, None, n, of='tokens').value, len(set(found))/words if words else math.nan)
    texts = score.columns.family('gram')
    assert sorted(texts) == sorted({' '.join(g) for g in found}) and len(score.columns) == len(score.columns.labels)


@given(dialogues)
def test_entropies(said):
    words = Counter(w for turns in said.values() for t in turns for w in t.split())
    pairs = Counter(p for turns in said.values() for t in turns for p in zip(t.split(), t.split()[1:]))
    total = words.total()
    if not total: return
    assert same(token_entropy(said).value, entropy(list(words.values()), base=2))
    given = -sum(c/total*math.log2(c/words[a]) for (a, _), c in pairs.items())
    assert same(page.conditional_entropy(said).value, given)


@given(st.lists(text, max_size=9), st.integers(1, 4))
def test_msttr(texts, size):
    words = [w for t in texts for w in t.split()]
    shares = [len(set(words[i:i + size]))/size for i in range(0, len(words) - size + 1, size)]
    assert same(msttr(texts, segment=size).value, np.mean(shares) if shares else math.nan)


@given(dialogues, orders, st.sampled_from(['ngrams', 'tokens']), st.sampled_from(['dialogue', 'utterance']))
def test_levels(said, n, of, level):
    if n == 'u': of = 'ngrams'
    groups = list(said.values()) if level == 'dialogue' else [[t] for turns in said.values() for t in turns]
    def one(texts): return distinct(texts, None, n, of=of).value
    shares = [x for x in map(one, filter(None, groups)) if not math.isnan(x)]
    assert same(distinct(said, None, n, of=of, level=level).value, np.mean(shares) if shares else math.nan)


@given(st.lists(text, min_size=1, max_size=6), st.integers(1, 6))
def test_length(texts, length):
    counts = Counter(w for t in texts for w in t.split())
    total = counts.total()
    def never(c): return math.comb(total - c, length)/math.comb(total, length)
    expected = sum(1 - never(c) for c in counts.values())/length if total >= length else math.nan
    assert distinct_1(texts, length=length).value == pytest.approx(expected, abs=1e-9, nan_ok=True)


@given(dialogues, orders, st.integers(0, 5))
def test_merge(said, n, cut):
    ids = list(said)
    parts = [distinct({d: said[d] for d in some}, None, n) for some in (ids[cut:], ids[:cut]) if some]
    assert same(merge(parts).value, distinct(said, None, n).value)


@given(dialogues, st.lists(st.lists(st.integers(0, 2), min_size=5, max_size=5), min_size=1, max_size=70))
def test_sparse_sums_are_dense_ones(said, weights):
    from dataclasses import replace
    for score in (distinct(said, None, 2), types(said), token_entropy(said), page.conditional_entropy(said)):
        dense, some = replace(score, rows=score.rows.toarray()), np.array(weights)[:, :score.n_units]
        assert score.at(some) == pytest.approx(dense.at(some), abs=1e-12, nan_ok=True)
        assert score.at(some[0]) == pytest.approx(dense.at(some[0]), abs=1e-12, nan_ok=True)
        assert np.allclose(score.units.to_numpy(), dense.units.to_numpy(), equal_nan=True)


@each
def test_interval_contains_the_figure(name):
    for corpus in (SAMPLE.gold, *SAMPLE.systems.values(), [t.response for t in SAMPLE.gold.turns()]):
        score = measure(name, corpus, lowercase=True)
        if not score.resample:
            with pytest.raises(OptionError, match='order'): score.ci()
            continue
        low, high = score.ci()[:2]
        assert low <= score.value <= high and (low < high or score.value == 1) and score.ci() == score.ci()


def test_interval_of_levels_and_length_contains_the_figure():
    for how in (dict(level='dialogue'), dict(level='utterance'), dict(length=200), dict(of='tokens')):
        score = distinct(SAMPLE.gold, None, 2, **how)
        low, high = score.ci()[:2]
        assert low <= score.value <= high


@each
def test_subsets_are_scored_alone(name):
    score = measure(name, SAMPLE.gold)
    if score.unit != 'dialogue': return
    some = np.arange(score.n_units) % 3 == 0
    assert score.at(some) == pytest.approx(part(score, np.flatnonzero(some)).value)
    kept = Corpus([d for d, on in zip(sorted(SAMPLE.gold, key=lambda d: d.id), some) if on])
    assert score.at(some) == pytest.approx(measure(name, kept).value)


@each
def test_order_of_dialogues(name):
    if name == 'msttr': return
    turned = Corpus(list(SAMPLE.gold)[::-1])
    a, b = measure(name, SAMPLE.gold), measure(name, turned)
    assert a.value == pytest.approx(b.value, abs=1e-12)
    assert a.ci()[:2] == pytest.approx(b.ci()[:2], abs=1e-12)


def test_msttr_reads_in_file_order():
    a, b = {'z': ['a b a b c'], 'a': ['c d e f g']}, {'a': ['c d e f g'], 'z': ['a b a b c']}
    for side in (a, b):
        words = ' '.join(t for turns in side.values() for t in turns).split()
        assert same(msttr(side, segment=3).value, np.mean([len(set(words[i:i + 3]))/3 for i in (0, 3, 6)]))
    with pytest.raises(PairingError, match="'all' twice"): merge([msttr(a, segment=3), msttr(b, segment=3)])


@each
def test_nothing(name):
    for nothing in ([], {}, {'a': []}):
        score = measure(name, nothing)
        assert math.isnan(score.value) and score.n == 0


def test_silence_counts_where_gold_speaks():
    gold, pred = {'a': ['yes .', 'no .'], 'b': ['fine .']}, {'a': ['yes .']}
    assert distinct(gold, pred, 'u').value == 1/3 and distinct(gold, pred, 'u', missing='skip').value == 1
    assert evaluate(gold, pred)['mean_length'].value == 2/3
    assert any('no words' in note for note in evaluate(gold, pred).notes)
    assert evaluate(gold, pred).pairing.missing == ['b']
    assert 'missing:skip' in distinct(gold, pred, 'u', missing='skip').signature


def test_options():
    texts = ['</s> The cat . </s>', '</s> the dog . </s>']
    assert types(texts).value == 6 and types(texts, lowercase=True, drop='</s>').value == 4
    assert types(texts, None, 1, max_tokens=2).value == 3
    assert types(texts, tokenize=lambda t: list(t)).value == len(set(''.join(texts)) - {' '})
    assert 'case:lc|tok:none|drop:</s>|max:2' in types(texts, lowercase=True, drop='</s>', max_tokens=2).signature


@pytest.mark.parametrize('bad', [dict(n=0), dict(n='x'), dict(of='words'), dict(level='turn'), dict(length=0),
                                 dict(length=5, of='tokens'), dict(length=5, level='utterance'),
                                 dict(n='u', of='tokens'), dict(level='dialogue')])
def test_bad_options(bad):
    with pytest.raises(OptionError): distinct(['a b'], **bad)


def test_bad_input():
    for bad in (3, 'text', {'a': 'b'}, {'a': [3]}, [3]):
        with pytest.raises(FormatError): distinct(bad)
    with pytest.raises(OptionError, match='encoded'): distinct(utterances(['a']), lowercase=True)
    with pytest.raises(TypeError): distinct(['a'], lowercaes=True)
    with pytest.raises(OptionError): msttr(['a'], segment=0)


def test_encoded_once_is_enough():
    said = utterances(SAMPLE.gold)
    assert utterances(said) is said and distinct_1(said).rows is types(said).rows
    assert evaluate(said).row() == evaluate(SAMPLE.gold).row()


def test_input_is_left_alone():
    said = {'a': ['x y', 'x']}
    evaluate(said)
    assert said == {'a': ['x y', 'x']}


def test_a_corpus_reads_its_responses():
    corpus = Corpus([Dialogue('a', [Turn(0, response='b c'), Turn(1, response='b')])])
    assert distinct_1(corpus).value == 2/3 and isinstance(evaluate(corpus), Report)


def test_signatures():
    for m in METRICS.values():
        if m.family != 'diversity': continue
        score = m.function(SAMPLE.gold)
        assert score.name == m.name and score.info is m and 'tok:none' in score.signature
        assert score.signature in score._repr_html_()


# real files

def parlai(text):
    "The other toolkit's words: no articles, no punctuation"
    return re.sub(r'\b(a|an|the)\b', ' ', re.sub(r'[!"#$%&()*+,-./:;<=>?@\[\]\\^`{|}~_\']', ' ', text.lower())).split()


@pytest.mark.data('references/distinct_variants_camrest.json', 'generation/bleu_pairs_camrest.json')
def test_camrest(data):
    reference = json.loads((data/'references/distinct_variants_camrest.json').read_text())
    pairs = json.loads((data/'generation/bleu_pairs_camrest.json').read_text())
    for side, rows in zip(('hyp', 'ref'), reference.values()):
        texts = [p[side] for p in pairs]
        for n in (1, 2):
            row = rows[f'D-{n}']
            def near(score, key):
                expected = next(v for k, v in row.items() if k.startswith(key))
                assert score.value == pytest.approx(expected, abs=1e-12), key
            near(distinct(texts, None, n), 'pooled / total n-grams')
            near(distinct(texts, None, n, of='tokens'), 'pooled / total tokens')
            near(distinct(texts, None, n, of='tokens', level='utterance'), 'Distinct-N package')
            near(distinct(texts, None, n, tokenize=parlai), 'ParlAI inter')
            intra = distinct(texts, None, n, tokenize=parlai, level='utterance')
            theirs = 'ParlAI intra-distinct (mean over utterances)'
            assert intra.value*intra.n/len(texts) == pytest.approx(row[theirs], abs=1e-8)      # without n-grams: 0
            score = distinct(texts, None, n)
            counts = types(texts, None, n).value, score.n, score.whole['tokens']
            assert counts == (row['uniq_ngrams'], row['total_ngrams'], row['total_tokens'])
        assert distinct(texts, None, 'u').value == pytest.approx(rows['D-U'], abs=1e-12)
        assert types(texts, None, 'u').value == rows['uniq_utts']
