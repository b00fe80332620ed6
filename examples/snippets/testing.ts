import assert from 'node:assert/strict';
import { Agent, type AgentLifecycle, HookAction } from 'keelson';
import { assertLifecycle, calls, faultyTool, recorder, says, scriptedModel } from 'keelson/testing';

class Limit implements AgentLifecycle {
  readonly name = 'limit';
  readonly wrapToolCall: NonNullable<AgentLifecycle['wrapToolCall']> = (call, next) => {
    if (call.run.turn > 1) call.run.end(HookAction.respond('That is enough.'));
    return next(call);
  };
}

// #region test-run
const model = scriptedModel([calls('throws'), calls('throws'), says('never reached')]);
const agent = new Agent({ model, tools: [faultyTool('throws')], lifecycle: [new Limit()] });
const { text, decisions } = await agent.run('Go on until it works.');

assert.equal(text, 'That is enough.');
assert.deepEqual(decisions.at(-1), { type: 'respond', by: 'run.end', point: 'end', turn: 2, reason: text });
assert.throws(() => model.assertDone(), /1 of 3 scripted steps were not used/);
// #endregion

// #region test-order
const record = recorder();
const pair = [record.lifecycle('inner', { only: ['wrapModelCall'] }), record.lifecycle('outer', { priority: 90 })];
await new Agent({ model: scriptedModel('Hi.'), lifecycle: pair }).run('Hello');

assert.deepEqual(record.log.slice(4, 8), [
  'outer.wrapModelCall>',
  'inner.wrapModelCall>',
  '<inner.wrapModelCall',
  '<outer.wrapModelCall',
]);
// #endregion

// #region test-contract
await assertLifecycle(() => new Limit());
await assertLifecycle({ name: 'watcher', afterModel: () => undefined }, { passive: true });
// #endregion
