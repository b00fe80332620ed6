import assert from 'node:assert/strict';
import { Agent, type AgentEventOf } from 'keelson';
import { says, scriptedModel } from 'keelson/testing';

const shown: string[] = [];
const metrics: number[] = [];
const agent = new Agent({ model: scriptedModel(says('Land in sight.', { reasoning: 'A coast.' })) });
const process = { stdout: { write: (text: string) => shown.push(text) } };

// #region stream
const stream = agent.stream('What do you see?');
for await (const event of stream) {
  if (event.type === 'text-delta') process.stdout.write(event.text);
}
const { text, usage } = await stream.result;
// #endregion

assert.equal(shown.join(''), text);
assert.equal(usage.totalTokens, 15);

// #region on
const count = ({ response }: AgentEventOf<'model-end'>) => {
  metrics.push(response?.usage.totalTokens ?? 0);
};
agent.on('model-end', count);
await agent.run('And now?');
agent.off('model-end', count);
// #endregion

assert.deepEqual(metrics, [15]);

// #region leave
const long = agent.stream('Tell me everything.');
for await (const event of long) {
  if (event.type === 'text-delta') break; // aborts the run
}
const outcome = await long.result.catch((error) => error.code);
// #endregion

assert.equal(outcome, 'ERR_RUN_ABORTED');
