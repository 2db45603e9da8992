"State tracking against what the released code printed: counts exact, figures to 1e-6."
import json

import numpy as np
import pytest
from dialeval import dst
from dialeval.changes import granular_change_accuracy
from dialeval.cli import main
from dialeval.readers import read, read_pair
from dialeval.values import VALUES, Values, encode, multiwoz, trippy

LAMS = ['0.25', '0.5', '0.75', '1.0']
TEST = 'dst/full_test'
GOLD21, BITS = f'{TEST}/gold_mwz21_trade.json', 'dst/fga/trippy_result_bits.json'
CONFIG = 'dst/fga/multiwoz21_trippy_dataset_config.json'


@pytest.fixture
def cli(data, capsys):
    "Run `dialeval dst ... --json` on files below the data folder"
    def run(*args):
        assert main(['dst', *(str(data/a) if '/' in a else a for a in args), '--json']) == 0
        return json.loads(capsys.readouterr().out)
    return run


def reference(data, name): return json.loads((data/'references'/name).read_text(encoding='utf-8'))


def chosen(flexible): return {lam: flexible[lam] for lam in LAMS}


def agree(found, turns, exact, matched, figures, flexible, to=1e-6):
    "Counts are equal, fractions agree with percentages to the digits that were printed"
    assert (found['turns'], found['exact_turns'], found['matched_turns']) == (turns, exact, matched)
    assert {name: found[name] for name in figures} == fractions(figures, to)
    assert {lam: found['flexible_goal_accuracy'][lam] for lam in flexible} == fractions(flexible, to)


def fractions(percent, to): return pytest.approx({name: value/100 for name, value in percent.items()}, abs=to)


def test_trippy_row_of_table_1(cli, data):
    found = cli(BITS, GOLD21, '--slot-order', CONFIG)
    ref = reference(data, 'trippy_reference.json')['official']
    agree(found, 7368, 3926, 5875, {'joint_goal_accuracy': ref['JGA'], 'slot_accuracy': ref['SA']}, chosen(ref['FGA']))
    printed = {'joint_goal_accuracy': 53.28, 'slot_accuracy': 97.30, 'average_goal_accuracy': 90.75}
    agree(found, 7368, 3926, 5875, printed, dict(zip(LAMS, (63.24, 68.67, 71.97, 74.13))), to=5e-5)
    assert found['pairing']['extra'] == ['PMUL1455.json']
    assert 'variant:trippy' in found['signature'] and list(found['variants']) == ['trippy']


def test_trippy_average_goal_accuracy_counts_turns(data):
    gold, pred = read_pair(data/BITS, data/GOLD21)
    order = json.loads((data/CONFIG).read_text())['slots']
    assert dst.average_goal_accuracy(gold, pred, slot_order=order).n == 7261


def test_trippy_alone(cli, data):
    ref = reference(data, 'trippy_reference.json')['with_PMUL1455']
    found = cli(BITS, '--lam', '0', *LAMS)
    agree(found, 7372, 3930, 5879, {'joint_goal_accuracy': ref['JGA'], 'slot_accuracy': ref['SA']}, ref['FGA'])
    assert 'average_goal_accuracy' not in found


def test_trippy_original_form(data):
    bits, lists = read(data/BITS), read(data/'dst/fga/trippy_result_first10.json')
    assert len(lists) == 10 and all(d.turns == bits[d.id].turns for d in lists)


@pytest.mark.parametrize('file', ['som100_result.json', 'somdst100.json'])
@pytest.mark.parametrize('variant, key', [('released', 'official'), ('paper', 'paper')])
def test_somdst_100_dialogues(cli, data, file, variant, key):
    ref = reference(data, 'somdst100_reference.json')['overall']
    found = cli(f'dst/fga/{file}', '--slots', '30', '--variant', variant)
    matched = {name: report['matched_turns'] for name, report in found['variants'].items()}
    assert matched == {'paper': 614, 'released': 608}
    figures = {'joint_goal_accuracy': ref['JGA'], 'slot_accuracy': ref['SA'], 'average_goal_accuracy': ref['AGA']}
    agree(found, 751, 375, matched[variant], figures, chosen(ref[f'FGA_{key}']))


FULL = {('pred_t5_original', 'gold_mwz21_trade'): 't5-original vs mwz21',
        ('pred_t5_da', 'gold_mwz21_trade'): 't5-da vs mwz21',
        ('pred_t5_original', 'gold_mwz24'): 't5-original vs mwz24',
        ('pred_t5_da', 'gold_mwz24'): 't5-da vs mwz24',
        ('gold_mwz21_trade', 'gold_mwz24'): 'gold21 vs gold24'}


@pytest.mark.parametrize('pred, gold', FULL)
def test_full_test_set(cli, data, pred, gold):
    "The scripts compare strings, so a bar in 2.4 gold is text to them: values=raw"
    ref = reference(data, 'full_test_reference.json')['systems_t5'][FULL[pred, gold]]
    args = f'{TEST}/{pred}.json', f'{TEST}/{gold}.json', '--slots', '30', '--values', 'raw'
    figures = {'joint_goal_accuracy': ref['JGA'], 'slot_accuracy': ref['SA'], 'average_goal_accuracy': ref['AGA']}
    found = cli(*args, '--variant', 'released')
    agree(found, 7368, ref['M1'], ref['M2'], figures, ref['FGA'])
    agree(cli(*args), 7368, ref['M1'], ref['M2_paper'], figures | {'slot_accuracy': ref['SA_eq1']}, ref['FGA_paper'])


def test_bars_are_alternatives_by_default(cli):
    "The same with alternatives: more turns are right"
    found = cli(f'{TEST}/pred_t5_da.json', f'{TEST}/gold_mwz24.json', '--slots', '30')
    assert found['exact_turns'] == 2912 > 2899


@pytest.mark.parametrize('pred', ['pred_t5_original', 'pred_t5_da'])
def test_defaults_change_nothing_on_clean_files(cli, pred):
    args = f'{TEST}/{pred}.json', f'{TEST}/gold_mwz21_trade.json', '--slots', '30'
    raw, default = cli(*args, '--values', 'raw'), cli(*args)
    assert [raw[k] == default[k] for k in ('exact_turns', 'slot_accuracy')] == [True, True]


def test_empty_prediction(data):
    gold = read(data/GOLD21)
    ref = reference(data, 'full_test_reference.json')['systems_t5']['empty vs mwz21']
    figures = {'joint_goal_accuracy': ref['JGA'], 'slot_accuracy': ref['SA'], 'average_goal_accuracy': 0}
    for variant in ('paper', 'released'):
        report = dst.evaluate(gold, {d.id: [{}]*len(d) for d in gold}, slots=30, variant=variant)
        agree(report.to_dict(), 7368, 107, 2496, figures, ref['FGA'])
    assert dst.evaluate(gold, {}, slots=30)['joint_goal_accuracy'].value == report['joint_goal_accuracy'].value


@pytest.mark.parametrize('variant, key', [('released', 'official'), ('paper', 'paper')])
def test_every_turn_of_the_100_dialogues(data, variant, key):
    "751 of 751 turns, for each lambda"
    both = read(data/'dst/fga/som100_result.json')
    ref = reference(data, 'somdst100_reference.json')['per_turn']
    states, seen = encode(both.gold, both.pred), 0
    for lam in map(float, LAMS):
        turns = dst.flexible_goal_accuracy(states, lam=lam, variant=variant).turns
        for d, t, weight in zip(turns.dialogue, turns.turn, turns.weight):
            assert weight == pytest.approx(per_turn(ref, d, t, key, str(lam)), abs=1e-9), (d, t, lam)
            seen += 1
    assert seen == 4*751


def per_turn(ref, dialogue, turn, key, lam):
    row = ref[dialogue][turn]
    assert row['turn'] == turn
    return row['fga_paper' if key == 'paper' else 'fga'][lam]


def test_the_nine_disagreeing_turns(data):
    both, ref = read(data/'dst/fga/som100_result.json'), reference(data, 'somdst100_disagreements.json')
    states = encode(both.gold, both.pred)
    paper, script = (dst.flexible_goal_accuracy(states, lam=.5, variant=v).turns for v in ('paper', 'released'))
    differ = paper[paper.weight != script.weight]
    assert [*zip(differ.dialogue, differ.turn)] == [(r['dialogue'], r['turn']) for r in ref] and len(ref) == 9
    weights = np.column_stack([script.weight[differ.index], differ.weight])
    assert weights == pytest.approx(np.array([r['values']['0.5'] for r in ref]))


@pytest.fixture(params=['somdst100', 't5_original'])
def neighbours(request, data):
    "Encoded states, and what published codes of the neighbouring metrics printed for them"
    if request.param == 'somdst100': gold, pred = read(data/'dst/fga/som100_result.json')
    else: pred, gold = (read(data/TEST/f'{f}.json') for f in ('pred_t5_original', 'gold_mwz21_trade'))
    return encode(gold, pred, slots=30), reference(data, 'extra_metrics_reference.json')[request.param]


def test_neighbours(neighbours):
    states, ref = neighbours
    trade, gca = ref['trade_somdst'], ref['gca_repo']
    assert dst.slot_f1(states, average='turn').value == pytest.approx(trade['slot_turn_F1'], abs=1e-9)
    assert dst.final_goal_accuracy(states).value == pytest.approx(trade['final_joint_acc'], abs=1e-9)
    assert dst.relative_slot_accuracy(states).value == pytest.approx(gca['RSA']/100, abs=5e-5)
    hits, turns = dst.average_goal_accuracy(states, kind='jaccard').whole['hits'], dst.average_goal_accuracy(states).n
    assert hits/turns == pytest.approx(gca['IAGA']/100, abs=5e-5)   # their denominator is that of the recall kind


def test_pairs(neighbours):
    states, micro = neighbours[0], neighbours[1]['micro_slot_prf']
    counts, right = dst.slot_f1(states).whole, micro['tp']
    assert [counts[k] for k in ('both', 'pred', 'gold')] == [right, right + micro['fp'], right + micro['fn']]
    found = [f(states).value for f in (dst.slot_precision, dst.slot_recall, dst.slot_f1)]
    assert found == pytest.approx([micro[key] for key in ('precision', 'recall', 'f1')], abs=1e-9)


def test_jga_by_turn_index(neighbours):
    states, ref = neighbours
    by_turn = dst.joint_goal_accuracy(states).by('turn')
    found = {str(t): [int(s.whole['exact']), s.n] for t, s in by_turn.items()}
    assert found == {t: row[:2] for t, row in ref['jga_by_turn'].items()}


def test_per_domain(neighbours):
    states, ref = neighbours
    printed = {line.split()[0]: [float(x) for x in line.split()[1:]] for line in ref['somdst_per_domain_stdout']}
    jga = dst.joint_goal_accuracy(states).by('domain')
    slot = dst.slot_accuracy(states, variant='released').by('domain')
    def of_thirty(s): return 1 - s.whole['errors']/(30*s.n)     # they divide by all slots, not by the domain's own
    for d, row in printed.items(): assert [jga[d].value, of_thirty(slot[d])] == pytest.approx(row, abs=1e-9), d


def test_granular_change_accuracy(neighbours):
    states, ref = neighbours
    score, counts = granular_change_accuracy(states), ref['gca_counts']
    if len(states.ids) > 100:       # their loader alters a few slots outside the schema
        assert score.value == pytest.approx(.7709, abs=5e-5)
        assert score.value == pytest.approx(ref['gca_repo']['GCA']/100, abs=5e-4)
        return
    assert score.value == pytest.approx(.8818, abs=5e-5)
    theirs = {'correct': 'correct', 'wrong': 'wrong', 'missed': 'missed', 'over': 'overpred'}
    assert {k: score.whole[k] for k in theirs} == {k: counts[name] for k, name in theirs.items()}


def test_trade_repairs(data):
    "Raw 2.1 states become the official gold on 7368 of 7368 turns; texts as they are agree on 6356"
    gold, raw = read(data/GOLD21), read(data/TEST/'raw_states_test.json')
    assert encode(gold, raw, values='raw').exact.sum() == 6356
    def repaired(state): return {key: form for key, v in state.items() if (form := VALUES['trade'].form(v, key))}
    trade = {d.id: [repaired(t.state) for t in d] for d in raw if d.id in gold}
    states = encode(gold, trade, values='raw')
    assert states.exact.sum() == states.n_turns == 7368


def test_rules_for_values_on_a_trippy_file(data):
    both = read(data/'dst/formats/trippy/gca_trippy_gold_pred.json')
    labels = json.loads((data/CONFIG).read_text())['label_maps']
    stripped = Values('stripped', str.strip, frozenset(['', 'none']))
    right = {'raw': 1809, stripped: 2711, trippy(labels, containment=False): 3459, trippy(labels): 3853}
    for policy, turns in right.items():
        states = encode(both.gold, both.pred, values=policy, names=multiwoz)
        assert (states.n_turns, states.exact.sum()) == (7372, turns), policy


def test_fuzzy_policy(data):
    "353 pairs whose similarity the official scorer computed are part of a later page; here the rounding"
    pytest.importorskip('rapidfuzz')
    states = encode([[{'a-b': 'the grand hotel'}]], [[{'a-b': 'grand hotel'}]], values='fuzzy')
    assert states.hit[0, 0] == np.round(states.hit[0, 0], 2) < 1 and not states.exact[0]


def test_table_2(data):
    "Test row of Table 2: 999 dialogues, 7368 turns, 7.37 a dialogue"
    row = read(data/GOLD21).describe().iloc[0]
    assert row.tolist() == [999, 7368, 7368/999, 30, 5]
    assert int(100*row['turns per dialogue']) == 737        # the paper cuts, it does not round


def test_utterances_and_results_agree(data):
    talk, result = read(data/'dst/fga/somdst100.json'), read(data/'dst/fga/som100_result.json')
    def states(corpus): return [[t.state for t in d] for d in corpus]
    for ours, theirs in zip(talk, result): assert states(ours) == states(theirs)
    d = talk.gold['PMUL2563.json']
    assert d.opening == '' and d[1].response.startswith('Cityroomz is a 0-star hotel') and d[5].response is None
