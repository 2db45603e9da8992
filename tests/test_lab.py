"JupyterLab in Chromium, as a person would use it: the inspector, the rater and the explorer."
import json, os, socket, subprocess, sys, time, urllib.request

import nbformat, pytest
from conftest import ROOT

pytestmark = pytest.mark.browser
READY = "() => { const s = window.jupyterapp?.shell?.currentWidget?.sessionContext; return s?.isReady && s.session?.kernel?.status === 'idle' }"
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
    env = os.environ | {'PYTHONPATH': str(ROOT), 'JUPYTER_CONFIG_DIR': str(folder/'config'), 'JUPYTERLAB_SETTINGS_DIR': str(folder/'settings'),
                        'JUPYTERLAB_WORKSPACES_DIR': str(folder/'workspaces')}
    options = [f'--port={port}', '--no-browser', '--allow-root', '--ip=127.0.0.1', '--IdentityProvider.token=t', f'--ServerApp.root_dir={folder}',
               '--LabApp.expose_app_in_browser=True']
    with open(folder/'log', 'w') as log: server = subprocess.Popen([sys.executable, '-m', 'jupyterlab', *options], env=env, stdout=log, stderr=log)
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
