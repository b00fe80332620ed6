import { Agent, MemorySessionStore } from 'keelson';
import { calls, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { createAgentHandler, MemoryRunLog } from 'keelson/ui';
import { expect, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { gate, pause, until } from '../../support/agent/settle.js';
import { post } from '../../support/ui/chat-client.js';

const MINUTE = 60_000;

/** A chat whose second turn calls a tool that waits, on a clock that the test moves. */
async function leftChat(script: readonly ScriptEntry[]) {
  const clock = fakeClock();
  const held = gate();
  const signals: AbortSignal[] = [];
  const work = toolOf('work', async (_input, { signal }) => {
    signals.push(signal);
    await held.pass();
    return 'worked';
  });
  const quick = toolOf('quick', () => 'done');
  const model = scriptedModel(script);
  const agent = new Agent({ model, tools: [work, quick], store: new MemorySessionStore(), clock });
  const runLog = new MemoryRunLog({ clock });
  const options = { authorize: 'none', session: (id: string) => id, protocol: 'sse', runLog, clock } as const;
  const handler = createAgentHandler(agent, { ...options, orphanMs: 10 * MINUTE });
  const ended = new Promise((resolve) => agent.once('run-end', ({ result }) => resolve(result?.text)));
  const error = new Promise((resolve) => agent.once('run-error', (event) => resolve(event.error)));
  const response = await post(handler, '', { id: 'chat', message: 'Go.' });
  await until(() => held.arrived === 1);
  /** Moves the clock by minutes, so that each timer finds its events stored. */
  const wait = async (minutes: number) => {
    for (let passed = 0; passed < minutes * 4; passed += 1) {
      clock.advance(MINUTE / 4);
      await pause();
    }
  };
  return { agent, handler, response, held, signals, model, ended, error, wait };
}
const SCRIPT = [calls('work'), calls('quick'), calls('quick'), 'Done.'];

test('a run that nobody watches is stopped between two turns, and never during a tool call', async () => {
  const { agent, response, held, signals, model, error, wait } = await leftChat(SCRIPT);

  await response.body?.cancel();
  await wait(30);
  expect(signals[0]?.aborted).toBe(false);
  held.open();

  expect(await error).toMatchObject({
    code: 'ERR_RUN_ABORTED',
    cause: 'nobody has read the events of the run for 600000 ms',
  });
  expect(model.requests).toHaveLength(1);
  await using session = await agent.session({ id: 'chat' });
  expect(session.messages.find(({ role }) => role === 'tool')).toMatchObject({
    content: [{ content: 'worked' }],
  });
  expect(session.messages.at(-1)?.role).toBe('tool');
});

test.each([
  ['its page watches', (_handler: ReturnType<typeof createAgentHandler>, _response: Response) => {}],
  [
    'another page watches',
    async (handler: ReturnType<typeof createAgentHandler>, response: Response) => {
      const other = await handler(new Request('http://localhost/chat/stream?id=chat'));
      void other.text();
      await response.body?.cancel();
    },
  ],
])('a run goes on while %s', async (_title, act) => {
  const { handler, response, held, ended, wait } = await leftChat(SCRIPT);

  await act(handler, response);
  await wait(30);
  held.open();

  expect(await ended).toBe('Done.');
});
