import { Agent, type Message } from 'keelson';
import { approval, toolSearch } from 'keelson/lifecycles';
import { calls, type ScriptEntry, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { toolOf } from '../../support/agent/sample-tools.js';

const tools = ['tool_aaa', 'tool_bbb', 'tool_ccc'].map((name) => ({ ...toolOf(name, () => 'ran'), origin: 'mcp:few' }));

function agentOf(script: readonly ScriptEntry[]) {
  const model = scriptedModel(script);
  const lifecycle = [toolSearch({ over: 0, keep: 'run', results: 1 }), approval({ tools: ['tool_bbb'] })];
  return { agent: new Agent({ model, tools, lifecycle }), model };
}

test('with `keep: "run"`, a resumed run offers the tools that it found, and no tools of earlier runs', async () => {
  const earlier = agentOf([calls('search_tools', { query: 'aaa' }), 'done']);
  const before = (await earlier.agent.run('Find aaa.')).history as readonly Message[];
  const { agent } = agentOf([calls('search_tools', { query: 'bbb' }), calls({ id: 'b', name: 'tool_bbb' })]);
  const { status, history } = await agent.run('Find bbb.', { messages: before });
  const later = agentOf(['done']);

  await later.agent.run('', { messages: history, resume: { b: 'approve' } });

  expect(status).toBe('suspended');
  expect(later.model.requests[0]?.tools.map(({ name }) => name)).toEqual(['search_tools', 'tool_bbb']);
});
