import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readEntries } from '../../../scripts/entries.mjs';
import { EmptyProject } from '../../support/package/empty-project.js';

/** The only optional packages in the project: each of these entries needs one. */
const NEEDED = {
  'keelson/anthropic': '@anthropic-ai/sdk',
  'keelson/otel': '@opentelemetry/api',
};

/** The schema is checked in the worker, because its pattern could take for ever. */
const CHECKS = `
import { wrapMcpTool } from 'keelson/mcp';
const properties = { word: { pattern: '^(a|b)*$' }, count: { type: 'number' } };
const tool = wrapMcpTool({ name: 'save', inputSchema: { type: 'object', properties } }, { server: 's', call() {} });
const issuesOf = async (input) => ((await tool.check(input)).issues ?? []).map(({ path }) => path.join());
console.log(await issuesOf({ word: 'ab', count: 1 }), await issuesOf({ word: 'c' }), await issuesOf({ count: 'c' }));
`;

let project: EmptyProject;
let alone: string;
beforeAll(() => {
  project = new EmptyProject();
  for (const name of Object.values(NEEDED)) project.link(name);
  alone = realpathSync(mkdtempSync(join(tmpdir(), 'keelson-bundle-')));
});
afterAll(() => {
  project[Symbol.dispose]();
  rmSync(alone, { recursive: true, force: true });
});

/** Bundles a file of the project with all its packages. Returns the bundle's code. */
async function bundle(name: string, text: string): Promise<string> {
  const entryPoints = [project.write(name, text)];
  const options = { bundle: true, write: false, platform: 'node', logLevel: 'silent' } as const;
  const { outputFiles } = await build({ ...options, format: 'esm', entryPoints });
  return outputFiles.map((file) => file.text).join('');
}

// esbuild, webpack and Turbopack accept that a package is missing only if its `await import()` stands directly in a `try`
// block, and not in a function inside. They bundle the package if it is installed.
test.each([
  ['import', 'mjs', (specifier: string, at: number) => `export * as m${at} from '${specifier}';`],
  ['require', 'cjs', (specifier: string, at: number) => `exports.m${at} = require('${specifier}');`],
])(
  'every entry can be bundled by `%s` without the optional packages that it only may use',
  async (_by, ending, line) => {
    const lines = readEntries().map(({ specifier }, at) => line(specifier, at));

    expect(await bundle(`all.${ending}`, lines.join('\n'))).toContain('Agent');
  },
);

/** Bundles a program, and runs it in a folder without packages. Returns its output. */
async function runAlone(text: string, ...args: readonly string[]): Promise<string> {
  const path = join(alone, 'program.mjs');
  writeFileSync(path, await bundle('program.mjs', text));
  return project.node(...args, path).stdout;
}

test('a bundle names the missing package when it needs it', async () => {
  const program = `
    import { mcpServers } from 'keelson/mcp';
    const mcp = mcpServers({ servers: { docs: { url: 'http://127.0.0.1:1/mcp' } } });
    await mcp.connect();
    console.log(mcp.status()[0].lastError);
    await mcp.close();`;

  expect(await runAlone(program)).toContain('npm install @modelcontextprotocol/client');
});

test('a bundle checks values in a worker', async () => {
  expect(await runAlone(CHECKS)).toBe("[] [ 'word' ] [ 'count' ]\n");
});

test('a host that forbids workers gets the checks in place, without patterns', async () => {
  const permission = process.allowedNodeEnvironmentFlags.has('--permission') ? '' : 'experimental-';

  expect(await runAlone(CHECKS, `--${permission}permission`, '--allow-fs-read=*')).toBe("[] [] [ 'count' ]\n");
});
