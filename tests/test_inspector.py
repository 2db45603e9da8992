"The inspector without a browser: HTML from data, traits, moves, queries, and what is sent."
import json, os, re
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from dialeval import dst, view
from dialeval.core import Corpus, Dialogue, OptionError, Turn
from dialeval.inspector import (Inspector, agreement_grid, inspect_html, inspector_html, kind_grid, listing,
                                overview_html, page_html, turn_grid)
from dialeval.readers import read_pair
from dialeval.sample import load_sample, simulate
from dialeval.score import METRICS, Metric
from dialeval.view import (VERDICTS, Html, conversations, corrected, flow, h, item_html, matching, outcome_html,
                           talk_html, transcript_html, views)
from ipywidgets.widgets.widget import _instances

SAMPLE = load_sample()
GOLDEN = Path(__file__).with_name('golden')
NASTY = '<img src=x onerror="window.hacked=1"> $5 and $6 & <b>'


@pytest.fixture(scope='module')
def c(): return conversations(SAMPLE.gold, SAMPLE.systems)


@pytest.fixture
def insp(): return Inspector(SAMPLE.gold, SAMPLE.systems, at='PMUL2563:2')


def nasty():
    "A corpus that tries to break out wherever it holds text"
    def turns(value): return [Turn(0, NASTY, NASTY, NASTY, {(NASTY, NASTY): value}, (NASTY,), offered=(NASTY,))]
    gold = Corpus([Dialogue(NASTY, turns(NASTY), NASTY, {NASTY: {'constraints': {NASTY: NASTY}, 'requests': [NASTY]}})])
    return gold, {NASTY: Corpus([Dialogue(NASTY, turns(NASTY + '!'))])}


def paper(c): return views(c, c.number['PMUL2563'], ['A', 'B'])


def check_golden(name, html):
    "Equal to the file, or write it if DIALEVAL_GOLDEN=write; an element a line, so that a difference can be read"
    path, text = GOLDEN/f'{name}.html', html.replace('><', '>\n<') + '\n'
    if os.environ.get('DIALEVAL_GOLDEN') == 'write': path.write_text(text, encoding='utf-8')
    assert text == path.read_text(encoding='utf-8')


def test_golden_transcript(c): check_golden('transcript', transcript_html(c, c.number['PMUL2563'], paper(c)))
def test_golden_outcome(c): check_golden('outcome', outcome_html(paper(c)[4]))
def test_golden_answers(c): check_golden('answers', talk_html(views(c, c.number['R01'], ['A', 'B'])[2]))
def test_golden_item(c): check_golden('item', item_html(c, c.number['PMUL2563'], ['A', 'B'], c.row('PMUL2563')))
def test_golden_overview(c): check_golden('overview', overview_html(c, 'A'))
def test_golden_frame(c): check_golden('frame', inspector_html(c))


def test_golden_nasty():
    c = conversations(*nasty())
    html = transcript_html(c, 0, views(c, 0, list(c.systems)), fold=True)
    check_golden('nasty', html)
    assert '<img' not in html and html.count('<b') == html.count('</b>')
    page = page_html(listing(c, matching(c, NASTY), NASTY), [NASTY], title=NASTY)
    for text in (overview_html(c, NASTY), item_html(c, 0, [NASTY], 0), inspector_html(c), page):
        assert '<img' not in text


def test_escaping():
    made = h('p', '<', Html('<br>'), None, False, ['&', 1], class_='a"b', data_x=True, y=None)
    assert made == '<p class="a&quot;b" data-x>&lt;<br>&amp;1</p>'
    assert type(flow('a', h('b'))) is Html and flow('<') == '&lt;'


@pytest.mark.parametrize(('gold', 'pred', 'wanted'), [
    ('cityroomz', 'city rooms', 'city<ins> </ins>room<del>z</del><ins>s</ins>'), ('09:45', '9:45', '<del>0</del>9:45'),
    ('north', 'east', 'east'), ('a<b>cdef', 'a<b>cdeg', 'a&lt;b&gt;cde<del>f</del><ins>g</ins>')])
def test_near_misses(gold, pred, wanted): assert corrected(gold, pred) == wanted


FIGURE_1 = [('own', None), ('inherited', 2), ('own', None), ('inherited', 4)]     # turns 2 to 5


def test_figure_of_the_paper(c): assert [v.mistakes['A'] for v in paper(c)] == [('', None)]*2 + FIGURE_1


@pytest.mark.data('dst/fga/somdst100.json')
def test_figure_of_the_paper_in_the_real_file(data):
    gold, pred = read_pair(data/'dst/fga/somdst100.json')
    c = conversations(gold, pred)
    id, = (id for id in c.number if 'PMUL2563' in id)
    assert [v.mistakes['pred'] for v in views(c, c.number[id], ['pred'])][2:6] == FIGURE_1
    assert (len(c.number), c.states.n_turns) == (100, 751)


def test_verdicts_agree_with_error_kinds(c):
    kinds = dst.error_kinds(SAMPLE.gold, SAMPLE.systems['A'])
    frame = c.turns('A')
    for slot, rows in kinds.groupby('slot'):
        told = frame.loc[~frame[slot].isin(['', 'right']), ['dialogue', 'turn', slot]]
        assert told.values.tolist() == rows[['dialogue', 'turn', 'kind']].values.tolist()
    expected = dst.turn_errors(c.systems['A'].states)
    assert frame.wrong.sum() == len(kinds) and frame.mistake.tolist() == expected.mistake.tolist()
    assert frame.from_turn.dropna().tolist() == expected.from_turn.dropna().tolist()


def test_mistakes_begin_where_they_begin(c):
    rows = {row.slot: row.cells['A'] for row in views(c, c.number['PMUL2563'], ['A'])[4].rows}
    begun = {slot: rows[slot].since for slot in (('hotel', 'area'), ('attraction', 'name'), ('hotel', 'name'))}
    assert list(begun.values()) == [2, None, None]
    right, news = np.array([[1], [0], [0], [0], [1], [0]], bool), np.array([[0], [0], [0], [1], [0], [0]], bool)
    assert view.since(right, news)[[1, 2, 3, 5], 0].tolist() == [1, 1, 3, 5]


def test_figures_of_turns_are_those_of_the_metrics(c):
    for system in c.systems.values():
        for metric in ('joint_goal_accuracy', 'flexible_goal_accuracy@0.5', 'average_goal_accuracy'):
            assert np.nanmean(system.by_turn[metric]) == pytest.approx(system.scores[metric].value)
        alone = [dst.slot_f1({'d': [g.state]}, {'d': [p.state]}).value
                 for d in c.states.ids for g, p in zip(system.gold[d], system.corpus[d])]
        assert system.by_turn['slot_f1'] == pytest.approx(alone, nan_ok=True)
    assert c.systems['A'].by_turn['flexible_goal_accuracy@0.5'][c.row('PMUL2563:3')] == pytest.approx(1 - np.exp(-.5))


def test_own_metric():
    def always(gold, pred): return dst.turn_match(gold, pred)
    c = conversations(SAMPLE.gold, SAMPLE.systems['A'], metrics=['slot_accuracy', always])
    by_turn = c.systems['pred'].by_turn
    assert list(by_turn) == ['slot_accuracy', 'turn_match'] and 0 < by_turn['slot_accuracy'].min() < 1
    with pytest.raises(OptionError, match='a metric'): Inspector(SAMPLE.gold, SAMPLE.systems['A'], metrics=['jga'])


def keeps_its_promise(c, reading, counts, queries):
    "Each number counts the turns that its query finds"
    cells = zip(counts.to_numpy().ravel(), queries.to_numpy().ravel())
    return all(matching(c, reading, query).sum() == n for n, query in cells)


@pytest.mark.parametrize('grid', [kind_grid, turn_grid])
def test_numbers_of_the_overview(c, grid): assert keeps_its_promise(c, 'A', *grid(c.systems['A']))
def test_numbers_of_agreement(c): assert keeps_its_promise(c, 'A', *agreement_grid(*c.systems.values()))


def test_late_turns_share_a_column():
    gold, pred = ({'d': [{'a-x': str(v)}]*20} for v in (1, 2))
    counts, queries = turn_grid(conversations(gold, pred).systems['pred'])
    assert list(counts.columns)[-2:] == ['11', '12+'] and counts.loc['a-x'].tolist() == [1]*12 + [8]
    assert queries.loc['a-x', '12+'].endswith('position >= 12')


def test_state_is_code(insp):
    again = eval(insp.link('SAMPLE.gold', 'SAMPLE.systems'))
    assert (again.at, insp.link()) == ('PMUL2563:2', "Inspector(gold, pred, at='PMUL2563:2')")
    insp.mode, insp.system, insp.query, insp.order = 'compare', 'B', 'missed > 0', 'worst'
    again = eval(insp.link('SAMPLE.gold', 'SAMPLE.systems'))
    for name in ('at', 'mode', 'system', 'query', 'order', 'outcome', 'rows'):
        assert getattr(again, name) == getattr(insp, name)
    assert again.selection.equals(insp.selection)
    with_options = Inspector(SAMPLE.gold, SAMPLE.systems, values='raw', metrics=('slot_f1',))
    assert "values='raw'" in with_options.link() and "metrics=('slot_f1',)" in with_options.link()


def test_at(insp):
    seen = []
    insp.observe(lambda change: seen.append(change.new), 'at')
    insp.at = 'R01'
    insp.at = 'R01:2'
    assert seen == ['R01:0', 'R01:2'] and '<h3>Turn 2</h3>' in insp.outcome and '<h2>R01</h2>' in insp.transcript
    for wrong in ('R99', 'R01:9', 'R01:', ':'):
        if wrong == 'R01:': insp.at = wrong
        else:
            with pytest.raises(OptionError, match='Expected at to be a turn'): insp.at = wrong
    assert insp.at == 'R01:0'


def test_ids_with_colons_and_text_turns():
    named = Dialogue('a:b', [Turn('x:1', 'hi', state={}), Turn('x:2', 'ho', state={})])
    gold = Corpus([named, Dialogue('a', [Turn(0, state={})])])
    c = conversations(gold, gold)
    assert [c.at(row) for row in range(3)] == ['a:0', 'a:b:x:1', 'a:b:x:2']
    assert [c.row(at) for at in ('a', 'a:0', 'a:b', 'a:b:x:1', 'a:b:x:2')] == [0, 0, 1, 1, 2]


def test_query(insp):
    insp.query = 'missed > 0 and not exact_B'
    assert len(insp.selection) == 23 and insp.total == insp.selection.dialogue.nunique()
    assert insp.at.split(':')[0] in set(insp.selection.dialogue) and '23 turns' in insp.summary
    kept = insp.selection
    for bad in ('foo > 1', 'missed >', 'user', '1', '@x', '__import__("os")'):
        insp.query = bad
        assert insp.error.startswith('Expected the query to be') and insp.selection is kept
    insp.query = 'user.str.contains("cheap")'
    assert not insp.error and insp.selection.user.str.contains('cheap').all()
    insp.query = 'wrong > 99'
    assert len(insp.selection) == insp.total == 0 and insp.at and not insp.rows
    insp.clear()
    assert len(insp.selection) == 167 and not insp.query
    with pytest.raises(OptionError, match='the query'): Inspector(SAMPLE.gold, SAMPLE.systems, query='foo')


def test_search(insp):
    insp.search = 'LOVELY'
    said = [f'{t.user} {t.response} ' + ' '.join(s[d.id][t.id].response or '' for s in SAMPLE.systems.values())
            for d in SAMPLE.gold for t in d]
    assert len(insp.selection) == sum('lovely' in text.lower() for text in said) == 9
    insp.search = 'pmul2563'
    assert insp.selection.dialogue.unique().tolist() == ['PMUL2563']


def test_selection_can_be_set(insp):
    insp.selection = pd.DataFrame({'dialogue': ['R01', 'H01', 'R01'], 'turn': [1, 0, 3]})
    assert insp.selection['at'].tolist() == ['H01:0', 'R01:1', 'R01:3'] and insp.at == 'H01:0'
    insp.query = 'turn > 0'
    assert insp.selection.turn.tolist() == [1, 3]
    again = eval(insp.link('SAMPLE.gold', 'SAMPLE.systems'))
    assert again.selection.equals(insp.selection) and again.at == insp.at
    insp.clear()
    assert len(insp.selection) == 167
    with pytest.raises(OptionError, match='one without dialogue'): insp.selection = pd.DataFrame({'turn': [1]})


def test_system_and_order(insp):
    insp.query = 'mistake == "own"'
    of_a = len(insp.selection)
    insp.system = 'B'
    assert len(insp.selection) == insp.turns.mistake.eq('own').sum() != of_a
    insp.query, insp.order = '', 'worst'
    scores = insp.conversations.systems['B'].by_dialogue['joint_goal_accuracy'][insp.listing.dialogues]
    assert (np.diff(scores) >= 0).all()
    for name in ('system', 'mode', 'order'):
        with pytest.raises(OptionError, match=f'Expected {name} to be one of'): setattr(insp, name, 'C')
        with pytest.raises(OptionError, match=f'Expected {name}'): Inspector(SAMPLE.gold, SAMPLE.systems, **{name: 'C'})
    with pytest.raises(OptionError, match='Expected order'): inspect_html(SAMPLE.gold, SAMPLE.systems, 'x', order='C')
    with pytest.raises(OptionError, match='a move'): insp.move('paragraph')


def walk(insp, kind, by, most=1000):
    "The turns that a move visits until it stops"
    visited = []
    while len(visited) < most:
        before = insp.at
        insp.move(kind, by)
        if insp.at == before: return visited
        visited.append(insp.at)


@pytest.mark.parametrize('order', ['id', 'worst', 'longest'])
def test_moves(insp, order):
    insp.order = order
    insp.at = insp.conversations.at(insp.listing.firsts[0])
    wrong = insp.turns[~insp.turns.exact]
    start = insp.at
    errors = {f'{d}:{t}' for d, t in zip(wrong.dialogue, wrong.turn)}
    forward = walk(insp, 'error', 1)
    assert {*forward, start} - {start} == errors - {start} and 'No further error' in insp.announce
    assert walk(insp, 'error', -1) == forward[-2::-1] + [start]*(start in errors)
    insp.at = insp.conversations.at(insp.listing.firsts[0])
    assert len(walk(insp, 'dialogue', 1)) == 30 and insp.row == 30


def test_moves_within_a_query(insp):
    insp.query = 'mistake == "own" and dialogue == "PMUL2563"'
    insp.at = 'PMUL2563:0'
    assert walk(insp, 'error', 1) == walk(insp, 'match', -1)[:0] + ['PMUL2563:2', 'PMUL2563:4']
    insp.end()
    assert insp.at == 'PMUL2563:5'
    insp.end(False)
    assert insp.at == 'PMUL2563:0' and walk(insp, 'turn', 1) == [f'PMUL2563:{i}' for i in range(1, 6)]
    insp.at = 'R01:1'                                # outside what is listed
    insp.move('error')
    assert insp.at == 'PMUL2563:2'


def test_errors_of_any_system_stop_a_comparison(insp):
    insp.mode, insp.at = 'compare', 'PMUL2563:0'
    assert walk(insp, 'error', 1)[:4] == [f'PMUL2563:{i}' for i in (2, 3, 4, 5)]
    insp.mode, insp.system, insp.at = 'read', 'B', 'PMUL2563:0'
    assert walk(insp, 'error', 1)[:2] == ['PMUL2563:2', 'PMUL2563:3'] and 'inherited from' not in insp.outcome


def test_commands(insp):
    insp._handle_custom_msg({'do': 'move', 'args': ['error', 1]}, [])
    assert insp.at == 'PMUL2563:3' and 'inherited from <a href="#PMUL2563-t2"' in insp.outcome
    with pytest.raises(OptionError, match='a command'): insp.do('to_html', 'x')


def test_only_what_is_shown_travels():
    gold, pred = simulate(2000)
    insp = Inspector(gold, pred)
    assert insp.rows.count('<li>') == 60 and len(json.dumps(insp.get_state(), default=str)) < 150_000
    models, sizes = len(_instances), []
    insp._send = lambda msg, buffers=None: sizes.append(len(json.dumps(msg)))
    for kind in ('turn', 'error', 'dialogue')*20: insp.move(kind)
    assert 0 < max(sizes) < 50_000 and len(_instances) == models
    insp.top = 1500
    assert insp.rows_start == 1480 and 'S0001500' in insp.rows
    insp.at = 'S0000700'
    assert insp.row == 700 and 'S0000700' in insp.rows


def test_still_view(insp):
    data, metadata = insp._repr_mimebundle_()
    assert {'application/vnd.jupyter.widget-view+json', 'text/html', 'text/plain'} <= set(data)
    html = data['text/html']
    assert 'inherited from <a href="#PMUL2563-t2"' in html and 'tex2jax_ignore' in html and '<script' not in html
    assert html == Inspector(SAMPLE.gold, SAMPLE.systems, at='PMUL2563:2')._repr_mimebundle_()[0]['text/html']
    insp.mode = 'overview'
    assert '<button' not in insp.still() and 'Wrong slots by kind' in insp.still()


def test_nbconvert_shows_the_dialogue(insp):
    from nbconvert import HTMLExporter
    data, metadata = insp._repr_mimebundle_()
    output = nbformat.v4.new_output('execute_result', data, metadata=metadata, execution_count=1)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(outputs=[output])])
    page, _ = HTMLExporter().from_notebook_node(notebook)
    assert 'inherited from' in page and 'href="#PMUL2563-t2"' in page


def test_page_says_how_much_it_shows(tmp_path):
    path = inspect_html(SAMPLE.gold, SAMPLE.systems, tmp_path/'a.html', n=5, query='missed > 0', title='My <run>')
    text = path.read_text(encoding='utf-8')
    assert 'Shows 5 of 31 dialogues with turns that satisfy missed &gt; 0 (the first of 17 that match)' in text
    assert text.count('<article') == 5 and 'My &lt;run&gt;' in text
    assert not re.search(r'(?:src|href)="(?!#)|url\(|@import', text), 'it fetches nothing'


def test_page_of_the_widget(insp, tmp_path):
    insp.query = 'dialogue == "PMUL2563"'
    text = insp.to_html(tmp_path/'a.html').read_text(encoding='utf-8')
    assert text.count('<article') == 1 and 'id="PMUL2563-t2"' in text and 'Systems: A.' in text


def test_responses_only():
    goal = {'hotel': {'requests': ['phone']}}
    def corpus(text): return Corpus([Dialogue('d', [Turn(0, 'hello', text), Turn(1, 'bye')], goal=goal)])
    insp = Inspector(corpus('what can i do for you ?'), {'S': corpus('what can i do ?')})
    assert 'BLEU' in insp.outcome and '<table' not in insp.outcome and 'own mistake' not in insp.transcript
    for told in ('Gold', 'what can i do ?', 'asks for phone'): assert told in insp.transcript
    assert np.isnan(insp.conversations.systems['S'].by_turn['bleu'][1])


def test_offers_and_answers(c):
    talk = talk_html(views(c, c.number['R01'], ['A', 'B'])[2])
    for told in ('asks for phone', 'answers phone, address', 'does not answer address', 'offers Tavolino Verde'):
        assert told in talk


def test_verdicts_only():
    bits = Corpus([Dialogue('d', [Turn(0, hits=(1, 1)), Turn(1, hits=(1, 0)), Turn(2, hits=(1, 0))])])
    gold = {'d': [{}, {'hotel-area': 'north', 'hotel-stars': '4'}, {'hotel-area': 'north', 'hotel-stars': '4'}]}
    insp = Inspector(gold, bits, slot_order=['hotel-area', 'hotel-stars'], at='d:2')
    assert 'inherited from' in insp.outcome and 'wrong' in insp.outcome and 'north' in insp.outcome
    assert Inspector(None, bits).conversations.systems['pred'].mistake.tolist() == [0, 1, 2]
    assert VERDICTS[insp.conversations.systems['pred'].verdicts[1, 1]] == 'wrong'


def test_missing_predictions_are_said():
    insp = Inspector({'a': [{'x-y': '1'}], 'b': [{'x-y': '1'}]}, {'a': [{'x-y': '1'}]}, at='b:0')
    assert 'no prediction' in insp.transcript and 'without a prediction' in insp.frame


@pytest.mark.parametrize('gold', [{}, {'a': []}])
def test_nothing_to_read(gold):
    insp = Inspector(gold, gold)
    insp.move('error')
    assert insp.at == '' and insp.total == 0 and 'no turns' in insp.still()
    assert Inspector({'a': [], 'b': [{}]}, {'a': [], 'b': [{}]}).at == 'b:0'


def test_long_table_and_names():
    columns = {'dialogue': 'a', 'turn': [0, 1], 'slot': 'hotel-price range', 'gold': 'cheap', 'pred': ['cheap', 'dear']}
    table = pd.DataFrame(columns)
    insp = Inspector(table, names='multiwoz', at='a:1')
    assert 'pricerange' in insp.outcome and 'wrong value' in insp.outcome


def test_slots_named_like_columns():
    insp = Inspector([[{'turn': '1', 'user': 'x', 'area': 'n'}]], [[{'turn': '2', 'area': 's'}]])
    assert insp.turns[['turn', 'slot turn', 'area']].values.tolist() == [[0, 'wrong value', 'wrong value']]
    assert keeps_its_promise(insp.conversations, 'pred', *kind_grid(insp.conversations.systems['pred']))


def test_order_by_a_figure_that_should_be_low(monkeypatch):
    def errors(gold, pred):
        score = dst.joint_goal_accuracy(gold, pred)
        score.name = 'errors'
        return score
    monkeypatch.setitem(METRICS, 'errors', Metric('errors', errors, 'dst', (0, 1), 'lower', (), 'dialogue', '1', ''))
    insp = Inspector(SAMPLE.gold, SAMPLE.systems['A'], metrics=[errors], order='worst')
    assert (np.diff(insp.conversations.systems['pred'].by_dialogue['errors'][insp.listing.dialogues]) <= 0).all()


def test_odd_system_names():
    systems = {'my system!': SAMPLE.systems['A'], 'the "other"': SAMPLE.systems['B']}
    insp = Inspector(SAMPLE.gold, systems, mode='compare')
    insp.query = 'not `exact_my system!`'
    assert not insp.error and len(insp.selection)
