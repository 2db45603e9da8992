"The project keeps its promises: one version, a README in step, a site that builds, a wheel that works elsewhere."
import ast, os, re, subprocess, sys
from configparser import ConfigParser
from html import unescape
from pathlib import Path
from zipfile import ZipFile

import nbformat, pytest

import dialeval
from conftest import ROOT, copy_project
from docs import pages, staged

PARSER = ConfigParser(delimiters=['='])
PARSER.read(ROOT/'settings.ini', encoding='utf-8')
CFG = PARSER['DEFAULT']
BROUGHT = {'scikit-learn': ['sklearn'], 'ipywidgets': ['ipywidgets', 'traitlets', 'IPython']}   # what to import after installing
LOCAL = re.compile(r'(?<![\w.~])/(?:work|root|tmp/w|home/\w+|Users/\w+)(?![\w-])'   # a path of somebody's machine
                   r'|\b(?:pypi|pythonhosted|npmjs|debian)\.org\b')                  # the host of a registry
BESIDE = re.compile(r'\.\./shared')   # a folder beside the project, for which only .ci/run may look


def python(*arguments, **kwargs):
    done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, **kwargs)
    if done.returncode: pytest.fail(f'python {" ".join(map(str, arguments))}\n{done.stdout}{done.stderr}', pytrace=False)
    return done.stdout


def test_version():
    assert dialeval.__version__ == CFG['version']
    changes = (ROOT/'CHANGELOG.md').read_text(encoding='utf-8')
    assert re.search(rf'^## {re.escape(CFG["version"])}\b', changes, re.M), 'CHANGELOG.md has no headline for this version'


def test_readme(): python('.ci/readme.py', '--check', cwd=ROOT)


@pytest.fixture(scope='session')
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp('site')/'docs'
    python('.ci/docs.py', '--out', out, '--strict', cwd=ROOT)
    return out


def headline(name):
    cells = nbformat.read(ROOT/name, as_version=4).cells
    return re.search(r'^# (.+)$', '\n'.join(c.source for c in cells if c.cell_type == 'markdown'), re.M)[1]


def words(text): return re.findall(r'\w+', unescape(re.sub(r'<[^>]+>', '', text)))


def test_docs(site):
    for name in pages():
        html = (site/staged(name)).with_suffix('.html').read_text(encoding='utf-8')
        assert words(headline(name)) in [words(h) for h in re.findall(r'<h1\b.*?</h1>', html, re.S)], f'{name} lost its headline'


def lines(root):
    for path in filter(Path.is_file, root.rglob('*')):
        text = path.read_bytes().decode('utf-8', 'ignore')
        yield from ((path.relative_to(root).as_posix(), n, line) for n, line in enumerate(text.splitlines(), 1))


def test_no_local_names(project):
    "What only somebody's machine has is named nowhere"
    found = [f'{name}:{n}: {line.strip()[:120]}' for name, n, line in lines(project)
             if LOCAL.search(line) or BESIDE.search(line) and name != '.ci/run']
    assert found == []


def imports(path):
    "The modules from elsewhere that a file imports, `*` among them for a star import"
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Import): yield from (alias.name.split('.')[0] for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            if not node.level: yield node.module.split('.')[0]
            yield from (alias.name for alias in node.names if alias.name == '*')


def packages(key): return [re.match(r'[\w-]+', line)[0] for line in CFG[key].split('\n') if line]


def test_imports():
    "The package lives on its requirements and extras: no nbdev, no fastcore, no tool of development, no star"
    required = [name for key in CFG if key == 'requirements' or key.startswith('extra_') for name in packages(key)]
    known = {'dialeval', *sys.stdlib_module_names, *(module for name in required for module in BROUGHT.get(name, [name]))}
    strangers = {p.name: strange for p in (ROOT/'dialeval').rglob('*.py') if (strange := set(imports(p)) - known)}
    assert strangers == {}


@pytest.fixture(scope='session')
def wheel(tmp_path_factory):
    "Built from the source distribution, so that both are known to be whole"
    source = copy_project(tmp_path_factory.mktemp('source')/ROOT.name)
    python('-c', 'from setuptools.build_meta import build_sdist; build_sdist("dist")', cwd=source)
    sdist, = (source/'dist').glob('*.tar.gz')
    python('-m', 'pip', 'wheel', '-q', '--no-deps', '--no-build-isolation', '-w', source/'dist', sdist)
    wheel, = (source/'dist').glob('*.whl')
    return wheel


def test_wheel_is_whole(wheel, project):
    inside = {name for name in ZipFile(wheel).namelist() if name.startswith('dialeval/')}
    assert inside == {p.relative_to(project).as_posix() for p in (project/'dialeval').rglob('*') if p.is_file()}


def test_wheel_works_elsewhere(wheel, tmp_path):
    python('-m', 'pip', 'install', '-q', '--no-deps', '--target', tmp_path/'site', wheel)
    env = os.environ | {'PYTHONPATH': str(tmp_path/'site')}
    assert str(tmp_path) in python('-c', 'import dialeval; print(dialeval.__file__)', cwd=tmp_path, env=env)
    assert python(tmp_path/'site'/'bin'/'dialeval', 'demo', cwd=tmp_path, env=env)
