import { copyFile, cp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FileSessionStore } from 'keelson/file';
import { expect, test } from 'vitest';
import { rejectionOf } from '../../support/agent/settle.js';
import { addTexts, said, textsOf } from '../../support/stores/file-session.js';
import { logIn, temporaryFolder } from '../../support/stores/temporary-folder.js';

const claim = { token: 'x', run: 'x', ttlMs: 60_000 };
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `text ${from + at}`);

/** Stores 103 entries, of which the model reads those from position 98 on. */
async function compacted() {
  const folder = await temporaryFolder();
  const store = new FileSessionStore({ folder });
  for (let at = 0; at < 100; at += 4) {
    await addTexts(store, 's', { texts: numbers(at, at + 4), details: { owner: 'ada', title: 'Ships' } });
  }
  await addTexts(store, 's', { texts: ['text 100'], context: 98 });
  await addTexts(store, 's', { texts: ['text 101'] });
  await store.post('s', said('text 102'));
  const log = await logIn(folder);
  return { folder, log, bookmark: join(log, '..', 'context'), open: () => new FileSessionStore({ folder }) };
}

/** Changes the first entry in the log, so that its line does not match its checksum. */
async function damageStart(log: string): Promise<void> {
  const text = await readFile(log, 'latin1');
  await writeFile(log, text.replace('text 0', 'test 0'), 'latin1');
}

test('a claim and a load from the context read only the end of the log', async () => {
  const { log, open } = await compacted();
  await damageStart(log);

  expect(await open().load('s', { from: 'context' })).toMatchObject({ length: 103, offset: 98 });
  expect(textsOf(await open().load('s', { before: 102, limit: 3 }))).toEqual(numbers(99, 102));
  const store = open();
  const claimed = await store.claim('s', claim);
  expect(claimed).toMatchObject({ claimed: true, length: 103, offset: 98, entries: numbers(98, 103).map(said) });
  expect(await store.append('s', { ...claim, length: 103, entries: [said('new')] })).toMatchObject({ length: 104 });
  expect(await store.update('s', {})).toMatchObject({ owner: 'ada', title: 'Ships', length: 104 });
  expect(textsOf(await open().load('s', { from: 'context' }))).toEqual([...numbers(98, 103), 'new']);

  for (const query of [{}, { before: 96, limit: 1 }, { before: 99, limit: 5 }]) {
    expect(await rejectionOf(store.load('s', query))).toMatchObject({ code: 'ERR_STORE_CORRUPT', file: log });
  }
});

test('a load of all entries, and of entries before the context, reads the rest of the log', async () => {
  const { open } = await compacted();
  const store = open();
  const { uid = '' } = (await store.load('s', { from: 'context' })) ?? {};

  expect(textsOf(await store.load('s', { before: 98, limit: 3 }))).toEqual(numbers(95, 98));
  expect(textsOf(await open().load('s', { known: { uid, length: 90 } }))).toEqual(numbers(90, 103));
  const claimed = await open().claim('s', { ...claim, known: { uid, length: 90 } });
  expect(claimed).toMatchObject({ offset: 90, entries: numbers(90, 103).map(said) });
  expect(textsOf(await open().load('s'))).toEqual(numbers(0, 103));
});

test('an entry before the context is known by its id', async () => {
  const { open } = await compacted();

  expect(await open().post('s', said('text 3'))).toEqual({ added: false });
  const store = open();
  await store.claim('s', claim);
  const append = { ...claim, length: 103, entries: [said('text 3'), said('new')] };
  expect(await store.append('s', append)).toMatchObject({ stored: true, length: 104, entries: [] });
  expect(textsOf(await open().load('s'))).toEqual([...numbers(0, 103), 'new']);
});

test('a second compaction moves the place where reading starts', async () => {
  const { log, open } = await compacted();
  const later = open();
  await addTexts(later, 's', { texts: numbers(103, 120), context: 115 });
  await addTexts(later, 's', { texts: ['text 120'], context: 120 });
  expect(await open().post('s', said('text 101'))).toEqual({ added: false });
  const text = await readFile(log, 'latin1');
  await writeFile(log, text.replace('text 105', 'test 105'), 'latin1');

  expect(textsOf(await open().load('s', { from: 'context' }))).toEqual(['text 120']);
  expect(await rejectionOf(open().load('s'))).toMatchObject({ code: 'ERR_STORE_CORRUPT' });
});

test('a context that moves back is read from its new place', async () => {
  const { open } = await compacted();
  await addTexts(open(), 's', { texts: ['text 103'], context: 40 });

  for (const store of [open(), open()]) {
    expect(textsOf(await store.load('s', { from: 'context' }))).toEqual(numbers(40, 104));
  }
});

const damages: [string, (path: string) => Promise<unknown>][] = [
  ['missing', (path) => rm(path)],
  ['cut', (path) => truncate(path, 30)],
  ['of another session', async (path) => copyFile(join(dirname((await compacted()).log), basename(path)), path)],
];

test.each(['context', 'ids'].flatMap((name) => damages.map((damage) => [name, ...damage] as const)))(
  'a file `%s` that is %s means that the whole log is read',
  async (name, _case, change) => {
    const { log, open } = await compacted();
    await change(join(dirname(log), name));

    expect(textsOf(await open().load('s', { from: 'context' }))).toEqual(numbers(98, 103));
    expect(await open().post('s', said('text 3'))).toEqual({ added: false });
    await damageStart(log);
    // The read has repaired the file.
    expect(textsOf(await open().load('s', { from: 'context' }))).toEqual(numbers(98, 103));
    expect(await open().post('s', said('new'))).toEqual({ added: true });
  },
);

test('a log that was restored from a copy is read whole if its `context` is of lines that are gone', async () => {
  const { log, bookmark, folder, open } = await compacted();
  const copy = join(await temporaryFolder(), 'copy');
  await cp(dirname(log), copy, { recursive: true });
  await addTexts(open(), 's', { texts: numbers(103, 120), context: 110 });
  await addTexts(open(), 's', { texts: ['text 120'], context: 120 });
  const lost = await readFile(bookmark);
  await rm(dirname(log), { recursive: true });
  await cp(copy, dirname(log), { recursive: true });
  await writeFile(bookmark, lost);

  const restored = await open().load('s', { from: 'context' });
  expect(textsOf(restored)).toEqual(numbers(98, 103));
  await writeFile(bookmark, lost);
  for (let at = 103; at < 120; at += 1)
    await addTexts(new FileSessionStore({ folder }), 's', { texts: [`other ${at}`] });
  await writeFile(bookmark, lost);

  expect(textsOf(await open().load('s', { from: 'context' })).slice(4, 7)).toEqual([
    'text 102',
    'other 103',
    'other 104',
  ]);
});

test('a log that was cut is damaged, also if its end is read from the context on', async () => {
  const { log, open } = await compacted();
  const text = await readFile(log);

  for (const left of [text.length - 5, text.lastIndexOf('\n', text.length - 2) + 1, 2_000]) {
    await truncate(log, left);
    for (const call of [
      () => open().claim('s', claim),
      () => open().load('s', { from: 'context' }),
      () => open().load('s'),
    ]) {
      expect(await rejectionOf(call())).toMatchObject({ code: 'ERR_STORE_CORRUPT', file: log });
    }
  }
});
