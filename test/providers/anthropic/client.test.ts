import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Anthropic } from '@anthropic-ai/sdk';
import { build } from 'esbuild';
import { anthropic } from 'keelson/anthropic';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { startAnthropicServer, stream, text } from '../../support/providers/anthropic-server.js';
import { hello } from '../../support/providers/openai-exchange.js';
import type { OpenAIServer } from '../../support/providers/openai-server.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

const formats = [
  ['esm', 'anthropic.mjs', "import('./anthropic.mjs')"],
  ['cjs', 'anthropic.cjs', "Promise.resolve(require('./anthropic.cjs'))"],
] as const;

const hi = [stream({ content: [text('Hi')] })];

describe.each(formats)('as %s', (format, file, load) => {
  let folder: string;
  let server: OpenAIServer;

  beforeAll(async () => {
    server = await startAnthropicServer(hi);
    folder = await mkdtemp(join(tmpdir(), 'keelson-anthropic-'));
    const target = { outfile: join(folder, file), format, platform: 'neutral', target: 'es2022' } as const;
    const entryPoints = [`${root}src/providers/anthropic/anthropic.ts`];
    await build({ entryPoints, bundle: true, external: ['@anthropic-ai/sdk'], ...target });
  });

  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  /** Runs a call in a child process, in a directory that contains only the given packages. */
  async function callOutside(): Promise<unknown> {
    const script = `${load}.then(({ anthropic }) => anthropic('m', { baseURL: '${server.baseURL}' })
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
      message: expect.stringContaining('npm install @anthropic-ai/sdk'),
    });
  });

  test('finds the package installed beside it', async () => {
    await mkdir(join(folder, 'node_modules/@anthropic-ai'), { recursive: true });
    await symlink(`${root}node_modules/@anthropic-ai/sdk`, join(folder, 'node_modules/@anthropic-ai/sdk'));

    expect(await callOutside()).toEqual({ content: [{ type: 'text', text: 'Hi' }] });
  });
});

describe('the API key', () => {
  afterEach(() => vi.unstubAllEnvs());

  async function headersSent(options: object): Promise<string> {
    await using server = await startAnthropicServer(hi);
    await anthropic('m', { baseURL: server.baseURL, ...options }).generate(hello);
    return JSON.stringify(server.requests[0]?.headers);
  }

  test('may be a string or a function that fetches it', async () => {
    expect(await headersSent({ apiKey: 'sk-1' })).toContain('sk-1');
    expect(await headersSent({ apiKey: async () => 'sk-2' })).toContain('sk-2');
  });

  test.each([{}, { apiKey: 'sk-mine' }, { headers: { 'x-mine': 'yes' } }])(
    'of the environment is not sent to another server, and neither is any other credential (%j)',
    async (options) => {
      vi.stubEnv('ANTHROPIC_API_KEY', 'sk-secret');
      vi.stubEnv('ANTHROPIC_AUTH_TOKEN', 'token-secret');
      vi.stubEnv('ANTHROPIC_CUSTOM_HEADERS', 'Authorization: Bearer secret\nX-Team: secret');

      const headers = await headersSent(options);

      expect(headers).not.toContain('secret');
      if ('apiKey' in options) expect(headers).toContain('sk-mine');
      if ('headers' in options) expect(headers).toContain('x-mine');
    },
  );

  test('of the environment is sent to the base URL of the environment', async () => {
    await using server = await startAnthropicServer(hi);
    vi.stubEnv('ANTHROPIC_API_KEY', 'sk-3');
    vi.stubEnv('ANTHROPIC_BASE_URL', server.baseURL);

    await anthropic('m').generate(hello);

    expect(JSON.stringify(server.requests[0]?.headers)).toContain('sk-3');
  });
});

describe('an existing client', () => {
  test('is used, wrapped or not, with its own server and the headers of the model', async () => {
    await using server = await startAnthropicServer(hi);
    const client = new Anthropic({ apiKey: 'sk-own', baseURL: server.baseURL });
    const seen: object[] = [];
    const wrapped = {
      messages: {
        create: (body: object, options?: object) => {
          seen.push(body);
          return client.messages.create(body as never, options);
        },
      },
    };

    for (const each of [client, wrapped]) {
      const model = anthropic('m', { client: each, headers: { 'anthropic-beta': 'context-1m-2025-08-07' } });
      expect((await model.generate(hello)).content).toEqual([{ type: 'text', text: 'Hi' }]);
    }

    expect(seen).toHaveLength(1);
    expect(server.requests[0]?.headers).toMatchObject({ 'anthropic-beta': 'context-1m-2025-08-07' });
  });

  test('is read if it returns events without an HTTP response', async () => {
    const events = [
      { type: 'message_start', message: { usage: { input_tokens: 1, output_tokens: 0 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    ];
    const client = { messages: { create: async () => ReadableStream.from(events) } };

    expect(await anthropic('m', { client }).generate(hello)).toMatchObject({
      content: [{ type: 'text', text: 'Hi' }],
      usage: { totalTokens: 3 },
    });
  });

  test('reads its own stream format itself, like the Bedrock client', async () => {
    const events = [
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    ];
    const headers = { 'content-type': 'application/vnd.amazon.eventstream' };
    const response = new Response('\u0000\u0001:event-type chunk', { headers });
    const withResponse = async () => ({ data: ReadableStream.from(events), response });
    const client = { messages: { create: () => Object.assign(Promise.resolve(), { withResponse }) } };

    expect((await anthropic('m', { client }).generate(hello)).content).toEqual([{ type: 'text', text: 'Hi' }]);
  });

  test.each([
    ['ThrottlingException', 429, true],
    ['ModelStreamErrorException', 500, true],
    ['ValidationException', undefined, false],
  ])('of Bedrock reports a stream error only by its class name: %s', async (name, status, retryable) => {
    const type = name.replace(/^./, (first) => first.toLowerCase());
    const event = { type: 'error', error: { type, message: 'No' } };
    async function* thrown(): AsyncGenerator<object> {
      yield { type: 'ping' };
      throw Object.assign(new Error('No'), { name });
    }

    for (const events of [[event], thrown()]) {
      const client = { messages: { create: async () => ReadableStream.from(events) } };
      const answer = anthropic('m', { client, maxRetries: 0 }).generate(hello);
      await expect(answer).rejects.toMatchObject({ message: 'No', status, retryable });
    }
  });
});

test.each([
  [() => anthropic(''), 'modelId'],
  [() => anthropic('m', null as never), 'options'],
  [() => anthropic('m', { maxRetries: -1 }), 'maxRetries'],
  [() => anthropic('m', { baseURL: 'localhost' }), 'baseURL'],
  [() => anthropic('m', { temperature: 1 } as never), 'temperature'],
  [() => anthropic('m', { client: {} as never, apiKey: 'sk' }), 'client'],
])('refuses an invalid option (%#)', (make, option) => {
  expect(make).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID', option }));
});
