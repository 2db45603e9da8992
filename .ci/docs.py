"""The site, from the notebooks as they are saved: nbdev documents what they export, smalldocs renders the pages.

    python .ci/docs.py [--out FOLDER] [--execute] [--strict]

nbdev links the symbols of nbs/10_dst.ipynb to dst.html, so every page is staged under that name. --execute runs the
notebooks first; --strict fails on a warning, a broken link among them. No Quarto: _quarto.yml suits both tools.
"""
import argparse, os, re, shutil, sys, tempfile
from collections import Counter
from html import unescape
from importlib import import_module
from pathlib import Path

import nbformat, yaml
from execnb.nbio import read_nb, write_nb
from fastcore.xtras import dict2obj
from latex2mathml.converter import convert
from nbdev.config import create_output, get_config
from nbdev.process import Processor
from nbdev.processors import FilterDefaults, exec_show_docs
from nbdev.showdoc import show_doc
from smalldocs.site import build

from notebooks import ROOT, notebooks, run_all, tidy

NUMBER = re.compile(r'(?<![\w-])\d+[a-zA-Z0-9]*_(?=\w+\.ipynb)')
FORMULA = re.compile(r'<span class="math (inline|display)">\\[(\[](.*?)\\[)\]]</span>', re.S)
KATEX = re.compile(r'<(?:link|script)[^>]*/katex@[^>]*>(?:</script>)?')


def staged(path):
    "nbs/tutorials/01_first.ipynb -> tutorials/first.ipynb"
    name = Path(path).relative_to('nbs').as_posix()
    return NUMBER.sub('', name).lower() if name.endswith('.ipynb') else name


def under_nbs(value): return isinstance(value, str) and value.startswith('nbs/')


def expand(pattern):
    "The files that an entry of _quarto.yml names, in the order of their numbers"
    return sorted(p.relative_to(ROOT).as_posix() for p in ROOT.glob(pattern)) if '*' in pattern else [pattern]


def listed(node):
    "Every notebook that this part of _quarto.yml names"
    if isinstance(node, dict): return listed(list(node.values()))
    if isinstance(node, list): return [name for child in node for name in listed(child)]
    return expand(node) if under_nbs(node) else []


def restage(node):
    "The same configuration with every file under its staged name"
    if isinstance(node, dict): return {key: restage(value) for key, value in node.items()}
    if isinstance(node, list):
        return [new for value in node for new in (map(staged, expand(value)) if under_nbs(value) else [restage(value)])]
    return staged(node) if under_nbs(node) else node


def pages():
    "Every page of the sidebar, as a path from the top; a page that is missing, unlisted or has a namesake is an error"
    there = [p.relative_to(ROOT).as_posix() for p in notebooks()]
    names = listed(yaml.safe_load((ROOT/'_quarto.yml').read_text(encoding='utf-8'))['website']['sidebar'])
    twice = [name for name, n in Counter(map(staged, there)).items() if n > 1]
    wrong = ([f'_quarto.yml lists {name}, which is not there' for name in names if name not in there]
             + [f'{name} is not in the sidebar of _quarto.yml' for name in there if name not in names]
             + [f'{" and ".join(n for n in there if staged(n) == name)} would both become {name}' for name in twice])
    if wrong: sys.exit('\n'.join(wrong))
    return names


def relink(text, depth):
    "Links as they must be in the flat site: to staged names, and within it rather than through its address"
    cfg = get_config()
    text = text.replace(f'{cfg.doc_host}{cfg.doc_baseurl}/', '../' * depth)
    text = re.sub(r'(\]\(|\b(?:src|href)=")' + r'\.\./' * (depth + 1), r'\1' + '../' * depth, text)   # nbs/ itself is gone
    return NUMBER.sub('', text)


def relink_cell(cell, depth):
    if cell.cell_type == 'raw': cell.source = re.sub(r'(?m)^output-file:.*\n', '', cell.source)   # nbdev's, for Quarto alone
    if cell.cell_type == 'markdown': cell.source = relink(cell.source, depth)
    for output in cell.get('outputs', []):
        if markdown := output.get('data', {}).get('text/markdown'):
            output['data']['text/markdown'] = relink(''.join(markdown), depth)


SOURCE = re.compile(r'\[source\]\([^)]*\)(\{[^}]*\})?\n*')   # to a host that may not be there: the source stands on the page


class ShowDocs(Processor):
    "Document the exported names of the module itself; nbdev would run parts of the notebook for it"
    def begin(self):
        exported = re.search(r'^#\|\s*default_exp\s+(\S+)', '\n'.join(cell.source for cell in self.nb.cells), re.M)
        self.names = {'show_doc': show_doc} | (vars(import_module(f'{get_config().lib_name}.{exported[1]}')) if exported else {})

    def cell(self, cell):
        if cell.cell_type == 'code' and re.search(r'^show_doc\(', cell.source, re.M):
            doc = eval(cell.source, self.names)
            cell.outputs = dict2obj(create_output(SOURCE.sub('', doc._repr_markdown_()), 'markdown'), list_func=list)
            if not doc.sym.__doc__: del cell['source']   # a helper, which its source explains


class Filter(FilterDefaults):
    def base_procs(self): return [ShowDocs if proc is exec_show_docs else proc for proc in super().base_procs()]


def stage(path, folder, nb=None):
    "One notebook, as saved or as run just now, documented by nbdev, under its staged name"
    name = staged(path.relative_to(ROOT))
    (folder/name).parent.mkdir(parents=True, exist_ok=True)
    if nb: nbformat.write(tidy(nb), folder/name)
    nb = read_nb(folder/name if nb else path)
    Filter()(nb)
    for cell in nb.cells: relink_cell(cell, name.count('/'))
    write_nb(nb, folder/name)


def stage_rest(folder, out):
    "What the pages refer to: pictures and styles beside the notebooks, and the texts at the top"
    shutil.copytree(ROOT/'nbs', folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns('*.ipynb', '.*', '_*'))
    for path in [*ROOT.glob('*.md'), ROOT/'LICENSE']: shutil.copy(path, folder)
    config = restage(yaml.safe_load((ROOT/'_quarto.yml').read_text(encoding='utf-8')))
    config['project']['output-dir'] = str(out)   # smalldocs refuses a folder that is no site of its own
    (folder/'_quarto.yml').write_text(yaml.safe_dump(config, sort_keys=False), encoding='utf-8')


def mathml(html):
    "Formulas as MathML, which browsers draw with neither script nor network"
    def one(m): return convert(unescape(m[2]), display={'inline': 'inline', 'display': 'block'}[m[1]])
    return KATEX.sub('', FORMULA.sub(one, html))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--out', type=Path, default=ROOT/'_docs')
    parser.add_argument('--execute', action='store_true')
    parser.add_argument('--strict', action='store_true')
    args = parser.parse_args()
    out = args.out.resolve()
    os.chdir(ROOT)   # where nbdev looks for settings.ini, and Python for the package
    sys.path.insert(0, str(ROOT))
    paths = [ROOT/name for name in pages()]
    fresh = run_all(paths) if args.execute else {}
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp)
        stage_rest(folder, out)
        for path in paths: stage(path, folder, fresh[path].result() if fresh else None)
        site = build(folder, quiet=True)
    for page in out.rglob('*.html'): page.write_text(mathml(page.read_text(encoding='utf-8')), encoding='utf-8')
    for warning in site.warnings: print('warning:', warning, file=sys.stderr)
    print(f'{len(site.pages)} pages in {out}')
    sys.exit(1 if args.strict and site.warnings else 0)


if __name__ == '__main__': main()
