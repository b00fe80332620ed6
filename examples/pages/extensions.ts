import { Agent } from 'keelson';
import { defineExtension, extensions } from 'keelson/extension';
import { scriptedModel } from 'keelson/testing';

const thoughts = defineExtension({
  id: 'thoughts',
  tags: 'think',
  // Removes the section from the answer.
  onTag(_tag, content) {
    console.log('thought:', content);
    return '';
  },
  promptAdditions: [{ position: 'system_suffix', content: 'Think inside <think> tags.' }],
});

const model = scriptedModel(['<think>Rain.</think>Take an umbrella.']);
const agent = new Agent({ model, loaders: [extensions([thoughts])] });
const { text } = await agent.run('Do I need an umbrella?');
console.log(text);
