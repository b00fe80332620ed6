import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type HookDefinition, HookRegistry, shellHooks } from 'keelson/shell-hooks';
import { createTrustGate } from 'keelson/trust';
import { expect, test } from 'vitest';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const nothing = () => {};
const silentLogger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const WORKERS = 20;
const GOOD = `cat > /dev/null; echo '{"data":{"n":1}}'`;
/** Shell commands by the name of their hook. All their processes have the mark of the test in their environment. */
const BAD: Record<string, string> = {
  hang: 'sleep 300',
  deaf: 'trap "" TERM; sleep 300; sleep 300',
  crash: 'kill -SEGV $$',
  flood: 'yes',
  'flood of errors': 'yes >&2',
  fork: 'for i in 1 2 3 4 5; do sleep 300 & done; wait',
  'forked and left': 'sleep 300 & sleep 300 & exit 0',
  nonsense: 'echo "{"',
};

const openFiles = () => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);
const timers = () =>
  process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout' || kind === 'ProcessWrap').length;
const listeners = () => ['exit', 'SIGINT', 'SIGTERM', 'SIGHUP'].map((event) => process.listenerCount(event));

/** Returns the ids of processes with the mark in their environment. */
function marked(mark: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      return (
        readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark) &&
        !readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z')
      );
    } catch {
      return false;
    }
  });
}

/** Hooks that must exceed their time limit. The other hooks have a long limit, for a busy machine. */
const ENDLESS = ['hang', 'deaf', 'flood of errors', 'fork'];

function hookOf(n: number, mark: string): HookDefinition {
  const names = Object.keys(BAD);
  const name = (n % 3 === 0 ? names[(n / 3) % names.length] : undefined) ?? 'good';
  const timeout = ENDLESS.includes(name) ? 300 : 30_000;
  const args = ['-c', BAD[name] ?? GOOD];
  return { event: 'before_tool', name, command: 'sh', args, timeout, env: { MARK: mark } };
}

async function runHooks(count: number, workspaceDir: string, mark: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const gate = createTrustGate({ workspaceDir, stateDir: join(tmpdir(), `${mark}-state`), logger: silentLogger });
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const registry = new HookRegistry();
      registry.register(hookOf(next++, mark));
      const { runner } = shellHooks({ workspaceDir, registry, gate, machine: { logger: silentLogger } });
      const controller = new AbortController();
      const describe = () => ({ data: { args: { text: 'x'.repeat(1_000) } } });
      const { signal } = controller;
      const result = await runner.runEvent({
        event: 'before_tool',
        sessionId: 's',
        value: undefined,
        describe,
        signal,
      });
      const { hook = '', status = '', problem } = result.outcomes[0] ?? {};
      const key = `${hook}: ${problem?.kind ?? status}`;
      counts[key] = (counts[key] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  return counts;
}

function memory(): number {
  for (let i = 0; i < 5; i++) collect();
  return process.memoryUsage().heapUsed;
}

test('hooks that hang, crash, flood and fork leave no processes, files, timers or listeners', {
  timeout: 900_000,
}, async () => {
  const workspaceDir = realpathSync(mkdtempSync(join(tmpdir(), 'keelson-hook-soak-')));
  const mark = `keelson-soak-${process.pid}-${Date.now()}`;
  await runHooks(24, workspaceDir, mark);
  const held = () => [openFiles(), timers(), listeners()];
  const before = held();
  const heap = memory();
  const count = 2_000;
  const counts = await runHooks(count, workspaceDir, mark);
  const growth = memory() - heap;
  rmSync(workspaceDir, { recursive: true });
  rmSync(join(tmpdir(), `${mark}-state`), { recursive: true, force: true });

  expect(Object.values(counts).reduce((sum, n) => sum + n, 0)).toBe(count);
  expect(Object.keys(counts).sort()).toEqual([
    ...['crash: signaled', 'deaf: timed-out', 'flood of errors: timed-out', 'flood: output-limit', 'fork: timed-out'],
    ...['forked and left: completed', 'good: completed', 'hang: timed-out', 'nonsense: malformed'],
  ]);
  await expect.poll(held, { timeout: 5_000 }).toEqual(before);
  expect(growth).toBeLessThan(8 * 1024 * 1024);
  if (process.platform === 'linux') await expect.poll(() => marked(mark), { timeout: 5_000 }).toEqual([]);
});
