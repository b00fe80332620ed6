import { basename } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blocksOf, readPage, readPages } from '../support/docs/doc-files.js';
import { EmptyProject } from '../support/package/empty-project.js';

/** The optional packages that a page names in its installation command or starts. */
const OPTIONAL = [
  '@anthropic-ai/sdk',
  '@modelcontextprotocol/sdk',
  '@modelcontextprotocol/server-filesystem',
  '@opentelemetry/api',
];

/** The warnings that pages provoke on purpose. All other pages write nothing to standard error. */
const WARNINGS: Readonly<Record<string, RegExp>> = {
  'docs/lifecycles.md': /^\[keelson\] Attempt 2 follows in \d+ ms: Model "scripted" failed: The provider is down\.\n$/,
};

/** Output that shows that a server of another package has run. */
const OUTPUT: Readonly<Record<string, string>> = { 'docs/mcp.md': '[FILE] page.mjs' };

const guides = readPages().filter(({ path }) => /^(docs\/)?[^/]+\.md$/.test(path));
const forAgents = ['AGENTS.md', 'skills/keelson/SKILL.md'].map((path) => ({ path, text: readPage(path) }));
const programs = [...guides, ...forAgents].flatMap((page) => {
  const [first] = blocksOf(page).filter(({ language }) => ['ts', 'js'].includes(language));
  return first === undefined ? [] : [[page.path, first.code] as const];
});

let project: EmptyProject;
beforeAll(() => {
  project = new EmptyProject();
  for (const name of OPTIONAL) project.link(name);
});
afterAll(() => project[Symbol.dispose]());

test('most pages begin with a program', () => {
  expect(programs.length).toBeGreaterThan(30);
});

describe('the first program of a page runs when it is pasted into a project with the packed library', () => {
  test.concurrent.each(programs)('%s', async (path, code) => {
    const name = `${basename(path, '.md')}/page.mjs`;
    project.write(name, code);

    const outcome = await project.run(name, ['y', 'hello']);

    const stderr = expect.stringMatching(WARNINGS[path] ?? /^$/);
    expect(outcome).toEqual({ code: 0, stdout: expect.stringMatching(/\S/), stderr });
    expect(outcome.stdout).toContain(OUTPUT[path] ?? '');
  });
});
