import { createClient } from '@redis/client';
import { Agent, type Clock, defineTool, MemorySessionStore, messagesOf, textOf } from 'keelson';
import { ExtensionRegistry } from 'keelson/extension';
import { RedisSessionStore, RedisStateStore } from 'keelson/redis';
import type { SessionStore } from 'keelson/store';
import { calls, scriptedModel } from 'keelson/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { recordingLogger } from '../../support/extension/lab.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../support/stores/redis-server.js';

/** Without `timeoutMs`, a call may take five seconds. */
const DEFAULT_LIMIT_MS = 5_000;

describeWithRedis('an agent run during an outage of Redis', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await startRedis('--appendonly', 'yes', '--appendfsync', 'always');
  });

  afterAll(() => server.remove());

  /** Creates a session of an agent whose extension counts answers in Redis, and whose tool runs a given action. */
  async function openSession({
    store: customStore,
    timeoutMs = 300,
    clock,
  }: {
    store?: SessionStore;
    timeoutMs?: number;
    clock?: Clock;
  } = {}) {
    const client = createClient({ url: server.url, socket: { reconnectStrategy: 50 } }).on('error', () => {});
    await client.connect();
    const prefix = `${Math.random()}`;
    const logger = recordingLogger();
    const state = new RedisStateStore({ client, prefix, timeoutMs });
    const registry = new ExtensionRegistry({ state, logger, statePauseMs: 0 });
    registry.register({
      id: 'count',
      async onLlmOutput(output, { getState, setState }) {
        const count = ((await getState<number>('answers')) ?? 0) + 1;
        await setState('answers', count);
        return `${output}${count}`;
      },
    });
    let action: () => unknown = () => {};
    const act = defineTool({
      name: 'act',
      description: 'Runs the action.',
      input: { type: 'object' },
      execute: async () => String(await action()),
    });
    const model = scriptedModel(({ messages }) => (messages.at(-1)?.role === 'user' ? calls('act', {}) : `Answer `));
    const store = customStore ?? new RedisSessionStore({ client, prefix, timeoutMs });
    const agent = new Agent({ model, tools: [act], loaders: [registry], store, logger, clock });
    const session = await agent.session({ id: 's' });
    const ask = (next: () => unknown = () => {}) => {
      action = next;
      return session.run('go');
    };
    const close = async () => {
      await agent.close();
      client.destroy();
    };
    return { ask, session, store, registry, logger, close };
  }

  test.each([
    // The write that Redis did not acknowledge is lost.
    { how: 'killed', away: () => server.kill(), back: () => server.start(), next: 'Answer 4' },
    // Redis makes the write later, because it had received the command.
    { how: 'frozen', away: () => server.freeze(), back: () => server.thaw(), next: 'Answer 6' },
  ])(
    'a run continues while Redis is $how, reports that its state could not be stored, and later runs use the stored state',
    async ({ away, back, next }) => {
      const { ask, registry, logger, close } = await openSession({ store: new MemorySessionStore() });
      expect((await ask()).text).toBe('Answer 2');

      const begun = performance.now();
      const { text } = await ask(away);
      // The callbacks use the state that the run has read. Only the write at the end of the run waits for Redis.
      expect(performance.now() - begun).toBeLessThan(DEFAULT_LIMIT_MS);
      expect(text).toBe('Answer 4');
      expect(logger.records.filter(({ level }) => level === 'error')).toMatchObject([
        {
          message: expect.stringMatching(
            /^The state of session "s" could not be updated: The state store failed at `apply`/,
          ),
          details: { code: 'ERR_STATE_STORE', cause: { code: 'ERR_REDIS_UNAVAILABLE' } },
        },
      ]);

      await back();
      expect((await ask()).text).toBe(next);
      expect(await registry.stats('s')).toEqual({ bytes: 8, extensions: { count: 8 } });
      await close();
    },
  );

  test('a run that starts during the outage continues after the timeout of the store', async () => {
    const { ask, logger, close } = await openSession({ store: new MemorySessionStore() });
    await server.kill();
    const begun = performance.now();
    const { text } = await ask();

    expect(text).toBe('Answer ');
    expect(performance.now() - begun).toBeLessThan(DEFAULT_LIMIT_MS);
    const errors = logger.records.filter(({ level }) => level === 'error').map(({ message }) => message);
    expect(errors[0]).toMatch(
      /^Extension "count": onLlmOutput failed in session "s": The state store failed at `peek`/,
    );
    await server.start();
    await close();
  });

  test('a run fails with a typed error if its session cannot be saved, and the session works again when its claim has ended', async () => {
    const { ask, session, store, close } = await openSession();
    const claim = vi.spyOn(store, 'claim');
    expect((await ask()).text).toBe('Answer 2');

    const begun = performance.now();
    const error = await rejectionOf(ask(() => server.kill()));
    expect(performance.now() - begun).toBeLessThan(DEFAULT_LIMIT_MS);
    expect(error).toMatchObject({ code: 'ERR_SESSION_STORE', cause: { code: 'ERR_REDIS_UNAVAILABLE' } });

    await server.start();
    const { entries = [], holder, length = 0 } = (await store.load('s')) ?? {};
    const roles = messagesOf(entries).map(({ role }) => role);
    expect(roles.slice(0, 6)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user', 'assistant']);
    const { token = '', run } = claim.mock.calls.at(-1)?.[1] ?? {};
    expect(holder?.run).toBe(run);
    // Ends the claim now, and not after its 30 seconds.
    await store.append('s', { token, length, entries: [], release: true });

    const { text } = await ask();
    expect(text).toMatch(/^Answer \d$/);
    const stored = messagesOf((await store.load('s'))?.entries ?? []);
    expect(stored).toEqual(session.messages);
    expect(textOf(stored.at(-1) ?? { role: 'user', content: '' })).toBe(text);
    await close();
  });

  test('an aborted run does not wait for Redis', async () => {
    // Neither the time limit of the store nor that of its caller ends during the test.
    const patient = { timeoutMs: 600_000, clock: fakeClock() };
    const { session, close } = await openSession({ store: new MemorySessionStore(), ...patient });
    const controller = new AbortController();
    server.freeze();
    const run = session.run('go', { signal: controller.signal });
    setTimeout(() => controller.abort(), 50);

    expect(await rejectionOf(run)).toMatchObject({ code: 'ERR_RUN_ABORTED' });
    server.thaw();
    await close();
  });

  test('two processes run a session one after the other, and the second run continues from the first', async () => {
    const client = await createClient({ url: server.url }).connect();
    const storeOf = () => new RedisSessionStore({ client, prefix: 'queue' });
    const open = (answer: () => string | Promise<string>) =>
      new Agent({ model: scriptedModel(answer), store: storeOf() }).session({ id: 's' });
    const second = await open(() => 'Answer 2');
    let waiting: Promise<unknown> | undefined;
    const first = await open(() => {
      waiting = second.run('two');
      return 'Answer 1';
    });

    await first.run('one');
    await waiting;

    expect(second.messages.map(textOf)).toEqual(['one', 'Answer 1', 'two', 'Answer 2']);
    expect(messagesOf((await storeOf().load('s'))?.entries ?? [])).toEqual(second.messages);
    client.destroy();
  });
});
