"""What tests may ask for: real prediction files, a browser, a copy of the project. What they cannot have they skip by name.

`DIALEVAL_DATA` names the folder of real files. Under `DIALEVAL_NO_SKIP=1` a test may skip only for want of that folder or
of Chromium; any other skip fails, so that no run is green by accident.
"""
import importlib.util, os, shutil, subprocess
from pathlib import Path

import hypothesis, pytest

SLOW = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile('house', deadline=None, suppress_health_check=SLOW)   # a busy machine is no bug
hypothesis.settings.load_profile('house')

ROOT = Path(__file__).resolve().parents[1]
STRICT = os.environ.get('DIALEVAL_NO_SKIP') == '1'
DATA = os.environ.get('DIALEVAL_DATA') and Path(os.environ['DIALEVAL_DATA']).resolve()
CHROMES = os.environ.get('CHROME'), *map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))
CHROME = next(filter(None, CHROMES), None)
FLAGS = ('--no-sandbox --disable-gpu --disable-quic --no-first-run'
         ' --disable-background-networking --disable-component-update --disable-sync')
if DATA: os.environ['DIALEVAL_DATA'] = str(DATA)   # notebooks and commands start in other folders


def copy_project(to):
    "The files that git tracks or would track, in a folder where a test may do as it likes"
    listing = ['git', 'ls-files', '-co', '--exclude-standard', '-z']
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split('\0')):
        if not (ROOT/name).is_file(): continue   # deleted, not yet committed
        (to/name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT/name, to/name)
    return to


@pytest.fixture(scope='session')
def project(tmp_path_factory): return copy_project(tmp_path_factory.mktemp('project')/ROOT.name)


def missing_data(files):
    "Why a data test cannot run, if so"
    if not DATA: return f'needs {", ".join(files) or "real files"}: set DIALEVAL_DATA to the folder that holds them'
    gone = [name for name in files if not (DATA/name).exists()] if DATA.is_dir() else files or ['a folder']
    return gone and f'needs {", ".join(gone)}, not found under DIALEVAL_DATA={DATA}'


def missing_browser():
    "Why a browser test cannot run, if so"
    if not CHROME: return 'needs Chromium: install it, or set CHROME to the program'
    return not importlib.util.find_spec('playwright') and 'needs playwright'


def pytest_runtest_setup(item):
    needs = item.get_closest_marker('data')
    reason = needs and missing_data(needs.args) or item.get_closest_marker('browser') and missing_browser()
    if reason: pytest.skip(reason)


@pytest.fixture(scope='session')
def data():
    "The folder of real files; `@pytest.mark.data('dst/x.json')` says which of them a test needs"
    return DATA if not (reason := missing_data([])) else pytest.skip(reason)


@pytest.fixture(scope='session')
def chromium():
    if reason := missing_browser(): pytest.skip(reason)
    from playwright.sync_api import sync_playwright
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROME, args=FLAGS.split())
        yield browser
        browser.close()


@pytest.fixture
def page(chromium):
    "A page of a fresh browser profile"
    with chromium.new_context(viewport={'width': 1200, 'height': 800}) as context: yield context.new_page()


def excused(item):
    wants_data = item.get_closest_marker('data') or 'data' in item.fixturenames
    wants_browser = item.get_closest_marker('browser') or 'chromium' in item.fixturenames
    return wants_data and not (DATA and DATA.is_dir()) or wants_browser and not CHROME


def forbid(report):
    "A skip under DIALEVAL_NO_SKIP=1, reported as the failure that it is"
    report.outcome, report.longrepr = 'failed', f'skipped under DIALEVAL_NO_SKIP=1: {report.longrepr[2]}'


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if STRICT and report.skipped and not hasattr(report, 'wasxfail') and not excused(item): forbid(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    if STRICT and report.skipped: forbid(report)
    return report
