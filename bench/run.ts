import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { makeBuilds } from './driver/builds.js';
import { type Figure, isRight } from './driver/figure.js';
import type { RaceOptions } from './driver/race.js';
import { machine, printTable } from './driver/report.js';
import { measureAllocation, measureHookBytes } from './measure/allocation.js';
import { measureClients } from './measure/clients.js';
import { measureConversations } from './measure/conversations.js';
import { countDispatch, timeDispatch } from './measure/dispatch.js';
import { measureDurable } from './measure/durable.js';
import { measureExtensions } from './measure/extensions.js';
import { measureBundle, measureImport } from './measure/footprint.js';
import { measureHookedRuns, measureHooks } from './measure/hooks.js';
import {
  compare,
  measureConcurrent,
  measureConstruct,
  measureNested,
  measureStream,
  measureTurns,
} from './measure/loop.js';
import { measureMcp } from './measure/mcp.js';
import type { Measurement } from './measure/measurement.js';
import { countSessionCalls } from './measure/session-calls.js';
import { measureSessions } from './measure/sessions.js';
import { measureShellHooks } from './measure/shell-hooks.js';
import { measureStart } from './measure/start.js';
import { measureState } from './measure/state.js';
import { measureStores } from './measure/stores.js';
import { measureTrace } from './measure/trace.js';
import { measureUi } from './measure/ui.js';
import { measureWire } from './measure/wire.js';

const MEASUREMENTS: Readonly<Record<string, Measurement>> = {
  answer: compare({ name: 'one answer', work: {}, bound: 3 }),
  round: compare({ name: '1 tool round', work: { turns: 1, calls: 1 }, bound: 1.5 }),
  turns: measureTurns,
  nested: measureNested,
  parallel: compare({ name: '8 parallel calls', work: { turns: 1, calls: 8 }, bound: 1.4 }),
  stream: measureStream,
  concurrent: measureConcurrent,
  construct: measureConstruct,
  allocation: measureAllocation,
  import: measureImport,
  bundle: measureBundle,
  start: measureStart,
  hooks: measureHookedRuns,
  'sync-hooks': measureHooks('sync'),
  'async-hooks': measureHooks('async'),
  extensions: measureExtensions,
  'hook-bytes': measureHookBytes,
  dispatch: countDispatch,
  'dispatch-time': timeDispatch,
  'shell-hooks': measureShellHooks,
  mcp: measureMcp,
  ui: measureUi,
  clients: measureClients,
  stores: measureStores,
  conversations: measureConversations,
  state: measureState,
  durable: measureDurable,
  sessions: measureSessions,
  'session-calls': countSessionCalls,
  wire: measureWire,
  trace: measureTrace,
};

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});

async function main(): Promise<void> {
  const chosen = choose(values.only?.split(',') ?? Object.keys(MEASUREMENTS));
  const race = raceOptions();
  const builds = await makeBuilds();
  const start = performance.now();
  const figures: Record<string, Figure[]> = {};
  try {
    for (const [name, measure] of chosen) {
      process.stderr.write(`${name} … `);
      figures[name] = await measure({ builds, race });
    }
  } finally {
    builds.remove();
  }
  process.stderr.write('\n');
  report(figures, { race, seconds: Math.round((performance.now() - start) / 1000) });
}

function report(figures: Record<string, Figure[]>, { race, seconds }: { race: RaceOptions; seconds: number }): void {
  const all = Object.values(figures).flat();
  const head = `${new Date().toISOString().slice(0, 10)}, ${machine()}, ${race.rounds} rounds, ${seconds} s`;
  console.log(`${head}\n`);
  printTable(all);
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ head, race, figures }, null, 2));
  if (!all.every(isRight)) process.exitCode = 1;
}

function choose(names: readonly string[]): (readonly [string, Measurement])[] {
  return names.map((name) => {
    const measure = MEASUREMENTS[name];
    if (measure === undefined)
      throw new Error(`\`--only\` must name measurements (${Object.keys(MEASUREMENTS).join(', ')}), got "${name}".`);
    return [name, measure] as const;
  });
}

/** `--quick` gives rough figures with wide spreads. */
function raceOptions(): RaceOptions {
  const rounds = Number(values.rounds ?? (values.quick ? 2 : 5));
  return { rounds, passes: values.quick ? 8 : 16, warmMs: values.quick ? 300 : 1000, blockMs: 10 };
}

await main();
