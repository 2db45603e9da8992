"Package metadata. The facts are in settings.ini, which nbdev reads too."
from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup

LICENSES = {'apache2': 'Apache-2.0'}
STATUS = {'3': '3 - Alpha', '4': '4 - Beta', '5': '5 - Production/Stable'}

parser = ConfigParser(delimiters=['='])
parser.read('settings.ini', encoding='utf-8')
cfg = parser['DEFAULT']


def lines(key): return cfg[key].strip().splitlines()


extras = {key.removeprefix('extra_'): lines(key) for key in cfg if key.startswith('extra_')}
extras['dev'] = lines('dev_requirements') + sum(extras.values(), [])
readme = Path('README.md')

setup(
    name=cfg['lib_name'],
    version=cfg['version'],
    description=cfg['description'],
    long_description=readme.read_text(encoding='utf-8') if readme.exists() else '',
    long_description_content_type='text/markdown',
    author=cfg['author'],
    author_email=cfg['author_email'],
    url=cfg['git_url'],
    license=LICENSES[cfg['license']],
    license_files=['LICENSE'],
    keywords=cfg['keywords'].split(),
    classifiers=[f'Development Status :: {STATUS[cfg["status"]]}', f'Intended Audience :: {cfg["audience"]}',
                 f'Natural Language :: {cfg["language"]}', 'Programming Language :: Python :: 3', 'Framework :: Jupyter'],
    python_requires=f'>={cfg["min_python"]}',
    packages=find_packages(include=[cfg['lib_name'], f'{cfg["lib_name"]}.*']),
    package_data={cfg['lib_name']: ['data/**', 'static/**']},
    install_requires=lines('requirements'),
    extras_require=extras,
    entry_points={'console_scripts': lines('console_scripts'),
                  'nbdev': [f'{cfg["lib_name"]}={cfg["lib_path"]}._modidx:d']},
    zip_safe=False,
)
