"JupyterLab in Chromium, as a person would use it: the inspector, the rater and the explorer."
import json, os, re, signal, socket, subprocess, sys, time, urllib.request

import nbformat, pytest
from conftest import ROOT
import test_inspector
from test_page import expect, is_light, serious

pytestmark = pytest.mark.browser
READY = """() => { const s = window.jupyterapp?.shell?.currentWidget?.sessionContext;
                    return s?.isReady && s.session?.kernel?.status === 'idle' }"""
RUN = "() => { window.jupyterapp.commands.execute('notebook:run-all-cells') }"   # braces: its promise never ends
NEWS = 'settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings'


@pytest.fixture(scope='module')
def lab(tmp_path_factory):
    "A JupyterLab server with a folder of its own"
    folder = tmp_path_factory.mktemp('lab')
    (folder/NEWS).parent.mkdir(parents=True)
    (folder/NEWS).write_text('{"fetchNews": "false"}')
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        port = s.getsockname()[1]
    places = {'JUPYTER_CONFIG_DIR': 'config', 'JUPYTERLAB_SETTINGS_DIR': 'settings', 'JUPYTERLAB_WORKSPACES_DIR': 'work'}
    env = os.environ | {'PYTHONPATH': str(ROOT)} | {name: str(folder/place) for name, place in places.items()}
    command = [sys.executable, '-m', 'jupyterlab', f'--port={port}', '--no-browser', '--allow-root', '--ip=127.0.0.1',
               '--IdentityProvider.token=t', f'--ServerApp.root_dir={folder}', '--LabApp.expose_app_in_browser=True']
    with open(folder/'log', 'w') as log: server = subprocess.Popen(command, env=env, stdout=log, stderr=log)
    try:
        wait_for(f'http://127.0.0.1:{port}/api?token=t')
        yield Lab(f'http://127.0.0.1:{port}', folder)
    finally:
        server.terminate()
        server.wait(20)


def wait_for(url):
    for _ in range(120):
        try: return urllib.request.urlopen(url, timeout=1)
        except OSError: time.sleep(.5)
    raise TimeoutError(url)


class Lab:
    def __init__(self, url, folder): self.url, self.folder = url, folder

    def open(self, page, name, *cells):
        "Write a notebook, open it and run it"
        nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
        nb.metadata.kernelspec = {'name': 'python3', 'display_name': 'Python 3', 'language': 'python'}
        nbformat.write(nb, self.folder/name)
        page.problems = []
        page.on('pageerror', lambda e: page.problems.append(str(e)))
        page.on('console', lambda m: page.problems.append(m.text) if m.type == 'error' else None)
        page.goto(f'{self.url}/doc/tree/{name}?token=t&reset')
        page.wait_for_function(READY, timeout=60_000)
        page.evaluate(RUN)


START = '''from dialeval.sample import load_sample, simulate
from dialeval.inspector import Inspector
from dialeval.rater import WEN, Rater, preference
sample = load_sample()
'''
SURVIVOR = '"a cell that must survive"'
NASTY = '''from dialeval.inspector import Inspector
import sys; sys.path.insert(0, TESTS)
from test_inspector import nasty
gold, pred = nasty()
Inspector(gold, pred, mode="compare")
'''.replace('TESTS', repr(str(ROOT/'tests')))


@pytest.fixture
def inspector(lab, page):
    "An inspector on the screen, with the focus in it"
    lab.open(page, 'inspector.ipynb', START + 'Inspector(sample.gold, sample.systems, at="PMUL2563:2")', SURVIVOR)
    page.locator('.turn[aria-current=true] .user').click(timeout=60_000)
    return page


def at(page, turn): expect(page.locator('.turn[aria-current=true]')).to_have_attribute('data-at', turn)


def cells(page):
    "The sources of the notebook's cells"
    model = 'window.jupyterapp.shell.currentWidget.content.model'
    return page.evaluate(f'() => [...{model}.cells].map(cell => cell.sharedModel.getSource())')


def test_keys(inspector):
    page, before = inspector, cells(inspector)
    for key, turn in zip('e j ArrowUp E G g e'.split(), (3, 4, 3, 2, 5, 0, 2)):
        page.keyboard.press(key)
        at(page, f'PMUL2563:{turn}')
    page.keyboard.press(']')
    at(page, 'R01:0')
    page.keyboard.press('[')
    at(page, 'PMUL2563:0')
    page.keyboard.press('e')
    expect(page.locator('[data-pane=outcome] .line')).to_contain_text('own mistake · missed hotel-area, hotel-stars')
    for key in 'x d d a b c v m z Shift+M o Enter'.split(): page.keyboard.press(key)
    page.keyboard.press('?')
    expect(page.locator('.legend .keys')).to_be_visible()
    at(page, 'PMUL2563:2')
    assert cells(page) == before and len(before) == 2
    expect(page.locator('.jp-mod-editMode')).to_have_count(0)
    assert page.problems == []


def test_links_toggles_and_modes(inspector):
    page = inspector
    page.keyboard.press('G')
    page.locator('[data-pane=outcome]').get_by_role('link', name='turn 4').first.click()
    at(page, 'PMUL2563:4')
    rows = page.locator('[data-pane=outcome] .states tbody tr:visible')
    page.get_by_label('only wrong').check()
    expect(rows).to_have_count(3)
    page.get_by_label('changed this turn').check()
    expect(rows).to_have_count(1)
    page.get_by_role('button', name='Compare').click()
    expect(page.locator('[data-pane=outcome] thead th')).to_have_text(['slot', 'gold', 'A', 'B'])
    expect(page.locator('[data-pane=rows] li').first.locator('.strip')).to_have_count(2)
    page.get_by_role('button', name='Overview').click()
    page.get_by_title('`hotel-stars` == "missed"').click()
    expect(page.locator('.query')).to_have_value('`hotel-stars` == "missed"')
    expect(page.locator('[data-pane=summary]')).to_contain_text('4 turns')
    expect(page.get_by_role('button', name='Read')).to_have_attribute('aria-pressed', 'true')
    assert page.problems == []


def test_query_and_search(inspector):
    page = inspector
    page.locator('.query').fill('missed > 0 and not exact_B')
    expect(page.locator('[data-pane=summary]')).to_contain_text('23 turns')
    page.locator('.query').fill('missed >')
    expect(page.get_by_role('alert')).to_contain_text('Expected the query to be')
    expect(page.locator('[data-pane=summary]')).to_contain_text('23 turns')
    page.get_by_role('button', name='show all').click()
    expect(page.locator('[data-pane=summary]')).to_contain_text('167 turns')
    page.locator('.transcript').click(position={'x': 5, 'y': 5})
    page.keyboard.press('/')
    page.keyboard.type('lovely')
    expect(page.locator('[data-pane=summary]')).to_contain_text('9 turns')
    page.keyboard.press('Escape')
    page.keyboard.press('n')
    expect(page.locator('.turn[aria-current=true]')).to_contain_text('ovely')
    page.get_by_label('System').select_option('B')
    page.get_by_label('Order').select_option('worst first')
    expect(page.locator('[data-pane=rows] li').first.locator('.score')).to_have_text('0.25')
    assert page.problems == []


def test_attributes_and_page_are_one(lab, page):
    lab.open(page, 'state.ipynb', START + 'insp = Inspector(sample.gold, sample.systems)\ninsp',
             'insp.at, insp.only_wrong, insp.mode = "R02:1", True, "compare"', 'print(insp.link())')
    at(page, 'R02:1')
    expect(page.get_by_label('only wrong')).to_be_checked()
    link = "Inspector(gold, pred, at='R02:1', mode='compare', only_wrong=True)"
    expect(page.locator('.jp-OutputArea').last).to_contain_text(link)


def test_long_list(lab, page):
    lab.open(page, 'long.ipynb', START + 'Inspector(*simulate(2000))')
    page.locator('[data-pane=rows] li').first.wait_for(timeout=60_000)
    page.evaluate("() => { document.querySelector('nav .scroll').scrollTop = 28*1500 }")
    row = page.locator('[data-dialogue=S0001503]')
    expect(row).to_be_visible()
    row.click()
    at(page, 'S0001503:0')
    page.keyboard.press('[')
    at(page, 'S0001502:0')
    assert page.locator('[data-pane=rows] li').count() == 60 and page.problems == []


@pytest.mark.parametrize('theme', ['JupyterLab Light', 'JupyterLab Dark'])
def test_no_serious_barrier(lab, page, theme):
    lab.open(page, 'axe.ipynb', START + 'Inspector(sample.gold, sample.systems, at="PMUL2563:4", mode="compare")',
             'Inspector(sample.gold, sample.systems, mode="overview")',
             'Rater(sample.systems, WEN, "axe.jsonl", gold=sample.gold)', EXPLORER)
    page.locator('.dialeval.explorer td.aligned').first.wait_for(timeout=60_000)
    page.evaluate('theme => { window.jupyterapp.commands.execute("apputils:change-theme", {theme}) }', theme)
    expect(page.locator('body')).to_have_attribute('data-jp-theme-light', str('Light' in theme).lower())
    page.wait_for_timeout(500)
    page.keyboard.press('?')
    assert is_light(page) == ('Light' in theme)
    assert serious(page, '.dialeval') == [] and page.locator('.dialeval').count() == 4


def test_text_stays_text(lab, page):
    still = 'from IPython.display import HTML\nHTML(Inspector(gold, pred)._repr_mimebundle_()[0]["text/html"])'
    lab.open(page, 'nasty.ipynb', NASTY, still)
    expect(page.locator('.dialeval.still .user')).to_contain_text('$5 and $6', timeout=60_000)
    page.keyboard.press('e')
    page.wait_for_timeout(1000)                         # MathJax has had its time
    for part in ('.dialeval.app', '.dialeval.still'):
        assert page.locator(part).locator('mjx-container, .MathJax, img, script').count() == 0
        expect(page.locator(part).locator('.user')).to_contain_text(test_inspector.NASTY)
    assert page.evaluate('window.hacked') is None and page.problems == []


EXPLORER = '''import pandas as pd
from dialeval import intents
from dialeval.explorer import IntentExplorer
texts = ["my balance", "the balance", "lost card", "card gone", "my <b>card</b>"]
items = pd.DataFrame({"text": texts, "intent": list("bbccc"), "cluster": [0, 1, 2, 2, 0]})
explorer = IntentExplorer(intents.evaluate(items))
explorer'''


def test_explorer(lab, page):
    lab.open(page, 'explorer.ipynb', EXPLORER, SURVIVOR)
    page.locator('td.aligned').first.click(timeout=60_000)
    expect(page.locator('[data-pane=items] li')).to_have_count(2)
    page.keyboard.press('e')
    page.keyboard.press('x')
    expect(page.locator('[data-pane=items] li')).to_have_count(1)
    page.locator('th[scope=col] button', has_text='0').click()
    page.get_by_label('Merge 0 with').select_option('1')
    figures = page.locator('[data-pane=figures] tr', has_text='K')
    expect(figures).to_contain_text('32-1')
    page.get_by_role('button', name='take back').click()
    expect(figures).to_contain_text('33')
    page.get_by_role('searchbox').fill('balance')
    expect(page.locator('[data-pane=items] li')).to_have_count(2)
    assert len(cells(page)) == 2 and page.problems == []


RATING = START + '''import os
print("pid", os.getpid())
rater = Rater(sample.systems, WEN, "ratings.jsonl", gold=sample.gold, rater="anna")
rater'''


def pressed(page): return page.locator('.question [aria-pressed=true] kbd')


def test_rate_kill_and_resume(lab, page):
    "kill -9 between two ratings loses none that was confirmed"
    lab.open(page, 'rate.ipynb', RATING, SURVIVOR)
    page.locator('.said').first.click(timeout=60_000)
    state = page.evaluate("() => document.querySelector('.dialeval.rater').outerHTML")
    assert '"A"' not in state and '>A<' not in state and '>B<' not in state
    for key in '145': page.keyboard.press(key)
    expect(pressed(page)).to_have_text(['1', '4', '5'])
    page.keyboard.press('n')
    expect(pressed(page)).to_have_count(0)
    page.keyboard.press('0')
    page.keyboard.press('2')
    expect(pressed(page)).to_have_text(['0', '2'])
    page.keyboard.press('u')
    expect(pressed(page)).to_have_text(['0'])
    page.keyboard.press('3')
    expect(pressed(page)).to_have_text(['0', '3'])
    pid = int(re.search(r'pid (\d+)', page.locator('.jp-OutputArea').first.inner_text())[1])
    os.kill(pid, signal.SIGKILL)
    page.get_by_role('button', name='Ok').click(timeout=60_000)
    lines = [json.loads(line) for line in (lab.folder/'ratings.jsonl').read_text().splitlines()]
    assert [line['value'] for line in lines] == [1, 4, 5, 0, 2, None, 3]
    page.wait_for_function(READY, timeout=60_000)
    page.evaluate(RUN)
    expect(page.locator('[data-pane=progress]').last).to_contain_text('1 of 62 done', timeout=60_000)
    expect(pressed(page)).to_have_text(['0', '3'])
    assert len(cells(page)) == 2
