import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, type AgentLifecycle, type Message, type Model, type Tool } from 'keelson';
import { type DecisionRequest, durable } from 'keelson/durable';
import { defineExtension, extensions } from 'keelson/extension';
import { approval } from 'keelson/lifecycles';
import { mcpServers } from 'keelson/mcp';
import { shellHooks } from 'keelson/shell-hooks';
import type { SessionStore, StateStore } from 'keelson/store';
import { says, scriptedModel } from 'keelson/testing';
import { toolOf } from '../../agent/sample-tools.js';
import { pause } from '../../agent/settle.js';
import { keepingLogger } from '../../agent/silent-logger.js';
import type { EngineStep } from '../deploy/deployed-order.js';
import { fileLog } from '../file-log.js';

/** The places that all attempts of a purchase share. */
export interface PurchaseWorld {
  /** For the logs, the versions and the URL of the MCP server. */
  readonly folder: string;
  readonly sessions: SessionStore;
  readonly state: StateStore;
}

/** Shorter than the waits for approvals. */
export const CLAIM_MS = 300;

/** The works that a purchase must do. */
export const TOOL_WORKS = ['search a', 'search b', 'search c', 'note', 'stock', 'reserve', 'mail', 'pay'];
/** The tools of the agent that makes purchases, as its shell hook sees them. */
export const HOOKED_TOOLS = ['search', 'note', 'mcp__weather__drop', 'buyer', 'mail', 'pay'];
/** The number of outputs that the extension counts. */
export const OUTPUTS = 6;
export const PURCHASE_ANSWER = 'search a, search b, search c, weather, note, bought with stock, reserve, mail, pay';

type Call = readonly [name: string, input: object];

const TURNS: readonly (readonly Call[])[] = [
  ['a', 'b', 'c'].map((text) => ['search', { text }] as const),
  [
    ['mcp__weather__drop', {}],
    ['note', {}],
  ],
  [['buyer', { prompt: 'Reserve it.' }]],
  [['mail', {}]],
  [['pay', {}]],
];
const BUYER_TURNS: readonly (readonly Call[])[] = [[['stock', {}]], [['reserve', {}]]];

/** Makes a purchase in the version that is deployed for it. Called in the process of the engine's service. */
export async function purchase(step: EngineStep, world: PurchaseWorld, name: string): Promise<string> {
  const path = join(world.folder, name);
  const agent = buyerAgent(step, world, path);
  const notify = (request: DecisionRequest) => appendFileSync(`${path}.ask`, `${JSON.stringify(request)}\n`);
  try {
    const session = await agent.session({ id: name });
    let result = await session.run('Buy.');
    while (result.status === 'suspended') {
      const resume = (await step.decisions(result, { notify })) as Record<string, 'approve'>;
      result = await session.run('', { resume });
    }
    return result.text;
  } finally {
    await agent.close();
  }
}

function buyerAgent(step: EngineStep, { folder, sessions, state }: PurchaseWorld, path: string): Agent {
  const isNew = readFileSync(`${path}.version`, 'utf8') === '2';
  appendFileSync(`${path}.attempts`, isNew ? '2\n' : '1\n');
  const counter = defineExtension({
    id: 'counter',
    onLlmOutput: async (_text, context) => void (await context.updateState<number>('n', (n = 0) => n + 1)),
  });
  const url = readFileSync(join(folder, 'mcp.url'), 'utf8');
  const args = ['-c', `printf '%s\\n' "$(cat)" >> '${path}.hooked'; echo '{}'`];
  const tools = ['search', 'note', 'mail', 'pay', 'look'].map((tool) => workTool(tool, path));
  return new Agent(
    durable({ step, hooks: isNew ? ['audit'] : [] }).options({
      instructions: isNew ? 'Buy cheaply.' : 'Buy.',
      model: turnsModel(TURNS, path, (results) => results.join(', ')),
      store: sessions,
      timeouts: { claimMs: CLAIM_MS },
      tools: [...(isNew ? [workTool('extra', path), ...tools.reverse()] : tools), nestedAgent(path)],
      lifecycle: [approval({ tools: ['pay'] }), ...(isNew ? [audit(path)] : [])],
      loaders: [
        extensions([counter], { state }),
        shellHooks({ hooks: { before_tool: [{ name: 'log', command: '/bin/sh', args }] } }),
        mcpServers({ servers: { weather: { url } } }),
      ],
      logger: keepingLogger(),
    }),
  );
}

function nestedAgent(path: string): Tool {
  const agent = new Agent({
    name: 'buyer',
    model: turnsModel(BUYER_TURNS, path, (results) => `bought with ${results.join(', ')}`),
    tools: [workTool('stock', path), workTool('reserve', path)],
    lifecycle: [approval({ tools: ['reserve'] })],
    logger: keepingLogger(),
  });
  return agent.asTool({ description: 'Buys.' });
}

/** Added by the new version. Its hooks are steps from the next model call on. */
function audit(path: string): AgentLifecycle {
  return {
    name: 'audit',
    beforeModel: () => appendFileSync(`${path}.audit`, 'beforeModel\n'),
    afterModel: () => appendFileSync(`${path}.audit`, 'afterModel\n'),
  };
}

function workTool(name: string, path: string): Tool {
  return toolOf(name, async (input, { idempotencyKey }) => {
    const text = [name, ...Object.values(input as object)].join(' ');
    await pause(Math.random() * 200);
    fileLog(path).add({ what: text, key: idempotencyKey });
    await pause(Math.random() * 200);
    return text;
  });
}

/** A model that calls the tools of each turn, and answers with all results. */
function turnsModel(turns: readonly (readonly Call[])[], path: string, answer: (results: string[]) => string): Model {
  return scriptedModel(async ({ messages }) => {
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    await pause(Math.random() * 200);
    const wanted = turns[turn]?.map(([name, input], index) => ({ id: `call_${turn}_${index}`, name, input }));
    if (wanted === undefined) return answer(resultsOf(messages));
    appendFileSync(`${path}.models`, `${wanted[0]?.name}\n`);
    return says('', { calls: wanted });
  });
}

function resultsOf(messages: readonly Message[]): string[] {
  const results = messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
  return results.map(({ name, content }) => (name === 'mcp__weather__drop' ? 'weather' : textIn(content)));
}

function textIn(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}
