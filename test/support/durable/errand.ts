import {
  Agent,
  type Clock,
  type Message,
  type Model,
  type ModelResponse,
  type RunResult,
  type Tool,
  type ToolContext,
} from 'keelson';
import type { DurableLifecycle } from 'keelson/durable';
import { approval } from 'keelson/lifecycles';
import { toolOf } from '../agent/sample-tools.js';
import { keepingLogger } from '../agent/silent-logger.js';

/** One execution of work that a step stores: a model call or a tool call. */
export interface Work {
  /** The work, such as `model 2` or `tool search a`. */
  readonly what: string;
  /** The idempotency key of a tool call. */
  readonly key?: string | undefined;
}

/** Records work at the time at which it happens. */
export interface WorkLog {
  add(work: Work): void;
  all(): readonly Work[];
}

export function arrayLog(): WorkLog {
  const works: Work[] = [];
  return { add: (work) => void works.push(work), all: () => works };
}

/** Options of an errand. */
export interface ErrandOptions {
  readonly engine: DurableLifecycle;
  readonly log: WorkLog;
  readonly clock?: Clock;
  /** Called before each work, for example to end the process. */
  readonly before?: (work: Work) => void | Promise<void>;
  /** Called after each work, before its step is stored. */
  readonly after?: (work: Work) => void | Promise<void>;
  /** The tools whose calls need approval. Default: `pay`. */
  readonly approved?: readonly string[];
}

/** The turns of an errand: six model calls, three parallel tools, a nested agent, and a payment that needs approval. */
const TURNS: readonly (readonly [name: string, input: object][])[] = [
  ['a', 'b', 'c'].map((text) => ['search', { text }] as const) as [string, object][],
  [['research', { prompt: 'the harbour' }]],
  [['note', { text: 'one' }]],
  [['pay', { amount: 7 }]],
  [['note', { text: 'two' }]],
];

/** The works of an undisturbed errand, by the steps that they belong to. A step begins when the one before is stored. */
export const STAGES: readonly (readonly string[])[] = [
  ['model 1'],
  ['tool search a', 'tool search b', 'tool search c'],
  ['model 2'],
  ['nested 1', 'tool look far', 'nested 2'],
  ['model 3'],
  ['tool note one'],
  ['model 4'],
  ['tool pay 7'],
  ['model 5'],
  ['tool note two'],
  ['model 6'],
];

/** Every work of an errand, and the repeated model call after the failed one. */
export const WORKS = [...STAGES.flat().map((what) => ({ what, nth: 1 })), { what: 'model 3', nth: 2 }];

/** The answer of every errand. */
export const ANSWER = 'Done: search=a, search=b, search=c, found look=far, note=one, pay=7, note=two.';

/** The usage of the last run of every errand, after the approval. */
export const USAGE = { inputTokens: 30, outputTokens: 13, totalTokens: 43 };

/** Returns the faults of a log: missing work, and keys that changed. */
export function faultsOf(works: readonly Work[]): readonly string[] {
  const missing = STAGES.flat().filter((what) => !works.some((work) => work.what === what));
  const changed = works.filter(({ what, key }) => works.some((work) => work.what === what && work.key !== key));
  return [
    ...missing.map((what) => `${what} did not run`),
    ...changed.map(({ what, key }) => `${what} has another key: ${key}`),
  ];
}

/**
 * Makes an agent that runs an errand. The answer is computed from all tool results. The third model call fails once with a
 * retryable error.
 */
export function errandAgent(options: ErrandOptions): Agent {
  const { engine, clock, approved = ['pay'] } = options;
  const nested = new Agent(
    engine.options({
      name: 'research',
      model: modelOf('nested', options, nestedResponse),
      tools: [workTool('look', options)],
      logger: keepingLogger(),
    }),
  );
  return new Agent(
    engine.options({
      model: modelOf('model', options, (messages) => errandResponse(messages, options.log)),
      tools: [
        ...['search', 'note', 'pay'].map((name) => workTool(name, options)),
        nested.asTool({ description: 'Looks.' }),
      ],
      lifecycle: [approval({ tools: approved })],
      logger: keepingLogger(),
      ...(clock && { clock }),
    }),
  );
}

/** Runs an errand. Suspended calls are approved by `decide`. */
export async function runErrand(
  agent: Agent,
  decide: (result: RunResult) => Promise<Record<string, 'approve'>>,
): Promise<RunResult> {
  let result = await agent.run('Run the errand.');
  while (result.status === 'suspended') {
    const resume = await decide(result);
    result = await agent.run('', { messages: result.history, resume });
  }
  return result;
}

/** Approves every pending call. */
export async function approveAll(result: Pick<RunResult, 'pending'>): Promise<Record<string, 'approve'>> {
  return Object.fromEntries(result.pending.map(({ id }) => [id, 'approve' as const]));
}

function modelOf(id: string, options: ErrandOptions, respond: (messages: readonly Message[]) => ModelResponse): Model {
  return {
    id,
    async generate({ messages }) {
      const work = { what: `${id} ${messages.filter(({ role }) => role === 'assistant').length + 1}` };
      await options.before?.(work);
      options.log.add(work);
      const response = respond(messages);
      await options.after?.(work);
      return response;
    },
  };
}

function errandResponse(messages: readonly Message[], log: WorkLog): ModelResponse {
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  if (turn === 2 && log.all().filter(({ what }) => what === 'model 3').length === 1) {
    throw Object.assign(new TypeError('The service is overloaded.'), { status: 503 });
  }
  const wanted = TURNS[turn];
  if (wanted === undefined) return answer(`Done: ${resultsOf(messages).join(', ')}.`);
  return {
    content: wanted.map(([name, input], index) => ({ type: 'tool-call', id: `call_${turn}_${index}`, name, input })),
    finishReason: 'tool-calls',
    usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
  };
}

function nestedResponse(messages: readonly Message[]): ModelResponse {
  const results = resultsOf(messages);
  if (results.length > 0) return answer(`found ${results.join()}`);
  return {
    content: [{ type: 'tool-call', id: 'look_1', name: 'look', input: { text: 'far' } }],
    finishReason: 'tool-calls',
    usage: { inputTokens: 3, outputTokens: 1, totalTokens: 4 },
  };
}

function answer(text: string): ModelResponse {
  const usage = { inputTokens: 20, outputTokens: 8, totalTokens: 28 };
  return { content: [{ type: 'text', text }], finishReason: 'stop', usage };
}

function resultsOf(messages: readonly Message[]): string[] {
  return messages.flatMap((message) =>
    message.role === 'tool' ? message.content.map(({ content }) => String(content)) : [],
  );
}

function workTool(name: string, { log, before, after }: ErrandOptions): Tool {
  return toolOf(name, async (input, { idempotencyKey }: ToolContext) => {
    const work = { what: `tool ${name} ${Object.values(input as object).join()}`, key: idempotencyKey };
    await before?.(work);
    log.add(work);
    await after?.(work);
    return `${name}=${Object.values(input as object).join()}`;
  });
}
