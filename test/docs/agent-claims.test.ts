import { Agent, type AgentOptions } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { readPage } from '../support/docs/doc-files.js';

/** Returns the names in the first column of each table in the section of agent.md with an option. */
function namesBeside(option: string): string[][] {
  const section = readPage('docs/agent.md')
    .split('\n## ')
    .find((text) => text.includes(`\n| \`${option}\` |`));
  return (section ?? '')
    .trim()
    .split(/\n\n/)
    .filter((block) => block.startsWith('|'))
    .map((table) =>
      table
        .split('\n')
        .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name)),
    );
}

/** Returns the names that an error message lists after `known are`. */
async function listed(attempt: () => unknown): Promise<string[]> {
  const { message } = await Promise.resolve()
    .then(attempt)
    .then(
      () => new TypeError('the unknown option must be refused'),
      (error: Error) => error,
    );
  return (/known are (.*)$/.exec(message)?.[1] ?? message).split(', ').sort();
}

const model = scriptedModel(() => 'Hello.');
const agent = new Agent({ model });

test('the tables of agent.md list every option of an agent and of a run, and every member of a result', async () => {
  const [options] = namesBeside('loaders');
  const [runOptions, result] = namesBeside('resume');

  expect(options?.sort()).toEqual(await listed(() => new Agent({ model, zzzzzz: 1 } as AgentOptions)));
  expect(runOptions?.sort()).toEqual(await listed(() => agent.run('Hello', { zzzzzz: 1 } as object)));
  expect(result?.sort()).toEqual(Object.keys(await agent.run('Hello')).sort());
});

test('agent.md lists every setting and every time limit', async () => {
  const page = readPage('docs/agent.md');
  const settings = await listed(() => new Agent({ model, settings: { zzzzzz: 1 } as object }));
  const timeouts = await listed(() => new Agent({ model, timeouts: { zzzzzz: 1 } as object }));

  for (const [option, names] of Object.entries({ settings, timeouts })) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${option}\` |`)) ?? '';
    expect([...(row.split('|')[3] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name).sort()).toEqual(names);
  }
});
