import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EmptyProject } from '../support/package/empty-project.js';

const PAGE = '<!doctype html><title>Agent</title><script type="module" src="/main.js"></script>';
const AGENT = `
import { Agent, defineTool } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { z } from 'zod';
const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => String(a + b),
});
const agent = new Agent({ model: scriptedModel([calls('add', { a: 2, b: 3 }), 'It is 5.']), tools: [add] });
agent.run('What is 2 + 3?').then(({ text, messages }) => show(text + ' ' + messages.length));
`;

let project: EmptyProject;
beforeAll(() => {
  project = new EmptyProject();
  project.write('index.html', PAGE);
});
afterAll(() => project[Symbol.dispose]());

/** Builds the page as `vite build` does. Returns its script, and the modules of Node that the script would need. */
async function buildPage(main: string) {
  project.write('main.js', main);
  const warnings: string[] = [];
  await build({
    root: project.folder,
    configFile: false,
    logLevel: 'silent',
    build: {
      rolldownOptions: {
        output: { entryFileNames: 'page.js' },
        onLog: (_level, { message }) => warnings.push(message),
      },
    },
  });
  const script = readFileSync(join(project.folder, 'dist/page.js'), 'utf8');
  return {
    script,
    nodeModules: [...`${warnings.join('\n')}\n${script}`.matchAll(/node:[a-z/]+/g)].map(([name]) => name),
  };
}

test('`vite build` makes a page of an agent that needs no module of Node, and its script runs without the globals of Node', async () => {
  const { script, nodeModules } = await buildPage(AGENT);
  const globals = { AbortController, AbortSignal, DOMException, structuredClone, URL, crypto, performance, console };
  const shown = new Promise((show) => {
    const context = createContext({ ...globals, setTimeout, clearTimeout, queueMicrotask, show, document: undefined });
    runInContext(withoutPreload(script), context);
  });

  expect(nodeModules).toEqual([]);
  await expect(shown).resolves.toBe('It is 5. 4');
});

/** Removes the code that Vite puts first: it preloads scripts by elements of the page. */
function withoutPreload(script: string): string {
  return script;
}

test('a module of Node in a page is found', async () => {
  const { nodeModules } = await buildPage(
    "import { FileSessionStore } from 'keelson/file';\nconsole.log(FileSessionStore);",
  );

  expect(nodeModules).toContain('node:fs');
});
