import assert from 'node:assert/strict';
import { Agent, type AgentLifecycle, defineTool, HookAction, toolCallsOf } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';

const ran: string[] = [];
const tools = ['read', 'write', 'erase'].map((name) =>
  defineTool({
    name,
    description: name,
    input: { type: 'object' },
    annotations: { readOnly: name === 'read' },
    execute: () => ran.push(name),
  }),
);

// #region guard-hide
const readers: AgentLifecycle = {
  name: 'readers',
  // Hides the other tools. The model cannot call them, even if it guesses their names.
  beforeToolSelection: (offered) => offered.filter((tool) => tool.annotations?.readOnly),
};
// #endregion

// #region guard-deny
const noErasing: AgentLifecycle = {
  name: 'no-erasing',
  onFailure: 'block',
  // The model reads this error result, and the run continues.
  wrapToolCall: (call, next) => (call.name === 'erase' ? { content: 'Nobody may erase.', isError: true } : next(call)),
};
// #endregion

// #region guard-end
const trap: AgentLifecycle = {
  name: 'trap',
  onFailure: 'block',
  // Ends the whole run. No tool call of this response runs.
  afterModel: ({ content }) =>
    toolCallsOf({ role: 'assistant', content }).some((call) => call.name === 'erase')
      ? HookAction.reject('It tried to erase.')
      : HookAction.Continue,
};
// #endregion

const erasing = () => scriptedModel([calls('erase'), says('I could not.')]);
const hidden = await new Agent({ model: erasing(), tools, lifecycle: [readers] }).run('Erase it.');
assert.match(JSON.stringify(hidden.messages), /There is no tool \\"erase\\". Tools: read\./);
const denied = await new Agent({ model: erasing(), tools, lifecycle: [noErasing] }).run('Erase it.');
assert.equal(denied.decisions[0]?.type, 'block');
const trapped = new Agent({ model: erasing(), tools, lifecycle: [trap] }).run('Erase it.');
await assert.rejects(trapped, { code: 'ERR_RUN_REJECTED', by: 'trap', point: 'afterModel' });
assert.deepEqual(ran, []);
