import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { McpServerConfig, McpServers } from 'keelson/mcp';
import { createTrustGate } from 'keelson/trust';
import { describe, expect, test } from 'vitest';
import { type ServerStep, STEPS } from '../../../src/mcp/server/states.js';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { until } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { readPage, rowsOf } from '../../support/docs/doc-files.js';
import { call, lab, raw, stateOf, temporaryFolder } from '../../support/mcp/lab.js';

/** A step, and what the test does to make a server take it. */
type Taken = readonly [step: ServerStep, act: () => unknown];

/** Takes each step, and expects the states of the table before and after it. Returns the steps. */
async function walk(mcp: McpServers, steps: readonly Taken[]): Promise<readonly ServerStep[]> {
  for (const [step, act] of steps) {
    expect(STEPS[step].from).toContain(stateOf(mcp, 's'));
    const acted = act();
    // Some states last only until the next tick.
    if (stateOf(mcp, 's') === STEPS[step].to) continue;
    await acted;
    await until(() => stateOf(mcp, 's') === STEPS[step].to);
  }
  return steps.map(([step]) => step);
}

/** A loader with a server of the workspace, and functions that answer the question about it. */
function gated(config: McpServerConfig, isAsked = true) {
  const folder = temporaryFolder();
  // A server starts in its workspace.
  mkdirSync(join(folder, 'workspace'));
  const answers: ((answer: boolean) => void)[] = [];
  const gate = createTrustGate({
    ...{ workspaceDir: join(folder, 'workspace'), stateDir: join(folder, 'state'), logger: keepingLogger() },
    approve: isAsked ? () => new Promise<boolean>((resolve) => void answers.push(resolve)) : undefined,
  });
  const { mcp } = lab({ gate, waitForServers: false });
  const answer = async (value: boolean) => {
    await until(() => answers.length > 0);
    answers.shift()?.(value);
  };
  return { mcp, answer, add: () => void mcp.set('s', config, { scope: 'workspace' }) };
}

describe('the states of a server', () => {
  const seen = new Set<ServerStep>();
  const note = (steps: readonly ServerStep[]) => {
    for (const step of steps) seen.add(step);
  };

  test('a server that does not answer', async () => {
    const clock = fakeClock();
    const { mcp } = lab({
      servers: { s: raw({ silent: true }) },
      timeouts: { connectMs: 100 },
      reconnect: false,
      system: { clock },
    });
    const late = async () => {
      await until(() => clock.pending() > 0);
      clock.advance(100);
    };

    note(
      await walk(mcp, [
        ['try', () => void mcp.connect()],
        ['fail', late],
        ['try', () => void mcp.server('s').reconnect()],
        ['close', () => void mcp.close()],
      ]),
    );
    void mcp.connect();
    expect(stateOf(mcp, 's')).toBe('closed');
  });

  test('a server that is lost and restarted', async () => {
    const clock = fakeClock();
    const { mcp } = lab({ servers: { s: raw() }, system: { clock } });

    note(
      await walk(mcp, [
        ['try', () => void mcp.connect()],
        ['connect', () => {}],
        ['lose', () => call(mcp, 'die')],
        ['retry', () => clock.advance(10)],
        ['connect', () => {}],
        ['lose', () => void mcp.server('s').restart()],
        ['connect', () => {}],
        ['close', () => mcp.close()],
      ]),
    );
  });

  test('a lost server without further attempts', async () => {
    const { mcp } = lab({ servers: { s: raw() }, reconnect: false });
    await mcp.connect();
    await call(mcp, 'die');
    expect(stateOf(mcp, 's')).toBe('unavailable');

    note(
      await walk(mcp, [
        ['retry', () => void mcp.server('s').reconnect()],
        ['connect', () => {}],
      ]),
    );
  });

  test('a server that a person declines, and one that a person approves', async () => {
    const [declined, approved] = [gated(raw()), gated(raw({ silent: true }))];
    for (const { mcp, add } of [declined, approved]) {
      add();
      await until(() => stateOf(mcp, 's') === 'pending');
    }

    note(
      await walk(declined.mcp, [
        ['decline', () => declined.answer(false)],
        ['ask', () => void declined.mcp.server('s').reconnect()],
        ['decline', () => {}],
      ]),
    );
    note(await walk(approved.mcp, [['try', () => approved.answer(true)]]));
  });

  test('a server that nobody can approve', async () => {
    const { mcp, add } = gated(raw(), false);
    add();
    await until(() => mcp.status()[0]?.lastError !== undefined);

    note(
      await walk(mcp, [
        ['ask', () => void mcp.server('s').reconnect()],
        ['withhold', () => {}],
      ]),
    );
  });

  test('each step was taken', () => {
    expect([...seen].sort()).toEqual(Object.keys(STEPS).sort());
  });

  test('docs/architecture.md has the table', () => {
    const wordsOf = (text = '') => [...text.matchAll(/`([\w-]+)`/g)].map(([, word = '']) => word);
    const rows = rowsOf(readPage('docs/architecture.md')).map((cells) => cells.slice(0, 3).map(wordsOf));
    const listed = rows.filter(([step]) => step?.length === 1 && (step[0] ?? '') in STEPS);

    expect(listed).toEqual(Object.entries(STEPS).map(([step, { from, to }]) => [[step], [...from], [to]]));
  });
});
