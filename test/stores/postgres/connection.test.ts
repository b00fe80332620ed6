import { describe, expect, test } from 'vitest';
import { PostgresConnection } from '../../../src/stores/postgres/connection.js';
import { resolveStoreOptions, storeRules } from '../../../src/stores/postgres/options.js';

const cancelled = () => Object.assign(new Error('canceling statement due to user request'), { code: '57014' });
const conflicting = () => Object.assign(new Error('could not serialize access'), { code: '40001' });

/** A connection whose first statements fail with these errors, and the number of statements that were sent. */
function connectionThat(...failures: readonly Error[]) {
  let sent = 0;
  const query = async () => {
    const failure = failures[sent];
    sent += 1;
    if (failure !== undefined) throw failure;
    return { rows: [{ reply: 'ok' }] };
  };
  const connection = new PostgresConnection({ client: { query }, schema: 'keelson', timeoutMs: 1_000 });
  return { connection, sent: () => sent };
}

describe('a statement in PostgreSQL', () => {
  test('that a late request cancelled is sent again', async () => {
    const { connection, sent } = connectionThat(cancelled());

    expect([await connection.call('load', []), sent()]).toEqual([['ok'], 2]);
  });

  test('that is cancelled twice fails with an error that may be retried', async () => {
    const { connection, sent } = connectionThat(cancelled(), cancelled(), cancelled());

    await expect(connection.call('load', [])).rejects.toMatchObject({
      code: 'ERR_POSTGRES_UNAVAILABLE',
      retryable: true,
    });
    expect(sent()).toBe(2);
  });

  test('that was rolled back because of others is sent again each time', async () => {
    const { connection, sent } = connectionThat(conflicting(), conflicting(), cancelled(), conflicting());

    expect([await connection.call('load', []), sent()]).toEqual([['ok'], 5]);
  });
});

test('a store has the schema `keelson`, a time limit of five seconds and no lifetime of sessions by default', () => {
  const client = { query: async () => ({ rows: [] }) };

  const ttlMs = Number.POSITIVE_INFINITY;
  expect(resolveStoreOptions({ client }, storeRules)).toMatchObject({ schema: 'keelson', timeoutMs: 5_000, ttlMs });
});
