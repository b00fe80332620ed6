import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { openai } from 'keelson/openai';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ModelPart } from '../../../src/model/model.js';
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
    await build({ entryPoints: [`${root}src/providers/openai/openai.ts`], bundle: true, ...target });
  });

  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  /** Runs a call in a child process, in a directory without packages. */
  async function callOutside(): Promise<unknown> {
    const script = `${load}.then(({ openai }) => openai('m', { baseURL: '${server.baseURL}' })
      .generate(${JSON.stringify(hello)}))
      .then(({ content }) => console.log(JSON.stringify({ content })), ({ name, code, message }) =>
        console.log(JSON.stringify({ name, code, message })))`;
    const { stdout } = await run(process.execPath, ['-e', script], { cwd: folder });
    return JSON.parse(stdout);
  }

  test('sends a request without any other package', async () => {
    expect(await callOutside()).toEqual({ content: [{ type: 'text', text: 'Hi' }] });
  });
});

test('reads a stream where streams are not async iterables, as in Safari', async () => {
  await using server = await startOpenAIServer((body) => replyWith({ text: 'Hi' }, body));
  const { prototype } = ReadableStream as unknown as { prototype: Record<symbol, unknown> };
  const iterator = prototype[Symbol.asyncIterator];
  const { fetch } = globalThis;
  vi.stubGlobal('fetch', async (...request: Parameters<typeof fetch>) => {
    const response = await fetch(...request);
    delete prototype[Symbol.asyncIterator];
    return response;
  });
  onTestFinished(() => {
    vi.unstubAllGlobals();
    Object.assign(prototype, { [Symbol.asyncIterator]: iterator });
  });

  const shown: ModelPart[] = [];
  await openai('m', { baseURL: server.baseURL }).generate({ ...hello, onPart: (part) => shown.push(part) });

  expect(shown).toEqual([{ type: 'text-delta', text: 'Hi' }]);
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

  test('of the environment is not sent to another server, and neither are organization and project', async () => {
    await using server = await startOpenAIServer((body) => replyWith({ text: 'Hi' }, body));
    vi.stubEnv('OPENAI_API_KEY', 'sk-secret');
    vi.stubEnv('OPENAI_ORG_ID', 'org-secret');
    vi.stubEnv('OPENAI_PROJECT_ID', 'proj-secret');

    await openai('m', { baseURL: server.baseURL }).generate(hello);

    expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
    expect(JSON.stringify(server.requests[0]?.headers)).not.toContain('secret');
  });

  test('of the environment is sent to the base URL of the environment, with organization and project', async () => {
    await using server = await startOpenAIServer((body) => replyWith({ text: 'Hi' }, body));
    vi.stubEnv('OPENAI_API_KEY', 'sk-3');
    vi.stubEnv('OPENAI_BASE_URL', server.baseURL);
    vi.stubEnv('OPENAI_ORG_ID', 'org-1');
    vi.stubEnv('OPENAI_PROJECT_ID', 'proj-1');

    await openai('m').generate({ ...hello, settings: { maxOutputTokens: 9 } });

    expect(server.requests[0]).toMatchObject({
      headers: { authorization: 'Bearer sk-3', 'openai-organization': 'org-1', 'openai-project': 'proj-1' },
      body: { max_tokens: 9 },
    });
  });

  test('is replaced by a header of the same name', async () => {
    await using server = await startOpenAIServer((body) => replyWith({ text: 'Hi' }, body));

    const headers = { Authorization: 'Basic x' };
    await openai('m', { baseURL: server.baseURL, apiKey: 'sk-1', headers }).generate(hello);

    expect(server.requests[0]?.headers.authorization).toBe('Basic x');
  });

  test('that is missing for OpenAI rejects the call with an instruction', async () => {
    vi.stubEnv('OPENAI_API_KEY', undefined);

    await expect(openai('m').generate(hello)).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: expect.stringContaining('OPENAI_API_KEY'),
    });
  });
});
