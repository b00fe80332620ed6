import assert from 'node:assert/strict';
import { Agent, type AgentLifecycle, defineTool, HookAction, type ResumeDecisions, type RunResult } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';

const erased: unknown[] = [];
const tools = [
  defineTool({
    name: 'erase',
    description: 'Erases a file.',
    input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    execute: (input) => {
      erased.push(input);
      return 'erased';
    },
  }),
];
const model = scriptedModel([calls('erase', { path: 'a.txt' }), says('It is gone.')]);

// #region approval
const approval: AgentLifecycle = {
  name: 'approval',
  onFailure: 'block',
  wrapToolCall: (call, next) =>
    call.name === 'erase' && !call.approved ? HookAction.suspend(`${call.name} needs approval`) : next(call),
};
// #endregion

const agent = new Agent({ model, tools, lifecycle: [approval] });

async function askPerson(pending: RunResult['pending']): Promise<ResumeDecisions> {
  return Object.fromEntries(pending.map(({ id }) => [id, 'approve' as const]));
}

// #region resume
let result = await agent.run('Erase a.txt.');
while (result.status === 'suspended') {
  const resume = await askPerson(result.pending); // { call_1: 'approve' } or { call_1: { deny: 'not now' } }
  result = await agent.run('', { messages: result.history, resume });
}
// #endregion

assert.equal(result.text, 'It is gone.');
assert.deepEqual(erased, [{ path: 'a.txt' }]);
