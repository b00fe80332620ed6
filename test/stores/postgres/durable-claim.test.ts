import { Agent } from 'keelson';
import { durable, type MemoryStep, memoryStep, type Step } from 'keelson/durable';
import { migrate, PostgresSessionStore } from 'keelson/postgres';
import { scriptedModel } from 'keelson/testing';
import { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { describeWithPostgres } from '../../support/stores/describe-postgres.js';
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.js';

/** A step whose engine stores the step of a name only after `during`. */
function interrupted(name: string, during: () => Promise<void>): MemoryStep {
  const inner = memoryStep();
  const step = (...[called, run, options]: Parameters<Step>): ReturnType<Step> => {
    const whole = async () => {
      const value = await run();
      await during();
      return value;
    };
    return inner(called, called === name ? whole : run, options);
  };
  return Object.assign(step, { id: inner.id, journal: inner.journal });
}

describeWithPostgres('the claim of a durable run', () => {
  let server: PostgresServer;
  let client: Pool;

  beforeAll(async () => {
    // The server writes a commit that nobody waits for only after ten seconds.
    server = await startPostgres('-c', 'wal_writer_delay=10s');
    client = new Pool(server.settings).on('error', () => {});
    await migrate(client);
  });

  afterAll(async () => {
    await client.end();
    server.remove();
  });

  test('lasts if the server is killed before the engine has stored the step', async () => {
    const restart = async () => {
      server.kill();
      server.start();
      // The pool has noticed its broken connection when a query works again.
      await expect.poll(() => client.query('SELECT 1').catch(() => undefined)).toBeDefined();
    };
    const step = interrupted('session claim 2', restart);
    const store = new PostgresSessionStore({ client });
    const options = { model: scriptedModel(['Hello.']), store, logger: keepingLogger() };
    const session = await new Agent(durable({ step }).options(options)).session({ id: 's' });

    const { text } = await session.run('Hi.');

    expect(text).toBe('Hello.');
    expect(step.journal.map((entry) => entry?.name)).toContain('session claim 2');
  });
});
