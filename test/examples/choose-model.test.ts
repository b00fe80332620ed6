import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chooseModel } from '../../examples/demo/choose-model.js';

describe('the choice of a model for the demo', () => {
  const tags = JSON.stringify({ models: [{ name: 'llama3.2:latest' }, { name: 'other' }] });
  const server = createServer((request, response) => {
    if (request.url === '/api/tags') response.end(tags);
  });
  let port = 0;

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test.each(['127.0.0.1:PORT', ':PORT', '0.0.0.0:PORT', 'http://127.0.0.1:PORT', 'http://127.0.0.1:PORT/'])(
    'is Ollama if a server answers at %s',
    async (host) => {
      const { model, note } = await chooseModel({ OLLAMA_HOST: host.replace('PORT', String(port)) });

      expect({ id: model.id, note }).toEqual({
        id: 'llama3.2:latest',
        note: `llama3.2:latest at Ollama, http://127.0.0.1:${port}`,
      });
    },
  );

  test('is the model in OLLAMA_MODEL or OPENAI_MODEL', async () => {
    const ollama = await chooseModel({ OLLAMA_HOST: `127.0.0.1:${port}`, OLLAMA_MODEL: 'other' });
    const keyed = await chooseModel({ OPENAI_API_KEY: 'sk', OPENAI_MODEL: 'gpt-x', OLLAMA_HOST: `127.0.0.1:${port}` });

    expect([ollama.model.id, keyed.model.id, keyed.note]).toEqual(['other', 'gpt-x', 'gpt-x at OpenAI']);
  });

  test.each(['127.0.0.1:9', 'http://127.0.0.1:PORT/silent', 'no host at all'])(
    'is the script after a short timeout if %s does not answer',
    async (host) => {
      const silent = createServer(() => {});
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
      const { port: deaf } = silent.address() as AddressInfo;
      const { model } = await chooseModel({ OLLAMA_HOST: host.replace('PORT', String(deaf)) });
      silent.closeAllConnections();
      silent.close();

      expect(model.id).toBe('scripted');
    },
  );
});
