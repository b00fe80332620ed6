// The code in docs/getting-started.md and docs/chat-in-the-terminal.md.
// #region real-model
import { openai } from 'keelson/openai';

const model = openai('gpt-5-mini');

// #endregion

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'keelson';
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
  await agent.close();
}
rmSync(folder, { recursive: true });
