"The saved page in Chromium, with scripts and without, in the light and in the dark."
import re
from pathlib import Path

import pytest
from dialeval.inspector import inspect_html
from dialeval.readers import read_pair
from dialeval.sample import load_sample
from test_inspector import nasty

pytestmark = pytest.mark.browser
expect = pytest.importorskip('playwright.sync_api').expect
SAMPLE = load_sample()


@pytest.fixture(scope='module')
def folder(tmp_path_factory): return tmp_path_factory.mktemp('page')


@pytest.fixture(scope='module')
def url(folder): return inspect_html(SAMPLE.gold, SAMPLE.systems, folder/'all.html').as_uri()


@pytest.fixture(scope='module')
def short(folder): return inspect_html(SAMPLE.gold, SAMPLE.systems, folder/'short.html', search='lovely').as_uri()


def opened(page, url):
    "The page, and everything that it complained about or fetched"
    page.problems = []
    page.on('pageerror', lambda e: page.problems.append(str(e)))
    page.on('console', lambda m: page.problems.append(m.text) if m.type in ('error', 'warning') else None)
    page.on('request', lambda r: page.problems.append(r.url) if not r.url.startswith('file:') else None)
    page.goto(url)
    return page


def current(page): return page.locator('.turn[aria-current=true]').get_attribute('data-at')


def serious(page, within='html'):
    "What axe-core finds wrong, in a line each"
    from axe_playwright_python.sync_playwright import Axe
    found = Axe().run(page, context=within).response['violations']
    return [f'{v["id"]}: {v["nodes"][0]["html"][:150]}' for v in found if v['impact'] in ('serious', 'critical')]


def test_keys(page, url):
    opened(page, url + '#PMUL2563-t2')
    assert current(page) == 'PMUL2563:2' and page.locator('article:visible').count() == 1
    for key, turn in zip('e ArrowDown k E G g j'.split(), (3, 4, 3, 2, 5, 0, 1)):
        page.keyboard.press(key)
        assert current(page) == f'PMUL2563:{turn}' and page.url.endswith(f'#PMUL2563-t{turn}')
    page.keyboard.press('[')
    assert current(page) == 'M09:0'
    page.keyboard.press(']')
    assert current(page) == 'PMUL2563:0'
    page.keyboard.press('E')
    assert current(page).startswith('M09')
    page.keyboard.press('Control+e')
    page.keyboard.press('?')
    assert current(page).startswith('M09') and page.locator('.keys').is_visible()
    assert page.problems == []


def test_links_and_back(page, url):
    opened(page, url + '#PMUL2563-t5')
    page.locator('.turn[aria-current=true]').get_by_role('link', name='turn 4').first.click()
    assert current(page) == 'PMUL2563:4'
    page.locator('nav').get_by_text('R01').click()
    assert current(page) == 'R01:0' and page.locator('nav [aria-current=true]').inner_text().startswith('R01')
    page.goto(url + '#H02')
    assert current(page) == 'H02:0'
    page.goto(url + '#nowhere')
    assert current(page) == 'H01:0'


def test_filter(page, url):
    opened(page, url)
    page.keyboard.press('/')
    page.keyboard.type('lovely')
    page.wait_for_function("document.querySelectorAll('nav li:not([hidden])').length < 31")
    found = page.locator('nav li:visible').count()
    assert 0 < found < 31 and f'in {found} dialogues' in page.locator('[data-text=summary]').inner_text()
    page.keyboard.press('Escape')
    before = current(page)
    page.keyboard.press('n')
    assert current(page) != before and 'lovely' in page.locator('.turn[aria-current=true]').inner_text().lower()
    page.get_by_label('Search').fill('')
    page.get_by_label('Show').select_option('own mistakes')
    expect(page.locator('[data-text=summary]')).to_contain_text(f'{page.locator(".turn.own").count()} turns')
    page.keyboard.press('Escape')
    page.keyboard.press('e')
    assert 'own' in page.locator('.turn[aria-current=true]').get_attribute('class')


def test_typing_is_no_command(page, url):
    opened(page, url + '#PMUL2563-t2')
    page.get_by_label('Search').press_sequentially('ekj')
    assert page.get_by_label('Search').input_value() == 'ekj' and current(page) == 'PMUL2563:2'


def test_toggles(page, url):
    opened(page, url + '#PMUL2563-t4')
    rows = page.locator('.turn[aria-current=true] .states tbody tr:visible')
    everything = rows.count()
    page.get_by_label('only wrong').check()
    expect(rows).to_have_count(3)
    page.get_by_label('changed this turn').check()
    expect(rows).to_have_count(1)
    assert 'attraction-name' in rows.inner_text() and everything == 8


def test_without_scripts(chromium, url):
    with chromium.new_context(java_script_enabled=False, viewport={'width': 1200, 'height': 800}) as context:
        page = opened(context.new_page(), url + '#PMUL2563-t2')
        assert page.locator('article:visible').count() == 31
        assert page.locator('#PMUL2563-t2').get_by_text('missed').first.is_visible()
        assert 0 <= page.locator('#PMUL2563-t2').bounding_box()['y'] < 800
        assert page.get_by_text('Shows 31 of 31 dialogues').count() == 1
        assert not page.get_by_label('Search').is_visible()
        page.locator('#PMUL2563-t5').get_by_role('link', name='turn 4').first.click()
        assert page.url.endswith('#PMUL2563-t4') and 0 <= page.locator('#PMUL2563-t4').bounding_box()['y'] < 800
        page.get_by_label('only wrong').check()
        assert page.locator('#PMUL2563-t2 .states tbody tr:visible').count() == 2
        assert page.problems == []


def is_light(page):
    "Is the ground lighter than the ink?"
    def light(name):
        colour = page.locator('.dialeval').first.evaluate(f'e => getComputedStyle(e).{name}')
        return sum(float(n) for n in re.findall(r'[\d.]+', colour)[:3])
    return light('backgroundColor') > light('color')


def without_script(url):
    "A copy of the page whose script does not run, for axe-core itself needs scripts"
    path = Path(url.removeprefix('file://'))
    still = path.with_name('still.html')
    text = path.read_text(encoding='utf-8').replace('<script type="module">', '<script type="text/plain">')
    still.write_text(text, encoding='utf-8')
    return still.as_uri()


@pytest.mark.parametrize('scheme', ['light', 'dark'])
@pytest.mark.parametrize('scripts', [True, False])
def test_no_serious_barrier(chromium, short, scheme, scripts):
    with chromium.new_context(color_scheme=scheme, viewport={'width': 1200, 'height': 800}) as context:
        page = context.new_page()
        opened(page, (short if scripts else without_script(short)) + '#PMUL2563-t2')
        if scripts: page.keyboard.press('?')
        assert is_light(page) == (scheme == 'light') and serious(page) == []


def test_text_stays_text(page, tmp_path):
    gold, pred = nasty()
    opened(page, inspect_html(gold, pred, tmp_path/'n.html', title='<b>').as_uri())
    page.keyboard.press('e')
    assert page.evaluate('window.hacked') is None and page.locator('img').count() == 0 and page.problems == []
    assert '$5 and $6' in page.locator('.turn .user').inner_text()
    assert page.locator('article h2').inner_text().startswith('<img')


@pytest.mark.data('dst/fga/somdst100.json')
def test_real_file(page, data, tmp_path):
    "All 100 dialogues of SOM-DST in one file"
    path = inspect_html(*read_pair(data/'dst/fga/somdst100.json'), tmp_path/'out.html')
    opened(page, path.as_uri())
    assert page.locator('article').count() == 100 and page.get_by_text('Shows 100 of 100 dialogues').is_visible()
    page.get_by_label('Search').fill('PMUL2563')
    page.wait_for_function("document.querySelectorAll('nav li:not([hidden])').length === 1")
    told = page.locator('article:visible .turn .line').all_inner_texts()
    whose = ['✗ own mistake', '↩ inherited from turn 2', '✗ own mistake', '↩ inherited from turn 4']
    assert [text.split(' · ')[0] for text in told[2:6]] == whose
    assert path.stat().st_size < 5_000_000 and page.problems == []


def test_empty_page(page, tmp_path):
    opened(page, inspect_html({'a': []}, {'a': []}, tmp_path/'e.html').as_uri())
    assert page.get_by_text('Shows 0 of 1 dialogues').is_visible() and page.problems == []
