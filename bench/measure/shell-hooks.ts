import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type * as ShellHooks from '../../src/shell-hooks/shell-hooks.js';
import type * as Trust from '../../src/trust/trust.js';
import { digits, type Figure, figureOf } from '../driver/figure.js';
import { median } from '../driver/race.js';
import type { Setting } from './measurement.js';

type Library = typeof ShellHooks & typeof Trust;

const PAIRS = 20;
const FILES = [1, 50, 1_000] as const;
const INPUT = JSON.stringify({ event: 'before_tool', data: { tool_name: 'look', args: { at: 1 } } });
const HOOK = `let text = '';
for await (const chunk of process.stdin) text += chunk;
console.log(JSON.stringify({ continue: JSON.parse(text).event !== '' }));
`;
const nothing = () => {};
const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** A user's hook compared with a bare spawn of the same command, and the time to verify files bound to an approval. */
export async function measureShellHooks(setting: Setting): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-hooks-'));
  try {
    const place = { workspaceDir: join(folder, 'work'), stateDir: join(folder, 'state') };
    mkdirSync(place.workspaceDir);
    const load = (name: string) => import(new URL(name, setting.builds.shipped).href);
    const library: Library = { ...(await load('shell-hooks.js')), ...(await load('trust.js')) };
    return [...(await measureSpawns(setting, library, place)), ...(await measureVerify(setting, library, place))];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Place {
  readonly workspaceDir: string;
  readonly stateDir: string;
}

type Command = readonly [command: string, args: readonly string[]];

const SH: Command = ['/bin/sh', ['-c', 'cat > /dev/null']];

async function measureSpawns(setting: Setting, library: Library, place: Place): Promise<Figure[]> {
  const script = join(place.stateDir, '..', 'hook.mjs');
  writeFileSync(script, HOOK);
  const node: Command = [process.execPath, [script]];
  const group = { detached: true };
  return [
    await race(setting, { name: 'a Node script as a hook', unit: '×', bound: 1.1 }, [
      () => bareSpawn(node, group),
      hookRunner(library, node, place),
    ]),
    await race(setting, { name: 'a line of sh as a hook', unit: '×', bound: 1.3 }, [
      () => bareSpawn(SH, group),
      hookRunner(library, SH, place),
    ]),
    await race(setting, { name: 'a separate process group', unit: '×' }, [
      () => bareSpawn(SH, {}),
      () => bareSpawn(SH, group),
    ]),
  ];
}

type Work = () => Promise<void>;

/** Alternates two functions, and returns the ratio of the second to the first. */
async function race(
  { race: { rounds } }: Setting,
  figure: Pick<Figure, 'name' | 'unit' | 'bound'>,
  [bare, ours]: readonly [Work, Work],
): Promise<Figure> {
  const ratios: number[] = [];
  const times: (readonly [number, number])[] = [];
  for (let round = 0; round < rounds; round++) {
    const pairs: [number, number][] = [];
    for (let i = 0; i < PAIRS; i++) pairs.push(await timePair(bare, ours, i % 2 === 1));
    const taken = [median(pairs.map(([first]) => first)), median(pairs.map(([, second]) => second))] as const;
    times.push(taken);
    ratios.push(taken[1] / taken[0]);
  }
  const [first, second] = [median(times.map(([time]) => time)), median(times.map(([, time]) => time))];
  return figureOf(ratios, { ...figure, note: `${digits(second)} ms against ${digits(first)} of a bare spawn` });
}

function hookRunner(library: Library, [command, args]: Command, place: Place): () => Promise<void> {
  const registry = new library.HookRegistry();
  registry.register({ event: 'before_tool', name: 'hook', command, args, scope: 'user' });
  const gate = library.createTrustGate({ ...place, logger });
  const { runner } = library.shellHooks({ workspaceDir: place.workspaceDir, registry, gate, machine: { logger } });
  return async () => {
    const describe = () => ({ data: { tool_name: 'look', args: { at: 1 } } });
    const { outcomes } = await runner.runEvent({ event: 'before_tool', sessionId: 's', value: undefined, describe });
    if (outcomes[0]?.status !== 'completed') throw new Error(`The hook failed: ${JSON.stringify(outcomes)}`);
  };
}

function bareSpawn([command, args]: Command, options: { readonly detached?: boolean }): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: 'pipe' });
    child.stdout.resume();
    child.stderr.resume();
    child.on('error', reject);
    child.on('close', () => resolve());
    child.stdin.end(INPUT);
  });
}

async function measureVerify({ race }: Setting, library: Library, place: Place): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const count of FILES) {
    const folder = join(place.workspaceDir, `files-${count}`);
    mkdirSync(folder);
    for (let i = 0; i < count; i++) writeFileSync(join(folder, `${i}.sh`), `echo ${i}\n`.repeat(100));
    const gate = library.createTrustGate({ ...place, logger, approve: () => true });
    const decision = await gate.authorize({
      ...{ kind: 'hook', scope: 'workspace', name: 'hook', command: '/bin/sh', args: ['-c', 'true'] },
      files: [`files-${count}`],
    });
    if (!decision.allowed) throw new Error(decision.message);
    const rounds: number[] = [];
    for (let round = 0; round < race.rounds; round++) rounds.push(await timeOf(() => gate.verify(decision)));
    figures.push(figureOf(rounds, { name: `verifying ${digits(count)} file${count === 1 ? '' : 's'}`, unit: 'ms' }));
  }
  return figures;
}

/** Returns the times of both. The order alternates, since the first of a pair may be slower. */
async function timePair(bare: Work, ours: Work, isOursFirst: boolean): Promise<[number, number]> {
  if (!isOursFirst) return [await timeOf(bare), await timeOf(ours)];
  const time = await timeOf(ours);
  return [await timeOf(bare), time];
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
