// A clerk works for a desk, and the desk for a director. The clerk's payment waits for you, in the terminal.
import { createInterface } from 'node:readline';
import { Agent, defineTool, type RunResult } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const pay = defineTool({
  name: 'pay',
  description: 'Pays an amount in euro.',
  input: z.object({ amount: z.number() }),
  execute: ({ amount }) => `paid ${amount} euro`,
});

/** A model that needs no key: it calls a tool, and then repeats the result. */
const caller = (name: string, input: object) =>
  scriptedModel(({ messages }) => {
    const last = messages.at(-1);
    return last?.role === 'tool' ? String(last.content[0]?.content) : calls(name, input);
  });

/** Makes the three agents, as each process does. */
function createDirector(): Agent {
  const model = caller('pay', { amount: 40 });
  const clerk = new Agent({ name: 'clerk', model, tools: [pay], lifecycle: [approval({ tools: ['pay'] })] });
  const desk = new Agent({
    name: 'desk',
    model: caller('clerk', { prompt: 'Pay 40 euro to the harbour.' }),
    tools: [clerk.asTool({ description: 'Pays bills.' })],
  });
  return new Agent({
    name: 'director',
    model: caller('desk', { prompt: 'Settle the harbour fee.' }),
    tools: [desk.asTool({ description: 'Settles accounts.' })],
  });
}

const terminal = createInterface({ input: process.stdin });
const lines = terminal[Symbol.asyncIterator]();

/** Reads the next line. The end of the input counts as a no. */
async function ask(question: string): Promise<'approve' | 'deny'> {
  process.stdout.write(question);
  const { value } = await lines.next();
  return value === 'y' ? 'approve' : 'deny';
}

// #region decide
let result: RunResult = await createDirector().run('Is the harbour fee paid?');
while (result.status === 'suspended') {
  const resume: Record<string, 'approve' | 'deny'> = {};
  for (const { id, agent, name, input, reason } of result.pending) {
    resume[id] = await ask(`${reason} ${agent ?? 'director'} calls ${name}(${JSON.stringify(input)}) [y/N] `);
  }
  // The history has the messages of all three agents, so another process can go on.
  const { history } = JSON.parse(JSON.stringify(result)) as RunResult;
  result = await createDirector().run('', { messages: history, resume });
}
// #endregion

console.log(result.text);
terminal.close();
