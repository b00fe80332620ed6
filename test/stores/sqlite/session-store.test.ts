import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Entry } from 'keelson';
import { expect, onTestFinished, test } from 'vitest';
import type { SqliteClient, SqlValue } from '../../../src/stores/sqlite/module.js';
import { SqliteSessionStore } from '../../../src/stores/sqlite/sqlite.js';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { describeEachSqlite } from '../../support/stores/sqlite.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

const TTL_MS = 60_000;
const claimer = fileURLToPath(new URL('../../fixtures/stores/sqlite-claimer.ts', import.meta.url));

/** Starts a process that claims session `s`. Resolves when it has the claim. */
async function startClaimer(file: string) {
  const command = ['--import', 'tsx', claimer, file, `${TTL_MS}`];
  const child = spawn(process.execPath, command, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await once(child.stdout, 'data');
  expect(`${line}`).toBe('claimed\n');
  return child;
}

function said(id: string): Entry {
  return { id, at: 1, body: { type: 'message', message: { role: 'user', content: id } } };
}

describeEachSqlite('the claim of another process', ({ optionsFor }) => {
  const mine = { token: 'mine', run: 'mine', ttlMs: TTL_MS };

  test('that ran out holds for ten times its time while that process lives', async () => {
    const file = join(await temporaryFolder(), 'sessions.db');
    await startClaimer(file);
    const clock = fakeClock(Date.now());
    const store = new SqliteSessionStore({ ...optionsFor(file), clock });

    clock.advance(TTL_MS);
    expect((await store.load('s'))?.holder?.until).toBeLessThanOrEqual(clock.now());
    expect(await store.claim('s', mine)).toMatchObject({ claimed: false, holder: { run: 'child' } });

    clock.advance(9 * TTL_MS);
    expect(await store.claim('s', mine)).toMatchObject({ claimed: true, lost: 'child' });
  });

  test('that ran out is taken over at once if that process has ended, and not before it ran out', async () => {
    const file = join(await temporaryFolder(), 'sessions.db');
    const child = await startClaimer(file);
    const clock = fakeClock(Date.now());
    const store = new SqliteSessionStore({ ...optionsFor(file), clock });
    child.kill('SIGKILL');
    await once(child, 'exit');

    // The claim was made before this clock began, and less than a minute ago.
    expect(await store.claim('s', mine)).toMatchObject({ claimed: false, holder: { run: 'child' } });
    clock.advance(TTL_MS);
    expect(await store.claim('s', mine)).toMatchObject({ claimed: true, lost: 'child' });
  });
});

/** A statement that a store ran, and the number of rows that it returned. */
interface Ran {
  readonly text: string;
  readonly values: readonly SqlValue[];
  readonly rows: number;
}

/** Returns a client that notes every statement that it runs. */
function noting(client: SqliteClient, ran: Ran[]): SqliteClient {
  return {
    exec: (text) => client.exec(text),
    prepare(text) {
      const statement = client.prepare(text);
      const note = <Result>(values: readonly SqlValue[], result: Result, rows: number): Result => {
        ran.push({ text, values, rows });
        return result;
      };
      return {
        run: (...values) => note(values, statement.run(...values), 0),
        get: (...values) => note(values, statement.get(...values), 1),
        all(...values) {
          const rows = statement.all(...values);
          return note(values, rows, rows.length);
        },
      };
    },
  };
}

describeEachSqlite('the cost of a call', ({ connect }) => {
  test('does not depend on the number of entries', async () => {
    const client = connect(join(await temporaryFolder(), 'sessions.db'));
    const ran: Ran[] = [];
    const store = new SqliteSessionStore({ client: noting(client, ran), ttlMs: TTL_MS });
    const claim = { token: 'x', run: 'x', ttlMs: TTL_MS };

    /** Returns the statements of one run on a session with `count` entries of which the model reads ten. */
    async function statementsOf(session: string, count: number): Promise<Ran[]> {
      await store.claim(session, claim);
      const entries = Array.from({ length: count }, (_, at) => said(`${at}`));
      const added = { token: 'x', length: 0, entries, context: count - 10, release: true };
      expect(await store.append(session, added)).toMatchObject({ released: true });
      ran.length = 0;
      await store.claim(session, claim);
      await store.post(session, { id: 'p', at: 1, body: { type: 'post', post: { type: 'stop', run: 'other' } } });
      await store.append(session, { token: 'x', length: count, entries: [said('a'), said('3')] });
      await store.append(session, { token: 'other', length: count + 3, entries: [said('a'), said('b')] });
      await store.renew(session, claim);
      expect(await store.append(session, { token: 'x', length: count + 3, entries: [], release: true })).toMatchObject({
        released: true,
      });
      await store.load(session, { limit: 5 });
      return [...ran];
    }

    const few = await statementsOf('few', 20);
    const many = await statementsOf('many', 2_000);

    const shapeOf = ({ text, rows }: Ran) => ({ text, rows });
    expect(many.map(shapeOf)).toEqual(few.map(shapeOf));
    expect(Math.max(...many.map(({ rows }) => rows))).toBe(10);
    const plans = many.map(({ text, values }) => {
      const steps = client.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values) as { readonly detail: string }[];
      return steps.map(({ detail }) => detail).join();
    });
    expect(plans.join()).toContain('SEARCH entries USING PRIMARY KEY (session=? AND position>?');
    expect(plans.join()).not.toContain('SCAN');
  });
});
