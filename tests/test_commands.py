"Every command on small files: the keys that programs rely on, and one line with exit code 2 for bad input."
import json

import pytest
from dialeval import sample
from dialeval.cli import main
from dialeval.readers import write

SAMPLE = sample.load_sample()


@pytest.fixture
def files(tmp_path):
    "The bundled sample as files, and small tables"
    write(SAMPLE.gold, tmp_path/'gold.json')
    for name, system in SAMPLE.systems.items(): write(system, tmp_path/f'{name}.json')
    venues = {domain: table.to_dict('records') for domain, table in SAMPLE.venues.items()}
    (tmp_path/'db.json').write_text(json.dumps(venues))
    (tmp_path/'items.csv').write_text('item,intent,cluster\na,x,1\nb,x,1\nc,y,2\nd,y,1\n')
    ratings = 'd1,,r,success,1\nd2,,r,success,0\nd1,,s,success,1\nd2,,s,success,1\n'
    (tmp_path/'ratings.csv').write_text('dialogue,turn,rater,question,value\n' + ratings)
    (tmp_path/'two.txt').write_text('a b c d\ne f g h\n')
    (tmp_path/'bad.txt').write_bytes(b'caf\xe9\n')
    (tmp_path/'empty.csv').write_text('')
    return tmp_path


def run(capsys, files, *args):
    code = main([str(files/a) if (files/a).is_file() else a for a in args])
    return code, *capsys.readouterr()


KEYS = {
    ('task', 'A.json', 'gold.json', '--db', 'db.json'):
        {'entity_match_rate', 'task_success_rate', 'bleu', 'informable', 'dialogues', 'signature'},
    ('bleu', 'A.json', 'gold.json'): {'bleu', 'bleu_1', 'segments', 'signature'},
    ('nlg', 'A.json', 'gold.json', '--text', 'delex'):
        {'bleu', 'bleu_1', 'bleu_4', 'distinct_1', 'distinct_2', 'distinct_u', 'goal_slots', 'signature'},
    ('human', 'ratings.csv'): {'success', 'raters', 'signature'},
    ('intents', 'items.csv'): set('average covered_intents accuracy nmi ari precision recall f1 protocol clusters intents items '
                                   'coverage signature'.split()),
    ('bleu', 'two.txt', 'two.txt'): {'bleu', 'signature'},
    ('dst', 'B.json', 'gold.json'):
        {'turns', 'exact_turns', 'matched_turns', 'flexible_goal_accuracy', 'variants', 'pairing'},
}


@pytest.mark.parametrize('args', KEYS, ids=' '.join)
def test_keys(capsys, files, args):
    code, out, err = run(capsys, files, *args, '--json')
    assert (code, err) == (0, '') and KEYS[args] <= set(json.loads(out))
    code, out, _ = run(capsys, files, *args)
    assert code == 0 and '|v:' in out


def test_compare(capsys, files):
    code, out, _ = run(capsys, files, 'compare', 'gold.json', 'A.json', 'B.json', '--metric', 'flexible_goal_accuracy')
    assert code == 0 and 'B − A' in out
    code, out, _ = run(capsys, files, 'compare', 'gold.json', 'A.json', 'B.json', '--metric', 'bleu', '--json')
    assert code == 0 and json.loads(out)


def test_inspect(capsys, files):
    code, out, _ = run(capsys, files, 'inspect', 'A.json', 'gold.json', '-o', str(files/'out.html'), '-n', '3')
    assert code == 0 and '<html' in (files/'out.html').read_text(encoding='utf-8')


def test_demo_formats_metrics(capsys, files):
    for command, word in [('demo', 'System B'), ('formats', 'released'), ('metrics', 'joint_goal_accuracy')]:
        code, out, _ = run(capsys, files, command)
        assert code == 0 and word in out
    assert set(json.loads(run(capsys, files, 'demo', '--json')[1])) == {'A', 'B'}


BAD = {
    ('task', 'A.json', 'gold.json', '--rule', 'nope=1'): '--rule to be one of match',
    ('task', 'A.json'): 'a gold file to be given',
    ('bleu', 'bad.txt', 'two.txt'): 'text in UTF-8',
    ('inspect', 'A.json', '-o', 'x.html'): 'a gold file to be given',
    ('intents', 'empty.csv'): 'a table',
    ('human', 'ratings.csv', '--scale', 'fun=1'): 'like fun=1,5',
    ('human', 'empty.csv'): 'an empty file',
    ('compare', 'gold.json', 'A.json', 'A.json'): 'of different names',
    ('compare', 'gold.json', 'A.json', '--metric', 'nope'): 'nope',
    ('multiwoz', 'A.json', '--goals', 'nowhere.json'): 'no such file',
}


@pytest.mark.parametrize('args', BAD, ids=' '.join)
def test_bad_input(capsys, files, args):
    code, out, err = run(capsys, files, *args)
    assert code == 2 and out == '' and err.count('\n') == 1 and BAD[args] in err
