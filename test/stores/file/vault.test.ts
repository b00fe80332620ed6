import { appendFile, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Agent, type Entry } from '../../../src/index.js';
import { resolveStatePolicy } from '../../../src/state/state-policy.js';
import { FileSessionStore, FileStateStore } from '../../../src/stores/file/file.js';
import { scriptedModel } from '../../../src/testing/testing.js';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { anySteps, outcomesOf } from '../../support/state/state-model.js';
import { addTexts, said, textsOf } from '../../support/stores/file-session.js';
import { startStoreProcess } from '../../support/stores/store-process.js';
import { logIn, temporaryFolder } from '../../support/stores/temporary-folder.js';

const policy = resolveStatePolicy();
const scope = { extension: 'e', session: 's' };

test('any sequence of calls, also with reopened stores, has the results of the reference store', async () => {
  const root = await temporaryFolder();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(anySteps, async (steps) => {
      runs += 1;
      const clock = fakeClock(1_000_000);
      const [found, expected] = await outcomesOf(steps, {
        open: () => new FileStateStore({ folder: join(root, `${runs}`), clock }),
        pass: (ms) => clock.advance(ms),
      });
      expect(found).toEqual(expected);
    }),
    { numRuns: 60 },
  );
}, 60_000);

describe('a file store', () => {
  test('finds the state and sessions of an earlier store in the same directory', async () => {
    const folder = await temporaryFolder();
    await new FileStateStore({ folder }).set(scope, { key: 'k', value: 'x' }, policy);
    const session = await new Agent({ model: scriptedModel(['hi']), store: new FileSessionStore({ folder }) }).session({
      id: 's',
    });
    await session.run('hello');

    const again = await new Agent({ model: scriptedModel([]), store: new FileSessionStore({ folder }) }).session({
      id: 's',
    });

    expect(again.messages).toEqual(session.messages);
    expect(again.messages).toHaveLength(2);
    expect(await new FileStateStore({ folder }).get(scope, 'k', policy)).toBe('x');
  });

  test('creates files only for their owner, and ids neither appear in file names nor lead out of the directory', async () => {
    const root = await temporaryFolder();
    const folder = join(root, 'inner', 'store');
    const store = new FileSessionStore({ folder });
    for (const id of ['../x', '/etc/passwd', 'a:b', 'A', 'a', 'con', 'x'.repeat(300), '*']) {
      await addTexts(store, id, { texts: ['x'] });
    }

    expect(await readdir(root)).toEqual(['inner']);
    expect(await readdir(join(root, 'inner'))).toEqual(['store']);
    const names = await readdir(folder);
    expect(names.filter((name) => !/^session-[0-9a-f]{64}$/.test(name))).toEqual([]);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(8);
    const modes = await Promise.all(
      [folder, join(folder, names[0] ?? ''), await logIn(folder)].map(async (path) => (await stat(path)).mode & 0o777),
    );
    expect(modes).toEqual([0o700, 0o700, 0o600]);
  });

  test('an append adds its entries to the end of the log, and changes nothing before', async () => {
    const folder = await temporaryFolder();
    const store = new FileSessionStore({ folder });
    await store.claim('s', { token: 'x', run: 'x', ttlMs: 60_000 });
    const file = await logIn(folder);
    let before = await readFile(file);
    for (let at = 0; at < 300; at += 1) {
      const entry = said(`${at} ${'x'.repeat(500)}`);
      await store.append('s', { token: 'x', length: at, entries: [entry] });
      const after = await readFile(file);
      expect(after.subarray(0, before.length).equals(before)).toBe(true);
      expect(after.length - before.length).toBeLessThan(JSON.stringify(entry).length + 60);
      before = after;
    }
  });

  test('does not let a log grow with overwritten values or reads', async () => {
    const folder = await temporaryFolder();
    const store = new FileStateStore({ folder });
    for (let at = 0; at < 400; at += 1) {
      await store.set(scope, { key: 'k', value: `${at} ${'x'.repeat(500)}` }, policy);
      await store.get(scope, 'k', policy);
    }

    expect((await stat(await logIn(folder))).size).toBeLessThan(100_000);
    expect(await new FileStateStore({ folder }).get(scope, 'k', policy)).toBe(`399 ${'x'.repeat(500)}`);
  });

  test('sees the changes of other stores, also if they rewrote the log', async () => {
    const folder = await temporaryFolder();
    const [first, other] = [new FileSessionStore({ folder }), new FileSessionStore({ folder })];
    await addTexts(first, 's', { texts: ['1'] });
    await addTexts(other, 's', { texts: ['2'] });
    expect(textsOf(await first.load('s'))).toEqual(['1', '2']);

    await other.delete('s');
    await addTexts(other, 's', { texts: ['new', 'x'.repeat(1_000)] });

    expect(textsOf(await first.load('s'))).toEqual(['new', 'x'.repeat(1_000)]);
    expect(await addTexts(first, 's', { texts: ['more'] })).toMatchObject({ length: 3 });
    expect(await other.load('s')).toMatchObject({ length: 3, uid: (await first.load('s'))?.uid });
  });

  test('lets another store use a session between many queued writes', async () => {
    const folder = await temporaryFolder();
    const [busy, other] = [new FileStateStore({ folder }), new FileStateStore({ folder })];
    let done = 0;
    const value = 'x'.repeat(20_000);
    const writes = Array.from({ length: 3_000 }, async (_, at) => {
      await busy.set(scope, { key: `${at % 10}`, value }, policy);
      done += 1;
    });
    await writes[0];

    await other.set({ ...scope, extension: 'other' }, { key: 'k', value: 'x' }, policy);
    expect(done).toBeLessThan(3_000);
    await Promise.all(writes);
    expect((await other.stats('s')).bytes).toBe(200_012);
  }, 30_000);

  test('drops an incomplete last line, and appends after the last complete line', async () => {
    const folder = await temporaryFolder();
    for (const at of [0, 1, 2]) {
      await addTexts(new FileSessionStore({ folder }), 's', { texts: [`${at}`] });
      await appendFile(await logIn(folder), '0123abcd\t["add",9,nul');
    }
    expect(textsOf(await new FileSessionStore({ folder }).load('s'))).toEqual(['0', '1', '2']);
  });
});

describe('expiry in a file store', () => {
  test('S1-6.4.2, S1-11.1.3: expired sessions are removed from disk by calls on other sessions', async () => {
    const folder = await temporaryFolder();
    const clock = fakeClock(Date.now());
    const state = new FileStateStore({ folder, clock });
    const sessions = new FileSessionStore({ folder, clock, ttlMs: 60_000 });
    const brief = { ...policy, sessionTtlMs: 60_000 };
    for (let at = 0; at < 10; at += 1) {
      await state.set({ extension: 'e', session: `${at}` }, { key: 'k', value: 'x' }, brief);
      await addTexts(sessions, `${at}`, { texts: ['x'] });
    }
    expect(await readdir(folder)).toHaveLength(20);

    clock.advance(60_000);
    for (let at = 0; at < 12; at += 1) {
      await state.set(scope, { key: 'k', value: `${at}` }, policy);
      await sessions.load('other');
    }

    expect(await readdir(folder)).toHaveLength(1);
    expect(await state.get(scope, 'k', policy)).toBe('11');
  });

  test('an expired session starts empty, and its old values do not come back', async () => {
    const folder = await temporaryFolder();
    const clock = fakeClock(Date.now());
    const bound = { ...policy, ttlMs: 60_000, sessionTtlMs: 60_000 };
    const store = new FileStateStore({ folder, clock });
    await store.set(scope, { key: 'old', value: 'x' }, bound);

    clock.advance(60_000);
    await store.set(scope, { key: 'new', value: 'y' }, bound);

    expect(await new FileStateStore({ folder, clock }).stats('s')).toEqual({ bytes: 4, extensions: { e: 4 } });
  });

  test.each([{}, { ttlMs: Number.POSITIVE_INFINITY }])(
    'a session with the options %j never expires',
    async (options) => {
      const folder = await temporaryFolder();
      const clock = fakeClock(Date.now());
      const open = () => new FileSessionStore({ folder, clock, ...options });
      await addTexts(open(), 's', { texts: ['1'] });
      await open().load('s');

      clock.advance(1e12);

      expect(textsOf(await open().load('s'))).toEqual(['1']);
    },
  );

  test('leftover directories of dead processes are removed', async () => {
    const folder = await temporaryFolder();
    const store = new FileSessionStore({ folder });
    await Promise.all(['trash-1', 'new-1', 'new-2', 'mine'].map((name) => mkdir(join(folder, name))));
    await utimes(join(folder, 'new-1'), 1, 1);

    for (let at = 0; at < 3; at += 1) await store.load('s');

    expect((await readdir(folder)).sort()).toEqual(['mine', 'new-2']);
  });
});

describe('failures of a file store', () => {
  test.skipIf(process.platform === 'win32')(
    'a disk that becomes full during a write loses no stored data',
    async () => {
      const folder = await temporaryFolder();
      const order = { folder, task: 'fill', name: 's', count: 100, limitKb: 500 };
      const filling = startStoreProcess<{ outcome: string; length: number }>(order);
      expect(await filling.ended).toBe(0);

      const outcomes = filling.lines.map(({ outcome }) => outcome);
      const saved = outcomes.lastIndexOf('ERR_STORE_FAILED');
      expect(saved).toBeGreaterThan(5);
      expect(outcomes).toEqual([...Array(saved).fill('saved'), 'ERR_STORE_FAILED', 'saved']);
      const lengths = Array.from({ length: saved }, (_, at) => at + 1);
      expect(filling.lines.map(({ length }) => length)).toEqual([...lengths, saved, saved + 1]);
      const texts = textsOf(await new FileSessionStore({ folder }).load('s'));
      expect(texts.map((text) => text.split(' ')[1]?.length)).toEqual([...Array(saved).fill(50_000), 5]);
    },
  );

  test.skipIf(process.platform === 'win32')('a claim that does not fit on the disk leaves no log behind', async () => {
    const folder = await temporaryFolder();
    const order = { folder, task: 'claim-large', name: 's', count: 1, limitKb: 30 };
    const filling = startStoreProcess<{ outcome: string; files: string[] }>(order);
    await filling.ended;

    expect(filling.lines.map(({ outcome }) => outcome)).toEqual(['ERR_STORE_FAILED', 'saved']);
    expect(filling.lines[0]?.files.filter((name) => /log/.test(name))).toEqual([]);
  });

  test.skipIf(process.platform === 'win32')('stored data can be read from a full disk', async () => {
    const folder = await temporaryFolder();
    const content = 'x'.repeat(50_000);
    await addTexts(new FileSessionStore({ folder }), 's', { texts: [content] });
    await new FileStateStore({ folder }).set({ extension: 's', session: 's' }, { key: 's', value: content }, policy);
    const reading = startStoreProcess({ folder, task: 'read', name: 's', count: 2, limitKb: 30 });

    expect(await reading.ended).toBe(0);
    expect(reading.lines).toEqual(Array(2).fill({ ids: [50_000], value: 50_000 }));
  });

  test.skipIf(process.platform === 'win32')(
    'a read succeeds in the same batch as a write that does not fit on the disk',
    async () => {
      const folder = await temporaryFolder();
      await new FileStateStore({ folder }).set({ extension: 's', session: 's' }, { key: 's', value: 'kept' }, policy);
      const working = startStoreProcess({ folder, task: 'read-and-write', name: 's', count: 1, limitKb: 30 });

      expect(await working.ended).toBe(0);
      expect(working.lines).toEqual(['kept', 'kept', 'ERR_STORE_FAILED', 'kept']);
    },
  );

  test('an id that is not a string is refused with a typed error', async () => {
    const folder = await temporaryFolder();
    const id = undefined as unknown as string;

    for (const attempt of [
      () => new FileSessionStore({ folder }).load(id),
      () => new FileSessionStore({ folder }).delete(id),
      () => new FileStateStore({ folder }).stats(id),
    ]) {
      expect(await rejectionOf(attempt())).toMatchObject({ code: 'ERR_OPTION_INVALID', option: 'id' });
    }
  });

  test('a log that cannot be rewritten causes a typed error and keeps its data', async () => {
    const folder = await temporaryFolder();
    const store = new FileStateStore({ folder });
    await store.set(scope, { key: 'k', value: '1' }, policy);
    await store.set(scope, { key: 'k', value: 'x'.repeat(200_000) }, policy);
    const obstacle = join(await logIn(folder), '..', 'log.draft');
    await mkdir(obstacle);
    const set = () => store.set(scope, { key: 'k', value: '3' }, policy);

    expect(await rejectionOf(set())).toMatchObject({ code: 'ERR_STORE_FAILED' });
    expect(await store.get(scope, 'k', policy)).toHaveLength(200_000);
    await rm(obstacle, { recursive: true });

    await set();
    expect(await new FileStateStore({ folder }).get(scope, 'k', policy)).toBe('3');
  });

  test('a directory that cannot be created causes a typed error', async () => {
    const file = join(await temporaryFolder(), 'file');
    await writeFile(file, '');

    // Started one after another, since a pending rejection without a handler would fail the test.
    for (const attempt of [
      () => addTexts(new FileSessionStore({ folder: file }), 's', { texts: [] }),
      () => new FileStateStore({ folder: join(file, 'x') }).set(scope, { key: 'k', value: 'x' }, policy),
      () => new FileStateStore({ folder: file }).clearExtension('e'),
    ]) {
      expect(await rejectionOf(attempt())).toMatchObject({ code: 'ERR_STORE_FAILED' });
    }
  });

  test('a message that has no JSON form is refused, and the session stays usable', async () => {
    const store = new FileSessionStore({ folder: await temporaryFolder() });
    await store.claim('s', { token: 'x', run: 'x', ttlMs: 60_000 });
    const call = { type: 'tool-call', id: 'c', name: 't', input: 1n } as const;
    const message = { role: 'assistant', content: [call] } as const;
    const entry: Entry = { id: 'a', at: 1, body: { type: 'message', message: message as never } };

    const error = await rejectionOf(store.append('s', { token: 'x', length: 0, entries: [entry] }));

    expect(error).toMatchObject({ code: 'ERR_MESSAGE_INVALID' });
    expect(await addTexts(store, 's', { texts: ['1'] })).toBe(undefined);
    expect(await store.append('s', { token: 'x', length: 0, entries: [said('1')] })).toMatchObject({ length: 1 });
  });

  test('a change of an entry after the append does not change the session', async () => {
    const store = new FileSessionStore({ folder: await temporaryFolder() });
    await store.claim('s', { token: 'x', run: 'x', ttlMs: 60_000 });
    const entry = said('1');
    await store.append('s', { token: 'x', length: 0, entries: [entry] });

    Object.assign(entry, said('2'));

    expect(textsOf(await store.load('s'))).toEqual(['1']);
  });

  test.each([
    ['folder', { folder: '' }],
    ['ttlMs', { ttlMs: 0 }],
    ['ttlMs', { ttlMs: Number.NaN }],
    ['ttlMs', { ttlMs: '60000' as unknown as number }],
    ['lockTimeoutMs', { lockTimeoutMs: -1 }],
    ['lockTimeoutMs', { lockTimeoutMs: null as unknown as number }],
    ['ttl', { ttl: 60_000 }],
  ])('an invalid option `%s` is refused', (option, invalid) => {
    expect(() => new FileSessionStore({ folder: 'x', ...invalid })).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION_INVALID', option }),
    );
  });

  test('a store without options is refused', () => {
    for (const Store of [FileSessionStore, FileStateStore]) {
      const open = () => new Store(undefined as never);
      expect(open).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID', option: 'options' }));
    }
  });
});
