import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const request = { messages: [{ role: 'user', content: 'Hi' }], tools: [] };

const providers = [
  { factory: 'openai', client: 'OpenAI', variable: 'OPENAI_API_KEY' },
  { factory: 'anthropic', client: 'Anthropic', variable: 'ANTHROPIC_API_KEY' },
] as const;

/** Names that exist in browsers and in Node. A context has no `process`. */
const SHARED = [
  ...['AbortController', 'AbortSignal', 'Blob', 'File', 'FormData', 'Headers', 'ReadableStream', 'Request', 'Response'],
  ...['TextDecoder', 'TextDecoderStream', 'TextEncoder', 'TransformStream', 'URL', 'URLSearchParams', 'atob', 'btoa'],
  ...['clearTimeout', 'console', 'crypto', 'fetch', 'queueMicrotask', 'setTimeout', 'structuredClone'],
] as const;

function surroundings(more: object): object {
  const shared = Object.fromEntries(SHARED.map((name) => [name, (globalThis as Record<string, unknown>)[name]]));
  const context = { ...shared, navigator: { userAgent: 'test' }, ...more };
  return createContext(Object.assign(context, { self: context }));
}

const page = () => surroundings({ window: { document: {} } });
const worker = () => surroundings({});

describe.each(providers)('$factory() in a bundle for browsers', ({ factory, client, variable }) => {
  let bundle = '';
  beforeAll(async () => {
    const result = await build({
      entryPoints: [`${root}src/providers/${factory}/${factory}.ts`],
      bundle: true,
      platform: 'browser',
      format: 'iife',
      globalName: 'provider',
      target: 'es2022',
      write: false,
      logLevel: 'silent',
    });
    bundle = result.outputFiles[0]?.text ?? '';
  }, 60_000);

  /** The failure of a call of a model that a program in a context makes. */
  async function failureOf(context: object, options: string) {
    runInContext(bundle, context);
    const call = `provider.${factory}('m', ${options}).generate(${JSON.stringify(request)}).catch((error) => error)`;
    return (await runInContext(call, context)) as { code: string; option?: string; message: string };
  }

  test.each(['{}', "{ apiKey: 'secret' }", "{ apiKey: 'secret', baseURL: 'https://proxy.example/v1' }"])(
    'says what to pass in a page, with %s',
    async (options) => {
      const error = await failureOf(page(), options);

      expect(error).toMatchObject({ code: 'ERR_OPTION_INVALID', option: 'apiKey' });
      expect(error.message).toContain(`\`apiKey\` of ${factory}() must not be sent from a browser`);
      expect(error.message).toContain('Pass `baseURL` of a server of yours');
      expect(error.message).toContain(`\`client: new ${client}({ apiKey, dangerouslyAllowBrowser: true })\``);
      expect(error.message).not.toContain('secret');
    },
  );

  test('says what to pass in a worker without an environment', async () => {
    const error = await failureOf(worker(), '{}');

    expect(error).toMatchObject({ code: 'ERR_OPTION_INVALID', option: 'apiKey' });
    expect(error.message).toContain(`there is no environment here that could hold ${variable}`);
  });

  test.each([
    ['a page without a key', page, (url: string) => `{ baseURL: '${url}', maxRetries: 0 }`],
    ['a worker with a key', worker, (url: string) => `{ apiKey: 'k', baseURL: '${url}', maxRetries: 0 }`],
  ])('sends the request of %s to the server of `baseURL`', async (_where, context, options) => {
    const seen: IncomingHttpHeaders[] = [];
    const server = createServer((incoming, reply) => {
      seen.push(incoming.headers);
      reply.writeHead(418, { 'content-type': 'application/json' }).end('{"error":{"message":"a teapot"}}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;

    expect(await failureOf(context(), options(url))).toMatchObject({ code: 'ERR_PROVIDER_FAILED', status: 418 });
    expect(seen).toHaveLength(1);
  });
});
