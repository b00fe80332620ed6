import {
  Agent,
  type AgentEvent,
  type AgentLifecycle,
  type AssistantPart,
  type Clock,
  type Decision,
  HookAction,
  MemorySessionStore,
  type Message,
  type Model,
  type ModelCallNext,
  type ModelCallRequest,
  ModelError,
  type ModelResponse,
  messagesOf,
  type ResumeDecisions,
  type RunContext,
  type Tool,
  type ToolCallNext,
  type ToolCallRequest,
  type ToolResult,
  toolCallsOf,
} from 'keelson';
import { recorder } from 'keelson/testing';
import { settled } from '../../lifecycle/manual-clock.js';
import { keepingLogger } from '../../lifecycle/sample-agent.js';
import { transcript } from '../transcript.js';
import type { Case, Decide, Outcome, Part, Thread, ThreadAct, Wrap, WrapAct } from './case.js';
import { THREADS, WRAPS } from './case.js';
import { placeOf } from './hooks.js';

const usage = { inputTokens: 1, outputTokens: 0, totalTokens: 1 };

/** State that is kept between runs. */
interface World {
  readonly given: Case;
  /** Returns true if the next call of the hook is asynchronous. */
  readonly late: () => boolean;
  readonly log: string[];
  readonly fired: Record<string, number>;
  readonly store: MemorySessionStore;
  modelCalls: number;
}

/** Executes a case with real agents, one for each run, and copies the shared state through JSON. */
export async function play(given: Case, late: () => boolean): Promise<readonly Outcome[]> {
  const world: World = { given, late, log: [], fired: {}, store: new MemorySessionStore(), modelCalls: 0 };
  const outcomes: Outcome[] = [];
  let history: readonly Message[] = [];
  for (const decide of given.runs) {
    const from = given.inSession
      ? messagesOf((await world.store.load('s'))?.entries ?? [])
      : JSON.parse(JSON.stringify(history));
    world.log.length = 0;
    const { result, error } = await playRun(world, decide, from);
    const log = [...world.log];
    // Lets abandoned wrap hooks finish.
    if (log.some((line) => line.endsWith('run.end at end'))) for (let i = 0; i < 12; i += 1) await settled();
    const ended = result ?? error;
    if (!Array.isArray(ended.history)) throw error;
    history = ended.history;
    outcomes.push({
      log,
      decisions: result ? result.decisions.map(decision) : log.flatMap((line) => line.split('decision ')[1] ?? []),
      messages: lines(ended.messages),
      history: lines(history),
      end: result ? `${result.status}: ${result.text}` : endOf(error),
      tokens: ended.usage.totalTokens,
      pending: (result?.pending ?? []).map(({ id }: { readonly id: string }) => id),
      stored: lines(messagesOf((await world.store.load('s'))?.entries ?? [])),
    });
  }
  return outcomes;
}

// biome-ignore lint/suspicious/noExplicitAny: the whole outcome of a run is compared with the prediction.
async function playRun(world: World, { input, approved }: Decide, from: readonly Message[]): Promise<any> {
  const { given, log } = world;
  const agent = new Agent({
    model: modelOf(world),
    tools: ['a', 'b', 'c'].map((name) => toolNamed(name, log)),
    lifecycle: given.parts.map((part) => lifecycleOf(part, world)),
    maxTurns: { limit: given.maxTurns, atLimit: given.lastWord ? 'answer' : 'throw' },
    parallelToolCalls: given.parallel,
    store: world.store,
    logger: keepingLogger(),
    clock: roundClock,
  });
  recorder().listenTo({ on: (type, _) => agent.on(type, (event) => void log.push(show(event as AgentEvent))) });
  const open = [...openIds(from), ...openAnswer(lines(from))];
  const resume = Object.fromEntries(open.map((id, at) => [id, approved[at % approved.length] ? 'approve' : 'deny']));
  const text = open.length > 0 && !input ? '' : 'in';
  const options = open.length > 0 ? { resume: resume as ResumeDecisions } : {};
  const running = given.inSession
    ? (await agent.session({ id: 's' })).run(text, options)
    : agent.run(text, { ...options, messages: from });
  return running.then(
    (result) => ({ result }),
    (error) => ({ error }),
  );
}

function openIds(messages: readonly Message[]): readonly string[] {
  const results = messages.flatMap((message) => (message.role === 'tool' ? message.content.map(({ id }) => id) : []));
  return messages.flatMap((message) => toolCallsOf(message).map(({ id }) => id)).filter((id) => !results.includes(id));
}

function openAnswer(history: readonly string[]): readonly string[] {
  const last = history.findLast((line) => !line.startsWith('user: '));
  return last?.startsWith('assistant?: ') ? ['answer'] : [];
}

/** A clock that counts event loop rounds, so that a hanging hook times out and a late hook does not. */
const roundClock: Clock = {
  now: () => 0,
  setTimeout(callback, ms) {
    const timer = { left: ms };
    const tick = () => {
      timer.left -= 1;
      if (timer.left > 0) setImmediate(tick);
      else if (timer.left === 0) callback();
    };
    setImmediate(tick);
    return timer;
  },
  clearTimeout(handle) {
    (handle as { left: number }).left = 0;
  },
};

function endOf(error: { code: string; by?: string; lifecycle?: string; point?: string }): string {
  switch (error.code) {
    case 'ERR_RUN_REJECTED':
      return `reject by ${error.by} at ${error.point}`;
    case 'ERR_LIFECYCLE_FAILED':
      return `failed by ${error.lifecycle} at ${error.point}`;
    case 'ERR_MODEL_FAILED':
      return 'model';
    case 'ERR_TURN_LIMIT':
      return 'limit';
    default:
      return String(error);
  }
}

function lines(messages: readonly Message[]): readonly string[] {
  const mute = (message: Message): Message =>
    message.role !== 'tool'
      ? message
      : { ...message, content: message.content.map((part) => (part.isError ? { ...part, content: '' } : part)) };
  return transcript(messages.map(mute));
}

function decision({ type, by, point }: Decision): string {
  return `${type} by ${by} at ${point}`;
}

function show(event: AgentEvent): string {
  switch (event.type) {
    case 'run-start':
      return `run-start ${event.input}`;
    case 'run-end':
      return event.result ? 'run-end result' : 'run-end';
    case 'turn-start':
    case 'turn-end':
    case 'model-start':
      return `${event.type} ${event.turn}`;
    case 'model-end':
      return `model-end ${event.turn}${event.response ? ` ${content(event.response.content)}` : ''}`;
    case 'tool-start':
      return `tool-start ${event.callId}`;
    case 'tool-end':
      return `tool-end ${event.callId}${event.result === undefined ? '' : resultOf(event.result)}`;
    case 'decision':
      return `decision ${decision(event.decision)}`;
    default:
      return event.type;
  }
}

function resultOf({ content: given, isError }: ToolResult): string {
  return isError ? '!' : `=${given}`;
}

function content(parts: readonly AssistantPart[]): string {
  return transcript([{ role: 'assistant', content: parts }])[0]?.slice('assistant: '.length) ?? '';
}

function modelOf(world: World): Model {
  return {
    id: 'scripted',
    async generate({ messages, tools, settings }) {
      const at = world.modelCalls++;
      const names = tools.map(({ name }) => name).join('');
      world.log.push(`model ${messages.length} ${names} ${settings?.stopSequences?.join('') ?? ''}`);
      const step = world.given.script[at] ?? 'says';
      if (step === 'fails') throw new Error('down');
      if (step === 'says') return { content: [{ type: 'text', text: `said ${at}` }], finishReason: 'stop', usage };
      const calls = step.calls.map((name, index) => ({
        type: 'tool-call' as const,
        id: `c${at}.${index}`,
        name,
        input: name === 'c' ? 'bad' : '1',
      }));
      return { content: calls, finishReason: step.cut ? 'length' : 'tool-calls', usage };
    },
  };
}

function toolNamed(name: string, log: string[]): Tool {
  return {
    name,
    description: name,
    inputSchema: { type: 'string' },
    check: (value) => (value === 'bad' ? { issues: [{ message: 'bad' }] } : { value }),
    execute(input) {
      log.push(`tool ${name} ${input}`);
      if (name === 'b') throw new Error('b breaks');
      return String(input);
    },
  };
}

function lifecycleOf(part: Part, { log, late, fired }: World): AgentLifecycle {
  const hooks: Record<string, unknown> = {};
  const act = (point: Thread | Wrap, id = '') => {
    const acts = part.acts[point] ?? [];
    if (point === 'wrapToolCall') return acts[placeOf(id) % acts.length];
    const key = `${part.name} ${point}`;
    const count = fired[key] ?? 0;
    fired[key] = count + 1;
    return acts[count % acts.length];
  };
  for (const point of THREADS) {
    if (part.acts[point] === undefined) continue;
    hooks[point] = (value: never, run: RunContext) => {
      log.push(`${part.name}.${point}`);
      const does = act(point) as ThreadAct;
      const then = () => threadAct({ part, point, act: does }, value, run);
      return late() ? settled().then(then) : then();
    };
  }
  for (const point of WRAPS) {
    if (part.acts[point] === undefined) continue;
    hooks[point] = (value: ModelCallRequest | ToolCallRequest, next: never) => {
      log.push(`${part.name}.${point}>`);
      const does = act(point, 'id' in value ? value.id : '') as WrapAct;
      // A message that a parallel wrap hook adds may come before or after the end of the run.
      const then = () => {
        const isOver = does === 'adds' && log.some((line) => line.endsWith('run.end at end'));
        return wrapAct({ part, point, act: isOver ? 'hands on' : does }, value, next);
      };
      return late() ? settled().then(then) : then();
    };
  }
  const { name, priority, onFailure } = part;
  return {
    name,
    priority,
    onFailure,
    timeoutMs: part.isTimed ? 30 : undefined,
    ...hooks,
    onError: () => void log.push(`${name}.onError`),
  };
}

interface ThreadDeed {
  readonly part: Part;
  readonly point: Thread;
  readonly act: ThreadAct;
}

interface WrapDeed {
  readonly part: Part;
  readonly point: Wrap;
  readonly act: WrapAct;
}

function threadAct({ part, point, act }: ThreadDeed, value: unknown, run: RunContext): unknown {
  const { name, isTimed } = part;
  switch (act) {
    case 'passes':
      return undefined;
    case 'continues':
      return HookAction.Continue;
    case 'approves':
      return HookAction.Approve;
    case 'rejects':
      return HookAction.reject('no');
    case 'responds':
      return HookAction.respond(name);
    case 'suspends':
      return HookAction.suspend('ask');
    case 'hangs':
      if (isTimed) return new Promise(() => {});
      throw new RangeError('boom');
    case 'throws':
      throw new RangeError('boom');
    case 'is wrong':
      return 7;
    case 'adds':
      return run.add({ role: 'user', content: `${name} adds` });
    case 'ends well':
      return run.end(HookAction.respond('ended'));
    case 'ends badly':
      return run.end(HookAction.reject('ended'));
    default:
      return changed({ name, point, act }, value);
  }
}

function changed(
  { name, point, act }: { readonly name: string; readonly point: Thread; readonly act: 'changes' | 'compacts' },
  value: unknown,
): unknown {
  if (point === 'beforeModel') {
    const list = value as readonly Message[];
    return act === 'compacts' ? [{ role: 'user', content: 'short' }] : [...list, { role: 'user', content: name }];
  }
  if (point === 'beforeToolSelection') return (value as readonly Tool[]).slice(1);
  if (point !== 'afterModel') return `${value}+${name}`;
  const response = value as ModelResponse;
  const texts = response.content.filter(({ type }) => type === 'text');
  const calls = response.content.filter(({ type }) => type !== 'text');
  return HookAction.modify({ ...response, content: [...texts, { type: 'text', text: name }, ...calls] });
}

async function wrapAct(
  { part, point, act }: WrapDeed,
  value: ModelCallRequest | ToolCallRequest,
  next: ModelCallNext & ToolCallNext,
): Promise<unknown> {
  const { name, isTimed } = part;
  const isTool = point === 'wrapToolCall';
  const own = isTool
    ? { content: name }
    : {
        content: [{ type: 'text', text: name }],
        finishReason: 'stop',
        usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
      };
  switch (act) {
    case 'hands on':
      return next();
    case 'calls twice':
      await next();
      return next();
    case 'changes what goes in':
      return next(
        (isTool
          ? { ...value, input: name }
          : {
              ...value,
              settings: {
                ...(value as ModelCallRequest).settings,
                stopSequences: [...((value as ModelCallRequest).settings?.stopSequences ?? []), name],
              },
            }) as never,
      );
    case 'changes what comes out':
      await next();
      return own;
    case 'answers itself':
      return own;
    case 'denies':
      return { content: 'denied', isError: true };
    case 'recovers':
      return next().catch((error: unknown) => (error instanceof ModelError ? next() : Promise.reject(error)));
    case 'replaces a failure':
      return next().catch((error: unknown) => (error instanceof ModelError ? own : Promise.reject(error)) as never);
    case 'adds':
      value.run.add({ role: 'user', content: `${name} adds` });
      return next();
    case 'throws before':
      throw new RangeError('boom');
    case 'hangs before':
      if (isTimed) return new Promise(() => {});
      throw new RangeError('boom');
    case 'hangs after':
      await next();
      if (isTimed) return new Promise(() => {});
      throw new RangeError('boom');
    case 'throws after':
      await next();
      throw new RangeError('boom');
    case 'is wrong':
      return 7;
    case 'suspends':
      return HookAction.suspend('ask');
    case 'ends well':
      value.run.end(HookAction.respond('ended'));
      return next();
    case 'ends badly':
      value.run.end(HookAction.reject('ended'));
      return next();
  }
}
