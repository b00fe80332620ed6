import { afterAll, beforeAll, expect, test } from 'vitest';
import { EmptyProject } from '../../support/package/empty-project.js';

/** `one` and `other` are the two copies of the library. Each program prints once for each order of them. */
const BOTH = `
import { createRequire } from 'node:module';
import * as core from 'keelson';
import * as durable from 'keelson/durable';
import * as lifecycles from 'keelson/lifecycles';
import * as testing from 'keelson/testing';
import * as ui from 'keelson/ui';
const require = createRequire(import.meta.url);
const imported = { ...core, ...durable, ...lifecycles, ...testing, ...ui };
const names = ['keelson', 'keelson/durable', 'keelson/lifecycles', 'keelson/testing', 'keelson/ui'];
const required = Object.assign({}, ...names.map((name) => require(name)));
const rejectionOf = (promise) => promise.then(() => undefined, (error) => error);
for (const [one, other] of [[imported, required], [required, imported]]) console.log(JSON.stringify(await run(one, other)));
`;

let project: EmptyProject;
beforeAll(() => {
  project = new EmptyProject();
});
afterAll(() => project[Symbol.dispose]());

/** Runs a program with two copies of the library, in both orders. Returns what each order gave. */
function resultsOf(body: string): unknown[] {
  const { stdout, stderr } = project.node(
    project.write('copies.mjs', `${BOTH}async function run(one, other) {${body}}`),
  );
  expect(stderr).toBe('');
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const ASKING = `
  const { Agent, calls, scriptedModel } = one;
  const inner = new other.Agent({ name: 'inner', model: other.scriptedModel([other.says('inside')]) });
  const tools = [inner.asTool({ name: 'ask', description: 'Asks.' })];
`;

test('an agent of one copy is a tool of an agent of the other, and its usage counts', () => {
  const results = resultsOf(`${ASKING}
    const model = scriptedModel([calls('ask', { prompt: 'x' }), 'done']);
    const { text, usage, messages } = await new Agent({ model, tools }).run('go');
    return [one.Agent === other.Agent, text, usage.totalTokens, messages[2].content[0].content];`);

  expect(results).toEqual([
    [false, 'done', 45, 'inside'],
    [false, 'done', 45, 'inside'],
  ]);
});

test('a lifecycle of one copy holds the budget of a run of the other', () => {
  const results = resultsOf(`${ASKING}
    const model = scriptedModel([calls('ask', { prompt: 'x' }), 'done']);
    const agent = new Agent({ model, tools, lifecycle: [other.limits({ tokens: 25 })] });
    const error = await rejectionOf(agent.run('go'));
    return [error.code, error instanceof other.RejectedError, error instanceof other.KeelsonError];`);

  expect(results).toEqual([
    ['ERR_RUN_REJECTED', true, true],
    ['ERR_RUN_REJECTED', true, true],
  ]);
});

test('tools, actions, approvals and durable steps of one copy work in the other', () => {
  const results = resultsOf(`
    const execute = () => other.toolResult({ content: 'paid', isError: false });
    const pay = other.defineTool({ name: 'pay', description: 'Pays.', input: { type: 'object' }, execute });
    const model = one.scriptedModel([one.calls('pay'), 'done']);
    const durable = other.durable({ step: other.memoryStep() });
    const lifecycle = [other.approval({ tools: ['pay'] })];
    const agent = new one.Agent(durable.options({ model, tools: [pay], lifecycle }));
    const { status, pending, history } = await agent.run('go');
    const resume = { [pending[0].id]: 'approve' };
    const { messages } = await agent.run('', { messages: history, resume });
    const closed = { name: 'closed', beforeAgent: () => other.HookAction.respond('closed') };
    const { text } = await new one.Agent({ model, lifecycle: [closed] }).run('go');
    return [status, messages[0].content[0].content, text];`);

  expect(results).toEqual([
    ['suspended', 'paid', 'closed'],
    ['suspended', 'paid', 'closed'],
  ]);
});

test('agents of both copies share a store, and an HTTP handler of one serves an agent of the other', () => {
  const results = resultsOf(`
    const store = new other.MemorySessionStore();
    const agentOf = ({ Agent, scriptedModel }) => new Agent({ model: scriptedModel(['a', 'b']), store });
    const [first, second] = [agentOf(one), agentOf(other)];
    const sessions = await Promise.all([first.session({ id: 's' }), second.session({ id: 's' })]);
    await sessions[0].run('1');
    const { history } = await sessions[1].run('2');
    const handle = other.createAgentHandler(first, { session: () => ({ id: 's' }), authorize: 'none' });
    const body = JSON.stringify({ id: 's', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: '3' }] }] });
    const headers = { 'content-type': 'application/json' };
    const response = await handle(new Request('http://localhost/chat', { method: 'POST', headers, body }));
    return [history.length, response.status];`);

  expect(results).toEqual([
    [4, 200],
    [4, 200],
  ]);
});
