// Uses two callback extensions: one hides and counts the model's thoughts, one adds instructions to the prompt.
import assert from 'node:assert/strict';
import { Agent } from 'keelson';
import { defineExtension, extensions, shortCircuit } from 'keelson/extension';
import { says, scriptedModel } from 'keelson/testing';

// #region define
const thoughts = defineExtension({
  id: 'thoughts',
  tags: 'think',
  async onTag(_tag, content, { getState, setState }) {
    const count = (await getState<number>('words')) ?? 0;
    await setState('words', count + content.split(' ').length);
    return '';
  },
});

const manners = defineExtension({
  id: 'manners',
  priority: 90,
  onInputMessages: (messages) => (messages.length > 50 ? shortCircuit('Let us start anew.') : undefined),
  promptAdditions: [
    { position: 'system_suffix', content: 'Think inside <think> tags.' },
    {
      position: 'user_suffix',
      content: 'Answer in one line.',
      condition: { type: 'context_match', path: 'device', equals: 'watch' },
    },
  ],
});
// #endregion

const model = scriptedModel(() => says('<think>rain falls, so yes</think>Take an umbrella.'));

// #region register
const registry = extensions([thoughts, manners]);

const agent = new Agent({ model, instructions: 'You know the weather.', loaders: [registry] });
const session = await agent.session({ id: 'bergen' });
const { text } = await session.run('Do I need an umbrella?', { context: { device: 'watch' } });
// #endregion
console.log(text);

assert.equal(text, 'Take an umbrella.');
assert.deepEqual(
  model.requests[0]?.messages.map(({ content }) => content),
  ['You know the weather.\n\nThink inside <think> tags.', 'Do I need an umbrella?\n\nAnswer in one line.'],
);
assert.deepEqual(await registry.stats('bergen'), { bytes: 6, extensions: { thoughts: 6 } });
await registry.unregister('thoughts');
assert.match((await session.run('Really?')).text, /^<think>/);
