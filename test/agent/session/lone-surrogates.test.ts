import { readFile } from 'node:fs/promises';
import { Agent, toolResult } from 'keelson';
import { FileSessionStore } from 'keelson/file';
import { calls, scriptedModel } from 'keelson/testing';
import { sseResponse } from 'keelson/ui';
import { expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';
import { logIn, temporaryFolder } from '../../support/stores/temporary-folder.js';

const CUT = 'A \ud83d';

/** An escape of a surrogate in JSON, also in JSON inside of a JSON string. */
const ESCAPE = /\\ud[89a-f]../i;

test.each<[string, () => unknown]>([
  ['data', () => ({ [CUT]: [CUT] })],
  ['a string', () => CUT],
  ['a whole result', () => toolResult({ content: [{ type: 'text', text: CUT }], structured: { text: CUT } })],
])(
  'a lone surrogate in %s of a tool reaches neither the store, nor the model as data, nor a page',
  async (_what, give) => {
    const folder = await temporaryFolder();
    const model = scriptedModel([calls('give', { [CUT]: CUT }), 'done']);
    const agent = new Agent({ model, tools: [toolOf('give', give)], store: new FileSessionStore({ folder }) });
    const session = await agent.session({ id: 's' });

    const stream = session.stream(CUT);
    const page = await sseResponse(stream).text();

    expect(page).not.toMatch(ESCAPE);
    expect(page).toContain('A \ufffd');
    expect(await readFile(await logIn(folder), 'utf8')).not.toMatch(ESCAPE);
    const { history } = await stream.result;
    const results = history.flatMap((message) => (message.role === 'tool' ? message.content : []));
    expect(JSON.stringify(results.map(({ structured }) => structured ?? ''))).not.toMatch(ESCAPE);
  },
);
