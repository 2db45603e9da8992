"Every notebook runs, shows what it would show today, is clean, and exports to exactly what is in the package."
import json, re, subprocess, sys

import nbformat, pytest
from nbdev.clean import clean_nb

from conftest import DATA, ROOT, copy_project
from notebooks import WIDGET, flagged, notebooks, run_all, tidy

PATHS = [p.relative_to(ROOT).as_posix() for p in notebooks()]
every_notebook = pytest.mark.parametrize('name', PATHS)
NUMBER = re.compile(r'-?\d+\.\d+(?:e[+-]?\d+)?')


def saved(name): return json.loads((ROOT/name).read_text(encoding='utf-8'))


@pytest.fixture(scope='session')
def runs(request, project):
    "The selected notebooks, all started at once in a copy of the project"
    wanted = {item.callspec.params['name'] for item in request.session.items if 'runs' in item.fixturenames}
    futures = run_all([project/name for name in sorted(wanted)], project)
    return {path.relative_to(project).as_posix(): future for path, future in futures.items()}


@every_notebook
def test_runs(name, runs):
    if error := runs[name].exception(): pytest.fail(f'{name}\n{error}', pytrace=False)


def shown(cell):
    "The text that a reader sees under a cell, each piece after its kind; pictures and warnings left out"
    for output in cell.get('outputs', []):
        texts = {'stdout': output['text']} if output.get('name') == 'stdout' else output.get('data', {})
        yield from (f'{kind}\n{"".join(text)}\n' for kind, text in sorted(texts.items()) if kind.startswith(('stdout', 'text/')))


def numbers(text): return [float(n) for n in NUMBER.findall(text)]


def alike(old, new):
    "The same text, but for spaces and for the last digits of numbers, which differ between machines"
    same_words = NUMBER.sub('#', old).split() == NUMBER.sub('#', new).split()
    return same_words and numbers(new) == pytest.approx(numbers(old), rel=1e-9, abs=1e-12)


@every_notebook
def test_saved_outputs_are_true(name, runs):
    "What the page shows is what the code gives; `#| volatile` marks a time or a speed, `#| data` what only the real files can give"
    if runs[name].exception(): pytest.fail(f'{name} does not run', pytrace=False)
    fresh = tidy(runs[name].result())
    clean_nb(fresh)   # without addresses, as the saved ones are
    for old, new in zip(saved(name)['cells'], fresh['cells'], strict=True):
        was, now = ''.join(shown(old)), ''.join(shown(new))
        excused = flagged(old, 'volatile') or flagged(old, 'data') and not DATA
        if not (excused or alike(was, now)):
            what = f'{name}, cell {old["id"]}: look, then `make run NB={name}`'
            pytest.fail(f'{what}\n\n{new["source"]}\n\nsaved {was}\nnow {now}', pytrace=False)


@every_notebook
def test_cells(name):
    nb = saved(name)
    nbformat.validate(nb)
    ids = [cell.get('id') for cell in nb['cells']]
    assert all(ids) and len(set(ids)) == len(ids), 'every cell has an id of its own'
    assert sum(flagged(cell, 'hide') for cell in nb['cells']) <= 2, 'a hidden lesson teaches nobody: at most two `#| hide` cells'


@every_notebook
def test_no_widget_state(name):
    nb = saved(name)
    kinds = {kind for cell in nb['cells'] for output in cell.get('outputs', []) for kind in output.get('data', {})}
    assert 'widgets' not in nb['metadata'] and WIDGET not in kinds, 'it shows only while a kernel lives: run `make export`'


@pytest.fixture(scope='session')
def twin(tmp_path_factory):
    "A copy of the project whose modules were thrown away, but for the hand-written __init__, and made again"
    twin = copy_project(tmp_path_factory.mktemp('twin')/ROOT.name)
    for path in (twin/'dialeval').rglob('*.py'):
        if path.name != '__init__.py': path.unlink()
    done = subprocess.run([sys.executable, '.ci/notebooks.py', 'export'], cwd=twin, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return twin


def modules(root): return {p.relative_to(root).as_posix(): p.read_text(encoding='utf-8') for p in (root/'dialeval').rglob('*.py')}


def test_modules_are_the_notebooks(project, twin):
    ours, fresh = modules(project), modules(twin)
    assert ours.keys() == fresh.keys(), 'a module without a notebook, or a notebook not exported: run `make export`'
    assert [name for name in ours if ours[name] != fresh[name]] == [], 'run `make export`'


@every_notebook
def test_is_clean(name, twin):
    assert (ROOT/name).read_bytes() == (twin/name).read_bytes(), 'run `make export`'
