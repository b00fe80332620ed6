import { createClient } from '@redis/client';
import { Redis } from 'ioredis';
import { RedisRunLog } from 'keelson/redis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { testRunLog } from '../../support/state/run-log-contract.js';
import { type MovableRedis, movableRedis } from '../../support/stores/redis-clock.js';
import { describeWithRedis, type RedisServer, startRedis } from '../../support/stores/redis-server.js';
import { checkFollowed } from '../../support/stores/run-log/followed.js';
import { checkSameLogAsMemory, comparedLimits } from '../../support/stores/run-log/same-as-memory.js';

describeWithRedis('a run log in Redis', () => {
  let server: RedisServer;
  let node: ReturnType<typeof createClient>;
  let subscriber: ReturnType<typeof createClient>;
  let io: Redis;
  let throughNode: MovableRedis;
  let throughIo: MovableRedis;
  let logs = 0;

  beforeAll(async () => {
    server = await startRedis();
    node = createClient({ url: server.url });
    subscriber = createClient({ url: server.url });
    await Promise.all([node.connect(), subscriber.connect()]);
    io = new Redis(server.port);
    throughNode = movableRedis((args) => node.sendCommand(args));
    throughIo = movableRedis(([command = '', ...args]) => io.call(command, args));
  });

  afterAll(async () => {
    node.destroy();
    subscriber.destroy();
    io.disconnect();
    await server.remove();
  });

  const limits = { maxBytes: 200_000, ttlMs: 60_000, timeoutMs: 60_000 };
  const openNode = () =>
    new RedisRunLog({ ...limits, client: { sendCommand: throughNode.send }, subscriber, prefix: `test${logs}` });
  const openIo = () => {
    const client = { call: (command: string, args: string[]) => throughIo.send([command, ...args]) };
    return new RedisRunLog({ ...limits, client, pollMs: 10, prefix: `test${logs}` });
  };
  const fresh = (open: () => RedisRunLog) => () => {
    logs += 1;
    return open();
  };
  testRunLog('RedisRunLog on @redis/client with a subscriber', {
    ...limits,
    open: fresh(openNode),
    reopen: openNode,
    pass: (ms) => throughNode.pass(ms),
  });
  testRunLog('RedisRunLog on ioredis', {
    ...limits,
    open: fresh(openIo),
    reopen: openIo,
    pass: (ms) => throughIo.pass(ms),
  });

  describe.each(['redis', 'redis-subscriber'])('with two processes (%s)', (kind) => {
    test('is followed from any offset, and each event is read once and in order', async () => {
      await node.flushAll();
      await checkFollowed(kind, server.url);
    }, 60_000);
  });

  test('gives the answers of the memory log to any sequence of calls', async () => {
    await checkSameLogAsMemory(async () => {
      await node.flushAll();
      const { send, pass } = movableRedis((args) => node.sendCommand(args), Date.now());
      return { log: new RedisRunLog({ ...comparedLimits, client: { sendCommand: send } }), pass };
    }, 200);
  }, 120_000);

  test('has two keys for each run, which expire', async () => {
    await node.flushAll();
    const log = new RedisRunLog({ client: node, ttlMs: 60_000 });
    await log.append('a:b', 0, ['x']);

    const keys = ['keelson:{a%003ab}:log', 'keelson:{a%003ab}:log:events'];
    expect((await node.keys('*')).sort()).toEqual(keys);
    const [head = '', events = ''] = keys;
    expect([await node.type(events), await node.pTTL(head), await node.pTTL(events)]).toEqual([
      'stream',
      expect.toSatisfy((ms) => ms > 50_000 && ms <= 60_000),
      expect.toSatisfy((ms) => ms > 50_000 && ms <= 60_000),
    ]);
    await log.delete('a:b');
    expect(await node.keys('*')).toEqual([]);
  });

  test('goes on without the events, or begins again, if Redis has evicted a key', async () => {
    await node.flushAll();
    const log = new RedisRunLog({ client: node });
    await log.append('a', 0, ['0', '1']);
    await node.del('keelson:{a}:log:events');

    await expect(log.read('a', 0)).rejects.toMatchObject({ code: 'ERR_RUN_LOG_GONE', first: 2 });
    expect(await log.append('a', 2, ['2'])).toMatchObject({ appended: true, end: 3 });
    expect(await log.read('a', 2)).toEqual({ events: [{ offset: 2, event: '2' }], end: 3 });

    await node.del('keelson:{a}:log');
    expect(await log.read('a', 2)).toBe(undefined);
    expect(await log.append('a', 3, ['3'])).toMatchObject({ appended: false, end: 0 });
    expect(await log.append('a', 0, ['new'])).toMatchObject({ appended: true, end: 1 });
    expect(await log.read('a', 0)).toEqual({ events: [{ offset: 0, event: 'new' }], end: 1 });
  });

  test('rejects with a typed error while Redis is away, also a read that waits', async () => {
    const own = await startRedis();
    onTestFinished(() => own.remove());
    const client = createClient({ url: own.url, socket: { reconnectStrategy: 20 } }).on('error', () => {});
    await client.connect();
    const log = new RedisRunLog({ client, timeoutMs: 300, pollMs: 5 });
    await log.append('a', 0, []);
    const failure = { code: 'ERR_REDIS_UNAVAILABLE', retryable: true };
    const reading = expect(log.read('a', 0, { waitMs: 60_000 })).rejects.toMatchObject(failure);
    await own.kill();

    const calls = [log.append('a', 0, ['x']), log.touch('a'), log.close('a', 'done'), log.delete('a')];
    await Promise.all([reading, ...calls.map((call) => expect(call).rejects.toMatchObject(failure))]);
    client.destroy();
  });

  test('refuses unknown options', () => {
    expect(() => new RedisRunLog({ client: node, maxLen: 1 } as never)).toThrow('unknown option `maxLen`');
    expect(() => new RedisRunLog({ client: node, pollMs: 0 })).toThrow('`pollMs` must be a whole number');
  });
});
