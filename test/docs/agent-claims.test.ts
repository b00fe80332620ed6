import { Agent, type AgentOptions } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { readPage } from '../support/docs/doc-files.js';

/** The names in the first column of the tables below a heading of agent.md. */
function namesBelow(heading: string): string[][] {
  const [, section = ''] = readPage('docs/agent.md').split(`\n## ${heading}\n`);
  const [text = ''] = section.split('\n## ');
  return text
    .trim()
    .split(/\n\n/)
    .filter((block) => block.startsWith('|'))
    .map((table) =>
      table
        .split('\n')
        .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name)),
    );
}

/** The names that a message of an error lists after `known are`. */
async function listed(attempt: () => unknown): Promise<string[]> {
  const { message } = await Promise.resolve()
    .then(attempt)
    .then(
      () => new TypeError('it was taken'),
      (error: Error) => error,
    );
  return (/known are (.*)$/.exec(message)?.[1] ?? message).split(', ').sort();
}

const model = scriptedModel(() => 'Hello.');
const agent = new Agent({ model });

test('the tables of agent.md have every option of an agent and of a run, and every member of a result', async () => {
  const [options] = namesBelow('What an agent is made of');
  const [runOptions, result] = namesBelow('A run');

  expect(options?.sort()).toEqual(await listed(() => new Agent({ model, zzzzzz: 1 } as AgentOptions)));
  expect(runOptions?.sort()).toEqual(await listed(() => agent.run('Hello', { zzzzzz: 1 } as object)));
  expect(result?.sort()).toEqual(Object.keys(await agent.run('Hello')).sort());
});

test('settings and time-outs are those that agent.md names', async () => {
  const page = readPage('docs/agent.md');
  const settings = await listed(() => new Agent({ model, settings: { zzzzzz: 1 } as object }));
  const timeouts = await listed(() => new Agent({ model, timeouts: { zzzzzz: 1 } as object }));

  for (const [option, names] of Object.entries({ settings, timeouts })) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${option}\` |`)) ?? '';
    expect([...(row.split('|')[3] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name).sort()).toEqual(names);
  }
});
