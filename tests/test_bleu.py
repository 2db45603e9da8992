import json, warnings
from collections import Counter

import numpy as np, pytest
from hypothesis import given, settings, strategies as st

from dialeval import bleu as page
from dialeval.bleu import bleu, evaluate, ngram_counts, segments, tokeniser, unpacked
from dialeval.core import Corpus, Dialogue, DialevalError, FormatError, OptionError, PairingError, Turn
from dialeval.score import merge

text = st.lists(st.sampled_from('a b c d e [value_x]'.split()), max_size=8).map(' '.join)
smoothings = st.sampled_from([('none', None), ('floor', .1), ('floor', .01), ('add-k', 1), ('add-k', .5),
                              ('exp', None)])


def corpora(references=3): return st.integers(1, references).flatmap(
    lambda m: st.lists(st.tuples(text, st.lists(text, min_size=m, max_size=m)), min_size=1, max_size=8))


def theirs(pairs, order, smooth, value, effective=True):
    sacrebleu = pytest.importorskip('sacrebleu.metrics').BLEU(
        tokenize='none', smooth_method=smooth, smooth_value=value, effective_order=effective, max_ngram_order=order)
    return sacrebleu, [h for h, _ in pairs], [r for _, r in pairs]


@given(corpora(), st.integers(1, 5), smoothings, st.booleans())
@settings(deadline=None, max_examples=150)
def test_corpus_bleu_is_sacrebleus(pairs, order, smoothing, effective):
    sacrebleu, hyps, refs = theirs(pairs, order, *smoothing, effective)
    score = bleu(refs, hyps, order=order, smooth=smoothing[0], smooth_value=smoothing[1], effective_order=effective)
    if score.n: assert score.value == pytest.approx(sacrebleu.corpus_score(hyps, list(zip(*refs))).score/100, abs=1e-9)
    else: assert np.isnan(score.value)


@given(corpora(), st.integers(1, 4), smoothings)
@settings(deadline=None, max_examples=100)
def test_sentence_bleu_is_the_mean_of_sacrebleus(pairs, order, smoothing):
    sacrebleu, hyps, refs = theirs(pairs, order, *smoothing)
    heard = [sacrebleu.sentence_score(h, r).score/100 for h, r in zip(hyps, refs) if h or all(r)]
    score = bleu(refs, hyps, order=order, smooth=smoothing[0], smooth_value=smoothing[1], level='sentence')
    assert score.value == pytest.approx(np.mean(heard), abs=1e-9) if heard else score.n == 0


long_text = st.lists(st.sampled_from('abcd'), min_size=4, max_size=9).map(' '.join)


@given(st.lists(st.tuples(*[long_text]*3), min_size=1, max_size=6), st.integers(1, 4))
@settings(deadline=None)
@pytest.mark.filterwarnings('ignore::UserWarning')
def test_corpus_bleu_is_nltks_where_no_response_is_short(triples, order):
    nltk = pytest.importorskip('nltk.translate.bleu_score')
    refs, hyps = [t[1:] for t in triples], [t[0] for t in triples]
    split = [[r.split() for r in rs] for rs in refs], [h.split() for h in hyps]
    expected = nltk.corpus_bleu(*split, weights=[1/order]*order)
    assert bleu(refs, hyps, order=order).value == pytest.approx(expected, abs=1e-9)


def matches(hyp, refs, n):
    def grams(t): return Counter(zip(*(t.split()[i:] for i in range(n))))
    most = Counter()
    for r in refs: most |= grams(r)
    return sum((grams(hyp) & most).values())


@given(st.integers(1, 3), st.integers(1, 3), st.data())
@settings(deadline=None)
def test_counts_are_the_plain_definition_in_blocks_of_any_size(m, k, data):
    refs = data.draw(st.lists(st.lists(text, min_size=m, max_size=m), min_size=1, max_size=7))
    hyps = [data.draw(st.lists(text, min_size=1, max_size=k)) for _ in refs]
    stats = ngram_counts(segments(refs, hyps), 4, block=data.draw(st.integers(1, 8)))
    for i, candidates in enumerate(hyps):
        for j, hyp in enumerate(candidates):
            match, total, length, closest = unpacked(stats[i, j])
            assert match.tolist() == [matches(hyp, refs[i], n) for n in (1, 2, 3, 4)]
            assert length == len(hyp.split()) and total.tolist() == [max(0, length - n) for n in range(4)]
            assert closest == min((abs(len(r.split()) - length), len(r.split())) for r in refs[i])[1]
        assert not stats[i, len(candidates):].any()


@given(st.lists(text, min_size=1, max_size=8), smoothings, st.sampled_from(['corpus', 'sentence']))
@settings(deadline=None)
def test_gold_against_itself_is_one(texts, smoothing, level):
    score = bleu(texts, texts, smooth=smoothing[0], level=level)
    assert score.value == pytest.approx(1, abs=1e-12) if score.n else np.isnan(score.value)


# ---- published figures

RELEASED = dict(smooth='epsilon')
VARIANTS = {
    'NNDIAL GentScorer.BLEUScorer (corpus)': RELEASED,
    'NNDIAL GentScorer.BLEUScorer + </s> both ends': RELEASED | dict(end_token=('</s>', '</s>')),
    'nltk corpus_bleu BLEU-1 cumulative, no smoothing': dict(order=1),
    'nltk sentence_bleu mean, no smoothing': dict(level='sentence', effective_order=False),
    'HF evaluate bleu (nmt_bleu, whitespace)': {},
    'HF nmt_bleu sentence mean whitespace': dict(level='sentence', effective_order=False),
    'sacrebleu corpus 13a lowercase /100': dict(tokenize='13a', lowercase=True),
    'sacrebleu sentence mean none (effective_order, exp) /100': dict(level='sentence', smooth='exp'),
    'sacrebleu sentence mean 13a (effective_order, exp) /100': dict(level='sentence', smooth='exp', tokenize='13a'),
    **{f'sacrebleu corpus tokenize={t} /100': dict(tokenize=t) for t in ('none', '13a', 'intl', 'char', 'zh')},
    **{f'sacrebleu corpus none smooth={s} /100': dict(smooth=s) for s in ('none', 'floor', 'add-k', 'exp')},
    **{f'sacrebleu corpus none max_ngram_order={n} /100': dict(order=n) for n in (1, 2, 3)}}


@pytest.fixture(scope='module')
def responses(data):
    pairs = json.loads((data/'generation/bleu_pairs_camrest.json').read_text())
    return [p['ref'] for p in pairs], [p['hyp'] for p in pairs]


@pytest.mark.data('references/bleu_variants_camrest.json', 'generation/bleu_pairs_camrest.json')
@pytest.mark.filterwarnings('ignore:The tokeniser splits')
@pytest.mark.parametrize('name', VARIANTS)
def test_variants_on_539_responses(data, responses, name):
    printed = json.loads((data/'references/bleu_variants_camrest.json').read_text())['camrest_shuffled']
    if VARIANTS[name].get('tokenize', 'none') != 'none': pytest.importorskip('sacrebleu')
    score = bleu(*responses, **VARIANTS[name])
    assert score.n == printed['_n'] and score.value == pytest.approx(printed[name]['value'], abs=1e-9)


@pytest.mark.data('references/bleu_variants_camrest.json', 'generation/bleu_pairs_camrest.json')
def test_one_count_gives_every_order(data, responses):
    printed = json.loads((data/'references/bleu_variants_camrest.json').read_text())['camrest_shuffled']
    report = evaluate(*responses)
    for n in (1, 2, 3):
        expected = printed[f'sacrebleu corpus none max_ngram_order={n} /100']['value']
        assert report[f'bleu_{n}'].value == pytest.approx(expected, abs=1e-9)
    whole = report['bleu'].whole
    assert (whole['hyp_len'], whole['ref_len']) == (printed['_hyp_tokens'], printed['_ref_tokens'])


@pytest.mark.data('camrest/camrest_predictions.json', 'references/camrest_nndial_reference.json')
@pytest.mark.parametrize('scenario, plain', [('gold', 1), ('shuffled_within_dialogue', .326575),
                                             ('requestables_dropped_20pct', .985458), ('top5_gold_first', 1)])
def test_released_code_on_four_scenarios(data, scenario, plain):
    dialogues = json.loads((data/'camrest/camrest_predictions.json').read_text())[scenario]
    printed = json.loads((data/'references/camrest_nndial_reference.json').read_text())['results'][scenario]
    gold = {d['dialogue_id']: [t['ref'] for t in d['turns']] for d in dialogues}
    pred = {d['dialogue_id']: [t['hyps'] for t in d['turns']] for d in dialogues}
    ways = {'bleu_top1': {}, 'bleu_top1_without_eos_tokens': dict(drop='</s>'),
            'bleu_last_candidate_exact': dict(candidates='last'),
            'bleu_all_candidates_pooled': dict(candidates='pooled')}
    for name, way in ways.items():
        score = bleu(gold, pred, **RELEASED, **way)
        assert (score.n, score.n_units) == (539, 136) and score.value == pytest.approx(printed[name], abs=1e-9)
    assert bleu(gold, pred, drop='</s>').value == pytest.approx(plain, abs=5e-7)


@pytest.mark.data('references/multiwoz_bleu_official_get_bleu.json', 'multiwoz/ref_hdsa_norm.json')
def test_multiwoz_bleu_skips_missing_dialogues(data):
    pytest.importorskip('sacrebleu')
    printed = json.loads((data/'references/multiwoz_bleu_official_get_bleu.json').read_text())
    references = {'hdsa': 'ref_hdsa_norm', 'mwz21span': 'ref_21span_norm'}
    for system, of in printed.items():
        turns = json.loads((data/f'multiwoz/pred_norm_{system}.json').read_text())
        pred = {d: [t['response'] for t in turns] for d, turns in turns.items()}
        for name, value in of.items():
            gold = json.loads((data/f'multiwoz/{references[name]}.json').read_text())
            score = bleu(gold, pred, tokenize='13a', smooth='exp', missing='skip')
            assert 100*score.value == pytest.approx(value, abs=1e-9)


# ---- candidates, references, tokens

def test_candidates_may_differ_in_number():
    gold, pred = ['a b c d e', 'f g h i'], [['a b x d e', 'a b c d e'], 'f g x y']
    assert bleu(gold, pred, candidates='best').value == bleu(gold, ['a b c d e', 'f g x y']).value
    assert bleu(gold, pred, candidates='last').value == bleu(gold, ['a b c d e', 'f g x y']).value
    assert bleu(gold, pred).value == bleu(gold, ['a b x d e', 'f g x y']).value
    assert bleu(gold, pred, candidates='mean', level='sentence').units.bleu.tolist() == [.5, 0]
    with pytest.raises(OptionError, match='2 candidates for every segment'): bleu(gold, pred, candidates='mean')


def test_best_prefers_the_figure_asked_for_and_smoothing_only_breaks_ties():
    gold = ['a b c d e f g h']
    pred = [['x a b c d y z z', 'a b c x d e f y']]
    def own(hyp, **way): return bleu(gold, [hyp], **way).value
    assert own(pred[0][0]) > own(pred[0][1]) == 0 and own(pred[0][1], smooth='exp') > own(pred[0][0], smooth='exp')
    assert bleu(gold, pred, candidates='best').value == own(pred[0][0])


def test_a_missing_response_is_nothing_even_with_end_tokens():
    gold = {'a': ['x y', 'z'], 'b': ['x']}
    score = bleu(gold, {'a': ['x y']}, end_token='</s>', order=1)
    assert score.whole['hyp_len'] == 3 and score.whole['ref_len'] == 7 and score.n == 3
    assert bleu(gold, {'a': ['x y']}, missing='skip').n == 2 - 1
    with pytest.raises(PairingError): bleu(gold, {'a': ['x y']}, strict=True)


def test_empty_sides():
    assert bleu(['a b', ''], ['a b', 'c']).value == pytest.approx(np.sqrt(2/3*1), abs=1e-12)
    assert bleu(['a b'], ['']).value == 0
    nothing = bleu([], [])
    assert np.isnan(nothing.value) and nothing.n == 0
    assert 'empty on both sides' in evaluate(['a', ''], ['a', '']).notes[0]
    assert bleu(['a', ''], ['a', ''], level='sentence').value == 1


def test_plain_forms_agree():
    turns = {'d': ['a b c d', 'e f'], 'e': ['g h i']}
    said = {'e': ['g h j'], 'd': ['a b c e', 'e f']}
    def corpus(data):
        return Corpus([Dialogue(d, [Turn(i, response=r) for i, r in enumerate(rs)]) for d, rs in data.items()])
    flat = [r for rs in turns.values() for r in rs], [r for d in turns for r in said[d]]
    one = bleu(turns, said)
    assert one.value == bleu(corpus(turns), said).value == bleu(*flat).value == bleu(*map(np.array, flat)).value
    assert (one.unit, one.ids, bleu(*flat).unit) == ('dialogue', ['d', 'e'], 'segment')
    assert bleu(turns, said, level='sentence').by('turn')[1].value == 1
    assert one.by('turn')[1].value == bleu(['e f'], ['e f']).value and one.by('turn')[0].n == 2
    assert bleu({'d': {'10': 'x', '2': 'y z'}}, {'d': {2: 'y z', 10: 'x'}}).value == 1


def test_parts_merge_and_intervals_hold_the_figure():
    rng = np.random.default_rng(0)
    gold = {f'{i:02}': [' '.join(rng.choice(list('abcd'), 6)) for _ in range(3)] for i in range(30)}
    pred = {d: [' '.join(rng.choice(list('abcd'), 5)) for _ in rs] for d, rs in gold.items()}
    whole, keys = bleu(gold, pred), list(gold)
    parts = [bleu({d: gold[d] for d in keys[i::2]}, {d: pred[d] for d in keys[i::2]}) for i in (0, 1)]
    assert merge(parts).value == whole.value and merge(parts).ci() == whole.ci()
    assert whole.ci().low < whole.value < whole.ci().high
    assert whole.turns.shape == (90, 5) and len(whole.units) == 30


def test_tokens():
    assert tokeniser() is str.split
    tokens = tokeniser(drop=('<go>', '</s>'), end_token=('<s>', '</s>'), max_tokens=2)
    assert tokens('<go> a b c </s>') == ['<s>', 'a', 'b', '</s>']
    assert bleu(['a,b'], ['a,b c'], tokenize=lambda t: t.replace(',', ' ')).whole['hyp_len'] == 3
    assert bleu(['A b'], ['a B'], lowercase=True).value == 1


def test_brackets_meet_a_tokeniser_that_splits_them():
    pytest.importorskip('sacrebleu')
    with pytest.warns(UserWarning, match=r'splits the placeholder \[value_food\] into 5 tokens'):
        report = evaluate(['[value_food] food'], ['[value_food] food'], tokenize='13a')
    assert 'inflates BLEU' in report.notes[0]
    with warnings.catch_warnings(action='error'):
        bleu(['[value_food] food'], ['[value_food] food'])
        bleu(['thai food'], ['thai food'], tokenize='13a')


def test_without_sacrebleu_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__('sys').modules, 'sacrebleu.metrics', None)
    with pytest.raises(OptionError, match=r'dialeval\[sacrebleu\]'): bleu(['a'], ['a'], tokenize='13a')


def test_signature_names_every_choice():
    score = bleu([['a b'], ['c']], [['a', 'b'], ['c', 'd']], smooth='floor', lowercase=True, drop='x', end_token='</s>',
                 max_tokens=9, order=2)
    assert score.signature.startswith('bleu|level:corpus|order:2|refs:1|case:lc|eff:yes|tok:none|smooth:floor[0.1]|'
                                      'drop:x|end:</s>|max:9|candidates:first|unit:segment|v:')
    assert '|candidates:best of 2|' in bleu(['a'], [['a', 'b']], candidates='best').signature


# ---- bad input

BAD = {
    'a string': ('a b', 'a b', FormatError, 'a list of texts'),
    'lengths': (['a', 'b', 'c'], ['a', 'b'], PairingError, '3 and 2 segments'),
    'transposed': ([['a', 'b', 'c'], ['d', 'e', 'f']], ['a', 'b', 'c'], FormatError,
                   'outer axis.*inner axis.*2 lists of 3'),
    'transposed candidates': (['a', 'b', 'c'], [['a', 'b', 'c']], FormatError, 'candidates.*1 lists of 3'),
    'ragged': ([['a', 'b'], ['c']], ['a', 'b'], FormatError,
               r'inner axis.*2 for every segment \(outer axis\).*got 1 \(segment 1\)'),
    'no reference': ([[], []], ['a', 'b'], FormatError, 'got none'),
    'a number': (['a', 3], ['a', 'b'], FormatError, 'int 3.*segment 1'),
    'NaN': (['a', 'b'], ['a', float('nan')], FormatError, 'float nan.*segment 1'),
    'a list and dialogues': (['a'], {'d': ['a']}, PairingError, 'both'),
    'text for turns': ({'d': 'a b'}, {'d': ['a']}, FormatError, 'dialogue d'),
    'a number in a dialogue': ({'d': ['a', 'b']}, {'d': ['a', 4]}, FormatError, 'dialogue d, turn 1'),
    'no responses': (Corpus([Dialogue('d', [Turn(0)])]), {'d': ['a']}, FormatError, 'with responses'),
    'other dialogues': ({'d': ['a']}, {'e': ['a']}, PairingError, 'no dialogue id in common')}


@pytest.mark.parametrize('name', BAD)
def test_bad_input(name):
    gold, pred, error, message = BAD[name]
    with pytest.raises(error, match=message): bleu(gold, pred)


@pytest.mark.parametrize('options', [
    dict(order=0), dict(order=True), dict(level='turn'), dict(smooth='laplace'), dict(candidates='top'),
    dict(max_tokens=0), dict(smooth='exp', smooth_value=1), dict(smooth='floor', smooth_value=0),
    dict(smooth='add-k', smooth_value=float('nan')), dict(missing='zero')])
def test_bad_options(options):
    with pytest.raises(DialevalError): bleu({'d': ['a']}, {'d': ['a']}, **options)


def test_unknown_tokeniser():
    pytest.importorskip('sacrebleu')
    with pytest.raises(OptionError, match="'13a'"): bleu(['a'], ['a'], tokenize='14a')


def test_input_is_left_alone():
    gold, pred = {'d': [['a', 'b']]}, {'d': ['a']}
    bleu(gold, pred)
    assert gold == {'d': [['a', 'b']]} and pred == {'d': ['a']}
    assert page.Recipe().order == 4
