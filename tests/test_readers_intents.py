"The track's files, written to disk in their own form and read back."
import json

import pandas as pd, pytest

from dialeval.core import FormatError, OptionError
from dialeval.intents import evaluate
from dialeval.readers_intents import read_dialogues, read_induced, read_items


def lines(path, records):
    path.write_text(''.join(json.dumps(r, ensure_ascii=False) + '\n' for r in records), encoding='utf-8')
    return path


DIALOGUES = [{'dialogue_id': 'bank_0000', 'turns': [
    {'turn_id': 'bank_0000_000', 'speaker_role': 'Agent', 'utterance': 'Hello.', 'dialogue_acts': [], 'intents': []},
    {'turn_id': 'bank_0000_001', 'speaker_role': 'Customer', 'utterance': 'My balance?', 'dialogue_acts': ['InformIntent'], 'intents': ['Check', 'Move']},
    {'turn_id': 'bank_0000_002', 'speaker_role': 'Customer', 'utterance': 'In savings.', 'dialogue_acts': [], 'intents': ['Check']}]},
    {'dialogue_id': 'bank_0001', 'turns': [
        {'turn_id': 'bank_0001_004', 'speaker_role': 'Customer', 'utterance': 'Move\u2028it.', 'dialogue_acts': ['InformIntent'], 'intents': ['Move']}]}]
PREDICTED = [{'turn_id': 'bank_0000_001', 'predicted_label': '4'}, {'turn_id': 'bank_0000_002', 'predicted_label': '4'}, {'turn_id': 'bank_0001_004', 'predicted_label': '2'}]


def test_task1(tmp_path):
    gold, pred = lines(tmp_path/'dialogues.jsonl', DIALOGUES), lines(tmp_path/'predictions.json', PREDICTED)
    report = evaluate(read_items(gold), read_items(pred))
    assert report['accuracy'].value == 1 and report['accuracy'].ids == ['bank_0000', 'bank_0001']
    assert 'task:1|turns:released' in report.signature and report.turns.text.tolist() == ['My balance?', 'In savings.', 'Move\u2028it.']
    assert read_items(pred).dialogue.tolist() == ['bank_0000', 'bank_0000', 'bank_0001']


def test_which_turns():
    assert read_dialogues(DIALOGUES)['item'].tolist() == ['bank_0000_001', 'bank_0000_002', 'bank_0001_004']
    paper = evaluate(read_items(DIALOGUES, variant='paper'), read_items(PREDICTED))
    assert paper['accuracy'].n == 2 and 'turns:paper' in paper.signature and len(paper.pairing.extra_turns) == 1
    assert evaluate(read_dialogues(DIALOGUES), read_items(PREDICTED), multi='any').counts['intents'] == 2
    with pytest.raises(OptionError, match='variant'): read_dialogues(DIALOGUES, 'published')


@pytest.mark.data('intents/task1_banking_cases.json', 'references/task1_banking_official.json')
def test_one_file_holds_both_sides(tmp_path, data):
    cases = json.loads((data/'intents/task1_banking_cases.json').read_text(encoding='utf-8'))['test-banking']
    official = json.loads((data/'references/task1_banking_official.json').read_text(encoding='utf-8'))['Baseline']
    rows = zip(cases['turn_ids'], cases['gold'], cases['pred']['Baseline'])
    path = lines(tmp_path/'predictions.json', [{'turn_id': id, 'reference_label': g, 'predicted_label': p} for id, g, p in rows])
    report = evaluate(read_items(path))
    assert report['accuracy'].value == pytest.approx(official['ACC']/100) and report.counts['dialogues'] == 857


def test_task2(tmp_path):
    held_out = read_items(lines(tmp_path/'test-utterances.jsonl', [{'utterance': 'My balance?', 'utterance_id': 'bank_279', 'intent': 'Check'}]))
    assert held_out.to_dict('list') == {'item': ['bank_279'], 'text': ['My balance?'], 'intent': ['Check']} and held_out.attrs == {'choices': {'task': 2}}
    assert read_induced(lines(tmp_path/'induced-intents.json', [{'intent_id': 'i1', 'utterances': ['a', 'b']}])) == {'i1': ['a', 'b']}


def test_csv(tmp_path):
    (tmp_path/'a.csv').write_text('item,intent,cluster\nx,None,1\ny,NA,1\nz,b,\n', encoding='utf-8')
    table = read_items(tmp_path/'a.csv')
    assert table.intent.tolist() == ['None', 'NA', 'b'] and table.cluster.tolist()[:2] == ['1', '1']
    with pytest.raises(FormatError, match='a cluster to be given, but got nothing .NaN or None. .item z'): evaluate(table)
    (tmp_path/'a.tsv').write_text('gold\tpred\na\t1\n', encoding='utf-8')
    assert read_items(tmp_path/'a.tsv').columns.tolist() == ['intent', 'cluster']


def test_bare_labels(tmp_path):
    (tmp_path/'gold.txt').write_text('a\na\nb\n', encoding='utf-8')
    (tmp_path/'pred.json').write_text('[1, 1, 2]', encoding='utf-8')
    gold, pred = read_items(tmp_path/'gold.txt', 'intent'), read_items(tmp_path/'pred.json')
    assert evaluate(gold, pred)['accuracy'].value == 1 and pred.cluster.tolist() == [1, 1, 2]
    assert read_items({'x': 1}).to_dict('list') == {'item': ['x'], 'cluster': [1]}
    assert read_items([1, '1']).cluster.tolist() == [1, '1'] and read_items(pd.DataFrame({'gold': ['a']})).intent.tolist() == ['a']


@pytest.mark.parametrize('text, words', [
    ('{"turn_id": "a"\n', 'JSON to be well formed, but got .* at column 16 .*p.json line 1'),
    ('{"turn_id": "a", "label": 3}\n', "a table of items to be one with a column intent, .* but got list .*p.json"),
    ('{"dialogue_id": "d", "turns": [{"intents": ["a"]}]}\n', 'one with the key turn_id, .*dialogue d'),
    ('{"turns": [{"turn_id": "x", "intents": ["a"]}]}\n', 'one with the key dialogue_id')])
def test_broken_files(tmp_path, text, words):
    (tmp_path/'p.json').write_text(text, encoding='utf-8')
    with pytest.raises(FormatError, match=words): read_items(tmp_path/'p.json')


@pytest.mark.parametrize('records, words', [
    ([{'utterances': ['a']}], 'an intent_id'), ([{'intent_id': 'i', 'utterances': ['a']}]*2, 'given once'),
    ([{'intent_id': 'i', 'utterances': []}], 'intent i'), ([{'intent_id': 'i', 'utterances': [' ']}], 'not blank'), ([{'intent_id': 'i', 'utterances': 'a'}], 'a list of texts')])
def test_broken_intents(records, words):
    with pytest.raises(FormatError, match=words): read_induced(records)
