import { Agent, type Model } from 'keelson';
import { type ExtensionInput, extensions } from 'keelson/extension';
import { expect, test } from 'vitest';

test('a prompt addition creates no abort signal, and the model can still read the signal of its request', async () => {
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  let created = 0;
  const Original = globalThis.AbortController;
  globalThis.AbortController = class extends Original {
    constructor() {
      super();
      created += 1;
    }
  };
  try {
    const extension: ExtensionInput = {
      id: 'x',
      promptAdditions: [{ position: 'user_suffix', content: 'Be brief.' }],
    };
    const signals: unknown[] = [];
    for (const isRead of [false, true]) {
      const model: Model = {
        id: 'reader',
        generate(request) {
          if (isRead) signals.push(request.signal?.aborted);
          return Promise.resolve({ content: [{ type: 'text', text: 'Aye.' }], finishReason: 'stop', usage });
        },
      };
      await new Agent({ model, loaders: [extensions([extension])] }).run('go');
      if (!isRead) expect(created).toBe(0);
    }

    expect(signals).toEqual([false]);
  } finally {
    globalThis.AbortController = Original;
  }
});
