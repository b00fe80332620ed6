import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EmptyProject } from '../../support/package/empty-project.js';

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

/** Builds the page as `vite build` does. Returns the modules of Node that the page asks for. */
async function buildPage(main: string): Promise<string[]> {
  project.write('main.js', main);
  const modules: string[] = [];
  await build({
    root: project.folder,
    configFile: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'list-modules',
        buildEnd() {
          modules.push(...this.getModuleIds());
        },
      },
    ],
    build: {
      // The polyfill needs a document.
      modulePreload: false,
      rolldownOptions: { output: { entryFileNames: 'page.mjs', chunkFileNames: '[name].mjs' } },
    },
  });
  // Vite replaces a module of Node with an empty module of this name.
  return modules.filter((id) => id.startsWith('node:') || id.includes('__vite-browser-external'));
}

test('`vite build` makes a page of an agent, and its script runs without modules and globals of Node', async () => {
  const nodeModules = await buildPage(AGENT);
  const withoutNode = 'for (const name of ["process", "Buffer", "global", "setImmediate"]) delete globalThis[name];';
  const browser = `${withoutNode} globalThis.show = console.log; import('./dist/page.mjs');`;

  expect(nodeModules).toEqual([]);
  expect(project.node('-e', browser)).toEqual({ code: 0, stdout: 'It is 5. 4\n', stderr: '' });
});

test('a module of Node in a page is found', async () => {
  const main = "import { FileSessionStore } from 'keelson/file';\nconsole.log(FileSessionStore);";

  expect(await buildPage(main)).not.toEqual([]);
});
