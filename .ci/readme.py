"""README.md is nbs/index.ipynb as plain Markdown.

    python .ci/readme.py           write it
    python .ci/readme.py --check   print the difference and exit 1 if there is one
"""
import difflib, json, re, sys
from pathlib import Path
from posixpath import normpath

ROOT = Path(__file__).resolve().parents[1]
NOTE = '<!-- Made from nbs/index.ipynb by `make export`: edit that page, not this one. -->'
HIDDEN = r'^#\|\s*(hide|default_exp.*|export|include:\s*false)\s*$'
FENCED = re.compile(r'(^```.*?^```[^\n]*$)', re.M | re.S)
LINK = re.compile(r'(\]\(|\b(?:src|href)=")(?![a-z]+:|[#/])([^)"\s]+)')


def text(source): return source if isinstance(source, str) else ''.join(source)
def has(source, directive): return re.search(directive, source, re.M)
def fence(code, language=''): return f'```{language}\n{code.strip()}\n```'


def relink(markdown):
    "Links that start in nbs/ become links that start at the top; code is left alone"
    parts = FENCED.split(markdown)
    parts[::2] = [LINK.sub(lambda m: m[1] + normpath(f'nbs/{m[2]}'), part) for part in parts[::2]]
    return ''.join(parts)


def output(out):
    "Markdown as it is, any other text fenced; a picture belongs in a file that a link names"
    data = out.get('data', {})
    if 'text/markdown' in data: return relink(text(data['text/markdown']))
    if out.get('name') == 'stdout': return fence(text(out['text']))
    return fence(text(data['text/plain'])) if 'text/plain' in data and 'image/png' not in data else ''


def parts(cell):
    source = text(cell['source'])
    if cell['cell_type'] == 'markdown': yield relink(source)
    if cell['cell_type'] != 'code' or has(source, HIDDEN): return
    if not has(source, r'^#\|\s*echo:\s*false'): yield fence(re.sub(r'^#\|.*\n?', '', source, flags=re.M), 'python')
    if not has(source, r'^#\|\s*output:\s*false'): yield from map(output, cell['outputs'])


def render():
    cells = json.loads((ROOT/'nbs/index.ipynb').read_text(encoding='utf-8'))['cells']
    return '\n\n'.join([NOTE] + [part.strip() for cell in cells for part in parts(cell) if part.strip()]) + '\n'


def check(readme, new):
    "How README.md differs from the page, line by line"
    old = readme.read_text(encoding='utf-8') if readme.exists() else ''
    return ''.join(difflib.unified_diff(old.splitlines(True), new.splitlines(True), 'README.md', 'nbs/index.ipynb'))


if __name__ == '__main__':
    readme, new = ROOT/'README.md', render()
    if '--check' in sys.argv: sys.exit(check(readme, new) or None)
    readme.write_text(new, encoding='utf-8')
