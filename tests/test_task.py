"Match, success, trackers: the figures of the released code, the identities, and what happens to bad input."
import copy, inspect, json, math, string
from dataclasses import replace

import numpy as np, pandas as pd, pytest
from dialeval import readers_responses as rr, task
from dialeval.compare import compare, compare_scores
from dialeval.core import Corpus, Dialogue, DialevalError, FormatError, OptionError, PairingError, Turn
from dialeval.dst import slot_f1
from dialeval.sample import load_sample
from dialeval.score import METRICS, merge, part
from hypothesis import given, strategies as st
from sklearn.metrics import precision_recall_fscore_support

SAMPLE = load_sample()
GOLD, A, B, VENUES = SAMPLE.gold, SAMPLE.systems['A'], SAMPLE.systems['B'], SAMPLE.venues
EXACT = dict(abs=1e-6, rel=0)
SCENARIOS = {'gold': (122, 117), 'shuffled_within_dialogue': (116, 111), 'requestables_dropped_20pct': (122, 95),
             'top5_gold_first': (100, 97)}
each_scenario = pytest.mark.parametrize('name', SCENARIOS)


# The released code on CamRest676

@pytest.fixture(scope='module')
def camrest(data):
    systems = rr.read_systems(data/'camrest/camrest_predictions.json')
    reference = json.loads((data/'references/camrest_nndial_reference.json').read_text())
    return rr.read_responses(data/'camrest/camrest_test_gold_nndial.json'), systems, reference


@each_scenario
def test_match_and_success(camrest, name):
    gold, systems, reference = camrest
    report = task.evaluate(gold, systems[name].pred, variant='released').to_dict()
    assert (report['dialogues'], report['matched'], report['successful']) == (136, *SCENARIOS[name])
    rates = [report['entity_match_rate'], report['task_success_rate']]
    assert rates == [count/136 for count in SCENARIOS[name]]
    assert SCENARIOS[name] == tuple(reference['results'][name][count] for count in ('match_count', 'success_count'))


@each_scenario
def test_goals_may_stand_elsewhere(camrest, name, data):
    gold, systems, reference = camrest
    for goals in (reference['goals'], gold, rr.read_goals(data/'references/camrest_nndial_reference.json')):
        score = task.task_success_rate(None, systems[name].pred, goals=goals, variant='released')
        assert score.whole['successful'] == SCENARIOS[name][1]


@each_scenario
@pytest.mark.parametrize('kind', task.KINDS)
def test_tracker(camrest, name, kind):
    gold, systems, reference = camrest
    table = task.tracker_table(gold, systems[name].pred, kind=kind, variant='released')
    for slot, theirs in reference['results'][name][kind].items():
        ours = table.loc['all' if slot == 'joint' else slot]
        assert ours[['tp', 'fp', 'fn']].tolist() == [theirs['tp'], theirs['fp'], theirs['fn']]
        for figure in ('precision', 'recall', 'f1'): assert 100*ours[figure] == pytest.approx(theirs[figure], **EXACT)


def test_tracker_by_slot(camrest):
    gold, systems, reference = camrest
    score = task.tracker_f1(gold, systems['requestables_dropped_20pct'].pred, kind='requestable', variant='released')
    theirs = reference['results']['requestables_dropped_20pct']['requestable']
    for slot, s in score.by('slot').items(): assert 100*s.value == pytest.approx(theirs[slot]['f1'], **EXACT)
    assert 100*score.value == pytest.approx(90.2264, abs=5e-5)


def test_tracker_without_thousandths(camrest):
    gold, systems, _ = camrest
    assert task.tracker_f1(gold, systems['requestables_dropped_20pct'].pred, kind='requestable').value == 434/481
    assert all(task.tracker_f1(gold, s.pred).value == 1 for s in systems.values())


@each_scenario
def test_bleu(camrest, name):
    gold, systems, reference = camrest
    theirs = reference['results'][name]
    def bleu(variant, **recipe):
        return task.evaluate(gold, systems[name].pred, variant=variant, recipe=recipe)['bleu'].value
    assert bleu('released') == pytest.approx(theirs['bleu_last_candidate_exact'], **EXACT)
    assert bleu('released', candidates='pooled') == pytest.approx(theirs['bleu_all_candidates_pooled'], **EXACT)
    assert bleu('released', candidates='first') == pytest.approx(theirs['bleu_top1'], **EXACT)
    assert bleu('paper') == pytest.approx(theirs['bleu_top1_without_eos_tokens'], **EXACT)


def test_ceiling_and_its_reasons(camrest):
    gold, systems, _ = camrest
    found = task.reasons(task.outcomes(gold, systems['gold'].pred, variant='released'))
    assert found['dialogues'].to_dict() == {'unfinished': 6, 'no venue': 2, 'wrong venue': 6, 'unanswered': 5}
    notes = task.evaluate(gold, systems['gold'].pred, variant='released').notes
    assert any('19 of 136' in n and 'unfinished 6 (543, 565' in n for n in notes)


def test_which_candidate_answers(camrest):
    gold, systems, _ = camrest
    pred = systems['top5_gold_first'].pred
    scores = {c: task.task_success_rate(gold, pred, candidates=c, variant='released') for c in task.SPOKEN}
    assert {c: s.whole['successful'] for c, s in scores.items()} == {'first': 97, 'any': 99, 'last': 39}


def test_provided_is_what_the_first_candidate_says(camrest):
    for sides in camrest[1].values():
        for d in sides.pred:
            said = {slot for t in d for _, slot in task.marks_of(t, task.Rules())}
            assert set(d.meta['provided']) == said & {'address', 'area', 'food', 'phone', 'postcode', 'pricerange'}


def test_raw_sentences(data):
    gold = rr.read_responses(data/'camrest/CamRest676_test136_raw.json')
    db = rr.read_database(data/'camrest/CamRest.json')
    assert db.shape == (110, 10)
    report = task.evaluate(gold, gold, db=db)
    assert (report.counts['matched'], report.counts['successful']) == (120, 110)
    choices = report['task_success_rate'].choices
    assert (choices['offers'], choices['answers']) == ('names', 'values')


def test_goals_fit_several_venues(data, camrest):
    base = task.Database(rr.read_database(data/'camrest/CamRest.json'))
    goals = [t.goals[''] for t in task.tasks_of(camrest[0]).values()]
    fits = np.array([sum(not task.broken(row, g, '', task.Rules().policy) for row in base.rows('')) for g in goals])
    assert len(fits) == 136 and (fits > 1).sum() == 94 and (fits == 0).sum() == 1


def test_raw_and_preprocessed_agree(data, camrest):
    raw, gold = rr.read_responses(data/'camrest/CamRest676_test136_raw.json'), camrest[0]
    every, three = task.tasks_of(raw), task.tasks_of(gold)
    def asked(tasks): return sum(len(t.goals[''].requests) for t in tasks.values())
    def rest(tasks): return {id: (t.goals[''].constraints, t.finished) for id, t in tasks.items()}
    assert asked(every) - asked(three) == 27 and rest(every) == rest(three)
    assert task.tracker_f1(gold, raw).value == task.tracker_f1(gold, raw, kind='requestable').value == 1


def test_later_model(data):
    slots = rr.load_after_preamble(data/'camrest/CamRestOTGY.json')['informable']
    table = {slot: slots[slot] for slot in ('area', 'food', 'pricerange')}
    gold, pred = (task.delexicalised(side, table, form='{slot}_SLOT', longest=False, swallow=True)
                  for side in rr.read_responses(data/'camrest/sequicity_camrest.csv'))
    theirs = json.loads((data/'references/sequicity_official.json').read_text())['camrest']
    whole = r'(?<!\S)(?P<slot>\w+)_SLOT(?!\S)'
    match = task.belief_match(gold, pred, slots=sum(table.values(), []), placeholder=whole)
    success = task.success_f1(gold, pred, placeholder=whole)
    bleu = task.evaluate(gold, pred, recipe=dict(end_token=('<GO>', '</s>'), smooth='epsilon'))['bleu']
    assert (match.whole['matched'], match.n) == (124, 134)
    assert match.value == pytest.approx(theirs['match_metric match'][0], **EXACT)
    assert [success.whole[c].sum() for c in ('tp', 'fp', 'fn')] == [435, 54, 102]
    assert success.value == pytest.approx(theirs['success_f1_metric success'], **EXACT)
    assert bleu.value == pytest.approx(theirs['bleu_metric bleu'], **EXACT)


# Readers

def test_formats_are_recognised(data):
    for name in ('CamRest676_test136_raw.json', 'camrest_test_gold_nndial.json'):
        assert isinstance(rr.read_responses(data/'camrest'/name), Corpus)
    assert isinstance(rr.read_responses(data/'camrest/sequicity_camrest.csv'), rr.Sides)
    with pytest.raises(FormatError, match='gold, shuffled'): rr.read_responses(data/'camrest/camrest_predictions.json')
    with pytest.raises(OptionError, match='format'): rr.read_responses(data/'camrest/CamRest.json', format='camrset')
    with pytest.raises(FormatError, match='systems'): rr.read_systems(data/'camrest/camrest_test_gold_nndial.json')


def saved(folder, name, content):
    path = folder/name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding='utf-8')
    return path


def test_databases(tmp_path):
    rows = [{'name': 'None', 'area': 'north'}, {'name': 'Sol', 'area': 'south'}]
    files = {'a.json': '# a comment\n' + json.dumps(rows), 'b.csv': 'name,area\nNone,north\nSol,south\n'}
    for file in files.items(): assert rr.read_database(saved(tmp_path, *file)).to_dict('records') == rows
    assert rr.read_database(saved(tmp_path, 'c.json', {'bar': rows}))['bar'].shape == (2, 2)
    with pytest.raises(FormatError, match='database'): rr.read_database(saved(tmp_path, 'd.json', {'a': 1}))
    with pytest.raises(FormatError, match='no such file'): rr.read_database(tmp_path/'none.json')
    with pytest.raises(FormatError, match='JSON.*e.json'): rr.read_database(saved(tmp_path, 'e.json', '# only\n[1,'))


def test_goal_files(tmp_path):
    flat, nested = {'d': {'constraints': {'area': 'north'}}}, {'d': {'bar': {'requests': ['phone']}}}
    for goals in (flat, nested, [{'dialogue_id': 'd', 'constraints': {}, 'requests': []}]):
        for content in (goals, {'goals': goals}): assert rr.read_goals(saved(tmp_path, 'g.json', content)) == goals
        assert set(task.tasks_of(goals)) == {'d'}


@pytest.mark.parametrize('bad', [{'usr': {}}, {'usr': {'transcript': 'x', 'slu': [{}]}, 'sys': {'sent': 'y'}}, 7,
                                 {'usr': {'transcript': None, 'slu': []}, 'sys': {'sent': 'y'}}])
def test_bad_turns_say_where(bad):
    raw = [{'dialogue_id': 12, 'goal': {'constraints': [], 'request-slots': []}, 'dial': [bad]}]
    with pytest.raises(DialevalError, match='dialogue 12'): rr.read_camrest(raw)


# The sample, with several domains

def test_sample():
    found = {name: task.evaluate(GOLD, pred, db=VENUES).counts for name, pred in {'gold': GOLD, 'A': A, 'B': B}.items()}
    assert [(c['matched'], c['successful']) for c in found.values()] == [(29, 28), (27, 25), (15, 9)]


def test_json():
    report = json.loads(task.evaluate(GOLD, GOLD, db=VENUES).to_json())
    assert {'entity_match_rate', 'task_success_rate', 'bleu', 'dialogues', 'signature', 'pairing'} <= set(report)
    assert set(report['informable']) == set(report['requestable']) == {'precision', 'recall', 'f1'}
    assert report['dialogues'] == 31 and 'variant:paper' in report['signature'] and 'tok=none' in report['signature']


def test_report_only_has_what_the_data_allow():
    assert 'requestable@f1' not in task.evaluate(GOLD, A, db=VENUES).scores
    texts = [{'d': [{'delex': text}]} for text in ('it is on [value_phone] .', 'it is in the [value_area] .')]
    assert set(task.evaluate(*texts).scores) == {'success_f1', 'bleu'}
    with pytest.raises(FormatError, match='none in common'): task.evaluate({'d': ['yes']}, {'d': [{'state': {}}]})
    with pytest.raises(FormatError, match='goals'): task.entity_match_rate({'d': ['yes']}, {'d': ['yes']})


def test_systems_are_compared():
    table = compare(GOLD, SAMPLE.systems, task.evaluate, db=VENUES, n=200).pairs().set_index('metric')
    assert {'entity_match_rate', 'task_success_rate', 'informable@f1', 'bleu'} <= set(table.index)
    assert table.loc['task_success_rate', 'p'] < .05 and table.loc['informable@f1', 'value'] > 0
    scores = {offers: task.entity_match_rate(GOLD, A, db=VENUES, offers=offers) for offers in ('offered', 'names')}
    with pytest.raises(PairingError, match='offers'): compare_scores(scores)


def test_ceiling_is_in_the_report_of_a_system():
    assert any('90.32 %' in n for n in task.evaluate(GOLD, A, db=VENUES).notes)
    assert not any('itself' in n for n in task.evaluate(GOLD, GOLD, db=VENUES).notes)
    assert any('ask for nothing: 1 (PMUL2563)' in n for n in task.evaluate(GOLD, A, db=VENUES).notes)


@pytest.mark.parametrize('offers', task.OFFERS)
@pytest.mark.parametrize('answers', ['placeholders', 'values'])
def test_success_never_exceeds_match(offers, answers):
    for pred in (GOLD, A, B):
        how = dict(db=VENUES, offers=offers, answers=answers)
        match, success = (f(GOLD, pred, **how) for f in (task.entity_match_rate, task.task_success_rate))
        assert (success.rows[:, 0] <= match.rows[:, 0]).all()


def test_open_rules_are_decided_once():
    def without(*names): return Corpus([Dialogue(d.id, [replace(t, **dict.fromkeys(names)) for t in d]) for d in A])
    def choices(pred):
        score = task.task_success_rate(GOLD, pred, db=VENUES)
        return [score.choices['offers'], score.choices['answers']]
    assert choices(A) == ['offered', 'placeholders'] and choices(without('offered')) == ['names', 'placeholders']
    assert choices(without('offered', 'response')) == ['state', 'placeholders']
    assert choices(without('offered', 'delex')) == ['names', 'values']


def test_domains_of_a_database():
    "A column says which domain, or the key of a mapping does; lists of mappings are tables, too"
    column = pd.concat([t.assign(domain=d) for d, t in VENUES.items()])
    lists = {d: t.to_dict('records') for d, t in VENUES.items()}
    scores = [task.task_success_rate(GOLD, A, db=db) for db in (VENUES, column, lists)]
    assert len({s.value for s in scores}) == 1


def test_a_domain_without_venues():
    trip = {'d': {'taxi': {'requests': ['phone']}, 'hotel': {'constraints': {'stars': '4', 'area': 'west'}}}}
    pred = {'d': [{'offered': ['Kervel House'], 'delex': '[value_name] .'}, {'delex': 'the taxi has [taxi_phone] .'}]}
    judged = task.judge(None, pred, goals=trip, db=VENUES)
    assert judged.table['why'].tolist() == ['', ''] and 'only requests count in taxi' in judged.notes[0]
    assert task.task_success_rate(None, pred, goals=trip, db=VENUES).by('domain')['taxi'].value == 1


def test_whose_phone():
    "A placeholder without a domain is about the venue of the turn, else what the user asks, else the last topic"
    goals = {'d': {'hotel': {'requests': ['phone']}, 'restaurant': {'requests': ['phone']}}}
    two = [{'offered': [name], 'delex': '[value_name]'} for name in ('Kervel House', 'Kitsune Bowl')]
    def lacking(last, user=()):
        gold = {'d': [{'requested': []}, {'requested': []}, {'requested': list(user)}]}
        table = task.outcomes(gold, {'d': two + [last]}, goals=goals, db=VENUES)
        return table.query('slots == "phone"')['domain'].tolist()
    assert lacking({'delex': 'call [value_phone]'}) == ['hotel']
    assert lacking({'delex': 'call [value_phone]'}, ['hotel-phone']) == ['restaurant']
    assert lacking({'delex': 'call [hotel_phone]'}) == ['restaurant']
    assert lacking({'delex': '[value_phone]', 'offered': ['Kervel House', 'Kitsune Bowl']}) == []
    assert lacking({'delex': '[value_phone]', 'offered': ['Kervel House']}, ['restaurant-phone']) == ['restaurant']


def test_alternatives_and_dontcare():
    goals = {'d': {'constraints': {'area': 'north|centre', 'food': "don't care", 'pricerange': None}, 'requests': []}}
    assert task.tasks_of(goals)['d'].goals[''].constraints == {'area': ('north', 'centre')}
    offer = {'d': [{'response': 'Here.', 'offered': [{'area': 'Centre', 'food': 'thai'}]}]}
    assert task.entity_match_rate(None, offer, goals=goals).value == 1
    assert task.entity_match_rate(None, offer, goals=goals, values='raw').value == 0


def test_slot_names_have_dialects():
    goals = {'d': {'hotel': {'constraints': {'price range': 'cheap'}, 'requests': ['hotel-phone']}}}
    pred = {'d': [{'delex': '[value_phone]', 'offered': [{'domain': 'hotel', 'pricerange': 'cheap'}]}]}
    assert task.task_success_rate(None, pred, goals=goals, names='multiwoz').value == 1
    assert task.task_success_rate(None, pred, goals=goals).value == 0


def test_entity_by_name_or_id():
    db = pd.DataFrame({'id': [1, 2], 'name': ['Sol', 'Sol'], 'area': ['north', 'south']})
    pred = {'d': [{'response': 'Sol', 'offered': ['sol']}], 'e': [{'response': '2', 'offered': ['2']}]}
    def matched(**how): return task.entity_match_rate(None, pred, db=db, **how).units['matched'].tolist()
    def of(d, e): return matched(goals={'d': {'entity': d}, 'e': {'entity': e}}, match='entity')
    assert of('SOL', 2) == [1, 1] and of([1, 3], 1) == [1, 0] and of('Luna', ['Luna', 'Sol']) == [0, 1]
    assert matched(goals={'d': {'constraints': {'area': 'south'}}, 'e': {'constraints': {'area': 'north'}}}) == [1, 0]


def test_unfinished():
    how = dict(db=VENUES, unfinished='judge', several='overlap')
    assert task.entity_match_rate(GOLD, GOLD, **how).whole['matched'] == 30
    assert 'H05' not in task.outcomes(GOLD, GOLD, **how).query('why == "unfinished"')['dialogue'].tolist()


def test_a_venue_that_does_not_exist():
    pred = {'d': [{'response': 'Try Luigi.', 'offered': ['Luigi']}]}
    table = task.outcomes(None, pred, goals={'d': {'constraints': {}, 'requests': []}}, db=VENUES['hotel'])
    assert table[['why', 'slots']].values.tolist() == [['wrong venue', 'unknown']]


def test_values_are_recognised_in_other_spellings():
    goals, db = {'d': {'requests': ['phone']}}, pd.DataFrame([{'name': 'Sol', 'phone': '01223 35-25'}])
    def success(text): return task.task_success_rate(None, {'d': ['Sol is good.', text]}, goals=goals, db=db).value
    assert all(map(success, ('call 012233525 !', '(01223) 3525', '5 01223 3525')))
    assert not any(map(success, ('01223 35250', 'x01223 3525', '01223')))


def test_missing_dialogues_count():
    some = Corpus([A[id] for id in list(A.dialogues)[:10]], 'some')
    score = task.entity_match_rate(GOLD, some, db=VENUES)
    assert score.n == 31 and score.value < task.entity_match_rate(GOLD, some, db=VENUES, missing='skip').value
    with pytest.raises(PairingError): task.entity_match_rate(GOLD, some, db=VENUES, strict=True)
    goals = {d.id: d.goal for d in GOLD}
    assert task.entity_match_rate(None, some, goals=goals, db=VENUES).n == 31


# Bad input

@pytest.mark.parametrize('bad', ['match', 'several', 'offers', 'answers', 'candidates', 'unfinished', 'requestable',
                                 'values', 'names', 'variant', 'missing'])
def test_bad_options(bad):
    with pytest.raises(OptionError): task.entity_match_rate(GOLD, A, db=VENUES, **{bad: 'x'})


def test_unknown_option():
    with pytest.raises(TypeError): task.entity_match_rate(GOLD, A, db=VENUES, sevral='first')


def test_bad_databases():
    with pytest.raises(OptionError, match='db'): task.entity_match_rate(GOLD, A)
    with pytest.raises(FormatError, match='database'): task.entity_match_rate(GOLD, A, db={'hotel': 7})
    lacking = VENUES | {'hotel': VENUES['hotel'].drop(columns='stars')}
    with pytest.raises(FormatError, match='stars.*goal of dialogue'): task.entity_match_rate(GOLD, A, db=lacking)
    how = dict(goals={'d': {'constraints': {'area': 'x'}}}, db=VENUES)
    with pytest.raises(FormatError, match='no domain'): task.entity_match_rate(None, {'d': ['x']}, **how)


@pytest.mark.parametrize('pred', [7, {'d': 7}, {'d': [7]}, {'d': [{'reply': 'x'}]}, {'d': [{'state': 'x'}]}])
def test_bad_turns(pred):
    goals = {'d': {'requests': []}}
    with pytest.raises(DialevalError): task.entity_match_rate(None, pred, goals=goals, db=VENUES['hotel'])


@pytest.mark.parametrize('bad', ['north', *({'constraints': c} for c in ({'area': object()}, 'north', [1]))])
def test_bad_goals(bad):
    with pytest.raises(FormatError, match='goal of dialogue d'): task.tasks_of({'d': bad})


def test_bad_lists_of_goals():
    with pytest.raises(FormatError, match='dialogue_id'): task.tasks_of([{'constraints': {}}])
    twice = [{'dialogue_id': id, 'requests': []} for id in (7, '7')]
    with pytest.raises(FormatError, match='dialogue 7'): task.tasks_of(twice)


def test_one_thing_or_several():
    goals = {'d': {'requests': 'phone', 'constraints': [['stars', 4]]}}
    pred = {'d': [{'offered': 'Kervel House', 'delex': ['[value_phone]', 'bye']}]}
    assert task.task_success_rate(None, pred, goals=goals, db=VENUES['hotel']).value == 1


# Trackers

PAIRS = st.dictionaries(st.sampled_from('abc'), st.sampled_from(['x', 'y', 'dontcare']))


@given(st.lists(st.tuples(PAIRS, PAIRS), min_size=1, max_size=8))
def test_trackers_are_pair_f1(turns):
    gold, pred = ({'d': [dict(t[side]) for t in turns]} for side in (0, 1))
    ours = task.tracker_f1(gold, pred)
    assert ours.value == pytest.approx(slot_f1(gold, pred).value, nan_ok=True)
    wanted, said = ([{*t[side].items()} for t in turns] for side in (0, 1))
    every = sorted({p for t in wanted + said for p in t})
    if not every: return
    truth, guess = (np.array([[p in t for p in every] for t in ts]).ravel() for ts in (wanted, said))
    theirs = precision_recall_fscore_support(truth, guess, average='binary', zero_division=np.nan)
    assert task.tracker_precision(gold, pred).value == pytest.approx(theirs[0], nan_ok=True)
    assert task.tracker_recall(gold, pred).value == pytest.approx(theirs[1], nan_ok=True)


@given(st.lists(st.tuples(PAIRS, PAIRS), min_size=1, max_size=8))
def test_substitution_only_moves_false_positives(turns):
    gold, pred = ({'d': [dict(t[side]) for t in turns]} for side in (0, 1))
    both, miss = (task.tracker_table(gold, pred, substitution=s).loc['all'] for s in ('both', 'miss'))
    assert (both['tp'], both['fn']) == (miss['tp'], miss['fn']) and both['fp'] >= miss['fp']
    assert both['fp'] - miss['fp'] == sum(g[s] != p[s] for g, p in turns for s in g.keys() & p.keys())


def test_requests_as_lists():
    gold, pred = {'d': [[], ['phone', 'area']]}, {'d': [['phone'], ['phone']]}
    figures = task.tracker_precision, task.tracker_recall, task.tracker_f1
    assert [f(gold, pred, kind='requestable').value for f in figures] == [.5, .5, .5]
    with pytest.raises(FormatError, match='prediction.*requests'): task.tracker_f1(GOLD, A, kind='requestable')
    with pytest.raises(OptionError, match='kind'): task.tracker_f1(GOLD, A, kind='both')
    with pytest.raises(OptionError, match='substitution'): task.tracker_f1(GOLD, A, substitution='fp')


# Placeholders

WORDS = st.text(string.ascii_letters + "0123456789'é", min_size=1, max_size=6)


VALUES = st.lists(st.lists(WORDS, min_size=1, max_size=2).map(' '.join), max_size=4)
TEXTS = st.lists(WORDS | st.sampled_from(['.', ',', '-', '  ']), max_size=12).map(' '.join)


@given(st.dictionaries(st.sampled_from(['area', 'food', 'name']), VALUES), TEXTS, st.booleans(), st.booleans())
def test_there_and_back(table, text, longest, swallow):
    found = task.delexicalise(text, table, longest=longest, swallow=swallow)
    assert task.relexicalise(*found) == text
    assert len(found.values) == len(task.placeholders(found.text))


def test_tables_of_values():
    table = {'area': {'centre': ['center', 'downtown']}, 'food': ['thai']}
    found = task.delexicalise('Thai food Downtown, in the center', table, form='<{SLOT}>')
    assert found.text == '<FOOD> food <AREA>, in the <AREA>'
    assert task.delexicalise('chinese: thainess', table).values == []
    names = [('name', 'A'), ('name', 'B')]
    assert task.relexicalise('[value_name] or [value_name], [value_phone]', names) == 'A or B, [value_phone]'
    assert task.relexicalise('<x>', {'x': 1}, form=r'<(?P<slot>\w+)>') == '1'


def test_other_placeholders():
    goals = {'d': {'requests': ['phone']}}
    pred = {'d': [{'response': 'call <hotel.phone>', 'offered': [{'domain': 'hotel'}]}]}
    form = r'<(?P<domain>\w+)\.(?P<slot>\w+)>'
    assert task.placeholders('call <hotel.phone>', form) == [('hotel', 'phone')]
    hotel = {'d': {'hotel': goals['d']}}
    assert task.task_success_rate(None, pred, goals=hotel, placeholder=form).value == 1
    assert task.outcomes(None, pred, goals=hotel, answers='placeholders')['why'].tolist() == ['unanswered']


# What every metric promises

FAMILY = {m.name: m.function for m in METRICS.values() if m.family == 'task'}
HOW = {'entity_match_rate': dict(db=VENUES), 'task_success_rate': dict(db=VENUES)}
each = pytest.mark.parametrize('name', FAMILY)


def run(name, gold=GOLD, pred=A, **how): return FAMILY[name](gold, pred, **HOW.get(name, {}), **how)
def only(corpus, ids): return Corpus([corpus[i] for i in ids], corpus.name)


@each
def test_gold_against_itself(name):
    score = run(name, GOLD, GOLD)
    assert score.value == 1 if score.info.ceiling == '1' else score.value < 1


@each
def test_interval_weights_and_units(name):
    score = run(name)
    assert score.ci().low <= score.value <= score.ci().high and score.ci() == score.ci()
    some = np.arange(score.n_units) % 2
    assert score.at(np.ones(score.n_units)) == score.value and score.at(some) == part(score, np.nonzero(some)[0]).value
    assert len(score.units) == score.n_units == 31


@each
def test_order_changes_nothing(name):
    ids = list(GOLD.dialogues)
    assert run(name, only(GOLD, ids[::-1]), only(A, sorted(ids))).ci() == run(name).ci()


@each
def test_merge_equals_the_whole(name):
    ids, whole = list(GOLD.dialogues), run(name)
    merged = merge([run(name, only(GOLD, some), only(A, some)) for some in (ids[20:], ids[:7], ids[7:20])])
    assert merged.value == pytest.approx(whole.value, abs=1e-12) and merged.ids == whole.ids
    assert merged.ci()[:2] == pytest.approx(whole.ci()[:2])
    a, b = ({k: s.value for k, s in score.by('domain').items()} for score in (merged, whole))
    assert a == pytest.approx(b, nan_ok=True)


@each
def test_nothing_to_score(name):
    score = run(name, Corpus(), Corpus())
    assert math.isnan(score.value) and score.n == 0


@each
def test_input_is_left_alone(name):
    gold, pred = only(GOLD, ['M07', 'R02']), only(A, ['R02', 'M07'])
    kept = copy.deepcopy((gold.dialogues, pred.dialogues))
    run(name, gold, pred)
    assert (gold.dialogues, pred.dialogues) == kept


@each
def test_signature_and_options(name):
    score = run(name, values='raw', missing='skip')
    assert all(p in score.signature for p in (score.name, 'values:raw', 'missing:skip', 'unit:dialogue'))
    assert {'values', 'names', 'missing', 'strict'} <= set(inspect.signature(FAMILY[name]).parameters)
    assert score.name in repr(score) and score.signature in score._repr_html_()
