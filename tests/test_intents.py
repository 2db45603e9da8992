"Intent induction: the track's own figures, properties that must hold, and input that people really have."
import json, math, subprocess, sys

import numpy as np, pandas as pd, pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linear_sum_assignment
from sklearn import metrics as sk

from dialeval.core import DialevalError, FormatError, OptionError, PairingError
from dialeval.intents import (align_clusters, ari, bcubed_f1, bcubed_precision, bcubed_recall, classify_held_out, cluster_count, cluster_f1,
                              cluster_precision, cluster_prf, cluster_recall, clustering, clustering_accuracy, completeness, covered_intents,
                              domain_mean, evaluate, example_coverage, heat_map, homogeneity, nmi, only, v_measure)
from dialeval.score import METRICS, merge

CASES = 'intents/task1_banking_cases.json'
TASK1 = pytest.mark.data(CASES, 'references/task1_banking_official.json', 'references/task1_banking_variants.json')
OFFICIAL = {'NMI': 'nmi', 'ARI': 'ari', 'ACC': 'accuracy', 'Precision': 'precision', 'Recall': 'recall', 'F1': 'f1', 'Example Coverage': 'coverage'}
COUNTS = {'K': 'clusters', 'Reference K': 'intents', '# Covered Intents': 'covered_intents'}
REGISTERED = [m.function for m in METRICS.values() if m.family == 'intents']
every_metric = pytest.mark.parametrize('metric', REGISTERED, ids=lambda m: m.__name__)


def near(x): return pytest.approx(x, rel=0, abs=1e-9, nan_ok=True)
def load(data, name): return json.loads((data/name).read_text(encoding='utf-8'))


def like_official(report, row):
    "A report has the organisers' figures: percentages to 1e-9, counts exactly"
    assert {k: 100*report[name].value for k, name in OFFICIAL.items() if k in row} == {k: near(row[k]) for k in OFFICIAL if k in row}
    assert {k: report.counts[name] for k, name in COUNTS.items() if k in row} == {k: row[k] for k in COUNTS if k in row}


# The track's files

@pytest.fixture(scope='module')
def banking(data):
    "Every entry of Task 1, banking, as a clustering of turns in dialogues"
    cases = load(data, CASES)['test-banking']
    dialogues = [id.rsplit('_', 1)[0] for id in cases['turn_ids']]
    return {entry: clustering(cases['gold'], pred, ids=cases['turn_ids'], dialogues=dialogues) for entry, pred in cases['pred'].items()}


@TASK1
def test_task1(banking, data):
    official = load(data, 'references/task1_banking_official.json')
    assert len(official) == 38 and official.keys() == banking.keys()
    for entry, row in official.items():
        assert row.keys() == OFFICIAL.keys() | COUNTS.keys()
        like_official(evaluate(banking[entry]), row)


@TASK1
def test_task1_baseline(banking):
    "The figures of METRICS.md, typed in"
    report = evaluate(banking['Baseline'])
    assert [round(100*report[name].value, 3) for name in ('nmi', 'ari', 'accuracy')] == [60.255, 46.102, 59.747]
    assert round(100*report['f1'].value, 2) == 65.85
    aligned = [round(100*cluster_f1(banking['Baseline'], protocol='aligned', average=a).value, 2) for a in ('macro', 'weighted', 'micro')]
    assert aligned == [26.97, 55.84, 59.75]


@TASK1
@pytest.mark.parametrize('average', ['macro', 'micro', 'weighted'])
def test_task1_aligned(banking, data, average):
    for entry, row in load(data, 'references/task1_banking_variants.json').items():
        report = cluster_prf(banking[entry], protocol='aligned', average=average)
        assert [100*s.value for s in report.scores.values()] == near(row[f'hungarian_{average}_goldlabels_P/R/F1']), entry


@TASK1
def test_task1_variants(banking, data):
    for entry, row in load(data, 'references/task1_banking_variants.json').items():
        found = {f'NMI_{mean}': nmi(banking[entry], average_method=mean) for mean in ('arithmetic', 'geometric', 'min', 'max')}
        found |= {'NMI_of_aligned': nmi(banking[entry], variant='aligned'), 'ARI_of_aligned': ari(banking[entry], variant='aligned')}
        found |= {'homogeneity': homogeneity(banking[entry]), 'completeness': completeness(banking[entry])}
        assert {k: 100*s.value for k, s in found.items()} == {k: near(row[k]) for k in found}, entry


def unique_pairs(table):
    "The pairs (row, column) that every best one-to-one assignment contains: forbidding one of them makes the sum smaller"
    table = np.asarray(table, float)
    pairs = list(zip(*linear_sum_assignment(table, maximize=True)))
    best = sum(table[pair] for pair in pairs)
    for pair in pairs:
        without = table.copy()
        without[pair] = -1
        rows, columns = linear_sum_assignment(without, maximize=True)
        if without[rows, columns].sum() < best: yield pair


def agrees_where_unique(data, theirs):
    "The alignment has every pair that is in all best ones"
    table = pd.crosstab(*(np.array(labels, object)[codes] for labels, codes in ((data.clusters, data.pred), (data.intents, data.gold))))
    sure = {table.index[i]: table.columns[j] for i, j in unique_pairs(table)}
    assert sure.items() <= theirs.items() and sure.items() <= align_clusters(data).items()
    return len(sure)


@TASK1
@pytest.mark.data('references/task1_banking_alignments.json')
def test_task1_alignments(banking, data):
    for entry, row in load(data, 'references/task1_banking_alignments.json').items():
        assert agrees_where_unique(banking[entry], row['1:1 Alignment']) > 5
        assert align_clusters(banking[entry], kind='clusters_to_intents') == row['Cluster:Ref Many:1 Alignment']
        assert align_clusters(banking[entry], kind='intents_to_clusters') == row['Ref:Cluster Many:1 Alignment']


@TASK1
@pytest.mark.data('references/task1_banking_alignments.json')
def test_task1_per_intent(banking, data):
    for entry, row in load(data, 'references/task1_banking_alignments.json').items():
        theirs, table = row['Classification 1:1'], evaluate(banking[entry]).per_intent
        for intent, ours in table.iterrows():
            assert [ours.precision, ours.recall, ours.f1] == near([theirs[f'{intent} {x}'] for x in ('P', 'R', 'F1')]), (entry, intent)
            assert ours.support == theirs[f'{intent} Support']


@TASK1
def test_intervals_contain_their_figures(banking):
    "In all 38 entries; the bootstrap of NMI would miss it in T15. Counts are whole numbers, and so are their bounds"
    for entry, data in banking.items():
        report = evaluate(data)
        for name, interval in report.ci(n=300).items(): assert interval.low <= report[name].value <= interval.high, (entry, name)
        for count in (covered_intents(data), cluster_count(data)):
            interval = count.ci(n=300)
            assert np.floor(interval.low) <= count.value <= np.ceil(interval.high), (entry, count)


@pytest.mark.data('intents/task2_banking_tfidf_cases.json')
def test_task2(data):
    cases = load(data, 'intents/task2_banking_tfidf_cases.json')['test-banking']
    assert len(cases['teams']) == 22
    for team in cases['teams'].values():
        like_official(evaluate(cases['gold'], team['pred'], ids=cases['utterance_ids']), team['metrics'])


@pytest.mark.data('intents/task2_dev_insurance_cases.json')
def test_development_runs(data):
    runs = load(data, 'intents/task2_dev_insurance_cases.json')
    assert len(runs) == 5
    for run in runs.values():
        report = evaluate(run['gold'], run['pred'], ids=run['utterance_ids'])
        like_official(report, run['committed_metrics'])
        assert agrees_where_unique(report.data, run['committed_1to1_alignment']) > 5


@pytest.mark.data(CASES, 'intents/task2_banking_tfidf_cases.json')
def test_tasks_do_not_mix(data):
    turns, held_out = load(data, CASES)['test-banking'], load(data, 'intents/task2_banking_tfidf_cases.json')['test-banking']
    with pytest.raises(PairingError, match='Task 1 labels turns, Task 2'):
        evaluate(dict(zip(turns['turn_ids'], turns['gold'])), dict(zip(held_out['utterance_ids'], held_out['teams']['Baseline']['pred'])))


@TASK1
def test_merged_dialogues_are_the_whole(banking):
    whole = banking['T33']
    odd = np.array([int(id.split('_')[1]) % 2 for id in whole.facts['dialogue']], bool)
    for metric in (clustering_accuracy, nmi, ari, cluster_f1, example_coverage, bcubed_f1):
        halves = merge([metric(only(whole, odd)), metric(only(whole, ~odd))])
        assert halves.value == near(metric(whole).value) and halves.ci(n=50) == pytest.approx(metric(whole).ci(n=50)), metric.__name__


# Traps

def figures(gold, clusters, **options): return {name: s.value for name, s in evaluate(gold, clusters, **options).scores.items()}


def test_more_clusters_than_intents():
    found = figures(list('aaaabb'), list('001122'))
    assert found['accuracy'] == 4/6 and (found['precision'], found['recall'], found['f1']) == near((1, 4/6, .8))
    assert cluster_f1(list('aaaabb'), list('001122'), protocol='aligned').value == near(5/6)


def test_fewer_clusters_than_intents():
    report = evaluate(list('aabbcd'), list('001111'))
    assert report['accuracy'].value == near(4/6) and report.counts['clusters'] == 2 and report.counts['covered_intents'] == 2
    assert report.per_intent.loc['d', ['precision', 'recall', 'f1']].tolist() == [0, 0, 0] and report.per_intent.loc['d', 'cluster'] is None


def test_one_cluster():
    found = figures(list('aab'), [7, 7, 7])
    assert (found['accuracy'], found['nmi'], found['ari'], found['completeness'], found['homogeneity']) == (2/3, 0, 0, 1, 0)


def test_all_singletons():
    found = figures(list('aabb'), range(4))
    assert (found['accuracy'], found['ari'], found['precision'], found['recall'], found['homogeneity']) == near((.5, 0, 1, .5, 1))
    assert figures(range(4), range(4)) == {name: near(1) for name in found}


@pytest.mark.parametrize('gold, clusters', [([], []), ({}, {}), (pd.DataFrame({'intent': [], 'cluster': []}), None)])
def test_nothing(gold, clusters):
    report = evaluate(gold, clusters)
    assert all(np.isnan(s.value) and s.n == 0 for s in report.scores.values()) and 'there is nothing to score' in report.notes
    assert json.loads(report.to_json())['accuracy'] is None and set(report.counts.values()) == {0}
    assert report.alignment.empty and report.per_intent.empty and report.confusions.empty


def test_names_of_clusters_mean_nothing():
    "Clusters named like intents, but crosswise"
    assert clustering_accuracy(list('aabb'), list('bbaa')).value == 1 and align_clusters(list('aabb'), list('bbaa')) == {'a': 'b', 'b': 'a'}


@every_metric
def test_gold_against_itself(metric):
    gold = list('aaabbc')
    assert metric(gold, gold).value == (3 if metric in (cluster_count, covered_intents) else 1)
    assert metric(gold, gold).info.function is metric


@every_metric
def test_one_item(metric): assert metric(['a'], [1]).value == 1 and metric(['a'], [1]).n == 1


@every_metric
def test_subsets_are_weights(metric):
    "A 0/1 weighting gives what the chosen items alone give"
    rng = np.random.default_rng(1)
    gold, clusters, chosen = rng.integers(0, 4, 60), rng.integers(0, 6, 60), rng.random(60) < .4
    score, batch = metric(gold, clusters), np.vstack([chosen, ~chosen, np.ones(60)])
    assert score.at(batch) == near([metric(gold[w], clusters[w]).value for w in (chosen, ~chosen, np.full(60, True))])
    assert score.at(3*chosen) == near(score.at(chosen)) or metric in (ari, nmi)


# Properties

labellings = st.integers(1, 40).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 6), min_size=n, max_size=n)]*2))


@given(labellings)
@settings(deadline=None)
def test_like_scikit_learn(pair):
    gold, clusters = pair
    found = figures(gold, clusters)
    assert found['ari'] == near(sk.adjusted_rand_score(gold, clusters))
    assert [found[name] for name in ('homogeneity', 'completeness', 'v_measure')] == near(sk.homogeneity_completeness_v_measure(gold, clusters))
    for mean in ('arithmetic', 'geometric', 'min', 'max'):
        assert nmi(gold, clusters, average_method=mean).value == near(sk.normalized_mutual_info_score(gold, clusters, average_method=mean))
    named, match = np.array(clusters), align_clusters(gold, clusters)
    named = [match.get(c, -1) for c in clusters]
    assert found['accuracy'] == near(sk.accuracy_score(gold, named))
    for average in ('macro', 'micro', 'weighted'):
        report = cluster_prf(gold, clusters, protocol='aligned', average=average)
        theirs = sk.precision_recall_fscore_support(gold, named, average=average, labels=sorted(set(gold)), zero_division=0)[:3]
        assert [s.value for s in report.scores.values()] == near(theirs)


@given(labellings)
@settings(deadline=None)
def test_bcubed_by_hand(pair):
    gold, clusters = map(np.array, pair)
    kin, near_by = gold[:, None] == gold, clusters[:, None] == clusters
    both = (kin & near_by).sum(1)
    assert bcubed_precision(gold, clusters).value == near((both/near_by.sum(1)).mean()) and bcubed_recall(gold, clusters).value == near((both/kin.sum(1)).mean())


@given(labellings)
@settings(deadline=None)
def test_symmetry(pair):
    gold, clusters = pair
    for metric in (nmi, ari, clustering_accuracy, v_measure, bcubed_f1, cluster_f1): assert metric(gold, clusters).value == near(metric(clusters, gold).value)
    for one, other in ((homogeneity, completeness), (cluster_precision, cluster_recall), (bcubed_precision, bcubed_recall)):
        assert one(gold, clusters).value == near(other(clusters, gold).value)


@given(labellings, st.permutations(range(7)), st.permutations(range(7)))
@settings(deadline=None)
def test_names_do_not_matter(pair, intents, clusters):
    "Coverage may change where a cluster has no single majority: its ties are settled by name"
    gold, pred = pair
    renamed = [f'intent {intents[g]}' for g in gold], [clusters[c] for c in pred]
    before, after = figures(gold, pred), figures(*renamed)
    assert {k: v for k, v in after.items() if k != 'coverage'} == {k: near(v) for k, v in before.items() if k != 'coverage'}
    assert figures(gold, renamed[1])['coverage'] == near(before['coverage'])


@given(labellings)
@settings(deadline=None)
def test_one_leftover_is_nothing_to_merge(pair):
    data = clustering(*pair)
    left = (data.table.match < 0).sum()
    assert len(data.merged.clusters) == len(data.clusters) - max(left - 1, 0)
    if left < 2: assert nmi(data, variant='aligned').value == near(nmi(data).value)


def test_order_changes_nothing():
    "Figures, tables, draws: 20,000 items in another order, known by their ids"
    rng = np.random.default_rng(0)
    gold, clusters, ids, order = rng.integers(0, 30, 20_000), rng.integers(0, 40, 20_000), np.array([f't{i}' for i in range(20_000)]), rng.permutation(20_000)
    one, other = evaluate(gold, clusters, ids=ids), evaluate(gold[order], clusters[order], ids=ids[order])
    assert one.to_json() == other.to_json() and one.per_intent.equals(other.per_intent) and one.alignment.equals(other.alignment)
    assert one['accuracy'].ci(n=20) == other['accuracy'].ci(n=20)
    assert evaluate(gold[order], clusters[order]).to_json() == one.to_json()


# Labels

def test_labels_of_all_kinds():
    gold, clusters = list('aabbc'), [1, 1, 2, 3, 3]
    expected = figures(gold, clusters)
    for g in (tuple(gold), np.array(gold), np.array(gold, object), pd.Series(gold), pd.Categorical(gold), pd.Index(gold)):
        for c in (tuple(clusters), np.array(clusters), np.array(clusters, np.int8), pd.Series(clusters), [str(x) for x in clusters], [float(x) for x in clusters]):
            assert figures(g, c) == expected
    assert align_clusters(np.array(gold), np.array(clusters)) == {1: 'a', 2: 'b', 3: 'c'}


def test_look_alikes():
    report = evaluate(['None', 'None', 'a', 'a'], [1, '1', 2, 2])
    assert report.counts['clusters'] == 3 and report['accuracy'].value == .75
    assert report.notes == ["1 and '1' are different clusters"] and 'None' in report.per_intent.index


@pytest.mark.parametrize('nothing', [None, float('nan'), np.nan, pd.NA])
def test_missing_labels(nothing):
    with pytest.raises(FormatError, match='an intent to be given, but got nothing .NaN or None. .item y'): evaluate({'x': 'a', 'y': nothing}, {'x': 1, 'y': 2})
    with pytest.raises(FormatError, match='a cluster to be given, but got nothing .NaN or None. .item 1'): evaluate(['a', 'b'], [1, nothing])


@pytest.mark.parametrize('call, error, words', [
    (lambda: evaluate('ab', '01'), FormatError, 'intent labels to be a sequence'),
    (lambda: evaluate(['a']), FormatError, 'cluster labels to be a sequence'),
    (lambda: evaluate(['a', 'b'], [1]), PairingError, 'but got 2 and 1'),
    (lambda: evaluate(['a'], [{}]), FormatError, 'text or a number, but got a dict'),
    (lambda: evaluate(['a'], [(1, 2)]), FormatError, 'a cluster to be text or a number, but got tuple'),
    (lambda: evaluate([[]], [1]), FormatError, 'the intents of an item to be at least one'),
    (lambda: evaluate(np.zeros((2, 2)), [1, 2]), FormatError, 'one-dimensional'),
    (lambda: evaluate(pd.DataFrame({'label': [1]})), FormatError, 'one with a column intent'),
    (lambda: evaluate(['a'], [1], ids=['x', 'y']), FormatError, 'items to be one for each of the 1 items, but got 2'),
    (lambda: evaluate(['a', 'b'], [1, 2], dialogues=['x', None]), FormatError, 'a dialogue id to be given'),
    (lambda: evaluate(pd.Series(['a', 'b'], [3, 4]), pd.Series([1, 2], [4, 3])), PairingError, 'series with one index'),
    (lambda: evaluate(['a'], [1], protocol='purity'), OptionError, "protocol to be 'dstc11' or 'aligned'"),
    (lambda: evaluate(['a'], [1], average='macro'), OptionError, 'average to be left out'),
    (lambda: evaluate(['a'], [1], protocol='aligned', average='samples'), OptionError, "average to be 'macro'"),
    (lambda: evaluate(['a'], [1], average_method='mean'), OptionError, 'average_method'),
    (lambda: evaluate(['a'], [1], multi='all'), OptionError, 'multi'),
    (lambda: evaluate(['a'], [1], missing='drop'), OptionError, 'missing'),
    (lambda: evaluate(['a'], ['-1'], noise=-1), OptionError, "noise to be the label '-1', but got -1"),
    (lambda: nmi(['a'], [1], variant='collapsed'), OptionError, 'variant'),
    (lambda: align_clusters(['a'], [1], kind='many'), OptionError, 'kind'),
    (lambda: nmi(['a'], [1]).by('domain'), OptionError, 'by to be a mapping'),
    (lambda: nmi(['a'], [1], domains=['x']).by('turn'), OptionError, 'by to be "domain"')])
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words) as found: call()
    assert isinstance(found.value, DialevalError) and '\n' not in str(found.value)


def test_input_is_left_alone():
    table = pd.DataFrame({'item': ['x', 'y'], 'intent': ['a', ['a', 'b']], 'cluster': [1, 2]}, dtype=object)
    before = table.copy(deep=True)
    evaluate(table, multi='any').to_json()
    assert table.equals(before) and table.attrs == {}


# Pairing

GOLD = {'t1': 'a', 't2': 'a', 't3': 'b', 't4': 'b'}


def test_pairing_by_id():
    assert evaluate(GOLD, {'t4': 1, 't3': 1, 't2': 0, 't1': 0})['accuracy'].value == 1


def test_missing_and_extra():
    report = evaluate(GOLD, {'t1': 0, 't2': 0, 't3': 1, 'zz': 5})
    assert (report['accuracy'].value, report['accuracy'].n, report.counts['clusters']) == (.75, 4, 2)
    assert report.to_dict()['pairing']['missing_turns'] == [('', 't4')] and report.to_dict()['pairing']['extra_turns'] == [('', 'zz')]
    assert '1 of 4 items are in no cluster, and stay in every denominator' in report.notes
    skipped = evaluate(GOLD, {'t1': 0, 't2': 0, 't3': 1}, missing='skip')
    assert (skipped['accuracy'].value, skipped['accuracy'].n) == (1, 3) and 'missing:skip' in skipped.signature
    with pytest.raises(PairingError, match='turn t4'): evaluate(GOLD, {'t1': 0, 't2': 0, 't3': 1}, strict=True)


def test_twice():
    with pytest.raises(FormatError, match="gold item ids to be unique, but got 'x' twice"):
        evaluate(pd.DataFrame({'item': ['x', 'x'], 'intent': ['a', 'b']}), {'x': 1})


def test_tables_of_two_tasks():
    "Even with ids in common: what the tables say of themselves counts"
    turns, held_out = pd.DataFrame({'item': ['x'], 'intent': ['a']}), pd.DataFrame({'item': ['x'], 'cluster': [1]})
    turns.attrs['choices'], held_out.attrs['choices'] = {'task': 1}, {'task': 2}
    with pytest.raises(PairingError, match='of one task, but got 1 and 2'): evaluate(turns, held_out)


# Several intents, noise

def test_first_or_any():
    gold, clusters = [['a', 'b'], ['b'], ['b', 'a'], ('c', 'a'), {'c'}], [1, 1, 1, 2, 2]
    assert clustering_accuracy(gold, clusters).value == .8 and clustering_accuracy(gold, clusters, multi='any').value == 1
    assert clustering(gold, clusters).intents == ['a', 'b', 'c'] and clustering(gold, clusters, multi='any').intents == ['b', 'c']
    assert 'multi:any' in evaluate(gold, clusters, multi='any').signature


@given(st.lists(st.tuples(st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True), st.integers(0, 4)), min_size=1, max_size=30))
@settings(deadline=None)
def test_any_is_the_best_alignment(items):
    "No alignment makes more items right than the one that `any` uses"
    overlap = np.zeros((5, 4))
    for intents, cluster in items: overlap[cluster, intents] += 1
    best = overlap[linear_sum_assignment(overlap, maximize=True)].sum()
    assert clustering_accuracy(*zip(*items), multi='any').value == near(best/len(items))


def test_noise():
    gold, clusters = list('aabbbc'), [0, 0, 1, 1, -1, -1]
    ordinary, noisy, alone = evaluate(gold, clusters), evaluate(gold, clusters, noise=-1), evaluate(gold, [0, 0, 1, 1, 2, 3])
    assert ordinary.counts['clusters'] == 3 and noisy.counts['clusters'] == 2 and 'noise:-1' in noisy.signature
    assert ordinary['accuracy'].value == near(5/6) and noisy['accuracy'].value == near(4/6) and noisy['accuracy'].n == 6
    for name in ('nmi', 'ari', 'homogeneity', 'completeness', 'v_measure', 'bcubed_precision', 'bcubed_recall'): assert noisy[name].value == near(alone[name].value)
    assert noisy['precision'].value == near(4/6) and noisy.contingency.columns.tolist() == [1, 0, None]
    assert merge([noisy['ari']]).value == noisy['ari'].value


def test_all_noise():
    found = figures(list('ab'), [-1, -1], noise=[-1])
    assert (found['accuracy'], found['precision'], found['recall'], found['f1'], found['coverage']) == (0, 0, 0, 0, 0)


# The report

def test_json():
    report = evaluate(list('aaaabb'), list('001122'), protocol='aligned')
    found = json.loads(report.to_json())
    assert {'average', 'covered_intents', 'accuracy', 'nmi', 'ari', 'precision', 'recall', 'f1', 'protocol', 'clusters', 'intents', 'items', 'coverage', 'signature'} <= found.keys()
    assert found['protocol'] == 'aligned' and found['average'] == 'macro' and found['items'] == 6 and type(found['covered_intents']) is int
    assert (found['variants']['dstc11']['f1'], found['variants']['aligned']['f1']) == (near(.8), near(5/6)) and found['alignment'] == [['0', 'a'], ['2', 'b']]
    assert json.loads(evaluate(list('ab'), [1, 2]).to_json())['average'] is None


def test_tables():
    report = evaluate(list('aaaabbc'), [0, 0, 1, 2, 3, 0, 3])
    assert report.contingency.to_numpy().tolist() == [[2, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 0]] and report.contingency.columns.tolist() == [0, 3, 2, 1]
    assert report.per_intent.confusions.to_dict() == {'a': '1 in 1, 1 in 2 (c)', 'b': '1 in 0 (a)', 'c': '1 in 3 (b)'}
    assert report.alignment['items'].tolist() == [3, 2, 1, 1] and report.alignment.right.sum() == round(7*report['accuracy'].value)
    assert report.turns.right.mean() == near(report['accuracy'].value)
    assert report.confusions['items'].sum() + report.turns.right.sum() == 7


def test_units():
    gold, clusters, dialogues = list('aabb'), [0, 0, 1, 0], ['d2', 'd2', 'd1', 'd1']
    report = evaluate(gold, clusters, dialogues=dialogues)
    assert report['accuracy'].ids == ['d1', 'd2'] and report['accuracy'].unit == 'dialogue' and 'unit:dialogue' in report.signature
    assert report['accuracy'].at([0, 1]) == 1 and report.by({'d1': 'x', 'd2': 'y'})['y']['accuracy'].value == 1
    assert evaluate(gold, clusters).signature.split('|')[-2] == 'unit:item'


def test_signature_has_every_choice():
    one = evaluate(['a'], [1]).signature
    for options in (dict(protocol='aligned'), dict(average_method='max'), dict(multi='any'), dict(noise=9), dict(missing='skip'), dict(dialogues=['d'])):
        assert evaluate(['a'], [1], **options).signature != one, options


def test_domains():
    gold, clusters, domains = list('aabb') + list('cdcd'), [0, 0, 1, 1, 0, 0, 1, 1], ['x']*4 + ['y']*4
    report = evaluate(gold, clusters, domains=domains)
    parts = report.by('domain')
    alone = {'x': evaluate(gold[:4], clusters[:4]), 'y': evaluate(gold[4:], clusters[4:])}
    for name in report: assert [parts[d][name].value for d in 'xy'] == near([alone[d][name].value for d in 'xy'])
    mean = domain_mean(parts)
    assert mean['accuracy'].value == near((1 + .5)/2) and mean['ari'].value == near(np.mean([alone[d]['ari'].value for d in 'xy']))
    assert 'mean_over:x+y' in mean['accuracy'].signature and mean['accuracy'].n == 8
    for name, interval in mean.ci(n=50).items(): assert interval.low <= mean[name].value <= interval.high
    with pytest.raises(PairingError, match='scored alike'): domain_mean({'x': alone['x'], 'y': evaluate(gold[4:], clusters[4:], protocol='aligned')})


# Task 2

INDUCED = {'i1': ['check my balance', 'what is my balance', 'balance please'], 'i2': ['lost my card', 'my card was stolen'], 'i3': ['send money', 'wire money abroad']}
ASKED = {'u1': 'the balance', 'u2': 'card stolen', 'u3': 'money to Ann', 'u4': 'a card'}


def test_classifier_is_scikit_learns():
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    texts, labels = zip(*[(text, intent) for intent, some in INDUCED.items() for text in some])
    theirs = make_pipeline(TfidfVectorizer(), LogisticRegression(class_weight='balanced')).fit(texts, labels).predict(list(ASKED.values()))
    ours = classify_held_out(INDUCED, ASKED)
    assert ours.cluster.tolist() == theirs.tolist() and ours['item'].tolist() == list(ASKED)


def test_encoder_is_in_the_signature():
    gold = {'u1': 'balance', 'u2': 'lost', 'u3': 'transfer', 'u4': 'lost'}
    def lengths(texts): return np.array([[len(t), t.count('card')] for t in texts])
    report = evaluate(gold, classify_held_out(INDUCED, ASKED))
    assert 'task:2|encoder:tfidf|classifier:logistic_regression' in report.signature and report['accuracy'].value == 1
    assert 'lengths' in evaluate(gold, classify_held_out(INDUCED, ASKED, encoder=lengths)).signature
    assert 'encoder:mpnet' in evaluate(gold, classify_held_out(INDUCED, ASKED, encoder=lengths, name='mpnet')).signature


def test_few_induced_intents():
    assert classify_held_out({7: ['anything']}, ASKED).cluster.tolist() == [7]*4
    assert classify_held_out(INDUCED, {}).empty
    with pytest.raises(FormatError, match='induced intents'): classify_held_out({}, ASKED)
    with pytest.raises(FormatError, match='held-out utterances'): classify_held_out(INDUCED, ['the balance'])


def test_induced_intents_of_two_types():
    assert set(classify_held_out({1: ['check my balance'], '1': ['lost card']}, ASKED).cluster) <= {1, '1'}


# Pictures, imports

def test_heat_map():
    import matplotlib
    matplotlib.use('Agg')
    report = evaluate(list('aaaabb'), list('001122'))
    ax = heat_map(report)
    assert [t.get_text() for t in ax.get_yticklabels()] == ['a', 'b'] and [t.get_text() for t in ax.get_xticklabels()] == ['0', '2', '1']
    assert heat_map(report, ax=ax) is ax
    matplotlib.pyplot.close('all')


def test_import_is_light():
    "Pictures and classifiers are imported when somebody asks for them"
    code = 'import sys, dialeval.intents; print([m for m in ("sklearn", "matplotlib") if m in sys.modules])'
    assert subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True).stdout.strip() == '[]'


def test_raw_cluster_ids_are_not_exchanged():
    "A mixture of two clusterings is a clustering of nothing: the paired bootstrap only"
    from dialeval.compare import compare
    gold, systems = ['a', 'a', 'b', 'b', 'c', 'c'], {'A': [1, 1, 2, 2, 3, 3], 'B': [5, 5, 5, 6, 6, 6]}
    result = compare(gold, systems, [clustering_accuracy, ari, cluster_f1])
    assert all(math.isnan(d.p_exchange) and d.p == d.p_bootstrap for d in result.differences)
