import assert from 'node:assert/strict';
import { Agent, defineTool } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const perRun = { perRun: true };
const model = scriptedModel(({ output }) => says(output ? '{"total":40,"currency":"EUR"}' : 'A ship.'), perRun);
const picture = 'iVBORw0KGgo=';
const pilot = new Agent({ name: 'pilot', model, timeouts: { runMs: 60_000 } });

// #region input
const { text } = await pilot.run({
  role: 'user',
  content: [
    { type: 'text', text: 'What is this?' },
    { type: 'image', image: picture, mediaType: 'image/png' },
  ],
});
// #endregion

assert.equal(text, 'A ship.');

// #region output
const fee = z.object({ total: z.number(), currency: z.string() });
const result = await pilot.run('What is the harbour fee?', { output: fee });
if (result.status !== 'completed') throw new Error('A tool call waits for a decision.');
const cents = result.output.total * 100; // { total: number; currency: string }
// #endregion

assert.equal(cents, 4000);

// #region context
interface Caller {
  readonly user: string;
}

const greet = defineTool({
  name: 'greet',
  description: 'Greets the user.',
  input: z.object({ loud: z.boolean() }),
  execute: ({ loud }, { context }: { context: Caller }) => (loud ? `HELLO ${context.user}` : `Hello ${context.user}`),
});
const script = scriptedModel([calls('greet', { loud: false }), says('Done.')], perRun);
const host = new Agent<Caller>({ model: script, tools: [greet] });

await host.run('Greet me.', { context: { user: 'Ada' } });
// #endregion

assert.match(JSON.stringify(script.requests.at(-1)?.messages), /Hello Ada/);

const outer = scriptedModel([
  calls({ name: 'pilot', input: { prompt: 'What is this?' } }, { name: 'scout' }),
  says('A ship.'),
]);

// #region nested
const scout = defineTool({
  name: 'scout',
  description: 'Looks around.',
  input: z.object({}),
  execute: async (_input, { run }) => (await pilot.run('What do you see?', { parent: run })).text,
});
const captain = new Agent({ model: outer, tools: [scout, pilot.asTool({ description: 'Knows the harbour.' })] });
// #endregion

// #region nested-events
const shown: string[] = [];
for await (const event of captain.stream('Where are we?', { nested: true })) {
  if (event.type === 'run-start') shown.push([...(event.path ?? []), event.agent].join(' '));
}
console.log(shown); // ['agent', 'call_1 pilot', 'call_2 pilot']
// #endregion

assert.deepEqual(shown, ['agent', 'call_1 pilot', 'call_2 pilot']);
