"Bad input: one clear error or one named warning for each kind; nothing is lost in silence."
import json

import numpy as np
import pandas as pd
import pytest
from dialeval import dst
from dialeval.changes import granular_change_accuracy, operation_f1
from dialeval.cli import main
from dialeval.core import Corpus, DialevalError, Dialogue, FormatError, OptionError, PairingError, Turn, as_corpus, pair
from dialeval.readers import load, parse, read, read_pair
from dialeval.values import default, encode

GOOD = {'A': [{'hotel-area': 'north'}, {'hotel-area': 'north', 'hotel-stars': '4'}]}


def file(tmp_path, content, name='pred.json'):
    "A file of bytes, of text, or of data as JSON"
    if not isinstance(content, (bytes, str)): content = json.dumps(content)
    path = tmp_path/name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def jga(gold, pred, **how): return dst.joint_goal_accuracy(gold, pred, **how).value


BAD_FILES = {
    'empty file': ('', 'an empty file'),
    'only blanks': ('  \n', 'an empty file'),
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
    'a slot in two spellings': ('{"A": [{"h-a": "x", "h": {"a": "y"}}]}', 'two entries.*dialogue A, turn 0, h-a'),
    'NaN': ('{"A": [{"hotel-area": NaN}]}', 'NaN.*dialogue A, turn 0, hotel-area'),
    'a deep value': ('{"A": [{"hotel": {"area": {"x": 1}}}]}', "dict {'x': 1}.*dialogue A, turn 0, hotel-area"),
    'not UTF-8': (b'{"A": [{"hotel-name": "caf\xe9"}]}', 'text in UTF-8'),
    'half a result': ('{"A": {"0": {"gt": {}, "pr": {}}, "1": {"gt": {}}}}', "the key 'pr'.*dialogue A, turn 1"),
    'verdicts of two lengths': ('{"A": ["101", "11"]}', 'of one length, but got 3 and 2.*dialogue A, turn 1'),
    'verdicts that are none': ('{"A": ["101", "1x1"]}', "zeros and ones, but got str '1x1'.*turn 1"),
    'own form, odd turns': ('{"dialogues": [{"id": "A", "turns": 3}]}', 'a list, but got int 3.*dialogue A'),
    'very deep': ('['*100_000, 'reasonable depth'),
    'a number of 5000 digits': ('{"A": [{"hotel-area": ' + '9'*5000 + '}]}', 'reasonable numbers'),
    'infinity': ('{"A": [{"hotel-area": Infinity}]}', 'but got inf.*dialogue A, turn 0, hotel-area'),
    'turns that cannot be ordered': ('{"A": {"1": {}, "x": {}}}', 'turn ids to be numbers.*dialogue A'),
    'a file of TRADE predictions': ('{"A": {"0": {"turn_belief": ["a-b-c"], "pred_bs_ptr": []}}}', 'one of the formats'),
    'final states alone': ('{"A": {"hotel-stars": "1", "hotel-people": "0"}}', 'one of the formats'),
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


BAD_OPTIONS = {'--format odd': 'one of states', '--values odd': 'one of raw, default', '--names odd': 'raw, multiwoz',
               '--slots 0': 'positive', '--slots -3': 'positive', '--slots nofile': 'no such file',
               '--lam -1': 'from 0 to infinity', '--lam nan': 'from 0 to infinity', '--values trippy': '--label-map'}


@pytest.mark.parametrize('options, message', BAD_OPTIONS.items(), ids=BAD_OPTIONS)
def test_unknown_format_and_options(tmp_path, capsys, options, message):
    path = str(file(tmp_path, GOOD))
    assert main(['dst', path, path, *options.split()]) == 2
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
    assert (p.missing, p.extra, p.short, p.shuffled) == (['C'], ['Z'], ['A'], True)
    assert (p.missing_turns, p.extra_turns) == ([('A', 1), ('A', 2)], [('B', 1)])
    assert report.counts['turns'] == 5 and report.counts['exact_turns'] == 3
    assert all(name in str(report) for name in ('C', 'Z', 'A turn 1', 'B turn 1'))
    assert json.loads(report.to_json())['pairing']['missing'] == ['C']
    skipped = dst.evaluate(gold, pred, missing='skip')
    assert skipped.counts['turns'] == 2 and 'missing:skip' in skipped.signature
    assert 'without a prediction, skipped (1): C' in str(skipped)


MISFITS = [({'A': [{}]}, 'A turn 1'), ({'A': [{}, {}], 'B': [{}]}, 'B'), ({'B': [{}], 'C': [{}]}, 'A'),
           ({'A': {'1': {}, '0': {}}}, 'sorted by number')]


@pytest.mark.parametrize('pred, named', MISFITS)
def test_strict(pred, named):
    gold = {'A': [{}, {}]} if 'C' not in pred else {'A': [{}, {}], 'B': [{}], 'C': [{}]}
    with pytest.raises(PairingError, match=named): pair(gold, pred, strict=True)
    pair(gold, pred)


def test_strict_names_a_shuffle():
    gold, pred = {'A': [{}], 'B': [{}]}, {'B': [{}], 'A': [{}]}
    with pytest.raises(PairingError, match='another order'): pair(gold, pred, strict=True)


def test_no_id_in_common():
    message = "the first id is 'SNG1.json' in gold and 'sng1' in the prediction"
    with pytest.raises(PairingError, match=message): pair({'SNG1.json': [{}]}, {'sng1': [{}]})


def test_turn_ten_comes_after_turn_two():
    turns = {str(i): {'h-a': str(i)} for i in sorted(range(12), key=str)}
    corpus = as_corpus({'A': turns})
    assert [t.id for t in corpus['A']] == list(range(12)) and corpus['A'].reordered
    report = dst.evaluate({'A': [{'h-a': str(i)} for i in range(12)]}, corpus)
    assert report['joint_goal_accuracy'].value == 1 and report.pairing.reordered == ['A']


NOTHING = [None, '', 'none', 'None ', 'not mentioned', 'null', []]
ABSENT = [{}, {'h': {}}, {'h': {'a': None}}, *({'h-a': value} for value in NOTHING)]


@pytest.mark.parametrize('state', ABSENT, ids=repr)
def test_spellings_of_absent(state):
    assert jga([[{}]], [[state]]) == 1 and dst.average_goal_accuracy([[state]], [[{}]]).n == 0


def test_raw_keeps_none(): assert jga([[{}]], [[{'h-a': 'none'}]], values='raw') == 0


NO_CARE = ["don't care", 'do n’t care', 'dont care', 'DO NOT CARE', "doesn't care", 'any', 'dontcare']


@pytest.mark.parametrize('value', NO_CARE)
def test_dontcare_is_a_value(value):
    assert jga([[{'h-a': 'dontcare'}]], [[{'h-a': value}]]) == 1
    assert jga([[{'h-a': value}]], [[{}]]) == 0


def right(gold, pred, slot='h-a', **how): return jga([[{slot: gold}]], [[{slot: pred}]], **how) == 1


def test_alternatives():
    assert right(['a', 'b'], 'b') and right('none|a', None)
    assert right('a|b', 'a') and right('a | B', 'b') and right('a|b', 'b|a') and right('a|b', 'a|b')
    assert not right('cheap|moderate', 'mod') and not right('a', 'a|b') and not right('a', ['a', 'b'])
    kept = default(bar=None)
    assert not right('a|b', 'a', values=kept) and right('a|b', 'a|b', values=kept)


@pytest.mark.parametrize('several', [('a', 'b'), {'a', 'b'}, {'a', 'b', None}, np.array(['a', 'b'])], ids=repr)
def test_several_accepted_values(several): assert [right(several, pred) for pred in 'abc'] == [True, True, False]


def test_a_set_of_numbers_and_words(): assert right({4, 'four', None}, '4') and right({4, 'four', None}, 'four')


def test_every_departure_is_in_the_name_of_the_policy():
    asked = [{}, dict(bar=None), dict(bar=';'), dict(width=True), dict(time=True), dict(empty=['']), dict(dontcare=[])]
    assert len({default(**options).name for options in asked}) == len(asked)


@pytest.mark.parametrize('number', [4, 4.0, np.int64(4), np.float32(4)], ids=repr)
def test_numbers_are_text(number): assert right('4', number)


def test_truth_is_text(): assert right('true', True)


def test_hyphens():
    assert as_corpus([[{'hotel-bed-type': 'a-b-c'}]]).slots() == [('hotel', 'bed-type')]
    gold, pred = [[{'h-a': 'bed-and-breakfast'}]], [[{'h-a': 'hotel'}]]
    assert [dst.slot_accuracy(gold, pred, slots=10, variant=v).value for v in ('paper', 'released')] == [.9, .8]


def test_slots_outside_the_schema():
    inventive = {'hotel-area': 'north', 'wifi': 'yes', 'hotel-vibe': 'good'}
    report = dst.evaluate([[{'hotel-area': 'north'}]], [[inventive]], slots=['hotel-area', 'hotel-stars'])
    assert report['joint_goal_accuracy'].value == 0 and report['slot_accuracy'].value == 0
    assert any('wifi (1)' in n and 'hotel-vibe (1)' in n for n in report.notes)
    beyond = dst.evaluate([[{'hotel-area': 'north'}]], [[{}]], slots=['hotel-stars'])
    assert any('gold fills' in n and 'hotel-area' in n for n in beyond.notes)


@pytest.mark.parametrize('value', [float('nan'), np.nan, object(), {'x': 1}, [float('nan')], [['a']]])
def test_values_that_are_none(value):
    with pytest.raises(FormatError, match='dialogue 0, turn 0, h-a'): jga([[{}]], [[{'h': {'a': value}}]])


@pytest.mark.parametrize('lam', [-1, float('nan'), 'x', None, {'hotel': .5}, {'default': -1}])
def test_bad_lambda(lam):
    with pytest.raises(OptionError, match='lam'): dst.flexible_goal_accuracy([[{'taxi-a': '1'}]], [[{}]], lam=lam)


ODD = [dict(variant='odd'), dict(missing='odd'), dict(values=3), dict(names=3),
       dict(slots='odd'), dict(slots=True), dict(slots={'a': 1}), dict(slots=-1)]


@pytest.mark.parametrize('how', ODD, ids=str)
def test_bad_options(how):
    with pytest.raises(OptionError): dst.flexible_goal_accuracy(GOOD, GOOD, **how)


@pytest.mark.parametrize('turns, p', [(0, .5), (-1, .5), (3, 1), (3, -.1)])
def test_bad_forgiveness(turns, p):
    with pytest.raises(OptionError): dst.lam_for(turns, p)


def test_text_of_any_script():
    def alike(gold, pred, **how): return right(gold, pred, slot='酒店-名称', **how)
    assert alike('北京 饭店', ' 北京  饭店') and alike('Błękitna', 'błękitna') and alike('İstanbul', 'İstanbul')
    assert not alike('ｃａｆｅ', 'cafe') and alike('ｃａｆｅ', 'cafe', values=default(width=True))


def test_short_dialogues():
    report = dst.evaluate({'one': [{'h-a': '1'}], 'zero': []}, {'one': [{'h-a': '2'}], 'zero': []})
    assert report.counts | {} == {'dialogues': 2, 'turns': 1, 'exact_turns': 0, 'matched_turns': 0, 'slots': 1}
    assert np.isnan(dst.evaluate({'zero': []}, {'zero': []})['joint_goal_accuracy'].value)
    assert any('no turns' in n for n in dst.evaluate({}, {}).notes)


def test_gold_without_states():
    talk = Corpus([Dialogue('A', [Turn(0, user='hello')])])
    stateless = Corpus([Dialogue('A', [Turn(0, response='x'), Turn(1)])])
    with pytest.raises(FormatError, match='gold to be annotated.*dialogue A, turn 0'): jga(talk, GOOD)
    with pytest.raises(FormatError, match='turns without any state'): jga(GOOD, stateless)
    with pytest.raises(OptionError, match='pred'): jga(GOOD, None)
    with pytest.raises(FormatError, match='dialogues with lists'): jga(3, GOOD)


FRAME = pd.DataFrame({'dialogue': ['A', 'A', 'A'], 'turn': [0, 1, 1], 'slot': [None, 'h-a', 'h-b'],
                      'gold': [None, 'x', 'None'], 'pred': [None, 'x', None]})


@pytest.mark.parametrize('ending', ['csv', 'tsv', 'parquet'])
def test_tables(tmp_path, ending):
    path = tmp_path/f't.{ending}'
    if ending == 'parquet': FRAME.to_parquet(path)
    else: FRAME.to_csv(path, index=False, sep={'csv': ',', 'tsv': '\t'}[ending])
    gold, pred = read_pair(path)
    assert [len(d) for d in gold] == [2] and jga(gold, pred, values='raw') == .5


def test_a_table_as_both_sides():
    score = dst.joint_goal_accuracy(FRAME)
    assert score.value == 1 and score.n == 2


def test_parquet_holds_several_values(tmp_path):
    FRAME.assign(gold=[None, ['x', 'y'], ['None']]).to_parquet(tmp_path/'t.parquet')
    gold, pred = read_pair(tmp_path/'t.parquet')
    assert gold['A'][1].state['h', 'a'] == ('x', 'y') and jga(gold, pred) == 1


def test_bad_tables(tmp_path):
    with pytest.raises(FormatError, match='no turn'): as_corpus(FRAME.drop(columns='turn'), side='gold')
    with pytest.raises(FormatError, match='given in each row'): as_corpus(FRAME.assign(dialogue=None), side='gold')
    with pytest.raises(FormatError, match='two entries'): as_corpus(pd.concat([FRAME, FRAME]), side='gold')
    with pytest.raises(FormatError): read(file(tmp_path, 'a,b\n1,2,3\n4,5\n', 'odd.csv'))
    with pytest.raises(FormatError, match='blank.csv'): read(file(tmp_path, ' \n\n', 'blank.csv'))
    with pytest.raises(FormatError): read(file(tmp_path, 'no parquet', 'odd.parquet'))


def test_a_csv_keeps_words_that_pandas_takes_for_nothing(tmp_path):
    path = file(tmp_path, 'dialogue,turn,slot,value\n007,0,h-name,NA\n007,1,,\n', 'v.csv')
    corpus = read(path)
    assert list(corpus.dialogues) == ['007']
    assert [turn.state for turn in corpus['007']] == [{('h', 'name'): 'NA'}, {}]


def test_json_lines(tmp_path):
    assert load(file(tmp_path, '{"a": 1}\n\n{"a": 2}\n', 'x.jsonl')) == [{'a': 1}, {'a': 2}]


def test_every_error_is_a_value_error():
    assert issubclass(DialevalError, ValueError)
    assert all(issubclass(error, DialevalError) for error in (FormatError, PairingError, OptionError))
    with pytest.raises(ValueError): parse('{')


def test_byte_order_mark(tmp_path): assert len(read(file(tmp_path, b'\xef\xbb\xbf' + json.dumps(GOOD).encode()))) == 1


BITS = Corpus([Dialogue('A', [Turn(0, hits=(1, 1)), Turn(1, hits=(0, 1)), Turn(2, hits=(0, 1))])])
THEIR_GOLD = {'A': [{}, {'h-a': '1'}, {'h-a': '1'}]}


def test_verdicts():
    report = dst.evaluate(THEIR_GOLD, BITS, slot_order=['h-a', 'h-b'])
    assert report['average_goal_accuracy'].value == 0 and report['slot_accuracy'].value == pytest.approx(4/6)
    assert report['flexible_goal_accuracy@1.0'].value == pytest.approx((1 + 1 - np.exp(-1))/3)
    longer = dst.evaluate(THEIR_GOLD | {'B': [{}]}, BITS)
    assert longer.counts['turns'] == 4 and longer.counts['exact_turns'] == 1 and longer.pairing.missing == ['B']


def test_what_verdicts_cannot_tell():
    for metric in (dst.slot_f1, dst.relative_slot_accuracy, granular_change_accuracy, operation_f1):
        with pytest.raises(FormatError, match='verdicts only'): metric(THEIR_GOLD, BITS)
    with pytest.raises(FormatError, match='verdicts only'): dst.turn_match(THEIR_GOLD, BITS, variant='paper')
    with pytest.raises(FormatError, match='verdicts only'): dst.flexible_goal_accuracy(THEIR_GOLD, BITS)


@pytest.mark.parametrize('order, message', [(['h-a', 'h-b', 'h-c'], '2 names, one for each verdict, but got 3'),
                                            (['h-x', 'h-b'], 'no name for h-a.*turn 1')])
def test_bad_slot_order(order, message):
    with pytest.raises(FormatError, match=message): dst.evaluate(THEIR_GOLD, BITS, slot_order=order)


def test_encode_says_what_it_did():
    how = dict(values='trade', names='multiwoz', slots='multiwoz')
    states = encode(GOOD, GOOD, **how)
    assert states.choices == how | dict(missing='empty') and states.size == 30


def test_options_of_encoded_states():
    states = encode(GOOD, GOOD)
    assert dst.joint_goal_accuracy(states).value == 1
    with pytest.raises(OptionError, match='where they were encoded'): dst.joint_goal_accuracy(states, values='raw')
    with pytest.raises(OptionError): dst.joint_goal_accuracy(states, GOOD)


def test_two_names_that_become_one():
    "Nothing is lost: the prediction commits to both values and is right only if gold accepts both"
    def said(one, other): return [[{'train-arriveBy': one, 'train-arrive by': other}]]
    gold = [[{'train-arriveby': '10:00'}]]
    assert jga(gold, said('10:00', '10:00'), names='multiwoz') == 1
    assert jga(gold, said('10:00', '11:00'), names='multiwoz') == 0


def test_html_stays_text():
    report = dst.evaluate({'<b>': [{'<i>-x': '<script>'}]}, {'<b>': [{}], '<u>': [{}]}, slots=1)
    assert '<u>' not in report._repr_html_() and '&lt;u&gt;' in report._repr_html_()
