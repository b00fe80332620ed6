import { Agent } from 'keelson';
import { type ExtensionInput, MemoryStateStore } from 'keelson/extension';
import { FileStateStore } from 'keelson/file';
import { scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { recordingLogger } from '../../support/extension/lab.js';
import { labOf, policy } from '../../support/extension/state-lab.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

const counter = (id: string): ExtensionInput => ({
  id,
  async onLlmOutput(output, { getState, setState }) {
    const count = ((await getState<number>('count')) ?? 0) + 1;
    await setState('count', count);
    return `${output}${count}`;
  },
});

test('a run reads the state of all extensions in one call, and writes it in one call', async () => {
  const { agent, called, files } = await labOf(['a', 'b', 'c', 'd', 'e'].map(counter));
  const session = await agent.session({ id: 's' });

  await session.run('go');
  expect((await session.run('go')).text).toBe('Aye.22222');

  expect(called).toEqual(['peek', 'apply', 'peek', 'apply']);
  expect(await files.get({ extension: 'e', session: 's' }, 'count', policy)).toBe('2');
});

test('a later callback of a run reads what an earlier callback of the same extension has written', async () => {
  const { agent, called } = await labOf([
    {
      id: 'memo',
      onInputMessages: async (_messages, { getState, setState }) => {
        await setState('seen', [1]);
        await setState('seen', [...((await getState<number[]>('seen')) ?? []), 2]);
      },
      onLlmOutput: async (_output, { getState }) => JSON.stringify(await getState('seen')),
    },
    { id: 'other', onLlmOutput: async (output, { getState }) => `${output} ${await getState('seen')}` },
  ]);
  const session = await agent.session({ id: 's' });

  expect((await session.run('go')).text).toBe('[1,2] undefined');
  expect(called).toEqual(['peek', 'apply']);
});

test('a run that only reads restarts the lifetime of the values that it has read', async () => {
  const { agent, called, files } = await labOf([
    { id: 'a', onLlmOutput: async (_output, { getState }) => String(await getState('k')) },
  ]);
  await files.set({ extension: 'a', session: 's' }, { key: 'k', value: '"x"' }, policy);
  const session = await agent.session({ id: 's' });

  expect((await session.run('go')).text).toBe('x');
  expect(called).toEqual(['peek', 'apply']);
});

test('a run that fails stores what its callbacks have written', async () => {
  const { files, registry } = await labOf([
    { id: 'a', onInputMessages: (_messages, { setState }) => setState('k', 1) },
  ]);
  const model = scriptedModel(() => {
    throw new Error('The model is away.');
  });
  const agent = new Agent({ model, loaders: [registry], logger: recordingLogger() });
  const session = await agent.session({ id: 's' });
  await rejectionOf(session.run('go'));

  expect(await files.get({ extension: 'a', session: 's' }, 'k', policy)).toBe('1');
});

test('a call that a callback does not wait for is part of the run', async () => {
  const { agent, files } = await labOf([
    {
      id: 'a',
      onLlmOutput: (output, { setState }) => {
        void setState('k', 1);
        return output;
      },
    },
  ]);
  await (await agent.session({ id: 's' })).run('go');

  expect(await files.get({ extension: 'a', session: 's' }, 'k', policy)).toBe('1');
});

test('a value over a limit is refused in the callback, also because of values that are not stored yet', async () => {
  const codes: unknown[] = [];
  const attempt = (id: string, length: number): ExtensionInput => ({
    id,
    onLlmOutput: async (_output, { setState }) => {
      await setState('k', 'x'.repeat(length)).catch(({ code }) => codes.push([id, code]));
    },
  });
  const limits = { extensionBytes: 600, sessionBytes: 1_000 };
  const extensions = [attempt('a', 550), attempt('b', 550), attempt('c', 700), attempt('d', 100)];
  const { agent, registry, metrics } = await labOf(extensions, { limits });
  await (await agent.session({ id: 's' })).run('go');

  expect(codes).toEqual([
    ['b', 'ERR_STATE_LIMIT'],
    ['c', 'ERR_STATE_LIMIT'],
  ]);
  expect(await registry.stats('s')).toEqual({ bytes: 656, extensions: { a: 553, d: 103 } });
  const operations = metrics.lines.filter((line) => line.startsWith('extension.state.operations'));
  expect(operations.map((line) => line.replace(/^\S+ /, '')).sort()).toEqual([
    '1 {"operation":"set","extension_id":"a"}',
    '1 {"operation":"set","extension_id":"d"}',
  ]);
});

test('a write that needs room evicts the least recently used value, and later callbacks see that', async () => {
  const { agent } = await labOf(
    [
      {
        id: 'a',
        onLlmOutput: async (_output, { getState, setState }) => {
          await setState('1', 'x'.repeat(200));
          await setState('2', 'x'.repeat(200));
          await setState('3', 'x'.repeat(200));
          return JSON.stringify([await getState('1'), (await getState<string>('3'))?.length]);
        },
      },
    ],
    { limits: { extensionBytes: 500 } },
  );

  expect((await (await agent.session({ id: 's' })).run('go')).text).toBe('[null,200]');
});

test('an overwritten change of another process is reported, and the last write is stored', async () => {
  let between: () => unknown = () => {};
  const { agent, files, messages } = await labOf([
    {
      id: 'a',
      onLlmOutput: async (_output, { getState, setState }) => {
        await getState('read');
        await between();
        await setState('read', 'mine');
        await setState('blind', 'mine');
      },
    },
  ]);
  const scope = { extension: 'a', session: 's' };
  between = async () => {
    for (const key of ['read', 'blind']) await files.set(scope, { key, value: '"theirs"' }, policy);
  };
  await (await agent.session({ id: 's' })).run('go');

  expect(messages('warn')).toEqual([
    'State "read" of extension "a" was overwritten, although it had changed since this run read it. Use `updateState`.',
  ]);
  for (const key of ['read', 'blind']) expect(await files.get(scope, key, policy)).toBe('"mine"');
});

test('updateState of two registries loses no update, and returns what the store has', async () => {
  const files = new FileStateStore({ folder: await temporaryFolder() });
  const add: ExtensionInput = {
    id: 'a',
    onLlmOutput: async (_output, { setState, updateState }) => {
      await setState('other', 1);
      return String(await updateState<number>('n', (n = 0) => n + 1));
    },
  };
  const labs = await Promise.all([labOf([add], { state: files }), labOf([add], { state: files })]);
  const sessions = await Promise.all(labs.map(({ agent }) => agent.session({ id: 's' })));
  const texts: string[] = [];
  for (let round = 0; round < 10; round += 1) {
    texts.push(...(await Promise.all(sessions.map((session) => session.run('go')))).map(({ text }) => text));
  }

  expect(texts.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
});

test('updateState ends if the store reports a conflict each time', async () => {
  const store = new MemoryStateStore();
  store.set = () => ({ stored: false, conflict: true, evicted: [], bytesBefore: 0, bytesAfter: 0 });
  const logger = recordingLogger();
  const { agent } = await labOf(
    [
      {
        id: 'a',
        onLlmOutput: async (_output, { updateState }) => String(await updateState<number>('n', (n = 0) => n)),
      },
    ],
    { state: store, logger },
  );

  await (await agent.session({ id: 's' })).run('go');

  expect(JSON.stringify(logger.records)).toContain('each overtaken by another write');
});

test('updateState starts from a value that setState has just written', async () => {
  const { agent } = await labOf([
    {
      id: 'a',
      onLlmOutput: async (_output, { getState, setState, updateState }) => {
        await setState('n', 5);
        await updateState<number>('n', (n = 0) => n + 1);
        return String(await getState('n'));
      },
    },
  ]);

  expect((await (await agent.session({ id: 's' })).run('go')).text).toBe('6');
});

test('clearState removes stored values and values that are not stored yet', async () => {
  const { agent, files, messages, registry } = await labOf([
    {
      id: 'a',
      onLlmOutput: async (_output, { getState, setState, clearState }) => {
        await setState('new', 1);
        await clearState();
        await setState('later', 2);
        await setState('gone', 3);
        await clearState('gone');
        return JSON.stringify([await getState('old'), await getState('new'), await getState('gone')]);
      },
    },
  ]);
  await files.set({ extension: 'a', session: 's' }, { key: 'old', value: '0' }, policy);

  expect((await (await agent.session({ id: 's' })).run('go')).text).toBe('[null,null,null]');
  expect(await registry.stats('s')).toEqual({ bytes: 6, extensions: { a: 6 } });
  expect(messages('info')).toContain('Extension "a" cleared its state in session "s".');
});

test('an extension that is unregistered during a run leaves no state, and the others keep theirs', async () => {
  const { agent, registry } = await labOf([
    { id: 'a', onInputMessages: (_messages, { setState }) => setState('k', 1) },
    { id: 'b', onInputMessages: (_messages, { setState }) => setState('k', 1) },
    {
      id: 'c',
      onLlmOutput: async () => {
        expect(await registry.unregister('a')).toEqual({ clearedValues: 1 });
        await registry.unregister('b', { keepState: true });
      },
    },
  ]);
  await (await agent.session({ id: 's' })).run('go');

  expect(await registry.stats('s')).toEqual({ bytes: 2, extensions: { b: 2 } });
});

test('the state of a session that is deleted during a run does not come back', async () => {
  const { agent, registry } = await labOf([
    {
      id: 'a',
      onInputMessages: (_messages, { setState }) => setState('k', 1),
      onLlmOutput: async () => {
        expect(await registry.clearSession('s')).toBe(1);
      },
    },
  ]);
  await (await agent.session({ id: 's' })).run('go');

  expect(await registry.stats('s')).toEqual({ bytes: 0, extensions: {} });
});

test('stats during a run includes what callbacks have written', async () => {
  const { agent, registry } = await labOf([
    {
      id: 'a',
      onLlmOutput: async (_output, { setState }) => {
        await setState('k', 1);
        return JSON.stringify(await registry.stats('s'));
      },
    },
  ]);

  expect((await (await agent.session({ id: 's' })).run('go')).text).toBe('{"bytes":2,"extensions":{"a":2}}');
});

test.each([
  ['continue', undefined],
  ['throw', { cause: { code: 'ERR_STATE_STORE' } }],
] as const)('a failed write at the end of a run with `onStateFailure: %s`', async (onStateFailure, failure) => {
  const { agent, failing, files, messages } = await labOf([counter('a')], { onStateFailure });
  const session = await agent.session({ id: 's' });
  await session.run('go');
  failing.add('apply');

  if (failure === undefined) expect((await session.run('go')).text).toBe('Aye.2');
  else expect(await rejectionOf(session.run('go'))).toMatchObject(failure);

  expect(messages('error')[0]).toBe(
    'The state of session "s" could not be updated: The state store failed at `apply`: The disk is full.',
  );
  expect(await files.get({ extension: 'a', session: 's' }, 'count', policy)).toBe('1');
  failing.clear();
  expect((await session.run('go')).text).toBe('Aye.2');
});

test('a run without a session does not call the store', async () => {
  const { agent, called } = await labOf([counter('a'), counter('b')]);

  expect((await agent.run('go')).text).toBe('Aye.11');
  expect(called).toEqual([]);
});

test('a run without a session keeps the limits, and removes what it had to store', async () => {
  const write = async (setState: (key: string, value: unknown) => Promise<void>) => {
    for (const key of ['1', '2', '3']) await setState(key, 'x'.repeat(200));
  };
  const { agent, called, files } = await labOf(
    [
      {
        id: 'a',
        onLlmOutput: async (_output, { getState, setState, sessionId }) => {
          await write(setState);
          return JSON.stringify([await getState('1'), (await getState<string>('2'))?.length, sessionId]);
        },
      },
    ],
    { limits: { extensionBytes: 500 } },
  );
  const [first, second, id] = JSON.parse((await agent.run('go')).text);

  expect([first, second]).toEqual([null, 200]);
  expect(called.at(-1)).toBe('clearSession');
  expect(await files.stats(id)).toEqual({ bytes: 0, extensions: {} });
});

test('two runs of a session in one process see the writes of each other', async () => {
  const { agent, registry, called } = await labOf([counter('a')]);
  let inner = '';
  registry.register({
    id: 'nested',
    priority: 1,
    onLlmOutput: async () => {
      if (inner !== '') return;
      inner = 'started';
      inner = (await (await agent.session({ id: 's' })).run('go')).text;
    },
  });
  const outer = new Agent({ model: scriptedModel(() => 'Aye.'), loaders: [registry] });

  expect((await (await outer.session({ id: 's' })).run('go')).text).toBe('Aye.1');
  expect(inner).toBe('Aye.2');
  expect(called.filter((name) => name === 'set')).toEqual([]);
});

test('a run of more than 10 seconds stores its writes, and reads the state again', async () => {
  const clock = fakeClock();
  const { registry, files } = await labOf([
    {
      id: 'a',
      onInputMessages: async (_messages, { getState, setState }) => {
        await getState('theirs');
        await setState('mine', 1);
      },
      onLlmOutput: async (_output, { getState }) => JSON.stringify(await getState('theirs')),
    },
  ]);
  const scope = { extension: 'a', session: 's' };
  const stored: unknown[] = [];
  const model = scriptedModel(async () => {
    await files.set(scope, { key: 'theirs', value: '2' }, policy);
    clock.advance(10_000);
    return 'Aye.';
  });
  const agent = new Agent({ model, loaders: [registry], clock });
  const { text } = await (await agent.session({ id: 's' })).run('go');
  stored.push(await files.get(scope, 'mine', policy));

  expect(text).toBe('2');
  expect(stored).toEqual(['1']);
});
