// The code in docs/getting-started.md and docs/chat-in-the-terminal.md.
// #region real-model
import { openai } from 'keelson/openai';

const model = openai('gpt-5-mini');

// #endregion

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, textOf } from 'keelson';
import { FileSessionStore } from 'keelson/file';
import { scriptedModel } from 'keelson/testing';

assert.equal(model.id, 'gpt-5-mini');
const folder = mkdtempSync(join(tmpdir(), 'keelson-pages-'));
{
  const model = scriptedModel('Aye.');
  const line = 'Are you there?';
  // #region stored
  const agent = new Agent({ model, store: new FileSessionStore({ folder }) });
  const session = await agent.session({ id: 'harbour' });
  // #endregion
  // #region stop
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const answer = session.stream(line, { signal: stop.signal });
  // #endregion
  assert.equal((await answer.result).text, 'Aye.');
  process.removeAllListeners('SIGINT');
  const terminal = ['Are you a pilot?', 'Are you a fish?', '/undo', 'Are you a captain?', '/undo', '/undo'];
  // #region undo
  const places: (string | null)[] = [];
  for await (const line of terminal) {
    if (line === '/undo') await session.branch(places.pop() ?? null);
    else {
      places.push(session.entries.at(-1)?.id ?? null);
      for await (const text of session.stream(line).text) process.stdout.write(text);
    }
  }
  // #endregion
  assert.deepEqual(session.messages.map(textOf), [line, 'Aye.']);
  await agent.close();
}
rmSync(folder, { recursive: true });
