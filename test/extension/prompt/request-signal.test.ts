import { Agent, type Model } from 'keelson';
import { type ExtensionInput, extensions } from 'keelson/extension';
import { expect, test } from 'vitest';

test('a prompt addition creates no abort signal, and the model can still read the signal of its request', async () => {
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const extension: ExtensionInput = { id: 'x', promptAdditions: [{ position: 'user_suffix', content: 'Be brief.' }] };
  let isRead = false;
  const signals: unknown[] = [];
  const model: Model = {
    id: 'reader',
    generate(request) {
      if (isRead) signals.push(request.signal?.aborted);
      return Promise.resolve({ content: [{ type: 'text', text: 'Aye.' }], finishReason: 'stop', usage });
    },
  };
  const agent = new Agent({ model, loaders: [extensions([extension])] });
  // The first run loads the registry, which reads the signal of the agent.
  await agent.run('go');
  let created = 0;
  const Original = globalThis.AbortController;
  globalThis.AbortController = class extends Original {
    constructor() {
      super();
      created += 1;
    }
  };
  try {
    await agent.run('go');
    expect(created).toBe(0);
    isRead = true;
    await agent.run('go');
    expect(signals).toEqual([false]);
    expect(created).toBeGreaterThan(0);
  } finally {
    globalThis.AbortController = Original;
  }
});
