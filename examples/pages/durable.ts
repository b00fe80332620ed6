import { Agent } from 'keelson';
import { durable, memoryStep } from 'keelson/durable';
import { scriptedModel } from 'keelson/testing';

const model = scriptedModel(['In the harbour.']);
const first = memoryStep({ id: 'question-7' });
const agent = new Agent(durable({ step: first }).options({ model }));
console.log((await agent.run('Where are we?')).text);

// Later, or after a crash: the steps that are stored do not run again, so the model is not called.
const replay = memoryStep({ id: 'question-7', journal: first.journal });
const again = new Agent(durable({ step: replay }).options({ model }));
console.log((await again.run('Where are we?')).text, model.requests.length);
