import assert from 'node:assert/strict';
import { Agent, type AgentLifecycle, defineTool, HookAction, type ResumeDecisions, type RunResult } from 'keelson';
import { openRun, sealRun } from 'keelson/lifecycles';
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

const writer = scriptedModel(['A draft.', 'A better text.']);
// #region answer
const readFirst: AgentLifecycle = {
  name: 'read-first',
  afterModel: ({ content }) =>
    content.every(({ type }) => type === 'text') ? HookAction.suspend('A person reads each answer first.') : undefined,
};
// #endregion
const held = await new Agent({ model: writer, lifecycle: [readFirst] }).run('Write.');
assert.deepEqual(
  held.pending.map(({ type, id }) => [type, id]),
  [['answer', 'answer']],
);
const released = await new Agent({ model: writer }).run('', { messages: held.history, resume: { answer: 'deny' } });
assert.equal(released.text, 'A better text.');

const key = crypto.getRandomValues(new Uint8Array(32));
const secondModel = scriptedModel([calls('erase', { path: 'b.txt' }), says('It is gone too.')]);
const cleaner = new Agent({ name: 'cleaner', model: secondModel, tools, lifecycle: [approval] });
const suspended = await cleaner.run('Erase b.txt.');

// #region seal
const sealed = await sealRun(suspended, key, { agent: 'cleaner', expiresInMs: 15 * 60_000 });
// #endregion

const usedIds = new Set<string>();
// #region open
const { messages, pending } = await openRun(sealed, key, {
  agent: 'cleaner',
  useOnce: (id) => !usedIds.has(id) && usedIds.add(id).has(id),
});
const decisions = Object.fromEntries(pending.map(({ id }) => [id, 'approve' as const]));
const finished = await cleaner.run('', { messages, resume: decisions });
// #endregion

assert.equal(finished.text, 'It is gone too.');
await assert.rejects(openRun(sealed, key, { useOnce: (id) => !usedIds.has(id) }), { code: 'ERR_SEAL_INVALID' });

const thirdModel = scriptedModel([calls('erase', { path: 'all.txt' }), says('One of them is gone.')]);
const careful = new Agent({ model: thirdModel, tools, lifecycle: [approval] });
const waiting = await careful.run('Erase all.txt.');
// #region edited
const changed = await careful.run('', {
  messages: waiting.history,
  resume: { call_1: { approve: { path: 'old.txt' } } },
});
// #endregion
assert.equal(changed.text, 'One of them is gone.');
assert.deepEqual(erased.at(-1), { path: 'old.txt' });
