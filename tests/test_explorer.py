"The explorer: what a cell holds, what a merge or a split would do."
import numpy as np
import pandas as pd
import pytest
from dialeval import intents
from dialeval.core import OptionError
from dialeval.explorer import (IntentExplorer, cluster_labels, confusions, figures, map_html, merged, relabelled,
                               split_off)
from hypothesis import given, settings, strategies as st
from test_inspector import NASTY, check_golden

TEXTS = ['my balance', 'the balance', 'lost card', 'card gone', 'my card']
ITEMS = pd.DataFrame({'text': TEXTS, 'intent': list('bbccc'), 'cluster': [0, 1, 2, 2, 0]})


@pytest.fixture
def explorer(): return IntentExplorer(intents.evaluate(ITEMS))


def test_golden_map(explorer):
    check_golden('explorer', explorer.map + explorer.figures + explorer.items + explorer.trial + explorer.frame)


def test_selection(explorer):
    assert len(explorer.selection) == 5
    explorer.intent, explorer.cluster = explorer.data.intents.index('c'), explorer.data.clusters.index(2)
    assert explorer.selection.text.tolist() == ['lost card', 'card gone'] and explorer.items.count('<li>') == 2
    explorer.search = 'GONE'
    assert explorer.selection.text.tolist() == ['card gone']
    explorer.clear()
    explorer.intent = None
    assert explorer.selection.text.tolist() == ['card gone'] and explorer.search == 'GONE'


def test_confusions_largest_first(explorer):
    rng = np.random.default_rng(0)
    data = intents.clustering(rng.integers(0, 5, 200), rng.integers(0, 6, 200))
    sizes = [int(((data.gold == i) & (data.pred == j)).sum()) for i, j in confusions(data)]
    aligned = {(data.intents.index(i), data.clusters.index(c)) for c, i in intents.align_clusters(data).items()}
    assert sizes == sorted(sizes, reverse=True) and not aligned & set(confusions(data))
    assert len(confusions(explorer.data)) == 2
    explorer.move()
    first = explorer.intent, explorer.cluster
    explorer.move()
    assert (explorer.intent, explorer.cluster) != first
    explorer.move()
    assert explorer.announce == 'No further confusion.'
    explorer.move(-1)
    assert (explorer.intent, explorer.cluster) == first


def test_what_if(explorer):
    explorer.merge(0, 1)
    assert explorer.effect.now['K'] == 2 and explorer.labels.tolist() == ['0 + 1', '0 + 1', 2, 2, '0 + 1']
    assert explorer.effect.now['ACC'] == pytest.approx(4/5) and explorer.effect.before['ACC'] == pytest.approx(3/5)
    explorer.split('0 + 1', 'c')
    assert explorer.labels.tolist() == ['0 + 1', '0 + 1', 2, 2, '0 + 1 (c)']
    explorer.undo()
    explorer.undo()
    assert explorer.labels.tolist() == [0, 1, 2, 2, 0] and explorer.effect.before.equals(explorer.effect.now)
    explorer.undo()
    assert 'nothing to take back' in explorer.announce and explorer.report.data.pred.tolist() == [0, 1, 2, 2, 0]


def test_commands(explorer):
    explorer.cluster = 0
    assert 'Merge 0 with' in explorer.trial
    explorer._handle_custom_msg({'do': 'merge_with', 'args': ['1']}, [])
    assert explorer.labels.iloc[0] == '0 + 1' and explorer.cluster is None and 'take back' in explorer.trial
    explorer.intent, explorer.cluster = explorer.data.intents.index('c'), explorer.data.clusters.index('0 + 1')
    explorer.do('split_cell')
    assert explorer.labels.iloc[4] == '0 + 1 (c)'


BAD = [('merge', [0]), ('merge', [0, 0]), ('merge', [0, 9]), ('split', [9, 'c']), ('split', [0, 'x']),
       ('split', [1, 'c']), ('do', ['split', 0, 'b'])]


@pytest.mark.parametrize(('name', 'arguments'), BAD)
def test_bad_input(explorer, name, arguments):
    with pytest.raises(OptionError): getattr(explorer, name)(*arguments)
    assert len(explorer.history) == 1


labels = st.lists(st.tuples(st.sampled_from('xyz'), st.sampled_from('abcd')), min_size=2, max_size=30)


@settings(max_examples=50, deadline=None)
@given(labels)
def test_figures_are_those_of_the_new_labels(pairs):
    gold, pred = zip(*pairs)
    data = intents.clustering(gold, pred)
    assert relabelled(data, cluster_labels(data)).pred.tolist() == data.pred.tolist()
    if len(data.clusters) > 1:
        joined = merged(data, data.clusters[:2])
        again = intents.evaluate(gold, cluster_labels(joined).tolist())
        expected = [again[name].value for name in ('accuracy', 'nmi', 'ari')] + [len(again.data.clusters)]
        assert list(figures(joined).values()) == pytest.approx(expected, nan_ok=True)
    apart = split_off(data, data.clusters[0], data.intents[data.gold[data.pred == 0][0]])
    assert (apart.gold == data.gold).all()
    assert len(set(cluster_labels(apart))) - len(data.clusters) in (0, 1)


def test_names_stay_apart():
    data = intents.clustering(list('xyz'), ['a', 'b', 'a + b'])
    assert merged(data, ['a', 'b']).clusters == ['a + b', 'a + b′']


def test_no_cluster_is_no_cluster():
    report = intents.evaluate(list('xxyy'), [0, -1, 1, 1], noise=-1)
    explorer = IntentExplorer(report)
    explorer.cluster = -1
    assert len(explorer.selection) == 1 and 'in no cluster' in explorer.map and 'Merge' not in explorer.trial
    explorer.merge(0, 1)
    assert explorer.labels.tolist() == ['0 + 1', None, '0 + 1', '0 + 1']
    assert np.isfinite(explorer.effect.to_numpy(float)).all()


def test_text_stays_text():
    items = pd.DataFrame({'text': NASTY, 'intent': [NASTY, 'b'], 'cluster': [NASTY, NASTY + '2']})
    explorer = IntentExplorer(intents.evaluate(items))
    explorer.cluster = 0
    for text in (explorer.map, explorer.items, explorer.trial, explorer.still()): assert '<img' not in text


def test_many_clusters_and_items():
    rng = np.random.default_rng(0)
    explorer = IntentExplorer(intents.evaluate(rng.integers(0, 60, 5000), rng.integers(0, 80, 5000)))
    assert explorer.map.count('<tr>') == 61 and explorer.items.count('<li>') == 200
    assert '5,000 utterances, the first 200 of them' in explorer.items


@pytest.mark.data('intents/task1_banking_cases.json')
def test_real_clusterings(data):
    import json
    cases = json.loads((data/'intents/task1_banking_cases.json').read_text(encoding='utf-8'))['test-banking']
    report = intents.evaluate(cases['gold'], next(iter(cases['pred'].values())), ids=cases['turn_ids'])
    explorer = IntentExplorer(report)
    assert figures(report.data)['ACC'] == report['accuracy'].value
    before = figures(explorer.data)
    explorer.merge(*explorer.data.clusters[:2])
    assert figures(explorer.data)['K'] == before['K'] - 1
    assert map_html(explorer.data).count('aligned') == min(len(report.data.intents), before['K'] - 1)
