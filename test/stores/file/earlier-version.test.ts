import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { FileSessionStore, StoreOutdatedError } from 'keelson/file';
import { expect, test } from 'vitest';
import { rejectionOf } from '../../support/agent/settle.js';
import { addTexts, textsOf } from '../../support/stores/file-session.js';
import { logIn, temporaryFolder } from '../../support/stores/temporary-folder.js';

const line = (text: string) => `${crc32(text).toString(16).padStart(8, '0')}\t${text}\n`;

test('a session of an earlier version causes a typed error with advice, and can be deleted', async () => {
  const folder = await temporaryFolder();
  await addTexts(new FileSessionStore({ folder }), 's', { texts: ['1'] });
  const log = await logIn(folder);
  const [header = ''] = (await readFile(log, 'utf8')).split('\n');
  const old = [
    `${header}\n`,
    line('["create","s","uid",1,{"owner":"ada"}]'),
    line('["save",0,1,1,null]\t{"role":"user","content":"1"}'),
  ].join('');
  await writeFile(log, old);
  await writeFile(join(log, '..', 'length'), '');
  const store = new FileSessionStore({ folder });

  const calls = [
    () => store.load('s'),
    () => store.claim('s', { token: 'x', run: 'x', ttlMs: 1 }),
    () => store.list({ owner: 'ada' }),
  ];
  for (const call of calls) {
    const error = await rejectionOf(call());
    expect(error).toBeInstanceOf(StoreOutdatedError);
    expect(error).toMatchObject({ code: 'ERR_STORE_OUTDATED', file: log });
    expect(error).toHaveProperty('message', expect.stringMatching(/earlier version.* Use another folder, or delete/));
  }
  expect(await readFile(log, 'utf8')).toBe(old);

  await store.delete('s');
  await addTexts(store, 's', { texts: ['new'] });
  expect(textsOf(await store.load('s'))).toEqual(['new']);
});
