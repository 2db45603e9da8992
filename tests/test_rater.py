"Ratings: order, blindness, the file and what survives, the table that comes out."
import json, os, re, signal, subprocess, sys
from html import escape

import pandas as pd
import pytest
from dialeval.core import Corpus, DialevalError, Dialogue, OptionError, Turn
from dialeval.rater import WEN, Rater, append, flag, note, preference, records, scale, standing, steps
from dialeval.sample import load_sample
from test_inspector import NASTY, check_golden, nasty

SAMPLE = load_sample()
RUBRIC = (flag('ok', 'OK?'), scale('nice', 'Nice?', 1, 7), note('why', 'Why?'))


@pytest.fixture
def rater(tmp_path): return Rater(SAMPLE.systems, RUBRIC, tmp_path/'r.jsonl', gold=SAMPLE.gold, rater='anna')


def lines(rater): return [json.loads(line) for line in rater.path.read_text(encoding='utf-8').splitlines()]


def test_golden_form(tmp_path):
    gold = Corpus([SAMPLE.gold['R01']])
    rubric = scale('nice', 'Nice?', 1, 3, ('no', 'yes')), note('why', 'Why?')
    rater = Rater(Corpus([SAMPLE.systems['A']['R01']]), rubric, tmp_path/'r.jsonl', gold=gold)
    rater.press(2)
    check_golden('rater', rater.still() + rater.frame)


def test_order_is_the_judges_own():
    def order(**how): return steps(SAMPLE.systems, WEN, **how)
    assert order(rater='anna') == order(rater='anna') != order(rater='ben') and order(seed=1) != order(seed=2)
    assert sorted(order(rater='anna')) == sorted(order(rater='ben')) and len(order()) == 62
    first = [s.systems[0] for s in order()]
    assert 10 < first[:31].count('A') < 21


def test_turns_come_before_their_dialogue():
    found = steps({'': SAMPLE.systems['A']}, (scale('a', 'A?', per='turn'), scale('b', 'B?')))
    one = [s.turn for s in found if s.dialogue == 'PMUL2563']
    assert one == [0, 1, 2, 3, 4, 5, ''] and len(found) == 167 + 31
    place = [s.dialogue for s in found].index('PMUL2563')
    assert {s.dialogue for s in found[place:place + 7]} == {'PMUL2563'}


def test_nothing_tells_the_system(tmp_path):
    systems = {'secret-one': SAMPLE.systems['A'], 'secret-two': SAMPLE.systems['B']}
    rubric = scale('a', 'A?', per='turn'), flag('b', 'B?'), preference()
    rater = Rater(systems, rubric, tmp_path/'r.jsonl', gold=SAMPLE.gold)
    for position in (0, len(rater.steps)//2, len(rater.steps) - 1):
        rater.position = position
        rater.press(1)
        assert 'secret' not in json.dumps(rater.get_state(), default=str) + rater._repr_mimebundle_()[0]['text/html']
    assert {'secret-one', 'secret-two'} & set(rater.ratings().system)


def test_later_turns_are_hidden(tmp_path):
    rater = Rater(SAMPLE.systems['A'], (scale('a', 'A?', per='turn'),), tmp_path/'r.jsonl', gold=SAMPLE.gold)
    for position in range(10):
        rater.position = position
        said = [escape(t.response, quote=False) for t in SAMPLE.systems['A'][rater.step.dialogue]]
        assert [text in rater.screen for text in said] == [turn <= rater.step.turn for turn in range(len(said))]


def test_press_answers_in_turn(rater):
    for key in (1, 7): rater.do('press', str(key))
    assert rater.done == 1 and [line['value'] for line in lines(rater)] == [1, 7]
    rater.press(3)
    assert len(lines(rater)) == 2 and 'All questions' in rater.announce
    rater.advance()
    rater.press(9)
    assert len(lines(rater)) == 2 and '9 is no answer to ok' in rater.announce


def test_changed_minds_and_undo(rater):
    rater.answer('ok', 1)
    rater.answer('ok', 0)
    rater.answer('nice', 3)
    rater.answer('why', 'because <b>')
    assert rater.ratings().value.tolist() == [0, 3] and rater.notes().value.tolist() == ['because <b>']
    assert '&lt;b&gt;' in rater.form
    rater.advance()
    rater.undo()
    assert not rater.notes().size and rater.position == 0
    for _ in range(3): rater.undo()
    assert not len(rater.ratings()) and 'nothing to take back' in rater.announce
    assert [line['value'] for line in lines(rater)] == [1, 0, 3, 'because <b>', None, None, None]


def test_undo_is_for_ones_own(tmp_path):
    anna, ben = (Rater(SAMPLE.gold, WEN, tmp_path/'r.jsonl', rater=name) for name in ('anna', 'ben'))
    anna.press(1)
    ben.press(0)
    anna.undo()
    assert anna.ratings()[['rater', 'value']].values.tolist() == [['ben', 0]]


def test_skip_and_rounds(rater):
    rater.skip()
    assert rater.position == 1 and rater.done == 1 and not len(rater.ratings())
    rater.undo()
    assert rater.position == 0 and rater.done == 0
    for _ in rater.steps: rater.skip()
    assert 'that was all' in rater.progress and '62 of 62' in rater.progress


def test_resume(rater):
    for key in (1, 5): rater.press(key)
    rater.advance()
    rater.press(0)
    again = Rater(SAMPLE.systems, RUBRIC, rater.path, gold=SAMPLE.gold, rater='anna')
    assert (again.position, again.form) == (rater.position, rater.form) and again.ratings().equals(rater.ratings())
    assert Rater(SAMPLE.systems, RUBRIC, rater.path, gold=SAMPLE.gold, rater='ben').position == 0


@pytest.mark.parametrize('torn', ['{"rater": "an', '{', 'null\n', '[1]\n', '{"rater": "anna"}\n', '\x00\x00'])
def test_torn_line(rater, torn):
    rater.press(1)
    with open(rater.path, 'a', encoding='utf-8') as f: f.write(torn)
    again = Rater(SAMPLE.systems, RUBRIC, rater.path, gold=SAMPLE.gold, rater='anna')
    assert again.broken == 1 and '1 broken lines left out' in again.progress
    again.press(4)
    assert again.ratings().value.tolist() == [1, 4] and records(rater.path)[1] == 1


CHILD = '''
import sys
from dialeval.rater import append
for n in range(10**6):
    append(sys.argv[1], dict(rater='a', dialogue=str(n), turn='', system='', question='q', value=1, text='x'*500))
    print(n, flush=True)
'''


@pytest.mark.parametrize('delay', [0, 7, 31])
def test_kill_loses_nothing_that_was_confirmed(tmp_path, delay):
    path = tmp_path/'r.jsonl'
    with subprocess.Popen([sys.executable, '-c', CHILD, str(path)], stdout=subprocess.PIPE, text=True) as child:
        confirmed = [int(child.stdout.readline()) for _ in range(50 + delay)]
        os.kill(child.pid, signal.SIGKILL)
        confirmed += [int(line) for line in child.stdout.read().splitlines()]
    found, broken = records(path)
    kept = {int(r['dialogue']) for r in found}
    assert set(confirmed) <= kept and broken <= 1 and len(confirmed) >= 50


def test_two_judges_in_one_file(tmp_path):
    path = tmp_path/'r.jsonl'
    code = CHILD.replace('10**6', '200').replace("rater='a'", 'rater=sys.argv[2]')
    command = [sys.executable, '-c', code, str(path)]
    children = [subprocess.Popen([*command, name], stdout=subprocess.DEVNULL) for name in 'ab']
    assert [c.wait(60) for c in children] == [0, 0]
    found, broken = records(path)
    assert len(found) == 400 and not broken


def test_long_table(rater, tmp_path):
    rater.press(1)
    columns = ['dialogue', 'turn', 'rater', 'question', 'value']
    assert list(rater.ratings()) == [*columns[:2], 'system', *columns[2:]]
    assert list(rater.ratings(rater.step.systems[0])) == columns
    alone = Rater(SAMPLE.systems['A'], (scale('a', 'A?', per='turn'),), tmp_path/'alone.jsonl', gold=SAMPLE.gold)
    for _ in range(12):
        alone.press(3)
        alone.advance()
    table = alone.ratings()
    assert list(table) == columns and len(table) == 12
    assert all(rows.turn.is_monotonic_increasing for _, rows in table.groupby('dialogue'))


def test_preference_is_about_systems(tmp_path):
    rater = Rater(SAMPLE.systems, [preference()], tmp_path/'r.jsonl', gold=SAMPLE.gold)
    assert len({s.systems for s in rater.steps}) == 2
    for step in rater.steps:
        key, word = ((1, 'first'), (2, 'second'))[step.systems.index('A')]
        rater.press(key)
        assert re.search(rf'aria-pressed="true"><kbd>{key}</kbd> {word}<', rater.form)
        rater.advance()
    assert rater.ratings().value.tolist() == ['win']*31 and set(rater.ratings().system) == {'A / B'}
    rater.answer('preference', 0)
    assert rater.ratings('A / B').value.value_counts().to_dict() == {'win': 30, 'tie': 1}


def test_feeds_human(tmp_path):
    human = pytest.importorskip('dialeval.human', reason='human.py is not in this tree yet')
    rater = Rater(SAMPLE.systems, WEN, tmp_path/'r.jsonl', gold=SAMPLE.gold)
    for k in range(20):
        for key in (k % 2, 1 + k % 5, 5): rater.press(key)
        rater.advance()
    table = rater.ratings('A')
    assert human.comprehension(table).value == pytest.approx(table[table.question == 'comprehension'].value.mean())


def test_users_words_and_nasty_text(tmp_path):
    gold, pred = nasty()
    rater = Rater(pred[NASTY], (flag('f', NASTY), note('n', NASTY)), tmp_path/'r.jsonl', gold=gold, rater=NASTY)
    rater.answer('n', NASTY)
    rater.answer('f', 1)
    assert '<img' not in rater.screen + rater.form + rater.frame + rater.still()
    assert rater.ratings().rater.tolist() == [NASTY]


@pytest.mark.parametrize(('make', 'words'), [
    (lambda p: Rater(SAMPLE.systems, (), p), 'rubric'),
    (lambda p: Rater(SAMPLE.systems, (flag('a', ''), flag('a', '')), p), 'different names'),
    (lambda p: Rater(SAMPLE.systems, (flag('a', '', per='day'),), p), 'per'),
    (lambda p: Rater(SAMPLE.systems, WEN, p, gold=Corpus()), 'no dialogue'),
    (lambda p: Rater(SAMPLE.systems, WEN, p).answer('success', 7), 'one of 1, 0'),
    (lambda p: Rater(SAMPLE.systems, WEN, p).answer('nice', 1), 'asked in this step')])
def test_bad_input(make, words, tmp_path):
    with pytest.raises(DialevalError, match=words): make(tmp_path/'r.jsonl')
    assert not (tmp_path/'r.jsonl').exists()


def test_nothing_to_judge(tmp_path):
    rater = Rater(Corpus(), WEN, tmp_path/'r.jsonl')
    for name in ('advance', 'undo', 'back'): rater.do(name)
    rater.press(1)
    assert 'nothing to judge' in rater.screen and isinstance(rater.ratings(), pd.DataFrame)
    with pytest.raises(OptionError): rater.do('ratings')


def test_standing():
    def line(value, **other): return dict(rater='a', dialogue='d', turn=0, system='', question='q', value=value) | other
    assert standing([line(1), line(2), line(3, question='r'), line(None)]) == {('a', 'd', 0, '', 'r'): 3}
    assert list(standing([line(1), line(3, question='r'), line(2)]).values()) == [3, 2]


def test_append_makes_the_file(tmp_path):
    append(tmp_path/'new.jsonl', {'ä': 1})
    assert (tmp_path/'new.jsonl').read_text(encoding='utf-8') == '{"ä": 1}\n'


def test_own_dialogue():
    corpus = Corpus([Dialogue('d', [Turn('x', 'hi', 'ho')])])
    assert steps({'': corpus}, (flag('f', 'F?', per='turn'),)) == [('d', 'x', ('',), 'turn')]
