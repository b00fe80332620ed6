// A payment waits for approval. The run is suspended and stored as JSON, and a second agent resumes it.
import assert from 'node:assert/strict';
import { Agent, type AgentLifecycle, defineTool, HookAction, type RunResult } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

const paid: number[] = [];

const pay = defineTool({
  name: 'pay',
  description: 'Pays an amount in euro.',
  input: z.object({ amount: z.number() }),
  annotations: { destructive: true },
  execute({ amount }) {
    paid.push(amount);
    return `paid ${amount} euro`;
  },
});

const approval: AgentLifecycle = {
  name: 'approval',
  wrapToolCall(call, next) {
    const asks = call.tool?.annotations?.destructive === true && !call.approved;
    return asks ? HookAction.suspend(`${call.name} needs approval`) : next(call);
  },
};

function createAgent(script: Parameters<typeof scriptedModel>[0]): Agent {
  return new Agent({ model: scriptedModel(script), tools: [pay], lifecycle: [approval] });
}

const asked = await createAgent([calls('pay', { amount: 40 })]).run('Pay the harbour fee.');
assert.equal(asked.status, 'suspended');
assert.deepEqual(paid, []);

// The messages hold the whole state of a run. Store them, show `pending` to a person, and resume days later.
const stored = JSON.stringify(asked);
const { history, pending } = JSON.parse(stored) as RunResult;
console.log(pending.map(({ name, input, reason }) => `${reason}: ${name} ${JSON.stringify(input)}`).join('\n'));

const resume = Object.fromEntries(pending.map(({ id }) => [id, 'approve' as const]));
const approved = await createAgent([says('The fee is paid.')]).run('', { messages: history, resume });
console.log(approved.text);
assert.equal(approved.status, 'completed');
assert.deepEqual(paid, [40]);

// A history with an open call cannot run without a decision on the call.
await assert.rejects(createAgent([]).run('', { messages: history }), { code: 'ERR_RESUME_INVALID' });
const call = pending[0]?.id ?? '';
const model = [says('Then I leave it.')];
const denied = await createAgent(model).run('', { messages: history, resume: { [call]: { deny: 'too much' } } });
assert.equal(denied.text, 'Then I leave it.');
assert.deepEqual(paid, [40]);
