import assert from 'node:assert/strict';
import { Agent, OptionInvalidError, TurnLimitError } from 'keelson';
import { calls, faultyTool, says, scriptedModel } from 'keelson/testing';

const model = scriptedModel([calls('throws'), calls('throws'), says('It fails each time.')]);
const agent = new Agent({ model, tools: [faultyTool('throws')], maxTurns: 2 });
let text = '';

// #region catch
try {
  await agent.run('Go on until it works.');
} catch (error) {
  if (!(error instanceof TurnLimitError)) throw error;
  // Every tool call in `history` has its result, so another run can continue from it.
  ({ text } = await agent.run('Say what you found.', { messages: error.history, tools: [] }));
}
// #endregion

assert.equal(text, 'It fails each time.');

// #region code
const error = await agent.run('Hello', { maxTurns: 0 }).catch((reason: unknown) => reason);
if (error instanceof OptionInvalidError) text = error.message;
// #endregion

assert.equal(text, '`maxTurns` must be a whole number of 1 or more, or `{ limit, total, atLimit }`, got 0');
