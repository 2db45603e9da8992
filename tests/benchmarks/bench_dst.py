"""State tracking: speed and memory, as ratios within one run.   python tests/benchmarks/bench_dst.py

1. from two files on disk to the full report (four lambdas, both variants, 1000-sample intervals), against a plain loop
   over Python sets that computes one variant without intervals, and against `json.load` of the same files;
2. one million simulated turns, already encoded: all metrics and four lambdas;
3. `dialeval --version` against `python -c pass`.
The files are those of the reference data where DIALEVAL_DATA is set, else simulated ones of the same size."""
import json, math, os, resource, subprocess, sys, tempfile, time
from pathlib import Path

LAMS = (.25, .5, .75, 1.)

def best(f, times=7):
    "The shortest of several runs, in seconds"
    def once():
        start = time.perf_counter(); f(); return time.perf_counter() - start
    return min(once() for _ in range(times))

def files():
    "Paths of a prediction and its gold"
    data = Path(os.environ.get('DIALEVAL_DATA', ''))/'dst'/'full_test'
    if (data/'pred_t5_da.json').is_file(): return data/'pred_t5_da.json', data/'gold_mwz21_trade.json'
    from dialeval.sample import simulate
    folder = Path(tempfile.mkdtemp())
    def flat(state): return {'-'.join(key): value for key, value in state.items()}
    for name, corpus in zip(('gold', 'pred'), simulate(999)):
        (folder/name).write_text(json.dumps({d.id: [flat(t.state) for t in d] for d in corpus}))
    return folder/'pred', folder/'gold'

def stems(pairs): return {pair.rsplit('-', 1)[0] for pair in pairs}
def strings(state): return {f'{slot}-{value.strip().lower()}' for slot, value in state.items()}

def with_sets(pred_path, gold_path, slots=30):
    "The usual script: the figures of the report in one variant, by sets of strings, without intervals"
    pred, gold = json.load(open(pred_path)), json.load(open(gold_path))
    turns = joint = slot = average = jaccard = relative = matched = final = f1 = tp = n_pred = n_gold = 0
    counted = either = correct = wrong = missed_changes = over = 0
    flexible = dict.fromkeys(LAMS, 0.)
    for id, golds in gold.items():
        last_gold, last_pred, error = set(), set(), -math.inf
        for t, (g, p) in enumerate(zip(golds, pred[id])):
            g, p = strings(g), strings(p)
            missed, spurious = g - p, p - g
            both = stems(missed) & stems(spurious)
            slot += (slots - len(missed) - len(spurious) + len(both))/slots
            hits, union = len(g & p), len(g | p)
            if g: average += hits/len(g); counted += 1
            if union: jaccard += hits/union; either += 1
            filled = len(stems(g | p))
            if filled: relative += (filled - len(missed) - len(spurious) + len(both))/filled
            tp += hits; n_pred += len(p); n_gold += len(g)
            f1 += 2*hits/(len(g) + len(p)) if union else 1
            gold_now, pred_now = (dict(x.rsplit('-', 1) for x in side) for side in (g, p))
            for name in stems((g ^ last_gold) | (p ^ last_pred)):
                a, b = gold_now.get(name), pred_now.get(name)
                if a == b: correct += 1
                elif a is None: over += 1
                elif b is None: missed_changes += 1
                else: wrong += 1
            if g == p:
                joint += 1; matched += 1
                for lam in LAMS: flexible[lam] += 1
            elif not (p - last_pred) <= g or not (g - last_gold) <= p: error = t
            else:
                matched += 1
                for lam in LAMS: flexible[lam] += 1 - math.exp(-lam*(t - error))
            last_gold, last_pred = g, p
            turns += 1
        final += g == p
    return {'joint_goal_accuracy': joint/turns, 'slot_accuracy': slot/turns, 'average_goal_accuracy': average/counted,
            'average_goal_accuracy_jaccard': jaccard/either, 'slot_precision': tp/n_pred, 'slot_recall': tp/n_gold,
            'slot_f1': 2*tp/(n_pred + n_gold), 'slot_f1_turn': f1/turns, 'final_goal_accuracy': final/len(gold),
            'turn_match': matched/turns, **{f'flexible_goal_accuracy@{lam}': f/turns for lam, f in flexible.items()}}

def report_from_files(pred_path, gold_path):
    from dialeval import dst, readers
    gold, pred = readers.read_pair(pred_path, gold_path)
    report = dst.evaluate(gold, pred, lam=LAMS, slots=30)
    report.ci()
    return report

def a_million_turns():
    from dialeval import dst, sample
    states = sample.simulate_states(135_000, seed=1)
    before, start = peak_memory(), time.perf_counter()
    report = dst.evaluate(states, lam=LAMS)
    values = [s.value for s in report.scores.values()]
    assert not any(map(math.isnan, values))
    return states.n_turns, time.perf_counter() - start, before, peak_memory()

def peak_memory():
    "What this process has used at most, in GB"
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss/1e6

def measure():
    "All figures of one run"
    paths = files()
    report, theirs = report_from_files(*paths), with_sets(*paths)
    assert all(abs(report[name].value - x) < 1e-4 for name, x in theirs.items())    # hyphens cost the strings a little
    turns, seconds, before, peak = a_million_turns()
    def run(code): return subprocess.run([sys.executable, '-c', code], check=True, stdout=subprocess.DEVNULL)
    version = 'from dialeval.cli import main; main(["--version"])'
    found = {'full report from files': best(lambda: report_from_files(*paths)),
             'loop over sets, one variant, no intervals': best(lambda: with_sets(*paths)),
             'json.load of the files': best(lambda: [json.load(open(p)) for p in paths]),
             f'{turns} encoded turns, all metrics': seconds,
             'dialeval --version': best(lambda: run(version), 9),
             'python -c pass': best(lambda: run('pass'), 9)}
    return found, {'peak memory before the million turns (GB)': before, 'peak memory after (GB)': peak}

def check(found):
    "The ratios that are judged: what was measured, and the most it may be"
    report, loop, load, million, version, nothing = found.values()
    return {'report / loop over sets': (report/loop, 1), 'report / json.load': (report/load, 6),
            'seconds for a million encoded turns': (million, 2), 'version / python': (version/nothing, 4)}

if __name__ == '__main__':
    found, memory = measure()
    for name, seconds in found.items(): print(f'{name:45} {seconds*1000:9.1f} ms')
    for name, gb in memory.items(): print(f'{name:45} {gb:9.2f}')
    for name, (value, most) in check(found).items():
        print(f'{name:45} {value:9.2f}   at most {most}   {"ok" if value <= most else "TOO MUCH"}')
