// A tool call that mentions [[concepts]] gets what is known of them, without a word of the tool or the model.
import assert from 'node:assert/strict';
import { Agent, defineTool } from 'keelson';
import { conceptAugmentation } from 'keelson/concepts';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const notes = new Map([
  ['keel', 'The keel runs along the bottom of a hull. See [[keelson]].'],
  ['frames', 'Frames are fastened to the keel and the keelson.'],
]);

const concepts = conceptAugmentation({
  profile: 'safe',
  buildContext: ({ conceptName }) => notes.get(conceptName),
});

const received: string[] = [];
const draw = defineTool({
  name: 'draw',
  description: 'Draws what a prompt says.',
  input: z.object({ prompt: z.string() }),
  execute({ prompt }) {
    received.push(prompt);
    return 'drawn';
  },
});

const shell = defineTool({
  name: 'shell',
  description: 'Runs a command.',
  input: z.object({ command: z.string() }),
  execute: (input) => input,
});

const model = scriptedModel([
  calls('draw', { prompt: 'a hull with [[keel]] and [[frames]]' }),
  calls('shell', { command: 'if [[ -f plan ]]; then echo "see [[keel]]"; fi' }),
  says('There it is.'),
]);
const { text, messages } = await new Agent({ model, tools: [draw, shell], lifecycle: [concepts] }).run('Draw a hull.');

console.log(`${received[0]}\n\n${text}`);
assert.match(received[0] ?? '', /^<!-- Knowledge Graph Context .*-->\nThe keel runs .*\n\n---\n\nFrames are/);
assert.ok(received[0]?.endsWith('\n\na hull with [[keel]] and [[frames]]'));

// In the safe profile a command stays what a shell can run, and the context stands beside it.
const [, shown] = messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
assert.deepEqual(shown?.structured, {
  command: 'if [[ -f plan ]]; then echo "see [[keel]]"; fi',
  _maenifold_context: notes.get('keel'),
});
