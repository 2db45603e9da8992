"Bad input: one clear error or one named warning for each kind; nothing is lost in silence."
import json

import numpy as np
import pandas as pd
import pytest
from dialeval import dst
from dialeval.cli import main
from dialeval.core import Corpus, DialevalError, Dialogue, FormatError, OptionError, PairingError, Turn, as_corpus, pair
from dialeval.readers import load, parse, read, read_pair
from dialeval.values import default, encode

GOOD = {'A': [{'hotel-area': 'north'}, {'hotel-area': 'north', 'hotel-stars': '4'}]}


def file(tmp_path, content, name='pred.json'):
    path = tmp_path/name
    path.write_bytes(content if isinstance(content, bytes) else (content if isinstance(content, str) else json.dumps(content)).encode())
    return path


BAD_FILES = {
    'empty file': ('', 'an empty file'),
    'only blanks': ('  \n', 'complete JSON'),
    'truncated': ('{"A": [{"hotel-area": "nor', 'complete JSON.*line 1, column'),
    'a number': ('3', 'one of the formats.*int 3'),
    'a text': ('"hello"', "one of the formats.*'hello'"),
    'null': ('null', 'one of the formats'),
    'a list of numbers': ('[1, 2]', 'one of the formats'),
    'turns that are text': ('{"A": "hello"}', 'one of the formats'),
    'a turn that is a number': ('{"A": [{}, 7]}', 'a mapping from slots to values, but got int 7.*dialogue A, turn 1'),
    'a dialogue that is a number': ('{"A": [{}], "B": 7}', 'a list of states, but got int 7.*dialogue B'),
    'duplicate dialogue': ('{"A": [{}], "A": [{}]}', "unique, but got 'A' twice"),
    'duplicate turn': ('{"A": {"0": {}, "0": {}}}', "unique, but got '0' twice"),
    'duplicate turn by number': ('{"A": {"1": {}, "01": {}}}', 'two turns 1.*dialogue A'),
    'duplicate slot': ('{"A": [{"hotel-area": "a", "hotel-area": "b"}]}', "'hotel-area' twice"),
    'a slot in two spellings': ('{"A": [{"hotel-area": "a", "hotel": {"area": "b"}}]}', 'two entries.*dialogue A, turn 0, hotel-area'),
    'NaN': ('{"A": [{"hotel-area": NaN}]}', 'NaN.*dialogue A, turn 0, hotel-area'),
    'a deep value': ('{"A": [{"hotel": {"area": {"x": 1}}}]}', "dict {'x': 1}.*dialogue A, turn 0, hotel-area"),
    'not UTF-8': (b'{"A": [{"hotel-name": "caf\xe9"}]}', 'text in UTF-8'),
    'half a result': ('{"A": {"0": {"gt": {}, "pr": {}}, "1": {"gt": {}}}}', "the key 'pr'.*dialogue A, turn 1"),
    'verdicts of two lengths': ('{"A": ["101", "11"]}', 'of one length, but got 3 and 2.*dialogue A, turn 1'),
    'verdicts that are none': ('{"A": ["101", "1x1"]}', "zeros and ones, but got str '1x1'.*turn 1"),
    'no gold': (json.dumps(GOOD), 'a gold file to be given'),
}


@pytest.mark.parametrize('content, message', BAD_FILES.values(), ids=BAD_FILES)
def test_bad_file_is_one_line_and_code_2(tmp_path, capsys, content, message):
    path = file(tmp_path, content)
    assert main(['dst', str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == '' and err.count('\n') == 1 and err.startswith('dialeval: ')
    import re
    assert re.search(message, err), err
    assert 'pred.json' in err


def test_no_such_file(capsys, tmp_path):
    assert main(['dst', str(tmp_path/'none.json')]) == 2 and 'no such file' in capsys.readouterr().err


def test_unknown_format_and_options(tmp_path, capsys):
    path = str(file(tmp_path, GOOD))
    for args, message in [(['--format', 'odd'], 'one of states'), (['--values', 'odd'], 'one of raw, default'), (['--names', 'odd'], 'raw, multiwoz'), (['--slots', '0'], 'positive'),
                          (['--slots', '-3'], 'positive'), (['--slots', 'nofile'], 'no such file'), (['--lam', '-1'], 'from 0 to infinity'), (['--lam', 'nan'], 'from 0 to infinity'),
                          (['--values', 'trippy'], '--label-map')]:
        assert main(['dst', path, path, *args]) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize('argv', [['dst'], ['dst', 'x', '--variant', 'odd'], ['odd']])
def test_bad_command_line(argv, capsys):
    with pytest.raises(SystemExit) as e: main(argv)
    assert e.value.code == 2


def test_missing_extra_reordered():
    gold = {'A': [{}, {'h-a': '1'}, {'h-a': '1'}], 'B': [{'h-a': '1'}], 'C': [{}]}
    pred = {'Z': [{}], 'B': [{'h-a': '1'}, {'h-a': '2'}], 'A': [{}]}
    report = dst.evaluate(gold, pred)
    p = report.pairing
    assert (p.missing, p.extra, p.missing_turns, p.extra_turns, p.short, p.shuffled) == (['C'], ['Z'], [('A', 1), ('A', 2)], [('B', 1)], ['A'], True)
    assert report.counts['turns'] == 5 and report.counts['exact_turns'] == 3
    assert all(name in str(report) for name in ('C', 'Z', 'A turn 1', 'B turn 1')) and json.loads(report.to_json())['pairing']['missing'] == ['C']
    skipped = dst.evaluate(gold, pred, missing='skip')
    assert skipped.counts['turns'] == 2 and 'missing:skip' in skipped.signature and 'without a prediction, skipped (1): C' in str(skipped)


@pytest.mark.parametrize('pred, named', [({'A': [{}]}, 'A turn 1'), ({'A': [{}, {}], 'B': [{}]}, 'B'), ({'B': [{}], 'C': [{}]}, 'A'), ({'A': {'1': {}, '0': {}}}, 'sorted by number')])
def test_strict(pred, named):
    gold = {'A': [{}, {}]} if 'C' not in pred else {'A': [{}, {}], 'B': [{}], 'C': [{}]}
    with pytest.raises(PairingError, match=named): pair(gold, pred, strict=True)
    pair(gold, pred)


def test_strict_names_a_shuffle():
    with pytest.raises(PairingError, match='another order'): pair({'A': [{}], 'B': [{}]}, {'B': [{}], 'A': [{}]}, strict=True)


def test_no_id_in_common():
    with pytest.raises(PairingError, match="the first id is 'SNG1.json' in gold and 'sng1' in the prediction"): pair({'SNG1.json': [{}]}, {'sng1': [{}]})


def test_turn_ten_comes_after_turn_two():
    turns = {str(i): {'h-a': str(i)} for i in sorted(range(12), key=str)}
    corpus = as_corpus({'A': turns})
    assert [t.id for t in corpus['A']] == list(range(12)) and corpus['A'].reordered
    report = dst.evaluate({'A': [{'h-a': str(i)} for i in range(12)]}, corpus)
    assert report['joint_goal_accuracy'].value == 1 and report.pairing.reordered == ['A']


ABSENT = [{}, {'h-a': None}, {'h-a': ''}, {'h-a': 'none'}, {'h-a': 'None '}, {'h-a': 'not mentioned'}, {'h-a': 'null'}, {'h-a': []}, {'h': {}}, {'h': {'a': None}}]


@pytest.mark.parametrize('state', ABSENT, ids=repr)
def test_spellings_of_absent(state):
    assert dst.joint_goal_accuracy([[{}]], [[state]]).value == 1 and dst.average_goal_accuracy([[state]], [[{}]]).n == 0


def test_raw_keeps_none(): assert dst.joint_goal_accuracy([[{}]], [[{'h-a': 'none'}]], values='raw').value == 0


@pytest.mark.parametrize('value', ["don't care", 'do n’t care', 'dont care', 'DO NOT CARE', "doesn't care", 'any', 'dontcare'])
def test_dontcare_is_a_value(value):
    assert dst.joint_goal_accuracy([[{'h-a': 'dontcare'}]], [[{'h-a': value}]]).value == 1
    assert dst.joint_goal_accuracy([[{'h-a': value}]], [[{}]]).value == 0


def test_alternatives():
    def right(gold, pred, **how): return dst.joint_goal_accuracy([[{'h-a': gold}]], [[{'h-a': pred}]], **how).value == 1
    assert right(['a', 'b'], 'b') and right('a|b', 'a') and right('a | B', 'b') and right('a|b', 'b|a') and right('a|b', 'a|b')
    assert not right('cheap|moderate', 'mod') and not right('a', 'a|b') and not right('a', ['a', 'b'])
    assert not right('a|b', 'a', values=default(bar=None)) and right('a|b', 'a|b', values=default(bar=None)) and right('none|a', None)


def test_numbers_are_text():
    for number in (4, 4.0, np.int64(4), np.float32(4)): assert dst.joint_goal_accuracy([[{'h-stars': '4'}]], [[{'h-stars': number}]]).value == 1
    assert dst.joint_goal_accuracy([[{'h-x': 'true'}]], [[{'h-x': True}]]).value == 1


def test_hyphens():
    assert as_corpus([[{'hotel-bed-type': 'a-b-c'}]]).slots() == [('hotel', 'bed-type')]
    gold, pred = [[{'h-a': 'bed-and-breakfast'}]], [[{'h-a': 'hotel'}]]
    assert [dst.slot_accuracy(gold, pred, slots=10, variant=v).value for v in ('paper', 'released')] == [.9, .8]


def test_slots_outside_the_schema():
    report = dst.evaluate([[{'hotel-area': 'north'}]], [[{'hotel-area': 'north', 'wifi': 'yes', 'hotel-vibe': 'good'}]], slots=['hotel-area', 'hotel-stars'])
    assert report['joint_goal_accuracy'].value == 0 and report['slot_accuracy'].value == 0 and any('wifi (1)' in n and 'hotel-vibe (1)' in n for n in report.notes)
    beyond = dst.evaluate([[{'hotel-area': 'north'}]], [[{}]], slots=['hotel-stars'])
    assert any('gold fills' in n and 'hotel-area' in n for n in beyond.notes)


@pytest.mark.parametrize('value', [float('nan'), np.nan, object(), {'x': 1}, [float('nan')]])
def test_values_that_are_none(value):
    with pytest.raises(FormatError, match='dialogue 0, turn 0, h-a'): dst.joint_goal_accuracy([[{}]], [[{'h': {'a': value}}]])


@pytest.mark.parametrize('lam', [-1, float('nan'), 'x', None, {'hotel': .5}, {'default': -1}])
def test_bad_lambda(lam):
    with pytest.raises(OptionError, match='lam'): dst.flexible_goal_accuracy([[{'taxi-a': '1'}]], [[{}]], lam=lam)


def test_bad_options():
    for how in (dict(variant='odd'), dict(missing='odd'), dict(values=3), dict(names=3), dict(slots='odd'), dict(slots=True), dict(slots={'a': 1}), dict(slots=-1)):
        with pytest.raises(OptionError): dst.flexible_goal_accuracy(GOOD, GOOD, **how)
    for turns, p in [(0, .5), (-1, .5), (3, 1), (3, -.1)]:
        with pytest.raises(OptionError): dst.lam_for(turns, p)


def test_text_of_any_script():
    def right(gold, pred, **how): return dst.joint_goal_accuracy([[{'酒店-名称': gold}]], [[{'酒店-名称': pred}]], **how).value == 1
    assert right('北京 饭店', ' 北京  饭店') and right('Błękitna', 'błękitna') and right('İstanbul', 'İstanbul')
    assert not right('ｃａｆｅ', 'cafe') and right('ｃａｆｅ', 'cafe', values=default(width=True))


def test_short_dialogues():
    report = dst.evaluate({'one': [{'h-a': '1'}], 'zero': []}, {'one': [{'h-a': '2'}], 'zero': []})
    assert report.counts | {} == {'dialogues': 2, 'turns': 1, 'exact_turns': 0, 'matched_turns': 0}
    assert np.isnan(dst.evaluate({'zero': []}, {'zero': []})['joint_goal_accuracy'].value)
    assert any('no turns' in n for n in dst.evaluate({}, {}).notes)


def test_gold_without_states():
    talk = Corpus([Dialogue('A', [Turn(0, user='hello')])])
    with pytest.raises(FormatError, match='gold to be annotated.*dialogue A, turn 0'): dst.joint_goal_accuracy(talk, GOOD)
    with pytest.raises(FormatError, match='turns without any state'): dst.joint_goal_accuracy(GOOD, Corpus([Dialogue('A', [Turn(0, response='x'), Turn(1)])]))
    with pytest.raises(OptionError, match='pred'): dst.joint_goal_accuracy(GOOD)
    with pytest.raises(FormatError, match='dialogues with lists'): dst.joint_goal_accuracy(3, GOOD)


def test_tables(tmp_path):
    frame = pd.DataFrame({'dialogue': ['A', 'A', 'A'], 'turn': [0, 1, 1], 'slot': [None, 'h-a', 'h-b'], 'gold': [None, 'x', 'None'], 'pred': [None, 'x', None]})
    assert dst.joint_goal_accuracy(frame).value == 1 and dst.joint_goal_accuracy(frame).n == 2
    frame.to_csv(tmp_path/'t.csv', index=False); frame.to_parquet(tmp_path/'t.parquet'); frame.to_csv(tmp_path/'t.tsv', index=False, sep='\t')
    for name in ('t.csv', 't.parquet', 't.tsv'):
        gold, pred = read_pair(tmp_path/name)
        assert [len(d) for d in gold] == [2] and dst.joint_goal_accuracy(gold, pred, values='raw').value == .5, name
    with pytest.raises(FormatError, match='no turn'): as_corpus(frame.drop(columns='turn'), side='gold')
    with pytest.raises(FormatError, match='given in each row'): as_corpus(frame.assign(dialogue=None), side='gold')
    with pytest.raises(FormatError, match='two entries'): as_corpus(pd.concat([frame, frame]), side='gold')
    with pytest.raises(FormatError): read(file(tmp_path, 'a,b\n1,2,3\n4,5\n', 'odd.csv'))
    with pytest.raises(FormatError): read(file(tmp_path, 'no parquet', 'odd.parquet'))


def test_a_csv_keeps_words_that_pandas_takes_for_nothing(tmp_path):
    path = file(tmp_path, 'dialogue,turn,slot,value\n007,0,h-name,NA\n007,1,,\n', 'v.csv')
    corpus = read(path)
    assert list(corpus.dialogues) == ['007'] and corpus['007'][0].state == {('h', 'name'): 'NA'} and corpus['007'][1].state == {}


def test_json_lines(tmp_path):
    assert load(file(tmp_path, '{"a": 1}\n\n{"a": 2}\n', 'x.jsonl')) == [{'a': 1}, {'a': 2}]


def test_every_error_is_a_value_error():
    for error in (FormatError, PairingError, OptionError): assert issubclass(error, DialevalError) and issubclass(error, ValueError)
    with pytest.raises(ValueError): parse('{')


def test_byte_order_mark(tmp_path): assert len(read(file(tmp_path, b'\xef\xbb\xbf' + json.dumps(GOOD).encode()))) == 1


def test_verdicts():
    bits = Corpus([Dialogue('A', [Turn(0, hits=(1, 1)), Turn(1, hits=(0, 1)), Turn(2, hits=(0, 1))])])
    gold = {'A': [{}, {'h-a': '1'}, {'h-a': '1'}]}
    report = dst.evaluate(gold, bits, slot_order=['h-a', 'h-b'])
    assert report['average_goal_accuracy'].value == 0 and report['flexible_goal_accuracy@1.0'].value == pytest.approx((1 + 1 - np.exp(-1))/3)
    assert report['slot_accuracy'].value == pytest.approx(4/6)
    for metric in (dst.slot_f1, dst.relative_slot_accuracy):
        with pytest.raises(FormatError, match='verdicts only'): metric(gold, bits)
    with pytest.raises(FormatError, match='verdicts only'): dst.flexible_goal_accuracy(gold, bits, variant='paper')
    with pytest.raises(FormatError, match='2 names, one for each verdict, but got 3'): dst.evaluate(gold, bits, slot_order=['h-a', 'h-b', 'h-c'])
    with pytest.raises(FormatError, match='no name for h-a.*turn 1'): dst.evaluate(gold, bits, slot_order=['h-x', 'h-b'])
    longer = dst.evaluate(gold | {'B': [{}]}, bits)
    assert longer.counts['turns'] == 4 and longer.counts['exact_turns'] == 1 and longer.pairing.missing == ['B']


def test_encode_says_what_it_did():
    states = encode(GOOD, GOOD, names='multiwoz', slots='multiwoz', values='trade')
    assert states.choices == dict(values='trade', names='multiwoz', slots='multiwoz', missing='empty') and states.size == 30


def test_options_of_encoded_states():
    states = encode(GOOD, GOOD)
    assert dst.joint_goal_accuracy(states).value == 1
    with pytest.raises(OptionError, match='where they were encoded'): dst.joint_goal_accuracy(states, values='raw')
    with pytest.raises(OptionError): dst.joint_goal_accuracy(states, GOOD)


def test_two_names_that_become_one():
    "Nothing is lost: the prediction commits to both values and is right only if gold accepts both"
    def right(gold, pred): return dst.joint_goal_accuracy([[gold]], [[pred]], names='multiwoz').value == 1
    assert right({'train-arriveby': '10:00'}, {'train-arriveBy': '10:00', 'train-arrive by': '10:00'})
    assert not right({'train-arriveby': '10:00'}, {'train-arriveBy': '10:00', 'train-arrive by': '11:00'})


def test_html_stays_text():
    report = dst.evaluate({'<b>': [{'<i>-x': '<script>'}]}, {'<b>': [{}], '<u>': [{}]}, slots=1)
    assert '<u>' not in report._repr_html_() and '&lt;u&gt;' in report._repr_html_()
