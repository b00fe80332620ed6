import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { openai } from 'keelson/openai';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { hello } from '../../support/providers/openai-exchange.js';
import { replyWith } from '../../support/providers/openai-reply.js';
import { type OpenAIServer, startOpenAIServer } from '../../support/providers/openai-server.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

const formats = [
  ['esm', 'openai.mjs', "import('./openai.mjs')"],
  ['cjs', 'openai.cjs', "Promise.resolve(require('./openai.cjs'))"],
] as const;

describe.each(formats)('as %s', (format, file, load) => {
  let folder: string;
  let server: OpenAIServer;

  beforeAll(async () => {
    server = await startOpenAIServer((body) => replyWith({ text: 'Hi' }, body));
    folder = await mkdtemp(join(tmpdir(), 'keelson-openai-'));
    const target = { outfile: join(folder, file), format, platform: 'neutral', target: 'es2022' } as const;
    await build({
      entryPoints: [`${root}src/providers/openai/openai.ts`],
      bundle: true,
      external: ['openai'],
      ...target,
    });
  });

  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  /** Runs a call in a child process, in a directory that contains only the given packages. */
  async function callOutside(): Promise<unknown> {
    const script = `${load}.then(({ openai }) => openai('m', { baseURL: '${server.baseURL}' })
      .generate(${JSON.stringify(hello)}))
      .then(({ content }) => console.log(JSON.stringify({ content })), ({ name, code, message }) =>
        console.log(JSON.stringify({ name, code, message })))`;
    const { stdout } = await run(process.execPath, ['-e', script], { cwd: folder });
    return JSON.parse(stdout);
  }

  test('loads without the package, and the first call names the missing package', async () => {
    expect(await callOutside()).toEqual({
      name: 'PackageMissingError',
      code: 'ERR_PACKAGE_MISSING',
      message: expect.stringContaining('npm install openai'),
    });
  });

  test('finds the package installed beside it', async () => {
    await mkdir(join(folder, 'node_modules'));
    await symlink(`${root}node_modules/openai`, join(folder, 'node_modules/openai'));

    expect(await callOutside()).toEqual({ content: [{ type: 'text', text: 'Hi' }] });
  });
});

describe('the API key', () => {
  afterEach(() => vi.unstubAllEnvs());

  async function keySent(options: { readonly apiKey?: string | (() => Promise<string>) }): Promise<string | undefined> {
    await using server = await startOpenAIServer((body) => replyWith({ text: 'Hi' }, body));
    await openai('m', { baseURL: server.baseURL, ...options }).generate(hello);
    return server.requests[0]?.headers.authorization;
  }

  test('may be a string or a function that fetches it', async () => {
    expect(await keySent({ apiKey: 'sk-1' })).toBe('Bearer sk-1');
    expect(await keySent({ apiKey: async () => 'sk-2' })).toBe('Bearer sk-2');
  });

  test('of the environment is replaced with a placeholder for another server', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-secret');

    expect(await keySent({})).toBe('Bearer none');
  });

  test('of the environment is not sent to another server, and neither are organization and project', async () => {
    await using server = await startOpenAIServer((body) => replyWith({ text: 'Hi' }, body));
    vi.stubEnv('OPENAI_ORG_ID', 'org-secret');
    vi.stubEnv('OPENAI_PROJECT_ID', 'proj-secret');

    await openai('m', { baseURL: server.baseURL }).generate(hello);

    expect(JSON.stringify(server.requests[0]?.headers)).not.toContain('secret');
  });

  test('of the environment is sent to the base URL of the environment', async () => {
    await using server = await startOpenAIServer((body) => replyWith({ text: 'Hi' }, body));
    vi.stubEnv('OPENAI_API_KEY', 'sk-3');
    vi.stubEnv('OPENAI_BASE_URL', server.baseURL);

    await openai('m').generate({ ...hello, settings: { maxOutputTokens: 9 } });

    expect(server.requests[0]).toMatchObject({ headers: { authorization: 'Bearer sk-3' }, body: { max_tokens: 9 } });
  });

  test('that is missing for OpenAI rejects the call with an instruction', async () => {
    vi.stubEnv('OPENAI_API_KEY', undefined);
    vi.stubEnv('OPENAI_ADMIN_KEY', undefined);

    await expect(openai('m').generate(hello)).rejects.toMatchObject({
      code: 'ERR_PROVIDER_FAILED',
      message: expect.stringContaining('OPENAI_API_KEY'),
      retryable: false,
    });
  });
});
