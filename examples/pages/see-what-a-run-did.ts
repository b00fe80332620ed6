import { Agent, defineTool } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { explain, readTrace, trace } from 'keelson/trace';
import { z } from 'zod';

const pay = defineTool({
  name: 'pay',
  description: 'Pays an invoice.',
  input: z.object({ euro: z.number() }),
  execute: () => {
    throw new RangeError('The card was declined.');
  },
});
const clerk = new Agent({
  name: 'clerk',
  model: scriptedModel([calls({ name: 'pay', input: { euro: 40 } }), 'It did not work.']),
  tools: [pay],
});

let lines = '';
function to(line = '') {
  lines += `${line}\n`;
}
const boss = new Agent({
  name: 'boss',
  model: scriptedModel([calls({ name: 'clerk', input: { prompt: 'Pay 40 euros.' } }), 'Nothing was paid.']),
  tools: [clerk.asTool({ description: 'Pays invoices.' })],
  lifecycle: [trace({ to })],
});
await boss.run('Pay the invoice.');

const [first] = explain(readTrace(lines));
console.log(first?.text);
