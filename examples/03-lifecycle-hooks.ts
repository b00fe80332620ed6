// Uses two lifecycles on one agent: an audit that logs all tool calls, and a guard that denies one tool.
import assert from 'node:assert/strict';
import { Agent, type AgentLifecycle, defineTool, HookAction, RejectedError } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { z } from 'zod';

class Audit implements AgentLifecycle {
  readonly name = 'audit';
  /** Higher than the default of 50, so that it wraps the guard and sees the final result of each call. */
  readonly priority = 90;
  readonly lines: string[] = [];

  readonly wrapToolCall: NonNullable<AgentLifecycle['wrapToolCall']> = async (call, next) => {
    const result = await next(call);
    this.lines.push(`${call.name} ${JSON.stringify(call.input)} -> ${result.isError ? 'denied' : result.content}`);
    return result;
  };

  readonly afterAgent = (text: string): void => void this.lines.push(`answered: ${text}`);
  readonly onError = (error: unknown): void => void this.lines.push(`failed: ${(error as Error).name}`);
}

const guard: AgentLifecycle = {
  name: 'guard',
  // If the guard itself fails, the call does not run.
  onFailure: 'block',
  beforeAgent: (input) => (input.includes('password') ? HookAction.reject('No passwords, please.') : undefined),
  wrapToolCall: (call, next) =>
    call.name === 'remove' ? { content: 'Removing is not allowed here.', isError: true } : next(call),
};

const remove = defineTool({
  name: 'remove',
  description: 'Removes a file.',
  input: z.object({ path: z.string() }),
  execute: () => assert.fail('the guard must block this tool'),
});

const audit = new Audit();
const model = scriptedModel([calls('remove', { path: 'a.txt' }), says('I may not remove it.')]);
const agent = new Agent({ model, tools: [remove], lifecycle: [audit, guard] });

const { text, decisions } = await agent.run('Remove a.txt.');
await assert.rejects(agent.run('My password is 1234.'), RejectedError);
console.log(audit.lines.join('\n'));

assert.equal(text, 'I may not remove it.');
assert.deepEqual(
  decisions.map(({ type, by, point }) => `${type} by ${by} in ${point}`),
  ['block by guard in wrapToolCall'],
);
const expected = ['remove {"path":"a.txt"} -> denied', 'answered: I may not remove it.', 'failed: RejectedError'];
assert.deepEqual(audit.lines, expected);
