import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { progressOn } from '@clinical-launch/process/command-line';
import { audit } from './audit/audit.ts';
import { type Bench, type Figure, median, misses } from './bench.ts';
import { events } from './events/events.ts';
import { launch } from './launch/launch.ts';
import { lists } from './lists/lists.ts';
import { soak } from './soak/soak.ts';
import { tokens } from './tokens/tokens.ts';
import { weight } from './weight/weight.ts';

const benches: readonly Bench[] = [launch, tokens, events, audit, soak, lists, weight];

const usage = `Usage: npm run bench -- [--short] [--json FILE] [NAME...]

Measures the platform, prints each figure with its goal, and exits with 1 if a goal is missed.

  NAME         runs only these: ${benches.map(({ name }) => name).join(', ')}
  --short      runs few rounds, and only reports missed goals
  --json FILE  also writes the figures (default: bench-results.json)
`;

const { values: flags, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    json: { type: 'string', default: 'bench-results.json' },
    help: { type: 'boolean', default: false },
  },
});
const unknown = names.filter((name) => !benches.some((bench) => bench.name === name));
if (flags.help || unknown.length > 0) {
  process.stderr.write(unknown.length === 0 ? usage : `Unknown bench: ${unknown.join(', ')}.\n\n${usage}`);
  process.exit(flags.help ? 0 : 1);
}

const figures: (Figure & { readonly bench: string })[] = [];
for (const bench of benches.filter(({ name }) => names.length === 0 || names.includes(name))) {
  const show = progressOn({ errors: process.stderr });
  const progress = (text: string) => show(`${bench.name}: ${text}`);
  const measured = await bench.run({ short: flags.short, progress });
  figures.push(...measured.map((figure) => ({ bench: bench.name, ...figure })));
  console.log(`\n${bench.name}`);
  console.table(Object.fromEntries(measured.map((figure) => [figure.name, rowOf(figure)])));
}

const machine = { node: process.version, cpu: cpus()[0]?.model, cores: cpus().length };
const at = new Date().toISOString();
writeFileSync(flags.json, `${JSON.stringify({ at, machine, short: flags.short, figures }, null, 2)}\n`);
const missed = figures.filter(misses);
for (const figure of missed) console.log(`missed: ${figure.name}: ${rowOf(figure).median} ${figure.unit}`);
// A short run proves nothing, so it never fails.
if (missed.length > 0 && !flags.short) process.exitCode = 1;

function rowOf(figure: Figure) {
  const { values, unit, goal, disturbed = 0 } = figure;
  const middle = median(values);
  const range = Math.max(...values) - Math.min(...values);
  return {
    median: Number(middle.toPrecision(3)),
    unit,
    spread: values.length > 1 ? `${Math.round((range / middle) * 100)} %` : '',
    goal: goal === undefined ? '' : 'atMost' in goal ? `≤ ${goal.atMost}` : `≥ ${goal.atLeast}`,
    met: goal === undefined ? '' : misses(figure) ? 'no' : 'yes',
    disturbed: disturbed === 0 ? '' : `${disturbed} of ${values.length}`,
  };
}
