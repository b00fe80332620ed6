import type { Clock } from '../../internal/clock.js';
import type { Awaitable } from '../../internal/promise.js';
import { untilAborted } from '../../internal/stop.js';
import type { AssistantPart, ToolCallPart } from '../../model/message.js';
import type { FinishReason, ModelPart, ModelRequest, ModelResponse, Usage } from '../../model/model.js';
import { quote } from './describe-messages.js';
import { ScriptedFailureError } from './error.js';

/**
 * The answer of a scripted model to one call. Functions such as `says` and `fails` create steps; write one yourself for
 * other behaviour.
 */
export interface ScriptStep {
  /** The name of the step in error messages, such as `says("done")`. */
  readonly label: string;
  /** Answers one call. */
  readonly play: (call: ScriptCall) => Promise<ModelResponse>;
}

/** One call of a scripted model. */
export interface ScriptCall {
  readonly request: ModelRequest;
  readonly clock: Clock;
  /** The usage of a step that has none. */
  readonly usage: Usage;
  /** Returns a tool call id that the script has not used yet. */
  nextId(): string;
}

/** A step, a string that the model answers with, or a function that returns an entry or a whole response. */
export type ScriptEntry = ScriptStep | string | ((request: ModelRequest) => Awaitable<ScriptEntry | ModelResponse>);

/** Token usage of one step. A missing total is computed as the sum. */
export type ScriptedUsage = Omit<Usage, 'totalTokens'> & { readonly totalTokens?: number | undefined };

/** A tool call of a scripted model. A missing id is generated: `call_1`, `call_2` and so on. */
export type ScriptedCall = Omit<ToolCallPart, 'type' | 'id' | 'input'> & {
  readonly id?: string | undefined;
  /** The arguments of the tool call. Default: `{}`. */
  readonly input?: unknown;
};

/** The parts of an answer other than its text. */
export interface AnswerOptions {
  /** Reasoning before the text. */
  readonly reasoning?: string | undefined;
  /** Tool calls after the text. */
  readonly calls?: readonly ScriptedCall[] | undefined;
  /** Token usage. Default: the usage of the model, 10 input tokens and 5 output tokens. */
  readonly usage?: ScriptedUsage | undefined;
  /** The reason why the answer ended. Default: `tool-calls` if there are calls, `stop` otherwise. */
  readonly finishReason?: FinishReason | undefined;
}

/**
 * Answers with this text. If the request has a listener, the text is first sent in up to three deltas.
 *
 * @example
 * const model = scriptedModel([says('Hello.'), says('42', { reasoning: 'Six times seven.' })]);
 */
export function says(text: string, options: AnswerOptions = {}): ScriptStep {
  return {
    label: `says(${quote(text)})`,
    play: async (call) => {
      const { reasoning = '' } = options;
      await push([...deltasOf('reasoning-delta', reasoning), ...deltasOf('text-delta', text)], call.request);
      return answer({ ...options, reasoning, text }, call);
    },
  };
}

/**
 * Calls tools: one by name and arguments, or several at once. To add text or usage, see the `calls` option of
 * {@link says}.
 *
 * @example
 * calls('add', { a: 1, b: 2 });
 * calls({ name: 'add', input: { a: 1, b: 2 } }, { name: 'add', input: { a: 3, b: 4 } });
 */
export function calls(name: string, input?: unknown): ScriptStep;
export function calls(call: ScriptedCall, ...more: readonly ScriptedCall[]): ScriptStep;
export function calls(first: string | ScriptedCall, ...rest: readonly unknown[]): ScriptStep {
  const list =
    typeof first === 'string' ? [{ name: first, input: rest[0] }] : [first, ...(rest as readonly ScriptedCall[])];
  return { ...says('', { calls: list }), label: `calls(${list.map((call) => call.name).join(', ')})` };
}

/**
 * Rejects with this value. A string becomes the message of a ScriptedFailureError. To imitate a provider's error, pass
 * an error with `status` and `retryAfterMs`. By default `retryModelCalls` retries only errors with a retryable status,
 * such as 503.
 *
 * @example
 * const overloaded = Object.assign(new Error('overloaded'), { status: 529 });
 * const model = scriptedModel([fails(overloaded), says('Hello.')]);
 * const agent = new Agent({ model, lifecycle: [retryModelCalls()] });
 */
export function fails(error: unknown = new ScriptedFailureError()): ScriptStep {
  const reason = typeof error === 'string' ? new ScriptedFailureError(error) : error;
  return { label: 'fails()', play: () => Promise.reject(reason) };
}

/**
 * Waits on the clock of the model, then plays the step. If the request is aborted, the wait ends and the call rejects.
 *
 * @example
 * const model = scriptedModel([delays(50, says('Late.'))]);
 */
export function delays(ms: number, entry: ScriptEntry): ScriptStep {
  return {
    label: `delays(${ms}, ${labelOf(entry)})`,
    play: async (call) => {
      await wait(ms, call);
      return playEntry(entry, call);
    },
  };
}

/**
 * Streams exactly these parts, then answers with the joined text and reasoning. A string is sent as a text delta.
 *
 * If `entry` is given, it is played after the parts instead, without streaming. `streams(['Hel'], fails())` is a stream
 * that breaks off.
 *
 * @example
 * const model = scriptedModel([streams(['Hel', 'lo.']), streams(['Hel'], fails())]);
 */
export function streams(parts: readonly (string | ModelPart)[], entry?: ScriptEntry): ScriptStep {
  const deltas = parts.map((part): ModelPart => (typeof part === 'string' ? { type: 'text-delta', text: part } : part));
  const joined = (type: ModelPart['type']) => deltas.map((part) => (part.type === type ? part.text : '')).join('');
  const shown = quote(joined('text-delta'));
  return {
    label: entry === undefined ? `streams(${shown})` : `streams(${shown}, ${labelOf(entry)})`,
    play: async (call) => {
      await push(deltas, call.request);
      if (entry !== undefined) return playEntry(entry, { ...call, request: { ...call.request, onPart: undefined } });
      return answer({ reasoning: joined('reasoning-delta'), text: joined('text-delta') }, call);
    },
  };
}

/**
 * Never answers. Rejects when the request is aborted, unless `deaf` is true.
 *
 * @example
 * const agent = new Agent({ model: scriptedModel([hangs()]) });
 * await expect(agent.run('Hello', { signal: AbortSignal.timeout(20) })).rejects.toThrow(RunAbortedError);
 */
export function hangs(options: { readonly deaf?: boolean } = {}): ScriptStep {
  return {
    label: 'hangs()',
    play: ({ request: { signal } }) => aborted(options.deaf ? undefined : signal),
  };
}

/** Rejects when the signal aborts, and never resolves. */
export function aborted(signal: AbortSignal | undefined): Promise<never> {
  return untilAborted(signal, new Promise<never>(() => {}));
}

/**
 * Resolves with exactly this value, even if it is not a valid response. Use it to test how a run handles a bad model.
 *
 * @example
 * const agent = new Agent({ model: scriptedModel([responds({ content: 'no response' })]) });
 * await expect(agent.run('Hello')).rejects.toThrow(ModelError);
 */
export function responds(response: unknown): ScriptStep {
  return { label: 'responds()', play: () => Promise.resolve(response as ModelResponse) };
}

/** Plays an entry: a string, a function, a step or a whole response. */
export async function playEntry(entry: ScriptEntry | ModelResponse, call: ScriptCall): Promise<ModelResponse> {
  if (typeof entry === 'string') return says(entry).play(call);
  if (typeof entry === 'function') return playEntry(await entry(call.request), call);
  return isStep(entry) ? entry.play(call) : entry;
}

/** Returns the name of an entry for error messages. */
export function labelOf(entry: ScriptEntry): string {
  if (typeof entry === 'string') return `says(${quote(entry)})`;
  return typeof entry === 'function' ? 'a function' : entry.label;
}

/** Returns the usage with its total. A missing total is computed as the sum. */
export function resolveUsage(usage: ScriptedUsage): Usage {
  return { ...usage, totalTokens: usage.totalTokens ?? usage.inputTokens + usage.outputTokens };
}

function isStep(entry: ScriptStep | ModelResponse): entry is ScriptStep {
  return typeof (entry as ScriptStep | undefined)?.play === 'function';
}

function answer(options: AnswerOptions & { readonly text: string }, call: ScriptCall): ModelResponse {
  const { reasoning, text, calls: toolCalls = [], usage, finishReason } = options;
  const content: AssistantPart[] = [];
  if (reasoning) content.push({ type: 'reasoning', text: reasoning });
  if (text !== '' || toolCalls.length === 0) content.push({ type: 'text', text });
  for (const { id, input, ...rest } of toolCalls) {
    content.push({ type: 'tool-call', id: id ?? call.nextId(), input: input ?? {}, ...rest });
  }
  return {
    content,
    finishReason: finishReason ?? (toolCalls.length > 0 ? 'tool-calls' : 'stop'),
    usage: usage === undefined ? call.usage : resolveUsage(usage),
  };
}

async function push(parts: readonly ModelPart[], { onPart, signal }: ModelRequest): Promise<void> {
  if (onPart === undefined) return;
  for (const part of parts) {
    onPart(part);
    // Lets a consumer react to each part, or abort between two parts.
    await Promise.resolve();
    signal?.throwIfAborted();
  }
}

async function wait(ms: number, { request: { signal }, clock }: ScriptCall): Promise<void> {
  let timer: unknown;
  const waiting = new Promise<void>((resolve) => {
    timer = clock.setTimeout(resolve, ms);
  });
  await untilAborted(signal, waiting).finally(() => clock.clearTimeout(timer));
}

/** Splits a string into at most three deltas, without cutting a code point in two. */
function deltasOf(type: 'text-delta' | 'reasoning-delta', text: string): readonly ModelPart[] {
  const characters = Array.from(text);
  const size = Math.ceil(characters.length / 3);
  const deltas: ModelPart[] = [];
  for (let start = 0; start < characters.length; start += size) {
    deltas.push({ type, text: characters.slice(start, start + size).join('') });
  }
  return deltas;
}
