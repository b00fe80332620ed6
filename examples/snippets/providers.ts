import assert from 'node:assert/strict';
import { createOpenAI } from 'ai-sdk-openai-v3';
import { Agent, type Model } from 'keelson';
import { aiSdk } from 'keelson/ai-sdk';
// #region servers
import { openai } from 'keelson/openai';

const cloud = openai('gpt-5-mini');
const ollama = openai('llama3.2', { baseURL: 'http://localhost:11434/v1' });
const router = openai('deepseek/deepseek-chat', { baseURL: 'https://openrouter.ai/api/v1', apiKey: 'sk-or-…' });
// #endregion

// #region ai-sdk
const provider = createOpenAI(); // import { createOpenAI } from '@ai-sdk/openai'
const searching = aiSdk(provider.responses('gpt-5-mini'), {
  providerTools: { web_search: provider.tools.webSearch({}) },
});
// #endregion

// #region own-model
const parrot: Model = {
  id: 'parrot',
  async generate({ messages, onPart }) {
    const last = messages.at(-1);
    const text = last?.role === 'user' && typeof last.content === 'string' ? last.content : '…';
    onPart?.({ type: 'text-delta', text });
    return {
      content: [{ type: 'text', text }],
      finishReason: 'stop',
      usage: { inputTokens: text.length, outputTokens: text.length, totalTokens: 2 * text.length },
    };
  },
};
// #endregion

assert.deepEqual(
  [cloud, ollama, router, searching].map(({ id, provider }) => [id, provider]),
  [
    ['gpt-5-mini', 'openai'],
    ['llama3.2', 'openai'],
    ['deepseek/deepseek-chat', 'openai'],
    ['gpt-5-mini', 'openai'],
  ],
);
assert.equal((await new Agent({ model: parrot }).run('Ahoy!')).text, 'Ahoy!');
