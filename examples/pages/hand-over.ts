import { Agent, createToolSet, formatRun, handoff } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';

const back = createToolSet();
const billing = new Agent({
  name: 'billing',
  model: scriptedModel(['You owe 40 euros.', calls('to_triage')]),
  instructions: 'Answer questions about invoices.',
  tools: back,
});
const triage = new Agent({
  name: 'triage',
  model: scriptedModel([calls('to_billing'), 'Goodbye.']),
  tools: [handoff(billing, { name: 'to_billing', description: 'Hands over questions about invoices.' })],
});
back.add(handoff(triage, { name: 'to_triage', description: 'Hands over everything else.' }));

const session = await triage.session({ id: 'ada' });
console.log(formatRun(await session.run('What do I owe?')));
console.log(formatRun(await session.run('Thank you. That is all.')));
