import { dirname, join } from 'node:path';
import {
  Agent,
  type AgentLifecycle,
  type AgentOptions,
  type LifecycleLoader,
  type RunResult,
  type StandardSchema,
  type Tool,
} from 'keelson';
import { durable, type Step } from 'keelson/durable';
import { defineExtension, extensions } from 'keelson/extension';
import { approval, compaction, limits } from 'keelson/lifecycles';
import { mcpServers } from 'keelson/mcp';
import { plugins } from 'keelson/plugins';
import { shellHooks } from 'keelson/shell-hooks';
import { calls, scriptedModel } from 'keelson/testing';
import { z } from 'zod';
import { toolOf } from '../../agent/sample-tools.js';
import { keepingLogger } from '../../agent/silent-logger.js';
import { memoryServers } from '../../mcp/memory-servers.js';

/** The parts of a version of the program that differ from those of another version. */
interface Version extends Partial<Omit<AgentOptions, 'tools' | 'lifecycle' | 'loaders' | 'model'>> {
  /** The names of the tools. */
  readonly tools?: readonly string[];
  readonly lifecycle?: () => readonly AgentLifecycle[];
  readonly loaders?: () => readonly LifecycleLoader[];
  /** The names in `durable({ hooks })`. */
  readonly hooks?: readonly string[];
  /** The schema of the answer. */
  readonly output?: StandardSchema;
}

/** A change of the program between two attempts of a run. */
export interface Change {
  readonly what: string;
  readonly before: Version;
  readonly after: Version;
  /** The part that a refusal names. Undefined if the run goes on. */
  readonly refused?: string;
  /** The only point at which the change matters. Default: all points. */
  readonly only?: Point;
}

/** The place at which a run was stopped. */
export type Point = 'in a tool' | 'at an approval';

// A bundle of this file has another URL.
const PLUGIN = join(process.cwd(), 'test/fixtures/durable/plugin.mjs');
const TOOLS = ['search', 'note', 'mail', 'pay'];
const WITHOUT = (name: string) => TOOLS.filter((one) => one !== name);
const ANSWER = '{"isDone":true}';

const needsApproval = () => approval({ tools: ['pay'] });
const mayNeedApproval = () => approval({ tools: ['pay'], optional: true });

/** A lifecycle with all hooks. */
function auditor(name: string): AgentLifecycle {
  return {
    name,
    beforeAgent: (input) => `${input}!`,
    beforeModel: (messages) => [...messages],
    beforeToolSelection: (tools) => tools,
    afterModel() {},
    wrapModelCall: (request, next) => next(request),
    wrapToolCall: (call, next) => next(call),
    afterAgent: (text) => text,
    onError() {},
  };
}

const audit = () => [needsApproval(), auditor('audit')];
const auditTwice = () => [needsApproval(), auditor('audit'), auditor('second')];

const toolLoader = (): LifecycleLoader => ({
  name: 'tools',
  load: (host) => void host.use({ tools: [toolOf('loaded', () => 'loaded')] }),
});
const extension = () => [extensions([defineExtension({ id: 'polite', onLlmOutput: (text) => text })])];
const shellHook = () => {
  const args = ['-c', 'cat > /dev/null; echo "{}"'];
  return [shellHooks({ hooks: { before_agent: [{ name: 'ok', command: '/bin/sh', args }] } })];
};
const server = () => {
  const files = { url: 'https://server.test/files' };
  return [mcpServers({ servers: { files }, system: { logger: keepingLogger(), fetch: memoryServers() } })];
};

const _plugin = () => [plugins({ config: [{ path: PLUGIN }], workspaceDir: dirname(PLUGIN) })];

const limited = (max: object) => ({ lifecycle: () => [needsApproval(), limits(max)] });
const summarising = () => [needsApproval(), compaction({ maxTokens: 1, keep: 1 })];

/** The changes of a program, and what becomes of the runs that wait meanwhile. */
export const CHANGES: readonly Change[] = [
  { what: 'nothing', before: {}, after: {} },
  { what: 'the instructions', before: { instructions: 'One.' }, after: { instructions: 'Two.' } },
  { what: 'the name of the agent', before: {}, after: { name: 'other' } },
  { what: 'a tool is added', before: {}, after: { tools: [...TOOLS, 'extra'] } },
  { what: 'a tool that has run is removed', before: {}, after: { tools: WITHOUT('note') } },
  { what: 'the tool that runs is removed', before: {}, after: { tools: WITHOUT('mail') } },
  { what: 'the tool that runs gets another name', before: {}, after: { tools: [...WITHOUT('mail'), 'post'] } },
  {
    what: 'the tool that waits is removed',
    before: { lifecycle: () => [mayNeedApproval()] },
    after: { lifecycle: () => [mayNeedApproval()], tools: WITHOUT('pay') },
  },
  {
    what: 'a tool is removed that `approval` names',
    before: {},
    after: { tools: WITHOUT('pay') },
    refused: 'the options of the agent (ERR_OPTION_INVALID)',
  },
  { what: 'the order of the tools', before: {}, after: { tools: [...TOOLS].reverse() } },
  { what: 'one tool call at a time', before: {}, after: { parallelToolCalls: 1 } },
  { what: 'a lifecycle is added', before: {}, after: { lifecycle: audit } },
  { what: 'a lifecycle is removed', before: { lifecycle: audit }, after: {} },
  { what: 'the approval is removed', before: {}, after: { lifecycle: () => [] } },
  {
    what: 'a lifecycle is named in `hooks`',
    before: { lifecycle: audit },
    after: { lifecycle: audit, hooks: ['audit'] },
  },
  {
    what: 'a lifecycle is no longer named in `hooks`',
    before: { lifecycle: audit, hooks: ['audit'] },
    after: { lifecycle: audit },
  },
  { what: 'a named lifecycle is added', before: {}, after: { lifecycle: audit, hooks: ['audit'] } },
  { what: 'a named lifecycle is removed', before: { lifecycle: audit, hooks: ['audit'] }, after: {} },
  {
    what: 'the first of two named lifecycles is removed',
    before: { lifecycle: auditTwice, hooks: ['audit', 'second'] },
    after: { lifecycle: () => auditTwice().filter(({ name }) => name !== 'audit'), hooks: ['second'] },
  },
  {
    what: 'two named lifecycles change their order',
    before: { lifecycle: auditTwice, hooks: ['audit', 'second'] },
    after: { lifecycle: () => auditTwice().reverse(), hooks: ['audit', 'second'] },
    refused: 'lifecycle "audit"',
  },
  {
    what: 'a lifecycle is removed that `hooks` names',
    before: { lifecycle: audit, hooks: ['audit'] },
    after: { hooks: ['audit'] },
    refused: 'the options of the agent (ERR_DURABLE_SETUP)',
  },
  { what: 'the first loader is added', before: {}, after: { loaders: () => [toolLoader()] } },
  { what: 'the only loader is removed', before: { loaders: () => [toolLoader()] }, after: {} },
  { what: 'an extension is added', before: {}, after: { loaders: extension } },
  {
    what: 'a named extension is removed',
    before: { loaders: extension, hooks: ['extensions'] },
    after: {},
  },
  { what: 'a shell hook is added', before: {}, after: { loaders: shellHook } },
  { what: 'a shell hook is removed', before: { loaders: shellHook }, after: {} },
  { what: 'an MCP server is added', before: {}, after: { loaders: server } },
  { what: 'an MCP server is removed', before: { loaders: server }, after: {} },
  {
    what: 'a limit that the stored calls keep',
    before: limited({ modelCalls: 50 }),
    after: limited({ modelCalls: 4 }),
  },
  {
    what: 'a limit that the stored calls exceed',
    before: limited({ modelCalls: 50 }),
    after: limited({ modelCalls: 1 }),
    refused: 'lifecycle "limits"',
  },
  {
    what: 'more turns are stored than `maxTurns` allows',
    before: {},
    after: { maxTurns: 1 },
    refused: 'the options of the agent (ERR_TURN_LIMIT)',
  },
  { what: 'an output schema', before: {}, after: { output: z.object({ isDone: z.boolean() }) } },
  {
    what: 'a lifecycle is added that calls the model in a stored turn',
    before: {},
    after: { lifecycle: summarising },
    refused: 'a lifecycle that calls the model itself',
    // A summary needs a turn before the last one.
    only: 'at an approval',
  },
];

/** A change, and the point at which a run was stopped when it was deployed. */
export interface Cell extends Change {
  readonly point: Point;
}

const POINTS: readonly Point[] = ['in a tool', 'at an approval'];

export const CELLS: readonly Cell[] = CHANGES.flatMap((change) =>
  POINTS.filter((point) => point === (change.only ?? point)).map((point) => ({ ...change, point })),
);

/** Makes the agent of a version. `onWork` gets the name of each model call and each tool that runs. */
export function versionOf(step: Step, version: Version, onWork: (what: string) => unknown): Agent {
  const {
    tools = TOOLS,
    lifecycle = () => [needsApproval()],
    loaders = () => [],
    hooks = [],
    output,
    ...options
  } = version;
  const tool = (name: string): Tool =>
    toolOf(name, async () => {
      await onWork(name);
      return `${name} is done`;
    });
  const engine = durable({ step, hooks });
  return new Agent(
    engine.options({
      model: orderModel(onWork),
      tools: tools.map(tool),
      lifecycle: lifecycle(),
      loaders: loaders(),
      logger: keepingLogger(),
      ...options,
    }),
  );
}

const TURNS = [
  calls({ name: 'search', input: { q: 1 } }, { name: 'search', input: { q: 2 } }, { name: 'note', input: {} }),
  calls('mail', {}),
  calls('pay', { amount: 4 }),
];

function orderModel(onWork: (what: string) => unknown) {
  return scriptedModel(({ messages }) => {
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    onWork(`model ${turn + 1}`);
    return TURNS[turn] ?? ANSWER;
  });
}

/** Runs an order, and goes on with the decisions on its payment. */
export async function runOrder(
  agent: Agent,
  { output }: Version,
  decide: (result: RunResult<unknown>) => Promise<Record<string, 'approve'>>,
): Promise<RunResult<unknown>> {
  const checked = output && { output };
  let result: RunResult<unknown> = await agent.run('Order.', { ...checked });
  while (result.status === 'suspended') {
    const resume = await decide(result);
    result = await agent.run('', { messages: result.history, resume, ...checked });
  }
  return result;
}
