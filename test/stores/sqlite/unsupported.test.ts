import { describe, expect, test } from 'vitest';
import { SqliteSessionStore, SqliteStateStore } from '../../../src/stores/sqlite/sqlite.js';
import { hasSqlite } from '../../support/stores/sqlite.js';

describe.skipIf(hasSqlite)('without node:sqlite', () => {
  test.each([SqliteSessionStore, SqliteStateStore])('%o refuses to start, and names what to use', (Store) => {
    expect(() => new Store({ file: 'x.db' })).toThrow(
      expect.objectContaining({
        code: 'ERR_SQLITE_UNSUPPORTED',
        message: expect.stringMatching(
          /Node v\d+.*better-sqlite3.*Node 20.*bun:sqlite as `client`.*Node 22\.13 or newer, or the stores of keelson\/file/,
        ),
      }),
    );
  });
});
