import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, readdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { resolveStatePolicy } from '../../../src/state/state-policy.js';
import { FileSessionStore, FileStateStore, StoreCorruptError } from '../../../src/stores/file/file.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { keepingLogger } from '../../support/agent/silent-logger.js';
import { addTexts, textsOf } from '../../support/stores/file-session.js';
import { logIn, temporaryFolder } from '../../support/stores/temporary-folder.js';

const policy = resolveStatePolicy();
const scope = { extension: 'e', session: 's' };
const claim = { token: 'x', run: 'x', ttlMs: 60_000 };

describe('a damaged file', () => {
  async function damaged(kind: 'session' | 'state') {
    const folder = await temporaryFolder();
    if (kind === 'session') await addTexts(new FileSessionStore({ folder }), 's', { texts: ['right'] });
    else await new FileStateStore({ folder }).set(scope, { key: 'k', value: 'right' }, policy);
    const file = await logIn(folder);
    const text = (await readFile(file, 'utf8')).replace('right', 'wrong');
    await writeFile(file, text);
    return { folder, file, text };
  }

  test('throws an error with the path of a damaged session file, and keeps the file until the session is deleted', async () => {
    const { folder, file, text } = await damaged('session');
    const store = new FileSessionStore({ folder });

    for (const attempt of [() => store.load('s'), () => store.claim('s', claim)]) {
      const error = await rejectionOf(attempt());
      expect(error).toBeInstanceOf(StoreCorruptError);
      expect(error).toMatchObject({ code: 'ERR_STORE_CORRUPT', file });
      expect(error).toHaveProperty('message', expect.stringContaining(file));
    }
    expect(await readFile(file, 'utf8')).toBe(text);

    await store.delete('s');
    expect(await addTexts(store, 's', { texts: ['new'] })).toMatchObject({ stored: true, length: 1 });
  });

  test.each<[string, (file: string) => Promise<unknown>]>([
    ['empty', (file) => truncate(file, 0)],
    ['a pipe', (file) => rm(file).then(() => execFileSync('mkfifo', [file]))],
    ['a directory', (file) => rm(file).then(() => mkdir(file))],
  ])('throws an error for a session file that is %s, and keeps the session', async (_case, damage) => {
    const folder = await temporaryFolder();
    const store = new FileSessionStore({ folder });
    await addTexts(store, 's', { texts: ['hello'] });
    const file = await logIn(folder);
    await damage(file);

    for (const reader of [store, new FileSessionStore({ folder })]) {
      expect(await rejectionOf(reader.load('s'))).toMatchObject({ code: 'ERR_STORE_CORRUPT', file });
    }
    expect(await logIn(folder)).toBe(file);
  });

  test('moves a damaged state file away with a warning that has both paths, and starts the session empty', async () => {
    const { folder, file, text } = await damaged('state');
    const logger = keepingLogger();
    const store = new FileStateStore({ folder, logger });

    expect(await store.get(scope, 'k', policy)).toBe(undefined);
    await store.set(scope, { key: 'k', value: 'new' }, policy);

    expect(await new FileStateStore({ folder }).get(scope, 'k', policy)).toBe('new');
    const [backup = ''] = (await readdir(folder)).filter((name) => name.startsWith('damaged-'));
    expect(await readFile(join(folder, backup), 'utf8')).toBe(text);
    expect(logger.lines).toEqual([expect.stringContaining(join(folder, backup))]);
    expect(logger.lines[0]).toContain(file);
  });

  test.each([
    ['truncated in its first line', (file: string) => truncate(file, 20)],
    [
      'from another kind of store',
      async (file: string) => {
        const folder = await temporaryFolder();
        await new FileStateStore({ folder }).set(scope, { key: 'k', value: 'x' }, policy);
        await rename(await logIn(folder), file);
      },
    ],
    ['changed so that a checksum is invalid', async (file: string) => appendFile(file, '00000000\t["add",1,1,{}]\n')],
    [
      'damaged in one byte of a message',
      async (file: string) =>
        writeFile(file, Buffer.from((await readFile(file, 'latin1')).replace('"x"', '"\xff"'), 'latin1')),
    ],
    [
      'a directory',
      async (file: string) => {
        await rm(file);
        await mkdir(file);
      },
    ],
    [
      'a symbolic link',
      async (file: string) => {
        await rename(file, `${file}.real`);
        await symlink(`${file}.real`, file);
      },
    ],
  ])('detects a log that is %s', async (_title, damage) => {
    const folder = await temporaryFolder();
    await addTexts(new FileSessionStore({ folder }), 's', { texts: ['x'] });
    await damage(await logIn(folder));

    expect(await rejectionOf(new FileSessionStore({ folder }).load('s'))).toMatchObject({ code: 'ERR_STORE_CORRUPT' });
  });

  test.each([
    ['inside its last line', (text: string) => text.length - 5],
    ['at the end of a line', (text: string) => text.lastIndexOf('\n', text.length - 2) + 1],
  ])('reports a session log that was cut %s, and leaves the file unchanged', async (_title, lengthOf) => {
    const folder = await temporaryFolder();
    const store = new FileSessionStore({ folder });
    for (const n of [0, 1, 2]) await addTexts(store, 's', { texts: [`message ${n}`] });
    const file = await logIn(folder);
    const whole = await readFile(file, 'utf8');
    const left = whole.slice(0, lengthOf(whole));
    await writeFile(file, left);

    for (const reader of [store, new FileSessionStore({ folder })]) {
      const calls = [() => reader.load('s'), () => reader.claim('s', claim), () => reader.load('s')];
      for (const call of calls) {
        expect(await rejectionOf(call())).toMatchObject({
          code: 'ERR_STORE_CORRUPT',
          file,
          message: expect.stringMatching(/its end is missing: \d+ bytes were saved, and \d+ are left/),
        });
      }
    }
    expect(await readFile(file, 'utf8')).toBe(left);
    await writeFile(join(file, '..', 'length'), '');
    expect(textsOf(await store.load('s'))).toEqual(['message 0', 'message 1']);
    expect(await addTexts(store, 's', { texts: ['again'] })).toMatchObject({ length: 3 });
  });

  test('reports a session log that has lost a line in its middle', async () => {
    const folder = await temporaryFolder();
    const store = new FileSessionStore({ folder });
    for (const n of [0, 1, 2]) await addTexts(store, 's', { texts: [`message ${n}`] });
    const file = await logIn(folder);
    const lines = (await readFile(file, 'utf8')).split('\n');
    await writeFile(file, lines.filter((line) => !line.includes('message 1')).join('\n'));
    await writeFile(join(file, '..', 'length'), '');

    expect(await rejectionOf(new FileSessionStore({ folder }).load('s'))).toMatchObject({ code: 'ERR_STORE_CORRUPT' });
  });

  test('reports a session log whose stored length is missing, because it may have been cut', async () => {
    const folder = await temporaryFolder();
    await addTexts(new FileSessionStore({ folder }), 's', { texts: ['x'] });
    const length = join(await logIn(folder), '..', 'length');
    await rm(length);
    const store = new FileSessionStore({ folder });

    await expect(store.load('s')).rejects.toThrow(`write an empty file to ${length}`);
    await writeFile(length, '');
    expect(textsOf(await store.load('s'))).toEqual(['x']);
  });

  test('reports a session log that was removed', async () => {
    const folder = await temporaryFolder();
    const store = new FileSessionStore({ folder });
    await addTexts(store, 's', { texts: ['x'] });
    await rm(await logIn(folder));

    for (const reader of [store, new FileSessionStore({ folder })]) {
      expect(await rejectionOf(reader.load('s'))).toMatchObject({ code: 'ERR_STORE_CORRUPT' });
    }
  });

  test('reports and keeps a state log that was cut at any position', async () => {
    const folder = await temporaryFolder();
    const written = new FileStateStore({ folder });
    for (const key of ['a', 'b']) await written.set(scope, { key, value: `value ${key}` }, policy);
    const file = await logIn(folder);
    const length = join(file, '..', 'length');
    const [whole, saved] = [await readFile(file), await readFile(length)];

    for (let left = 0; left < whole.length; left += 1) {
      await writeFile(file, whole.subarray(0, left));
      await writeFile(length, saved);
      const logger = keepingLogger();
      const store = new FileStateStore({ folder, logger });

      expect(await store.get(scope, 'a', policy)).toBeUndefined();
      expect(logger.lines).toEqual([expect.stringMatching(/^warn: .* The damaged file was moved to /)]);
      const [backup = ''] = (await readdir(folder)).filter((name) => name.startsWith('damaged-'));
      expect((await readFile(join(folder, backup))).length).toBe(left);
      await rm(join(folder, backup));
      await mkdir(join(file, '..'), { recursive: true });
      await writeFile(join(file, '..', 'free'), 'lock');
    }
  });

  test('drops an incomplete line after the last save of a session, which no caller has seen as saved', async () => {
    const folder = await temporaryFolder();
    await addTexts(new FileSessionStore({ folder }), 's', { texts: ['whole'] });
    await appendFile(await logIn(folder), '00000000\t["add",1,2');

    expect(textsOf(await new FileSessionStore({ folder }).load('s'))).toEqual(['whole']);
  });

  test('does not follow a symbolic link instead of the directory of a session', async () => {
    const folder = await temporaryFolder();
    await addTexts(new FileSessionStore({ folder }), 's', { texts: ['x'] });
    const inside = join(await logIn(folder), '..');
    const outside = join(await temporaryFolder(), 'outside');
    await rename(inside, outside);
    await symlink(outside, inside);
    const store = new FileSessionStore({ folder });

    const attempts = [() => store.load('s'), () => store.claim('s', claim), () => store.delete('s')];
    for (const attempt of attempts) {
      expect(await rejectionOf(attempt())).toMatchObject({ code: 'ERR_STORE_CORRUPT', file: inside });
    }
    expect((await readdir(outside)).sort()).toEqual(['free', 'length', 'log', 'summary']);
  });
});
