import assert from 'node:assert/strict';
import { Agent, type AgentLifecycle, type EntryAction, HookAction, type Message, type RunContext } from 'keelson';
import { scriptedModel } from 'keelson/testing';

// #region literal
const polite: AgentLifecycle = {
  name: 'polite',
  beforeAgent: (input) => `${input} Please keep it short.`,
};
// #endregion

// #region class
class TokenBudget implements AgentLifecycle {
  readonly name = 'token-budget';
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  beforeModel(_messages: readonly Message[], run: RunContext): EntryAction | undefined {
    if (run.usage.totalTokens < this.limit) return undefined;
    return HookAction.reject(`The run has used up its ${this.limit} tokens.`);
  }
}
// #endregion

const model = scriptedModel('A keelson is a timber.');

// #region builder
const agent = new Agent({ model }).withLifecycle(polite).withLifecycle(new TokenBudget(20_000));

const remove = agent.use({ afterAgent: (text) => text.toUpperCase() });
remove();
// #endregion

assert.equal((await agent.run('What is a keelson?')).text, 'A keelson is a timber.');
assert.deepEqual(model.requests[0]?.messages, [{ role: 'user', content: 'What is a keelson? Please keep it short.' }]);
const poor = new Agent({ model, lifecycle: [new TokenBudget(0)] });
await assert.rejects(poor.run('What is a keelson?'), { code: 'ERR_RUN_REJECTED', by: 'token-budget' });
