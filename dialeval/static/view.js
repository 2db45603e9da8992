// The front end of dialeval's widgets and saved pages. It knows nothing of dialogues: it puts HTML into its panes and
// tells the model what was clicked, typed or pressed. The model of a widget is Python; that of a saved page,
// `pageModel`, finds its answers in the page.
//
//   data-pane="x"       shows the trait x, which is HTML; data-text="x" shows it as text
//   data-set='{"x": 1}' sets traits when clicked
//   data-trait="x"      a control that shows and sets the trait x
//   data-at="id:turn"   goes to a turn when clicked
//   data-do='["f", 1]'  calls the command f when clicked; data-change='["f"]' calls it with the new content
//   data-key="j k"      is clicked, or focused, by these keys; data-digits="f" calls f with a digit that was pressed

const isTyping = target => target.closest('input:not([type=checkbox]), select, textarea');
const state = control => control.type === 'checkbox' ? control.checked : control.value;

function connect(root, model, keys = root) {
  const all = selector => [...root.querySelectorAll(selector)];
  const on = (target, type, f) => {
    target.addEventListener(type, f);
    undo.push(() => target.removeEventListener(type, f));
  };
  const set = traits => {
    for (const [name, value] of Object.entries(traits)) model.set(name, value);
    model.save_changes();
  };
  const call = (order, ...more) => {
    const [name, ...args] = JSON.parse(order);
    model.send({ do: name, args: [...args, ...more] });
  };
  const hasFocus = () => root.contains(root.getRootNode().activeElement);
  const later = (name, ms, f) => { clearTimeout(timers[name]); timers[name] = setTimeout(f, ms); };
  const timers = {}, undo = [], settled = [() => reveal(root.querySelector('.turn[aria-current=true]'))];

  function act(target) {
    const { do: order, set: traits, at } = target.dataset;
    if (order) call(order);
    if (traits) set(JSON.parse(traits));
    if (at) set({ at });
  }

  on(root, 'click', e => {
    const target = e.target.closest('[data-do], [data-set], [data-at]');
    if (!target || e.ctrlKey || e.metaKey || e.shiftKey || e.target.closest('summary')) return;
    if (!target.matches('a, button') && !getSelection().isCollapsed) return;       // somebody selects text
    e.preventDefault();
    act(target);
  });
  on(root, 'input', e => {
    const control = e.target.closest('[data-trait]'), name = control?.dataset.trait;
    const pause = control?.matches('select, [type=checkbox]') ? 0 : 250;
    if (control) later(name, pause, () => set({ [name]: state(control) }));
  });
  on(root, 'change', e => e.target.dataset.change && call(e.target.dataset.change, e.target.value));
  on(root, 'focusin', e => e.target.setAttribute('data-lm-suppress-shortcuts', true));      // JupyterLab looks there
  on(keys, 'keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (isTyping(e.target)) {
      if (e.key !== 'Escape' || !root.contains(e.target)) return;
      e.preventDefault();                             // or else it empties a search box
      return root.focus();
    }
    if (e.target.closest('button, a, summary') && ['Enter', ' '].includes(e.key)) return;
    const control = all('[data-key]').find(c => c.dataset.key.split(' ').includes(e.key));
    const digits = /^\d$/.test(e.key) && root.dataset.digits;
    if (!control && !digits) return;
    e.preventDefault();
    e.stopPropagation();
    if (!control) model.send({ do: digits, args: [e.key] });
    else if (isTyping(control)) control.focus();
    else control.click();
  });

  function reveal(item, box = item?.closest('.scroll')) {
    if (!item || !box) return item?.scrollIntoView({ block: 'nearest' });
    const above = item.getBoundingClientRect().top - box.getBoundingClientRect().top - 8;
    const below = above + item.offsetHeight + 16 - box.clientHeight;
    if (above < 0 || item.offsetHeight > box.clientHeight) box.scrollTop += above;
    else if (below > 0) box.scrollTop += below;
  }

  function mark() {                                   // what is current, pressed
    for (const was of all('[aria-current]')) was.removeAttribute('aria-current');
    const [at, dialogue] = ['at', 'dialogue'].map(name => CSS.escape(model.get(name) ?? ''));
    for (const is of all(`.turn[data-at="${at}"], .step[data-at="${at}"], [data-dialogue="${dialogue}"]`))
      is.setAttribute('aria-current', true);
    for (const button of all('[data-set][aria-pressed]')) {
      const traits = Object.entries(JSON.parse(button.dataset.set));
      button.setAttribute('aria-pressed', traits.every(([name, value]) => model.get(name) === value));
    }
  }

  const parts = all('[data-pane], [data-text], [data-trait]');        // of the frame, which stays
  const fill = {
    pane(part, value) {
      part.innerHTML = value;
      if (part.matches('.transcript')) part.scrollTop = 0;
    },
    text(part, value) { part.textContent = value; },
    trait(part, value) {
      if (state(part) === value || part === root.getRootNode().activeElement) return;
      part[part.type === 'checkbox' ? 'checked' : 'value'] = value;
    },
  };
  function show(name) {                               // a trait that has changed
    const value = model.get(name), focused = hasFocus();
    for (const part of parts)
      for (const kind in fill) if (part.dataset[kind] === name) fill[kind](part, value);
    if (focused && !hasFocus()) root.focus({ preventScroll: true });
    if (name === 'mode') root.dataset.mode = value;
    if (value === true || value === false) root.classList.toggle(name, value);
    if (name === 'announce' || name === 'summary') return;
    mark();
    if (name === 'at' || name === 'transcript') settled[0]();
  }

  function virtual(list) {                            // a long list of which the model sends a window
    const scroller = list.closest('.scroll'), height = () => model.get('row_height');
    const place = () => {
      list.parentElement.style.height = model.get('total') * height() + 'px';
      list.style.transform = `translateY(${model.get('rows_start') * height()}px)`;
      list.style.setProperty('--row', height() + 'px');
    };
    const follow = () => {
      const y = model.get('row') * height(), bottom = y + height() - scroller.clientHeight;
      if (y < scroller.scrollTop) scroller.scrollTop = y;
      else if (bottom > scroller.scrollTop) scroller.scrollTop = bottom;
    };
    on(scroller, 'scroll', () => later('top', 40, () => set({ top: Math.floor(scroller.scrollTop / height()) })));
    watch(['rows', 'rows_start', 'total', 'row_height'], place);
    watch(['row', 'total'], follow);
    settled.push(follow);
  }

  function watch(names, f) {
    for (const name of names) {
      model.on(`change:${name}`, f);
      undo.push(() => model.off(`change:${name}`, f));
    }
    f();
  }

  const shown = parts.flatMap(part => Object.keys(fill).map(kind => part.dataset[kind])).filter(Boolean);
  const pressed = all('[data-set][aria-pressed]').flatMap(button => Object.keys(JSON.parse(button.dataset.set)));
  const names = new Set([...shown, ...pressed, 'at', 'dialogue']);
  for (const name of names) watch([name], () => show(name));
  for (const list of all('[data-virtual]')) virtual(list);
  const size = new ResizeObserver(() => settled.forEach(f => f()));      // nothing can be scrolled before it has a size
  size.observe(root);
  undo.push(() => size.disconnect());
  return () => undo.forEach(f => f());
}

function render({ model, el }) {
  el.innerHTML = model.get('frame');
  return connect(el.firstElementChild, model);
}

// A saved page has all its turns in it. To move is to find the next element of a kind.
function pageModel(root) {
  const turns = [...root.querySelectorAll('.turn')], rows = root.querySelectorAll('[data-dialogue]');
  const order = new Map(turns.map((turn, i) => [turn, i])), named = new Map(turns.map(turn => [turn.dataset.at, turn]));
  const dialogue = turn => turn.closest('article'), first = article => article.querySelector('.turn');
  const words = turn => `${dialogue(turn).dataset.name} ${turn.querySelector('.talk').textContent}`.toLowerCase();
  const text = new Map(turns.map(turn => [turn, words(turn)]));
  const values = { at: '', dialogue: '', search: '', only: '', only_wrong: false, changed: false }, listeners = {};
  const contains = turn => text.get(turn).includes(values.search.toLowerCase());
  const chosen = turn => contains(turn) && (!values.only || turn.matches(values.only));
  const current = () => named.get(values.at);
  const stops = {
    turn: () => [...dialogue(current()).querySelectorAll('.turn')],
    error: () => turns.filter(turn => turn.matches('.own, .inherited') && chosen(turn)),
    match: () => turns.filter(chosen),
    dialogue: () => [...new Set(turns.filter(chosen).map(dialogue))].map(first),
  };
  function move(kind, by) {
    const here = order.get(kind === 'dialogue' ? first(dialogue(current())) : current());
    const all = stops[kind]();
    const found = by < 0 ? all.findLast(t => order.get(t) < here) : all.find(t => order.get(t) > here);
    if (found) put('at', found.dataset.at);
    else put('announce', `No further ${kind}.`);
  }
  function end(last) { put('at', stops.turn().at(last ? -1 : 0).dataset.at); }

  function put(name, value) {
    if (values[name] === value) return;
    values[name] = value;
    if (name === 'at') go(current());
    if (name === 'search' || name === 'only') filter();
    for (const f of listeners[name] ?? []) f();
  }
  function go(turn) {
    const article = dialogue(turn), details = turn.querySelector('details');
    for (const other of root.querySelectorAll('article:not([hidden])')) other.hidden = other !== article;
    article.hidden = false;
    if (details) details.open = true;
    put('dialogue', article.dataset.name);
    if (location.hash !== '#' + turn.id) history.replaceState(null, '', '#' + encodeURIComponent(turn.id));
    put('announce', `${values.dialogue}, ${turn.querySelector('h3').textContent}`);
  }
  function filter() {
    const found = turns.filter(chosen), names = new Set(found.map(turn => dialogue(turn).dataset.name));
    for (const row of rows) row.parentElement.hidden = !names.has(row.dataset.dialogue);
    put('summary', `${found.length} turns in ${names.size} dialogues`);
    if (found.length && !names.has(values.dialogue)) put('at', found[0].dataset.at);
  }
  function follow() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    put('at', (target?.closest('.turn') ?? (target && first(target)) ?? turns[0]).dataset.at);
  }
  const commands = { move, end };
  const send = ({ do: name, args }) => commands[name](...args);
  const on = (event, f) => (listeners[event.slice('change:'.length)] ??= []).push(f);
  return { get: name => values[name], set: put, send, on, off() {}, save_changes() {}, follow, filter };
}

function page(root) {
  if (!root.querySelector('.turn')) return;
  const model = pageModel(root);
  root.classList.add('live');
  model.follow();
  model.filter();
  window.addEventListener('hashchange', model.follow);
  connect(root, model, document);
}

export default { render, page };
