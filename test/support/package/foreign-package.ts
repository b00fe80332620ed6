/**
 * A package of somebody else. It exports agents, tools and lifecycles without annotations, so that the compiler writes
 * their types into its declarations.
 */
import {
  Agent,
  createToolSet,
  defineLifecycle,
  defineTool,
  HookAction,
  handoff,
  MemorySessionStore,
  toolResult,
} from 'keelson';
import { defineExtension, extensions } from 'keelson/extension';
import { approval, limits, retryModelCalls } from 'keelson/lifecycles';
import { openai } from 'keelson/openai';
import { definePlugin } from 'keelson/plugins';
import { createAgentHandler, MemoryRunLog, toNodeListener } from 'keelson/ui';
import { z } from 'zod';

export const model = openai('gpt-5');
export const weather = defineTool({
  name: 'weather',
  description: 'Returns the weather of a city.',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => toolResult({ content: `Rain in ${city}.` }),
});
export const agent = new Agent<{ user: string }>({ model, tools: [weather], store: new MemorySessionStore() });
export const tools = [agent.asTool({ description: 'Asks.' }), handoff(agent, { name: 'go', description: 'Goes.' })];
export const toolSet = createToolSet([weather]);
export const lifecycle = defineLifecycle({
  name: 'guard',
  beforeAgent: (input) => (input === '' ? HookAction.reject('Say something.') : HookAction.Continue),
  beforeModel: (messages) => messages,
  afterModel: ({ content }) => (content.length === 0 ? HookAction.respond('Nothing.') : HookAction.Approve),
  wrapToolCall: (call, next) => next(call),
});
export class Guard {
  onFailure = 'block';
  afterModel() {
    return HookAction.suspend('A person looks at it.');
  }
}
export const readyMade = [approval({ tools: ['weather'] }), limits({ tokens: 10_000 }), retryModelCalls()];
export const run = () => agent.run('Hi', { context: { user: 'ada' } });
export const pending = async () => (await run()).pending;
export const answer = () => agent.stream('Hi', { context: { user: 'ada' }, output: z.object({ city: z.string() }) });
export const session = async () => {
  const opened = await agent.session();
  return { opened, entries: opened.entries, status: agent.status() };
};
export const extension = defineExtension({ id: 'notes' });
export const loader = extensions([extension]);
export const plugin = definePlugin({ name: 'plain' });
export const runLog = new MemoryRunLog();
export const handler = createAgentHandler(agent, {
  session: () => ({ id: 'chat' }),
  context: () => ({ user: 'ada' }),
  authorize: 'none',
});
export const listener = toNodeListener(handler);
