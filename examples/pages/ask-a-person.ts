import { createInterface } from 'node:readline/promises';
import { Agent, defineTool } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const pay = defineTool({
  name: 'pay',
  description: 'Pays an amount in euro.',
  input: z.object({ amount: z.number() }),
  execute: ({ amount }) => `paid ${amount} euro`,
});
const model = scriptedModel([calls('pay', { amount: 40 }), says('Done.')]);

const stop = new AbortController();
const { signal } = stop;
const terminal = createInterface({ input: process.stdin, output: process.stdout });
terminal.once('SIGINT', () => stop.abort('Ctrl-C'));
const askFirst = approval({
  tools: ['pay'],
  async ask({ name, input }, reason) {
    const answer = await terminal.question(`${reason} ${name}(${JSON.stringify(input)}) [y/N] `, { signal });
    return answer === 'y' ? 'approve' : { deny: 'The user said no.' };
  },
});

const agent = new Agent({ model, tools: [pay], lifecycle: [askFirst] });
const { messages } = await agent.run('Pay the harbour fee of 40 euro.', { signal });
console.log(messages.find(({ role }) => role === 'tool')?.content);
terminal.close();
