import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Context, createEndpointHandler, service, TerminalError } from '@restatedev/restate-sdk';
import { Agent, type JsonValue, MemorySessionStore } from 'keelson';
import { durable, isFinalError, memoryStep, restateStep } from 'keelson/durable';
import { scriptedModel } from 'keelson/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { freePort } from '../../../examples/host/free-port.js';
import { aborted, pause, until } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { ANSWER } from '../../support/durable/errand.js';
import { fileLog, linesOf } from '../../support/durable/file-log.js';
import { finishErrand } from '../../support/durable/finish-errand.js';
import type { KillOrder } from '../../support/durable/kill.js';
import { stepFaults } from '../../support/durable/logged-step.js';
import { describeWithRestate, type RestateSetup, startRestate } from '../../support/durable/restate-server.js';
import { testStep } from '../../support/durable/step-contract.js';
import { twoAgents } from '../../support/durable/two-agents.js';

// A process that was killed needs seconds to start again on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const asTerminalError = (error: unknown) => (isFinalError(error) ? new TerminalError(String(error)) : undefined);

const folder = mkdtempSync(join(tmpdir(), 'keelson-restate-'));

describeWithRestate('restateStep with a real server', () => {
  let restate: RestateSetup;

  beforeAll(async () => {
    restate = await startRestate(folder);
  });

  afterAll(async () => {
    await restate.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Calls a handler that runs in this process. */
  async function callHere(id: string, run: (ctx: Context) => Promise<JsonValue>): Promise<Response> {
    const port = await freePort();
    const options = { asTerminalError };
    const services = [service({ name: id, handlers: { run }, options })];
    const http2Server = createServer(createEndpointHandler({ services }));
    await new Promise<void>((resolve) => void http2Server.listen(port, resolve));
    await restate.register(`http://127.0.0.1:${port}`);
    const answer = await fetch(`${restate.ingress}/${id}/run`, { method: 'POST' });
    http2Server.close();
    return answer;
  }

  testStep('restateStep', async (id, program) => {
    const run = (ctx: Context) =>
      program({ step: restateStep(ctx), crash: () => Promise.reject(new TypeError('The attempt ends.')) });
    return (await (await callHere(id, run)).json()) as JsonValue;
  });

  test('an errand finishes after kills of the service and of the server, and runs no stored step again', async () => {
    // The kill waits for the steps `start`, `model 1` and the searches a and b.
    const kills: KillOrder[] = [
      { what: 'tool search c', phase: 'before', pid: 0, afterSteps: 4 },
      { what: 'tool note one', phase: 'after', pid: restate.serverPid() },
    ];
    const path = join(folder, 'killed');
    const call = () => restate.call('killed', { name: 'killed', kills });

    await finishErrand({ call, decide: restate.decide, journal: () => restate.journal('killed') }, path, kills);

    const works = fileLog(path).all();
    expect(linesOf(`${path}.kills`)).toEqual(['before tool search c', 'after tool note one']);
    // The searches a and b were stored when the service died, and c had not begun.
    expect(works.filter(({ what }) => what.startsWith('tool search'))).toHaveLength(3);
  });

  test('a run that suspends three times waits each time for another process, also after a kill', async () => {
    const path = join(folder, 'approvals');
    const running = restate.call('approvals', { name: 'approvals', kills: [], approved: ['note', 'pay'] });
    for (const id of ['call_2_0', 'call_3_0', 'call_4_0']) {
      await until(() => (linesOf(`${path}.ask`).at(-1) ?? '').includes(id));
      if (id === 'call_3_0') process.kill(restate.servicePid(), 'SIGKILL');
      await restate.decide(`${path}.ask`, { [id]: 'approve' });
    }

    expect(await running).toMatchObject({ text: ANSWER });
    expect(stepFaults(linesOf(`${path}.steps`), await restate.journal('approvals'))).toEqual([]);
  });

  test('two agents of one invocation finish after kills of the service, and no stored step runs again', async () => {
    const response = await restate.send('both', { name: 'both', dieAt: [4, 7] });

    expect(await response.json()).toEqual(await twoAgents(memoryStep(), () => {}));
    const keys = fileLog(join(folder, 'both'))
      .all()
      .map(({ key = '' }) => key.replace(/.*_(\d:)/, '$1'));
    // The first call of the slow agent was open while the fast agent stored five steps. Then the service died.
    expect(keys.slice(0, 4).sort()).toEqual(['1:1:call_1', '2:1:call_1', '2:2:call_2', '2:3:call_3']);
    // The service died twice. Each time, only calls that had not ended ran again.
    expect(new Set(keys).size).toBe(6);
    expect(keys.length).toBeGreaterThan(6);
    expect(keys.length).toBeLessThanOrEqual(10);
  });

  test('an error that ends the run ends the invocation, and Restate does not retry it', async () => {
    const response = await restate.send('fail', { name: 'broken' });

    expect(response.status).toBe(500);
    expect(await response.text()).toContain('Model \\"broken\\" failed: bad key');
    expect(fileLog(join(folder, 'broken')).all()).toHaveLength(1);
  });

  test('a cancelled invocation aborts the run', async () => {
    const path = join(folder, 'cancelled');
    const sent = restate.send('hang', { name: 'cancelled' });
    await until(() => linesOf(path).length === 1);
    await restate.cancel('errands/hang');
    const response = await sent;

    expect([response.status, await response.text()]).toEqual([500, expect.stringContaining('The run was aborted')]);
    expect(
      fileLog(path)
        .all()
        .map(({ what }) => what),
    ).toEqual(['model 1', 'aborted: RunAbortedError']);
  });

  test('a cancelled invocation lets go of its session', async () => {
    const store = new MemorySessionStore();
    let isAsked = false;
    const model = scriptedModel(({ signal }) => {
      isAsked = true;
      return aborted(signal as AbortSignal);
    });
    const answering = callHere('session', async (ctx) => {
      const agent = new Agent(durable({ step: restateStep(ctx) }).options({ model, store, logger: keepingLogger() }));
      return (await (await agent.session({ id: 's' })).run('Hi.')).text;
    });
    await until(() => isAsked);

    await restate.cancel('session/run');

    expect((await answering).status).toBe(500);
    while ((await store.load('s'))?.holder !== undefined) await pause(5);
  });

  test('invalid decisions are refused, and the host gets the problem with a new id', async () => {
    const path = join(folder, 'refused');
    const running = restate.call('refused', { name: 'refused', kills: [] });
    await restate.decide(`${path}.ask`, { call_9_9: 'approve' });
    await until(() => linesOf(`${path}.ask`).length === 2);
    const [, { problem }] = linesOf(`${path}.ask`).map((line) => JSON.parse(line));
    await restate.decide(`${path}.ask`, { call_3_0: { deny: 'too much' } });

    expect(problem).toBe('no call with the id "call_9_9" waits for a decision; waiting: call_3_0');
    expect(await running).toMatchObject({ text: expect.stringContaining('The call was denied: too much') });
  });
});

test('the entry adds `Promise.withResolvers` to a runtime without it, as other runtimes have it', async () => {
  class Kept<T> extends Promise<T> {}
  const { withResolvers } = Promise as unknown as {
    withResolvers(this: typeof Promise): { promise: Promise<string>; resolve(value: string): void };
  };
  const { promise, resolve } = withResolvers.call(Kept);
  resolve('kept');

  expect(promise).toBeInstanceOf(Kept);
  expect(await promise).toBe('kept');
  expect(Object.getOwnPropertyDescriptor(Promise, 'withResolvers')).toMatchObject({
    ...{ writable: true, configurable: true, enumerable: false },
  });
});
