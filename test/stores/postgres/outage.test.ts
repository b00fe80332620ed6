import { Client, Pool } from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { PostgresClient } from '../../../src/stores/postgres/postgres.js';
import { migrate, PostgresSessionStore, PostgresStateStore } from '../../../src/stores/postgres/postgres.js';
import { added, entryOf, posted } from '../../../src/testing/contract/session/subject.js';
import { describeWithPostgres } from '../../support/stores/describe-postgres.js';
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.js';

const policy = { ttlMs: 60_000, sessionTtlMs: 60_000, extensionBytes: 100, sessionBytes: 100 };
const scope = { extension: 'a', session: 's' };
const timeoutMs = 500;
/** Without `timeoutMs`, a call may take five seconds. */
const DEFAULT_LIMIT_MS = 5_000;

interface OpenedClient {
  readonly client: PostgresClient;
  close(): Promise<void>;
}

const clients: Record<string, (server: PostgresServer) => OpenedClient> = {
  'a pool of pg': ({ settings }) => {
    const pool = new Pool({ ...settings, max: 3 }).on('error', () => {});
    return { client: pool, close: () => pool.end() };
  },
  postgres: ({ url }) => {
    const sql = postgres(url, { max: 3, onnotice: () => {}, backoff: () => 0.05 });
    return { client: sql, close: () => sql.end({ timeout: 1 }) };
  },
};

describeWithPostgres('an outage of PostgreSQL', () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres('-c', 'max_connections=12', '-c', 'superuser_reserved_connections=1');
    const pool = new Pool(server.settings);
    await migrate(pool);
    await pool.end();
  });

  afterAll(() => server.remove());

  describe.each(Object.entries(clients))('through %s', (_name, open) => {
    let sessions: PostgresSessionStore;
    let state: PostgresStateStore;
    let patient: PostgresSessionStore;
    let patientState: PostgresStateStore;
    let opened: OpenedClient;

    const connect = () => {
      opened = open(server);
      // A load restarts the lifetime, unless the server is read-only.
      sessions = new PostgresSessionStore({ client: opened.client, timeoutMs, ttlMs: 60_000 });
      state = new PostgresStateStore({ client: opened.client, timeoutMs });
      patient = new PostgresSessionStore({ client: opened.client });
      patientState = new PostgresStateStore({ client: opened.client });
    };
    /** The server applies a new setting to each open connection at a time of its own, and to new connections at once. */
    const reconnect = async () => {
      await opened.close();
      connect();
    };

    beforeEach(async () => {
      connect();
      await patient.delete('s');
      await patientState.clearSession('s');
      await added(patient, 's', { entries: [entryOf('1')], details: { owner: 'ada' } });
      await patientState.set(scope, { key: 'k', value: 'v' }, policy);
      return () => opened.close();
    });

    /** Starts one call of each kind that changes data. Returns the reason of each rejection, or the value. */
    const changes = async () => {
      const calls = [
        sessions.append('s', { token: 'once', length: 1, entries: [entryOf('2')] }),
        sessions.post('s', posted('p')),
        sessions.claim('s', { token: 'x', run: 'x', ttlMs: 60_000 }),
        sessions.renew('s', { token: 'once', ttlMs: 60_000 }),
        sessions.update('s', { title: 'x' }),
        state.set(scope, { key: 'lost', value: 'x' }, policy),
        state.touch('s', policy),
      ];
      return (await Promise.allSettled(calls)).map((it) => (it.status === 'rejected' ? it.reason : it.value));
    };
    const reads = async () => {
      const calls = [sessions.load('s'), sessions.update('s', {}), sessions.list({ owner: 'ada' }), state.stats('s')];
      return (await Promise.allSettled(calls)).map((it) => (it.status === 'rejected' ? it.reason : it.value));
    };

    const expectFailures = async (calls: () => Promise<unknown[]>, expected: object = {}) => {
      const began = performance.now();
      for (const failure of await calls()) {
        expect(failure).toMatchObject({ code: 'ERR_POSTGRES_UNAVAILABLE', retryable: true, ...expected });
      }
      expect(performance.now() - began).toBeLessThan(DEFAULT_LIMIT_MS);
    };
    const expectWork = async () => {
      await vi.waitFor(async () => expect(await sessions.load('s')).toMatchObject({ entries: [entryOf('1')] }), 10_000);
      expect(await added(patient, 's', { entries: [entryOf('after')] })).toMatchObject({ length: 2 });
      expect(await patientState.get(scope, 'k', policy)).toBe('v');
    };

    test('calls fail while the server is stopped, and succeed after it was started', async () => {
      server.kill();
      await expectFailures(changes);
      await expectFailures(reads);

      server.start();

      await expectWork();
    });

    test('calls fail within their time limit while the server hangs, and succeed when it goes on', async () => {
      server.freeze();
      try {
        await expectFailures(reads, { cause: { code: 'ERR_TIMEOUT' } });
      } finally {
        server.thaw();
      }

      await expectWork();
    });

    test('calls succeed after a restart of the server', async () => {
      server.restart();

      await expectWork();
    });

    test('changes fail while the server is read-only, and reads succeed', async () => {
      await onServer(server, 'ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()');
      await vi.waitFor(async () => expect(await isReadOnly(server)).toBe('on'), 5_000);
      await reconnect();
      await expectFailures(changes, { sqlState: '25006' });
      expect(await reads()).toMatchObject([{ length: 1 }, { id: 's' }, { sessions: [{ id: 's' }] }, { bytes: 2 }]);

      await onServer(
        server,
        'SET default_transaction_read_only = off',
        'ALTER SYSTEM RESET default_transaction_read_only',
        'SELECT pg_reload_conf()',
      );
      await vi.waitFor(async () => expect(await isReadOnly(server)).toBe('off'), 5_000);
      await reconnect();

      await expectWork();
    });
  });

  test('a call without a free connection fails, and succeeds when one is free', async () => {
    const others = Array.from({ length: 11 }, () => new Client(server.settings).on('error', () => {}));
    await Promise.all(others.map((other) => other.connect()));
    const pool = new Pool({ ...server.settings, user: 'keelson' });
    const sessions = new PostgresSessionStore({ client: pool, timeoutMs });
    const reserved = new Client(server.settings);
    await reserved.connect();

    await expect(sessions.load('s')).rejects.toMatchObject({
      code: 'ERR_POSTGRES_UNAVAILABLE',
      sqlState: '53300',
      retryable: true,
    });

    for (const other of [...others, reserved]) await other.end();
    await vi.waitFor(async () => expect(await sessions.load('never there')).toBe(undefined), 5_000);
    await pool.end();
  });

  test('a pool without a free client fails within the time limit', async () => {
    const pool = new Pool({ ...server.settings, max: 1 });
    const held = await pool.connect();
    const sessions = new PostgresSessionStore({ client: pool, timeoutMs });

    await expect(sessions.load('never there')).rejects.toMatchObject({
      code: 'ERR_POSTGRES_UNAVAILABLE',
      cause: { code: 'ERR_TIMEOUT' },
    });

    held.release();
    expect(await sessions.load('never there')).toBe(undefined);
    await pool.end();
  });
});

async function onServer(server: PostgresServer, ...statements: readonly string[]): Promise<void> {
  const client = new Client(server.settings);
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** Returns the setting of a new connection. */
async function isReadOnly(server: PostgresServer): Promise<unknown> {
  const client = new Client(server.settings);
  await client.connect();
  const { rows } = await client.query('SHOW default_transaction_read_only');
  await client.end();
  return rows[0].default_transaction_read_only;
}
