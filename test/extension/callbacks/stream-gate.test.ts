import { Agent } from 'keelson';
import { type ExtensionInput, ExtensionRegistry } from 'keelson/extension';
import { expect, test } from 'vitest';
import { streamGate } from '../../../src/extension/callbacks/stream-gate.js';

/** Streams an answer in these pieces. Returns the text that was shown before the answer was complete, and all text. */
async function streamed(extension: ExtensionInput, pieces: readonly string[], register: { session?: string } = {}) {
  const registry = new ExtensionRegistry({ logger: { debug() {}, info() {}, warn() {}, error() {} } });
  registry.register(extension, register);
  let early = '';
  let shown = '';
  const agent = new Agent({
    model: {
      id: 'streaming',
      async generate({ onPart }) {
        for (const text of pieces) onPart?.({ type: 'text-delta', text });
        early = shown;
        const text = pieces.join('');
        return { content: [{ type: 'text', text }], finishReason: 'stop', usage: {} as never };
      },
    },
    loaders: [registry],
  });
  agent.on('text-delta', ({ text }) => {
    shown += text;
  });
  const { text } = await agent.run('go');
  await agent.close();
  return { early, shown, text };
}

const tag = (tags: string | string[]): ExtensionInput => ({ id: 'x', tags, onTag: () => '[T]' });

interface StreamCase {
  readonly tags: string;
  readonly pieces: readonly string[];
  readonly expected: string;
}

test.each<[string, StreamCase]>([
  ['text without a tag', { tags: 'think', pieces: ['Hello ', 'world.'], expected: 'Hello world.' }],
  [
    'unregistered tags and comparisons',
    { tags: 'think', pieces: ['a < b <b>c</b> </think', '> <thinker>'], expected: 'a < b <b>c</b> </think> <thinker>' },
  ],
  ['text up to a registered tag', { tags: 'think', pieces: ['One <thi', 'nk>two</think> three'], expected: 'One ' }],
  [
    'text up to a tag that may become registered',
    { tags: 'x-*', pieces: ['One <', 'x', '-y>two</x-y>'], expected: 'One ' },
  ],
  ['a piece that only began like a tag', { tags: 'think', pieces: ['One <thi', 's> two'], expected: 'One <this> two' }],
])('with onTag alone, a stream shows %s at once', async (_title, { tags, pieces, expected }) => {
  const found = await streamed(tag(tags), pieces);

  expect(found.early).toBe(expected);
  expect(found.shown).toBe(found.text);
});

test('onLlmOutput and onPlainText hold all text', async () => {
  for (const callback of ['onLlmOutput', 'onPlainText'] as const) {
    const found = await streamed({ id: 'x', [callback]: (text: string) => text.toUpperCase() }, ['a', 'b']);
    expect(found).toEqual({ early: '', shown: 'AB', text: 'AB' });
  }
});

test('an extension of another session does not hold the text of a run', async () => {
  const extension: ExtensionInput = { id: 'x', onLlmOutput: (text) => text.toUpperCase() };

  expect(await streamed(extension, ['a', 'b'], { session: 'other' })).toEqual({ early: 'ab', shown: 'ab', text: 'ab' });
});

test('a gate holds text only, and passes reasoning and tool input', () => {
  const gate = streamGate({ output: [{}], plain: [], handlers: [] } as never);

  expect(gate?.({ type: 'reasoning-delta', text: 'hm' })).toEqual({ type: 'reasoning-delta', text: 'hm' });
  expect(gate?.({ type: 'text-delta', text: 'a' })).toBeUndefined();
  expect(streamGate({ output: [], plain: [], handlers: [] } as never)).toBeUndefined();
});
