import { Agent, defineLifecycle } from 'keelson';
import { limits } from 'keelson/lifecycles';
import { scriptedModel } from 'keelson/testing';

const polite = defineLifecycle({
  name: 'polite',
  beforeModel: (messages) => console.log(`${messages.length} messages`),
  wrapModelCall: (request, next) => next({ ...request, settings: { ...request.settings, temperature: 0 } }),
  afterAgent: (text) => `${text} Thank you.`,
});

const model = scriptedModel(['Aye.']);
const agent = new Agent({ model, lifecycle: [limits({ modelCalls: 10 }), polite] });
const { text } = await agent.run('Is the pilot on board?');
console.log(text);
