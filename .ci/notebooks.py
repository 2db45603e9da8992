"""Export, clean and run the notebooks: what make, the docs and the tests share.

    python .ci/notebooks.py export              notebooks -> modules, and cleaned notebooks
    python .ci/notebooks.py run [NOTEBOOK ...]  run in place (all, unless some are named), keep the outputs, export
"""
import contextlib, os, re, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from execnb.nbio import read_nb, write_nb
from nbclient import NotebookClient
from nbdev.clean import nbdev_clean
from nbdev.doclinks import nbdev_export

ROOT = Path(__file__).resolve().parents[1]
WIDGET = 'application/vnd.jupyter.widget-view+json'
CORES = os.cpu_count() or 1


def notebooks(root=ROOT):
    "Every notebook of the project, but for checkpoints and drafts (names that start with a dot or an underscore)"
    found = sorted((root/'nbs').rglob('*.ipynb'))
    return [p for p in found if not any(part[0] in '._' for part in p.relative_to(root).parts)]


def flagged(cell, *flags):
    "Does the cell begin with one of these directives, such as `#| hide`?"
    return bool(re.search(rf'^#\|\s*(?:{"|".join(flags)})\s*$', ''.join(cell['source']), re.M))


def tidy(nb):
    "Drop what shows only while a kernel lives: widget views and their saved state"
    nb['metadata'].pop('widgets', None)
    for cell in nb['cells']:
        for output in cell.get('outputs', []): output.get('data', {}).pop(WIDGET, None)
    return nb


def export(root=ROOT):
    "Notebooks to modules, then clean notebooks"
    os.environ.pop('IN_TEST', None)   # under it nbdev exports nothing
    with contextlib.chdir(root):
        nbdev_export.__wrapped__()
        nbdev_clean.__wrapped__()
    for path in notebooks(root): write_nb(tidy(read_nb(path)), path)


class Runner(NotebookClient):
    "A client that leaves alone the cells that nbdev would not test"
    async def async_execute_cell(self, cell, cell_index, **kwargs):
        if not flagged(cell, 'notest', r'eval:\s*false'): await super().async_execute_cell(cell, cell_index, **kwargs)
        return cell


def run(path, root=ROOT):
    "The notebook with fresh outputs, from a process of its own that imports the package from `root`"
    nb = nbformat.read(path, as_version=4)
    env = os.environ | {'IN_TEST': '1', 'PYTHONPATH': str(root),   # IN_TEST: an nbdev_export() in the notebook does nothing
                        'PATH': os.pathsep.join([str(Path(sys.executable).parent), os.environ['PATH']])}
    Runner(nb, timeout=600, kernel_name='python3', record_timing=False, extra_arguments=['--log-level=ERROR', '--colors=nocolor'],
           resources={'metadata': {'path': str(path.parent)}}).execute(env=env)
    return nb


def run_all(paths, root=ROOT):
    "Each notebook's future, one notebook a core"
    pool = ThreadPoolExecutor(CORES)
    return {path: pool.submit(run, path, root) for path in paths}


if __name__ == '__main__':
    command, *names = sys.argv[1:] or ['help']
    if command not in ('export', 'run'): sys.exit(__doc__)
    export()
    if command == 'run':
        for path, nb in run_all([Path(n).resolve() for n in names] or notebooks()).items(): nbformat.write(nb.result(), path)
        export()
