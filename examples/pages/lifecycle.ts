import { Agent, defineLifecycle } from 'keelson';
import { scriptedModel } from 'keelson/testing';

const trace = defineLifecycle({
  name: 'trace',
  beforeAgent: (input) => console.log('input', input),
  beforeModel: (messages, run) => console.log('turn', run.turn, messages.length),
  afterModel: (response) => console.log('response', response.finishReason),
  afterAgent: (text) => text.toUpperCase(),
});

const agent = new Agent({ model: scriptedModel(['Aye.']), lifecycle: [trace] });
const { text } = await agent.run('Is the pilot on board?');
console.log(text);
