"Corners that once gave a wrong figure without a word, or a traceback."
import json, math, os, pickle, subprocess, sys
from multiprocessing import Pool

import numpy as np
import pandas as pd
import pytest
from dialeval import dst, sample
from dialeval.cli import main
from dialeval.core import Corpus, Dialogue, FormatError, OptionError, PairingError, Turn, as_corpus, to_table
from dialeval.readers import read, read_dialeval, to_native
from dialeval.score import merge
from dialeval.values import default, encode, trippy

GOLD = {'d1': [{'a-x': '1'}, {'a-x': '1', 'a-y': '2', 'a-z': '3', 'b-w': '4'}], 'd2': [{'a-x': '1'}]*2}
PRED = {'d1': [{'a-x': '9'}, {'a-x': '1', 'a-y': '2', 'a-z': '3', 'b-w': '4'}], 'd2': [{'a-x': '1'}]*2}
SAMPLE = sample.load_sample()


def exact(gold, pred, **how): return dst.joint_goal_accuracy([[gold]], [[pred]], **how).value == 1


@pytest.mark.parametrize('rows, message', [
    ('d1,0,hotel-area,north,\n', 'of 4 cells.*but got 5.*line 2'), ('d1,0,hotel-area,north\nd1,1,hotel\n', 'but got 3.*line 3')])
def test_ragged_csv(tmp_path, rows, message):
    path = tmp_path/'t.csv'
    path.write_text('dialogue,turn,slot,value\n' + rows)
    with pytest.raises(FormatError, match=message): read(path)


def test_csv_with_a_column_twice(tmp_path):
    path = tmp_path/'t.CSV'
    path.write_text('dialogue,turn,slot,value,value\nd1,0,h-a,x,y\n')
    with pytest.raises(FormatError, match='unique'): read(path)


def test_restrictions_add_up():
    first = dst.joint_goal_accuracy(GOLD, PRED).by('turn')[0].by('domain')
    assert {k: (s.value, s.n) for k, s in first.items() if s.n} == {'a': (.5, 2)}
    assert 'by_turn:0' in first['a'].signature and 'by_domain:a' in first['a'].signature
    assert [s.n for s in dst.joint_goal_accuracy(GOLD, PRED).by('domain')['b'].by('turn').values()] == [0, 1]
    report = dst.evaluate(GOLD, PRED).by('turn')[0].by('domain')
    assert report['a']['joint_goal_accuracy'].value == .5


def test_parts_divide_by_the_schema_of_the_corpus():
    whole = dst.slot_accuracy(GOLD, PRED)
    assert whole.by('turn')[0].value == dst.slot_accuracy(GOLD, PRED, slots=4).by('turn')[0].value == 1 - 1/(4*2)
    groups = {d.id: d.id[0] for d in SAMPLE.gold}
    found, given = (dst.slot_accuracy(SAMPLE.gold, SAMPLE.systems['A'], slots=n).by(groups) for n in (None, 21))
    assert {k: s.value for k, s in found.items()} == pytest.approx({k: s.value for k, s in given.items()})
    assert 'group:R' in found['R'].signature


@pytest.mark.parametrize('name', ['turn_{}', '{}.0', 't{}', '{}'])
def test_turn_names_are_ordered_by_their_number(name):
    def corpus(side): return {'d': {name.format(i): {'h-a': str(i), 'h-b': side if i > 3 else 'x'} for i in sorted(range(12), key=str)}}
    gold, pred = as_corpus(corpus('x')), as_corpus(corpus('y'))
    assert gold['d'].reordered and [t.state['h', 'a'] for t in gold['d']] == [str(i) for i in range(12)]
    assert dst.flexible_goal_accuracy(gold, pred).turns.weight.round(3).tolist() == [1]*4 + [0] + [round(1 - math.exp(-.5*i), 3) for i in range(1, 8)]


def test_names_without_numbers_keep_their_order():
    assert [t.id for t in as_corpus({'d': {'start': {}, 'middle': {}, 'end': {}}})['d']] == ['start', 'middle', 'end']


def test_turns_counted_from_one():
    with pytest.raises(PairingError, match='0 for the first turn of every gold dialogue and 1'):
        dst.joint_goal_accuracy({'a': [{}, {}]}, {'a': {'1': {}, '2': {}}})


def test_empty_values_do_not_meet_others_under_one_name():
    assert exact({'hotel-book day': 'monday'}, {'hotel-day': '', 'hotel-book day': 'monday'}, names='multiwoz')
    assert not exact({'hotel-day': 'not mentioned', 'hotel-book day': 'monday'}, {}, names='multiwoz')


def test_a_turn_without_a_state_is_a_missing_prediction():
    gold, pred = {'a': [{'h-a': 'x'}]*3}, {'a': [{'h-a': 'x'}, None, {'h-a': 'x'}]}
    assert dst.evaluate(gold, pred).pairing.missing_turns == [('a', 1)]
    assert dst.joint_goal_accuracy(gold, pred, missing='skip').n == 2
    with pytest.raises(PairingError): dst.joint_goal_accuracy(gold, pred, strict=True)


def test_a_schema_is_no_smaller_than_gold():
    with pytest.raises(OptionError, match='at least the 4 that gold fills'): dst.slot_accuracy(GOLD, PRED, slots=3)


def test_partial_credit_is_one_scale():
    pytest.importorskip('rapidfuzz')
    states = encode([[{'h-a': 'the grand hotel'}]*2], [[{'h-a': 'grand hotel'}]*2], values='fuzzy')
    credit = dst.joint_goal_accuracy(states).value
    assert 0 < credit < 1 and dst.flexible_goal_accuracy(states, lam=0).value == dst.final_goal_accuracy(states).value == credit
    assert credit < dst.flexible_goal_accuracy(states, lam=1).value < 1
    assert dst.flexible_goal_accuracy(states, lam=float('inf')).value == dst.turn_match(states).value
    assert any('partial credit' in note for note in dst.evaluate(states).notes)


def test_signatures_tell_choices_apart():
    def signature(**how): return dst.joint_goal_accuracy(GOLD, PRED, **how).signature
    pairs = [(dict(values=trippy({'n': ['m']})), dict(values=trippy({'n': ['k']}))), (dict(slots=list('abcd')), dict(slots=list('abce'))),
             (dict(values=default(empty=['x'])), dict(values=default(empty=['y'])))]
    for a, b in pairs: assert signature(**a) != signature(**b)
    bits = Corpus([Dialogue('d1', [Turn(0, hits=(1, 1)), Turn(1, hits=(1, 1))])])
    orders = [dst.average_goal_accuracy({'d1': [{'a-x': '1'}]*2}, bits, slot_order=o).signature for o in (['a-x', 'a-y'], ['a-y', 'a-x'])]
    assert orders[0] != orders[1] and 'names:multiwoz' in orders[0]


def test_domains_with_a_hyphen():
    assert exact({'bus-1': {'time': '9'}}, {'bus-1-time': '9'})
    corpus = as_corpus([[{'bus-1': {'time': '9'}}]])
    assert to_table(corpus).slot.tolist() == ['bus-1-time'] and as_corpus(to_table(corpus).rename(columns={'gold': 'value'}))['0'][0].state == corpus['0'][0].state


def test_gold_that_accepts_nothing():
    assert exact({'h-a': 'none|hotel'}, {})
    assert dst.slot_recall([[{'h-a': 'none|hotel', 'h-b': 'x'}]], [[{'h-b': 'x'}]]).value == 1


def test_true_is_not_one():
    assert [t.state for t in as_corpus([[{'a-x': 1}, {'a-x': True}]])['0']] == [{('a', 'x'): '1'}, {('a', 'x'): 'true'}]


def test_accents_are_letters_however_stored(): assert exact({'h-a': 'café'}, {'h-a': 'cafe\u0301'})


def test_groups_with_holes():
    with pytest.raises(OptionError, match='none for'): dst.joint_goal_accuracy(GOLD, PRED).by({'d1': 'x', 'd2': float('nan')})
    assert set(dst.joint_goal_accuracy(GOLD, PRED).by(pd.Series({'d1': 'x', 'd2': 'y'}))) == {'x', 'y'}


def test_corpora_built_by_hand():
    def corpus(turn): return Corpus([Dialogue('d', [turn])])
    right = corpus(Turn(0, state={('h', 'a'): 'n'}))
    assert dst.joint_goal_accuracy(right, corpus(Turn('0', state={('h', 'a'): 'n'}))).value == 1
    for state in ({'h-a': 'n'}, {('h', 'a'): 4}):
        with pytest.raises(FormatError, match='as_state'): dst.joint_goal_accuracy(right, corpus(Turn(0, state=state)))


def test_native_form_keeps_odd_slots():
    corpus = as_corpus([[{('hotel', 'area'): 'x', ('', 'hotel'): 'y'}]])
    assert read_dialeval(json.loads(json.dumps(to_native(corpus))))['0'][0].state == corpus['0'][0].state


def test_options_that_would_be_ignored(tmp_path, capsys):
    path = tmp_path/'p.json'
    path.write_text(json.dumps(GOLD))
    labels = tmp_path/'l.json'
    labels.write_text('{"label_maps": {"a": 3}}')
    for extra, message in [(['--label-map', str(path)], 'used together'), (['--slot-order', str(path)], '0/1 verdicts'),
                           (['--values', 'trippy', '--label-map', str(labels)], 'lists of variants'), (['--slots=--5'], 'no such file'),
                           (['--format', 'dialeval'], 'a list of dialogues')]:
        assert main(['dst', str(path), str(path), *extra]) == 2 and message in capsys.readouterr().err
    with pytest.raises(OptionError, match='at least one number'): dst.evaluate(GOLD, PRED, lam=[])
    assert main(['dst', str(tmp_path)]) == 2 and 'a folder' in capsys.readouterr().err


def test_lambda_of_an_invented_domain():
    assert dst.flexible_goal_accuracy(GOLD, {'d1': [{'q-x': '1'}]*2, 'd2': [{}]*2}, lam={'a': .5, 'b': .1}).n == 4
    for lam in (10**400, [np.array(-1.)]):
        with pytest.raises(OptionError): dst.flexible_goal_accuracy(GOLD, PRED, lam=lam)
    assert dst.flexible_goal_accuracy(GOLD, PRED, lam=np.array(.5)).value == dst.flexible_goal_accuracy(GOLD, PRED).value
    assert dst.flexible_goal_accuracy(GOLD, PRED, lam=1e308).value == dst.turn_match(GOLD, PRED).value


def test_odd_types_of_options():
    assert dst.slot_accuracy(GOLD, PRED, slots=np.int64(30)).value == dst.slot_accuracy(GOLD, PRED, slots=30.).value
    for how in (dict(values=['x']), dict(names=['x'])):
        with pytest.raises(OptionError): dst.joint_goal_accuracy(GOLD, PRED, **how)
    for how in (dict(n=1.5), dict(level='a'), dict(seed=-1)):
        with pytest.raises(OptionError): dst.joint_goal_accuracy(GOLD, PRED).ci(**how)
    with pytest.raises(OptionError, match='scores'): merge([dst.evaluate(GOLD, PRED)])


def part(ids): return dst.evaluate({i: GOLD[i] for i in ids}, {i: PRED[i] for i in ids}, slots=30)


def test_scores_travel_between_processes():
    with Pool(2) as pool: parts = pool.map(part, [['d1'], ['d2']])
    whole = dst.evaluate(GOLD, PRED, slots=30)
    for name in whole: assert merge([p[name] for p in parts]).value == pytest.approx(whole[name].value)
    again = pickle.loads(pickle.dumps(merge([p['turn_match'] for p in parts])))
    assert again.by('domain')['a'].value == whole['turn_match'].by('domain')['a'].value and len(again.turns) == 4


def test_looking_at_a_report_does_not_change_it():
    report = dst.evaluate(GOLD, PRED)
    before = report.to_json()
    assert '95 % interval' in report._repr_html_() and report.to_json() == before and not report.intervals


def test_intervals_reach_breakdowns_and_variants(tmp_path, capsys):
    path = tmp_path/'p.json'
    path.write_text(json.dumps(PRED)); (tmp_path/'g.json').write_text(json.dumps(GOLD))
    assert main(['dst', str(path), str(tmp_path/'g.json'), '--ci', '--by', 'domain', '--json']) == 0
    found = json.loads(capsys.readouterr().out)
    assert found['resampling'] == {'level': .95, 'n': 1000, 'seed': 0} and found['variants']['paper']['intervals']
    assert found['by']['domain']['a']['intervals']['joint_goal_accuracy'][1] <= 1


def test_many_turns_with_one_id():
    with pytest.raises(FormatError, match='two turns 7'): Dialogue('d', [Turn(i) for i in range(60_000)] + [Turn(7)])


def test_json_lines_are_lines(tmp_path):
    from dialeval.readers import load
    path = tmp_path/'x.jsonl'
    path.write_text('{"a": "x\u2028y"}\n{"a": ', encoding='utf-8')
    with pytest.raises(FormatError, match='line 2'): load(path)


def test_pipes_and_poor_terminals(tmp_path):
    shell = f'{sys.executable} -c "from dialeval.cli import main; import sys; sys.exit(main())"'
    text = json.dumps({'ü': {'0': {'gt': {'h': {'a': '北'}}, 'pr': {'x': {'北': '1'}}}}})
    run = subprocess.run(f'{shell} dst - --slots 1', shell=True, input=text.encode(), capture_output=True,
                         env=os.environ | {'PYTHONIOENCODING': 'cp1252'})
    assert run.returncode == 0 and b'joint_goal_accuracy' in run.stdout and b'x-\\u5317 (1)' in run.stdout, run.stderr
    full = subprocess.run(f'{shell} metrics > /dev/full', shell=True, capture_output=True, text=True)
    assert full.returncode == 2 and full.stderr.startswith('dialeval: ')


def test_breakdown_of_verdicts_needs_gold(tmp_path, capsys):
    path = tmp_path/'b.json'
    path.write_text('{"d": ["11", "10"]}')
    assert main(['dst', str(path), '--by', 'domain']) == 2
    out, err = capsys.readouterr()
    assert out == '' and 'verdicts only' in err
