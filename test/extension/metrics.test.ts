import { Agent } from 'keelson';
import { type ExtensionInput, ExtensionRegistry, type MetricsSink } from 'keelson/extension';
import { scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { fakeClock } from '../support/agent/fake-clock.js';
import { unhandledDuring, until } from '../support/agent/settle.js';
import { lab, recordingLogger, recordingSink } from '../support/extension/lab.js';

test('S1-10.0, S1-10.1.1, S1-10.3.1, S1-10.3.2: a registered, used and unregistered extension sends each metric with its labels', async () => {
  const metrics = recordingSink();
  const extension: ExtensionInput = {
    id: 'x',
    async onLlmOutput(_output, { getState, setState, clearState }) {
      await setState('a', 'é');
      await getState('a');
      await setState('b', 'xxxxx');
      await clearState();
    },
  };
  const { registry, agent } = lab([extension], {
    registry: { metrics, limits: { extensionBytes: 8 } },
    agent: { clock: fakeClock() },
  });
  await (await agent.session({ id: 's' })).run('go');
  await registry.unregister('x');

  expect(metrics.lines).toEqual([
    'extension.registration.total 1 {"action":"register","extension_id":"x"}',
    'extension.state.size_bytes 4 {"extension_id":"x"}',
    'extension.state.operations 1 {"operation":"set","extension_id":"x"}',
    'extension.state.operations 1 {"operation":"get","extension_id":"x"}',
    'extension.state.size_bytes 7 {"extension_id":"x"}',
    'extension.state.evictions 1 {"extension_id":"x"}',
    'extension.state.operations 1 {"operation":"set","extension_id":"x"}',
    'extension.state.operations 1 {"operation":"clear","extension_id":"x"}',
    'extension.callback.duration_ms 0 {"callback_type":"on_llm_output","extension_id":"x"}',
    'extension.callback.total 1 {"callback_type":"on_llm_output","extension_id":"x","outcome":"success"}',
    'extension.registration.total 1 {"action":"unregister","extension_id":"x"}',
  ]);
});

test("S1-10.2.1, S1-10.2.2: the duration of each callback is measured with the run's clock, also if it throws", async () => {
  const metrics = recordingSink();
  const clock = fakeClock();
  const slow = () => void clock.advance(50);
  const fails = () => {
    clock.advance(50);
    throw new Error('boom');
  };
  const { agent } = lab(
    [
      { id: 'slow', tags: 't', onInputMessages: slow, onLlmOutput: slow, onTag: slow, onPlainText: slow },
      { id: 'fails', tags: 't', onInputMessages: fails, onLlmOutput: fails, onTag: fails, onPlainText: fails },
    ],
    { script: () => 'x<t/>', registry: { metrics }, agent: { clock } },
  );
  await agent.run('go');
  const types = ['on_input_messages', 'on_llm_output', 'on_tag', 'on_plain_text'];

  expect(metrics.lines.slice(2)).toEqual(
    types.flatMap((type) =>
      ['slow', 'fails'].flatMap((id) => [
        `extension.callback.duration_ms 50 {"callback_type":"${type}","extension_id":"${id}"}`,
        `extension.callback.total 1 {"callback_type":"${type}","extension_id":"${id}","outcome":"${id === 'slow' ? 'success' : 'error'}"}`,
      ]),
    ),
  );
});

test('the duration of an asynchronous callback includes its wait', async () => {
  const metrics = recordingSink();
  const clock = fakeClock();
  const wait = () => new Promise<void>((resolve) => clock.setTimeout(resolve, 50));
  const { agent } = lab([{ id: 'x', onLlmOutput: wait }], { registry: { metrics }, agent: { clock } });
  const run = agent.run('go');
  await until(() => clock.pending() === 2);
  clock.advance(50);
  await run;

  expect(metrics.lines[1]).toBe(
    'extension.callback.duration_ms 50 {"callback_type":"on_llm_output","extension_id":"x"}',
  );
  expect(clock.pending()).toBe(0);
});

test('a metrics sink that throws is logged, and the run completes', async () => {
  const fail = () => {
    throw new Error('deaf');
  };
  const sink: MetricsSink = { counter: fail, histogram: fail };
  const logger = recordingLogger();
  const registry = new ExtensionRegistry({ metrics: sink, logger });
  registry.register({ id: 'x', onLlmOutput: () => 'new' });
  const agent = new Agent({ model: scriptedModel(() => 'old'), loaders: [registry] });

  expect((await agent.run('go')).text).toBe('new');
  expect(logger.records.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual(
    Array.from({ length: 3 }, () => 'The metrics sink failed: deaf'),
  );
});

test('a metrics sink that rejects causes no unhandled rejection', async () => {
  const logger = recordingLogger();
  const fail = (): void => Promise.reject(new Error('deaf')) as never;
  const unhandled = await unhandledDuring(async () => {
    new ExtensionRegistry({ metrics: { counter: fail, histogram: fail }, logger }).register({ id: 'x' });
  });

  expect(unhandled).toEqual([]);
  expect(logger.records.map(({ message }) => message)).toContain('The metrics sink failed: deaf');
});
