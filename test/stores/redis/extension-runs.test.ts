import { createClient } from '@redis/client';
import { Agent } from 'keelson';
import { type ExtensionInput, ExtensionRegistry, type ExtensionRegistryOptions } from 'keelson/extension';
import { RedisStateStore } from 'keelson/redis';
import { scriptedModel } from 'keelson/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advancing } from '../../support/agent/advancing.js';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { recordingLogger } from '../../support/extension/lab.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../support/stores/redis-server.js';

const stateTimeoutMs = 600;

const stateless: ExtensionInput = { id: 'shout', onLlmOutput: (text) => text.toUpperCase() };
const counter = (id: string): ExtensionInput => ({
  id,
  async onLlmOutput(output, { updateState }) {
    return `${output}${await updateState<number>('n', (n = 0) => n + 1)}`;
  },
});

describeWithRedis('extensions while Redis is away or slow', () => {
  let server: RedisServer;
  let client: ReturnType<typeof createClient>;
  let delayMs = 0;
  const commands: (string | undefined)[] = [];
  const delayed = {
    async sendCommand(args: string[]) {
      commands.push(args[0]);
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      return client.sendCommand(args);
    },
  };

  beforeAll(async () => {
    server = await startRedis('--appendonly', 'yes', '--appendfsync', 'always');
    client = createClient({ url: server.url, socket: { reconnectStrategy: 20 } });
    client.on('error', () => {});
    await client.connect();
  });

  afterAll(async () => {
    client.destroy();
    await server.remove();
  });

  async function sessionOf(extensions: readonly ExtensionInput[], options: ExtensionRegistryOptions = {}) {
    const logger = recordingLogger();
    const state = new RedisStateStore({ client: delayed, prefix: `${Math.random()}` });
    const registry = new ExtensionRegistry({ state, stateTimeoutMs, ...options });
    for (const extension of extensions) registry.register(extension);
    const clock = fakeClock();
    const agent = new Agent({ model: scriptedModel(() => 'Aye.'), loaders: [registry], logger, clock });
    const session = await agent.session({ id: 's' });
    return { run: () => session.run('go'), clock, logger };
  }

  test.each<[string, () => unknown, () => unknown]>([
    ['killed', () => server.kill(), () => server.start()],
    ['frozen', () => server.freeze(), () => server.thaw()],
    [
      'slow',
      () => {
        delayMs = 2 * stateTimeoutMs;
      },
      () => {
        delayMs = 0;
      },
    ],
  ])('runs take at most one time-out while Redis is %s', async (_how, away, back) => {
    const plain = await sessionOf([stateless]);
    const going = await sessionOf(['a', 'b', 'c'].map(counter), { statePauseMs: 0 });
    const paused = await sessionOf(['a', 'b', 'c'].map(counter), { statePauseMs: 60_000 });
    const failing = await sessionOf(['a', 'b', 'c'].map(counter), { onStateFailure: 'throw', statePauseMs: 0 });
    expect((await going.run()).text).toBe('Aye.111');
    for (const { run } of [plain, paused, failing]) await run();
    await away();
    try {
      expect((await plain.run()).text).toBe('AYE.');
      expect(plain.logger.records.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);

      expect((await advancing(paused.clock, paused.run(), 10)).text).toBe('Aye.');
      expect(paused.clock.now()).toBeLessThan(2 * stateTimeoutMs);
      expect(paused.logger.records.filter(({ level }) => level === 'error')).toHaveLength(3);

      const failed = rejectionOf(failing.run());
      expect(await advancing(failing.clock, failed, 10)).toMatchObject({ cause: { code: 'ERR_STATE_STORE' } });
      expect(failing.clock.now()).toBeLessThan(2 * stateTimeoutMs);
    } finally {
      await back();
    }

    expect((await going.run()).text).toBe('Aye.222');
    expect((await failing.run()).text).toMatch(/^Aye\.\d22$/);
  });

  test.each([
    ['a shorter lifetime than their session', 24 * 3_600_000, ['EVALSHA', 'EVALSHA']],
    ['the lifetime of their session', 3_600_000, ['EVALSHA', 'EVALSHA', 'EVALSHA']],
  ])(
    'a run of 5 extensions that read and write values with %s sends few commands',
    async (_title, sessionTtlMs, sent) => {
      const writer = (id: string): ExtensionInput => ({
        id,
        onLlmOutput: async (output, { getState, setState }) => {
          const count = ((await getState<number>('n')) ?? 0) + 1;
          await setState('n', count);
          return `${output}${count}`;
        },
      });
      const options = { ttlMs: 3_600_000, sessionTtlMs, stateTimeoutMs: 5_000 };
      const { run } = await sessionOf(['a', 'b', 'c', 'd', 'e'].map(writer), options);
      await run();
      commands.length = 0;

      expect((await run()).text).toBe('Aye.22222');
      expect(commands).toEqual(sent);
    },
  );
});
