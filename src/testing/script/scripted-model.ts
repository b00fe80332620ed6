import { type Clock, systemClock } from '../../internal/clock.js';
import { cloneData } from '../../internal/plain-data.js';
import { toolCallsOf } from '../../model/message.js';
import type { Model, ModelRequest, ModelResponse, Usage } from '../../model/model.js';
import { ScriptExhaustedError, ScriptUnfinishedError } from './error.js';
import { labelOf, playEntry, resolveUsage, type ScriptEntry, type ScriptedUsage } from './step.js';

/** Options of a scripted model. */
export interface ScriptedModelOptions {
  /** The id of the model. Default: `scripted`. */
  readonly id?: string | undefined;
  readonly provider?: string | undefined;
  /** The usage of each step that has none. Default: 10 input tokens and 5 output tokens. */
  readonly usage?: ScriptedUsage | undefined;
  /**
   * Lets each run play the whole script: the number of assistant messages in the request selects the step. Call ids
   * start at `call_1` in each conversation. Default: false, so that all runs share one script.
   */
  readonly perRun?: boolean | undefined;
  /** The clock of `delays`. Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Records `requests`. Turn it off for load tests, since memory grows with the square of the turns. Default: true. */
  readonly record?: boolean | undefined;
}

/** A model that gives scripted answers. */
export interface ScriptedModel extends Model {
  /** A copy of each request, in the order of the calls. Later turns of a run do not change the copies. */
  readonly requests: readonly ModelRequest[];
  /** Throws ScriptUnfinishedError if a step was not used, and ScriptExhaustedError if there were too many calls. */
  assertDone(): void;
}

/**
 * Creates a model that plays one step per call. A string answers with that text, and a function computes the answer. A
 * single entry instead of an array answers every call.
 *
 * A call after the last step rejects with ScriptExhaustedError.
 *
 * @example
 * const model = scriptedModel([calls('add', { a: 1, b: 2 }), says('3')]);
 * const result = await new Agent({ model, tools: [add] }).run('What is 1 + 2?');
 * model.assertDone();
 */
export function scriptedModel(
  script: readonly ScriptEntry[] | ScriptEntry,
  options: ScriptedModelOptions = {},
): ScriptedModel {
  const { id = 'scripted', provider, record = true } = options;
  const play = createPlayer(script, options);
  const requests: ModelRequest[] = [];
  return {
    id,
    provider,
    requests,
    generate(request) {
      if (record) requests.push(copyRequest(request));
      // An aborted call uses no step, because a real client would not send the call.
      if (request.signal?.aborted) return Promise.reject(request.signal.reason);
      return play.next(request);
    },
    assertDone: play.assertDone,
  };
}

const KEPT = ['toolChoice', 'output', 'settings', 'signal', 'onPart'] as const;

/** Copies a request with its messages and tools, which may change later. The signal and the callback are shared. */
function copyRequest(request: ModelRequest): ModelRequest {
  const copy: Record<string, unknown> = {
    messages: cloneData(request.messages),
    // Copies only the fields that a model is given, since a tool may be any object.
    tools: request.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  };
  for (const key of KEPT) if (request[key] !== undefined) copy[key] = request[key];
  return copy as unknown as ModelRequest;
}

interface Player {
  next(request: ModelRequest): Promise<ModelResponse>;
  assertDone(): void;
}

function createPlayer(script: readonly ScriptEntry[] | ScriptEntry, options: ScriptedModelOptions): Player {
  const { perRun = false, clock = systemClock } = options;
  const usage: Usage = resolveUsage(options.usage ?? { inputTokens: 10, outputTokens: 5 });
  const steps = Array.isArray(script) ? (script as readonly ScriptEntry[]) : undefined;
  const used = new Set<number>();
  let played = 0;
  let lastId = 0;
  let overrun: ScriptExhaustedError | undefined;
  return {
    async next(request) {
      const index = perRun ? turnsIn(request) : played++;
      const entry = steps === undefined ? (script as ScriptEntry) : steps[index];
      if (entry === undefined) {
        overrun = new ScriptExhaustedError(index + 1, steps?.length ?? 0, copyRequest(request).messages);
        throw overrun;
      }
      used.add(index);
      let ids = perRun ? callsIn(request) : 0;
      return playEntry(entry, { request, clock, usage, nextId: () => `call_${perRun ? ++ids : ++lastId}` });
    },
    assertDone() {
      if (overrun !== undefined) throw overrun;
      const unused = (steps ?? []).flatMap((step, index) =>
        used.has(index) ? [] : [`${index + 1}. ${labelOf(step)}`],
      );
      if (unused.length > 0) throw new ScriptUnfinishedError(unused, steps?.length ?? 0);
    },
  };
}

function turnsIn(request: ModelRequest): number {
  return request.messages.filter((message) => message.role === 'assistant').length;
}

function callsIn(request: ModelRequest): number {
  return request.messages.reduce((sum, message) => sum + toolCallsOf(message).length, 0);
}
