import json, math
from functools import partial

import numpy as np, pandas as pd, pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from dialeval.core import Corpus, DialevalError, Dialogue, FormatError, OptionError, PairingError, Turn, as_state
from dialeval.human import (as_ratings, best_lambda, cohen_kappa, comprehension, correlation, correlation_difference,
                            evaluate, fleiss_kappa, krippendorff_alpha, percent_agreement, points, preference, rating,
                            rating_texts, satisfaction, sign_test, why_undefined, williams, write_rating_files)
from dialeval.score import Columns, Score, merge, share


def long(matrix, question='comprehension'):
    "Ratings from a matrix raters x dialogues; NaN where a rater did not answer"
    return [{'dialogue': f'{d:02}', 'rater': f'r{r}', 'question': question, 'value': v}
            for r, row in enumerate(matrix) for d, v in enumerate(row) if not np.isnan(v)]


def metric_of(values, name='m'):
    rows = np.column_stack([values, np.ones(len(values))])
    ids = [f'{i:02}' for i in range(len(values))]
    return Score(name, rows, Columns(['sum', 'n']), ids, partial(share, hits='sum', of='n'), 'n')


def rated(values): return {f'{i:02}': v for i, v in enumerate(values)}


def same(a, b): return math.isnan(a) and (b is None or math.isnan(b)) or a == pytest.approx(b, abs=1e-9)


def ratings_of(raters, missing=False, low=1, high=5):
    value = st.integers(low, high).map(float)
    if missing: value = st.one_of(value, st.just(math.nan))
    def matrices(n): return st.lists(st.lists(value, min_size=n, max_size=n), min_size=raters, max_size=raters)
    return st.integers(2, 9).flatmap(matrices)


# ---- agreement

@given(ratings_of(2), st.sampled_from([None, 'linear', 'quadratic']))
@settings(deadline=None, max_examples=40)
@pytest.mark.filterwarnings('ignore')
def test_cohen_kappa_is_scikit_learns(matrix, weights):
    from sklearn.metrics import cohen_kappa_score
    theirs = cohen_kappa_score(*matrix, weights=weights, labels=[1, 2, 3, 4, 5])
    assert same(cohen_kappa(long(matrix), 'comprehension', weights=weights).value, theirs)


@given(ratings_of(3))
@settings(deadline=None, max_examples=40)
@pytest.mark.filterwarnings('ignore')
def test_cohen_kappa_of_three_is_the_mean_of_the_pairs(matrix):
    from sklearn.metrics import cohen_kappa_score
    theirs = np.array([cohen_kappa_score(matrix[i], matrix[j]) for i, j in ((0, 1), (0, 2), (1, 2))])
    theirs = theirs[~np.isnan(theirs)]
    assert same(cohen_kappa(long(matrix), 'comprehension').value, theirs.mean() if len(theirs) else math.nan)


@given(ratings_of(4))
@settings(deadline=None, max_examples=40)
@pytest.mark.filterwarnings('ignore')
def test_fleiss_kappa_is_statsmodels(matrix):
    inter_rater = pytest.importorskip('statsmodels.stats.inter_rater')
    table, _ = inter_rater.aggregate_raters(np.transpose(matrix).astype(int))
    assert same(fleiss_kappa(long(matrix), 'comprehension').value, inter_rater.fleiss_kappa(table))


@given(ratings_of(4, missing=True), st.sampled_from(['nominal', 'ordinal', 'interval']))
@settings(deadline=None, max_examples=60)
def test_alpha_is_krippendorffs(matrix, level):
    krippendorff = pytest.importorskip('krippendorff')
    matrix = np.array(matrix)
    ours = krippendorff_alpha(long(matrix), 'comprehension', level=level)
    pairable = matrix[:, (~np.isnan(matrix)).sum(0) > 1]
    if len(np.unique(pairable[~np.isnan(pairable)])) < 2: assert math.isnan(ours.value) and why_undefined(ours)
    else: assert same(ours.value, krippendorff.alpha(matrix, level_of_measurement=level, value_domain=[1, 2, 3, 4, 5]))


@given(ratings_of(3, missing=True))
@settings(deadline=None, max_examples=40)
def test_percent_agreement_counts_equal_pairs(matrix):
    matrix, weight, equal = np.array(matrix), 0, 0
    for column in matrix.T:
        values = column[~np.isnan(column)]
        if len(values) < 2: continue
        pairs = values[:, None] == values
        weight, equal = weight + len(values), equal + (pairs.sum() - len(values))/(len(values) - 1)
    score = percent_agreement(long(matrix), 'comprehension')
    assert score.n == weight and same(score.value, equal/weight if weight else math.nan)


def test_agreement_is_a_score():
    rng = np.random.default_rng(0)
    base = rng.integers(1, 6, 40)
    matrix = np.clip(base + rng.integers(-1, 2, (3, 40)), 1, 5).astype(float)
    table = pd.DataFrame(long(matrix))
    for f in (percent_agreement, cohen_kappa, fleiss_kappa, krippendorff_alpha):
        whole = f(table, 'comprehension')
        halves = [f(part, 'comprehension') for _, part in table.groupby(table.dialogue < '17')]
        assert merge(halves).value == pytest.approx(whole.value, abs=1e-12)
        assert whole.ci(n=200).low < whole.value < whole.ci(n=200).high
        first = f(table[table.dialogue < '20'], 'comprehension')
        assert whole.at(np.arange(40) < 20) == pytest.approx(first.value, abs=1e-12)


def test_turns_are_items_of_their_own():
    table = [{'dialogue': 'd', 'turn': t, 'rater': r, 'question': 'naturalness', 'value': v}
             for t, values in enumerate([(1, 2), (4, 5), (3, 3)]) for r, v in zip('ab', values)]
    assert percent_agreement(table, 'naturalness').value == pytest.approx(1/3)
    assert rating(table, 'naturalness').by('turn')[1].value == 4.5


def test_nothing():
    for f in (percent_agreement, cohen_kappa, fleiss_kappa, krippendorff_alpha, rating):
        score = f([], 'comprehension')
        assert math.isnan(score.value) and score.n == 0
    assert math.isnan(preference([]).value) and sign_test([])[:3] == (0, 0, 0) and not len(evaluate([]))
    assert math.isnan(correlation(metric_of([1., 2.]), []).value)


def test_reasons():
    def why(f, matrix): return why_undefined(f(long(np.array(matrix, float)), 'comprehension'))
    assert 'one value' in why(krippendorff_alpha, [[3, 3], [3, 3]]) and why(percent_agreement, [[3, 3], [3, 3]]) == ''
    assert 'rated twice' in why(cohen_kappa, [[3, 2]])
    assert 'number of ratings' in why(fleiss_kappa, [[3, 2], [3, 1], [math.nan, 1]])
    assert why(krippendorff_alpha, [[3, 2], [3, 1], [math.nan, 1]]) == ''


# ---- means and preferences

def test_means():
    table = long([[1, 0, 1], [1, 1, math.nan]], 'satisfaction')
    score = satisfaction(table)
    assert (score.value, score.n, score.n_units) == (4/5, 5, 3)
    assert satisfaction(table, per='unit').value == pytest.approx((1 + .5 + 1)/3)
    assert satisfaction(table, unit='rater').ids == ['r0', 'r1'] and satisfaction(table, unit='rater').value == 4/5
    assert {r: s.value for r, s in score.by('rater').items()} == {'r0': 2/3, 'r1': 1}
    assert len(score.turns) == 5 and score.units.satisfaction.tolist() == [1, .5, 1]
    assert rating({'a': 3, 'b': 7}, 'politeness', scale=(1, 7)).value == 5
    assert np.isnan(comprehension(table).value) and comprehension(table).n == 0


@given(st.lists(st.sampled_from(['win', 'tie', 'loss']), min_size=1, max_size=30))
@settings(deadline=None, max_examples=40)
def test_preference_and_sign_test(verdicts):
    table = [{'dialogue': i, 'rater': 'r', 'question': 'preference', 'value': v} for i, v in enumerate(verdicts)]
    wins, ties, losses = map(verdicts.count, ('win', 'tie', 'loss'))
    test = sign_test(table)
    assert preference(table).value == pytest.approx((wins + ties/2)/len(verdicts))
    assert (test.wins, test.ties, test.losses) == (wins, ties, losses)
    if wins + losses:
        assert preference(table, ties='drop').value == test.share == wins/(wins + losses)
        assert test.p == stats.binomtest(wins, wins + losses).pvalue and test.low <= test.share <= test.high
    else: assert math.isnan(test.p) and math.isnan(preference(table, ties='drop').value)


def test_raters_of_a_dialogue_vote_once():
    words = {'w': 'win', 'l': 'loss', 't': 'tie'}
    table = [{'dialogue': d, 'rater': r, 'question': 'preference', 'value': words[v]}
             for d, votes in enumerate(['wwl', 'www', 'lwt', 'wll']) for r, v in enumerate(votes)]
    assert sign_test(table)[:3] == (7, 1, 4) and sign_test(table, per='dialogue')[:3] == (2, 1, 1)


# ---- correlation

numbers = st.integers(0, 4).map(lambda k: k/4)


@given(st.lists(st.tuples(numbers, numbers), min_size=3, max_size=12))
@settings(deadline=None, max_examples=60)
@pytest.mark.filterwarnings('ignore')
def test_correlations_are_scipys(pairs):
    x, y = zip(*pairs)
    for method, theirs in ('pearson', stats.pearsonr), ('spearman', stats.spearmanr), ('kendall', stats.kendalltau):
        score = correlation(metric_of(x), rated(y), method=method)
        assert score.n == len(pairs) and same(score.value, theirs(x, y)[0])


@given(st.lists(st.tuples(numbers, numbers), min_size=3, max_size=8), st.integers(0, 99))
@settings(deadline=None, max_examples=40)
@pytest.mark.filterwarnings('ignore')
def test_a_weighting_is_a_repetition(pairs, seed):
    x, y = map(np.array, zip(*pairs))
    times = np.random.default_rng(seed).integers(0, 4, len(x))
    if times.sum() < 2: return
    for method, theirs in ('pearson', stats.pearsonr), ('spearman', stats.spearmanr), ('kendall', stats.kendalltau):
        ours = correlation(metric_of(x), rated(y), method=method).at(times)
        assert same(ours, theirs(np.repeat(x, times), np.repeat(y, times))[0])


def test_correlation_interval_and_merge():
    rng = np.random.default_rng(0)
    x = rng.random(60)
    y = (rng.random(60) < x).astype(float)
    score = correlation(metric_of(x), rated(y))
    theirs = stats.bootstrap((x, y), lambda a, b: stats.pearsonr(a, b)[0], paired=True, vectorized=False,
                             n_resamples=1000, method='percentile', rng=np.random.default_rng(0))
    assert score.ci()[:2] == pytest.approx(tuple(theirs.confidence_interval), abs=1e-9)
    halves = [correlation(metric_of(x), {f'{i:02}': y[i] for i in part}) for part in (range(30), range(30, 60))]
    whole = merge([Score(**{f: getattr(h, f) for f in h.__dataclass_fields__} | {'choices': {}}) for h in halves])
    assert whole.value == pytest.approx(score.value, abs=1e-12)


def test_dialogues_on_one_side_are_left_out_and_named():
    score = correlation(metric_of([.1, .5, .9, math.nan]), {'00': 0, '02': 1, '03': 1, 'zz': 0})
    assert score.n == 2 and 'left_out:3' in score.signature
    with pytest.raises(PairingError, match='the same dialogues'): correlation(metric_of([.1, .2]), {'x': 1})


def test_williams_against_simulation_and_symmetry():
    assert williams(.3, .6, .1, 305)[0] == pytest.approx(-williams(.6, .3, .1, 305)[0])
    assert williams(.3, .6, .1, 305)[1] == pytest.approx(2.52086e-06, rel=1e-5)
    assert math.isnan(williams(.5, .5, 1, 50)[0])
    rng = np.random.default_rng(0)
    normal = rng.multivariate_normal([0, 0, 0], [[1, .5, .5], [.5, 1, .7], [.5, .7, 1]], (2000, 40))
    def rs(sample): return (r := np.corrcoef(sample.T))[0, 1], r[0, 2], r[1, 2]
    ps = [williams(*rs(sample), 40)[1] for sample in normal]
    assert np.mean(np.array(ps) < .05) == pytest.approx(.05, abs=.015) and np.mean(ps) == pytest.approx(.5, abs=.03)


@pytest.mark.data('references/somdst100_reference.json')
@pytest.mark.parametrize('variant, between', [('FGA_official', .8900), ('FGA_paper', .8703)])
def test_jga_and_fga_on_the_human_evaluated_dialogues(data, variant, between):
    dialogues = json.loads((data/'references/somdst100_reference.json').read_text())['per_dialogue']
    jga = pd.Series({d: v['JGA'] for d, v in dialogues.items()})
    fga = pd.Series({d: v[variant]['0.5'] for d, v in dialogues.items()})
    assert len(jga) == 100 and points(jga, fga, 'pearson').value == pytest.approx(between, abs=5e-5)
    assert williams(.33, .37, between, 100)[1] > .3


def test_difference_of_correlations():
    rng = np.random.default_rng(1)
    truth = rng.random(80)
    good, bad = metric_of(truth + rng.normal(0, .1, 80)), metric_of(truth + rng.normal(0, 1, 80))
    human = rated((truth > .5).astype(float))
    d = correlation_difference(good, bad, human)
    assert d.difference == pytest.approx(d.first - d.second) and d.first == correlation(good, human).value and d.n == 80
    assert d.low > 0 and d.p_bootstrap < .01 and d.p_williams < .01 and d.t > 0
    assert d[5] >= d.difference >= d[4]
    equal = correlation_difference(good, good, human)
    assert (equal.difference, equal.low, equal.high, equal.p_bootstrap) == (0, 0, 0, 1) and math.isnan(equal.p_williams)


def test_best_lambda_finds_the_lambda_that_made_the_ratings():
    rng = np.random.default_rng(0)
    old, exact = rng.integers(0, 9, (200, 6)), rng.random((200, 6)) < .5
    def worth(lam): return 1 - np.exp(-lam*old) if lam < math.inf else old > 0
    def score_at(lam): return metric_of(np.where(exact, 1, worth(lam)).mean(1), f'fga@{lam}')
    def opinions(lam): return rated(score_at(lam).rows[:, 0] + rng.normal(0, .005, 200))
    found = best_lambda(score_at, opinions(.5), 'ease', scale=(-1, 2))
    assert found.value == .5 and found.low <= .5 <= found.high and found.curve.correlation.idxmax() == .5
    assert best_lambda(score_at, opinions(math.inf), 'ease', scale=(-1, 2)).value == math.inf
    assert math.isnan(best_lambda(score_at, rated([1.]*200), lambdas=(0, 1)).value)


# ---- files for raters

@pytest.mark.data('dst/fga/somdst100.json', 'dst/fga/human_PMUL2563.json.txt')
def test_rating_files_have_the_published_form(data, tmp_path):
    turns = json.loads((data/'dst/fga/somdst100.json').read_text())
    def dialogue(d, ts):
        answers = [t['system'] for t in ts[1:]] + [None]
        filled = [Turn(t['turn'], t['user'], answer, state=as_state(t['gold'])) for t, answer in zip(ts, answers)]
        return Dialogue(d, filled, ts[0]['system'])
    gold = Corpus(dialogue(d, ts) for d, ts in turns.items())
    pred = {d: [t['pred'] for t in ts] for d, ts in turns.items()}
    ids = 'PMUL2563.json', 'MUL1240.json', 'PMUL0864.json'
    for path in write_rating_files(gold, pred, tmp_path/'files', ids):
        printed = (data/f'dst/fga/human_{path.name}').read_text().replace('{{}}', '{}')
        assert [l.rstrip() for l in path.read_text().splitlines()] == [l.rstrip() for l in printed.splitlines()]
    assert len(list((tmp_path/'files').iterdir())) == 3 and len(rating_texts(gold, pred)) == 100


def test_rating_files_stay_in_their_folder(tmp_path):
    gold = Corpus([Dialogue('../escape', [Turn(0, 'hello', state={})])])
    with pytest.raises(FormatError, match='file names'): write_rating_files(gold, {'../escape': [{}]}, tmp_path)
    with pytest.raises(OptionError, match="'other'"): rating_texts(gold, {'../escape': [{}]}, ids=['other'])
    assert 'PR  : {}' in rating_texts(Corpus([Dialogue('d', [Turn(0, 'hi', state={})])]), {'d': []})['d']


# ---- reports and bad input

def test_evaluate():
    table = long([[1, 0, 1], [1, 1, 0]], 'satisfaction') + long([[1, 0]], 'preference') + long([[6]], 'politeness')
    report = evaluate(table, scales={'politeness': (1, 7)})
    found = json.loads(report.to_json())
    assert (found['satisfaction'], found['preference'], found['win']) == (4/6, .75, .5)
    assert found['rating'] == {'politeness': 6}
    alpha = found['krippendorff_alpha']
    assert alpha['satisfaction'] == krippendorff_alpha(table, 'satisfaction').value and alpha['politeness'] is None
    assert (found['dialogues'], found['raters'], found['ratings']) == (3, 2, 9)
    assert any('1 wins, 1 ties, 0 losses' in n for n in report.notes) and any('rated twice' in n for n in report.notes)
    assert report.ci()['satisfaction'].low <= 4/6


row = {'dialogue': 'd', 'rater': 'r', 'question': 'comprehension', 'value': 3}
BAD = {
    'not a table': (3, FormatError, 'a table'),
    'no rater': ([{k: v for k, v in row.items() if k != 'rater'}], FormatError, 'no rater'),
    'no dialogue': ([row | {'dialogue': None}], FormatError, 'none in row 0'),
    'off the scale': ([row | {'value': 6}], FormatError, r'from 1 to 5, but got 6 \(dialogue d, rater r\)'),
    'a word': ([row | {'value': 'fine'}], FormatError, "fine.*dialogue d, rater r"),
    'NaN': ([row | {'value': math.nan}], FormatError, 'dialogue d, rater r'),
    'twice': ([row, row], FormatError, 'one system at a time.*two of comprehension')}


@pytest.mark.parametrize('name', BAD)
def test_bad_ratings(name):
    data, error, message = BAD[name]
    with pytest.raises(error, match=message): comprehension(data)


@pytest.mark.parametrize('call', [
    lambda: rating([row], 'politeness'), lambda: comprehension([row], per='turn'),
    lambda: comprehension([row], unit='turn'), lambda: cohen_kappa([row], 'comprehension', weights='cubic'),
    lambda: krippendorff_alpha([row], 'comprehension', level='ratio'), lambda: sign_test([row], per='x'),
    lambda: correlation(metric_of([1.]), {'00': 1}, method='cosine'), lambda: preference([row], ties='x'),
    lambda: comprehension([row]).by('mood'), lambda: evaluate([row | {'question': 'politeness'}])])
def test_bad_options(call):
    with pytest.raises(DialevalError): call()


def test_spellings_and_input_left_alone():
    table = pd.DataFrame([{'dialogue': 1, 'rater': 2, 'value': v} for v in ['Yes ']])
    before = table.copy()
    expected = {'dialogue': '1', 'rater': '2', 'value': 1, 'question': 'success', 'turn': ''}
    assert as_ratings(table, 'success').to_dict('records') == [expected]
    pd.testing.assert_frame_equal(table, before)
    assert as_ratings({'d': {'a': True, 'b': '0'}}, 'success').value.tolist() == [1, 0]
