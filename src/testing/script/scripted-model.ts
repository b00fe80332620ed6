import { type Clock, systemClock } from '../../internal/clock.js';
import { toolCallsOf } from '../../model/message.js';
import type { Model, ModelRequest, ModelResponse, Usage } from '../../model/model.js';
import { copyRequest } from './copy-request.js';
import { ScriptExhaustedError, ScriptUnfinishedError } from './error.js';
import { labelOf, playEntry, resolveUsage, type ScriptEntry, type ScriptedUsage } from './step.js';

/** How a scripted model presents itself, counts and keeps time. */
export interface ScriptedModelOptions {
  /** Default: `scripted`. */
  readonly id?: string | undefined;
  readonly provider?: string | undefined;
  /** Of each step that names none. Default: 10 tokens in, 5 out. */
  readonly usage?: ScriptedUsage | undefined;
  /**
   * Each run gets the whole script: the step is chosen by the assistant messages that the request holds, and call ids
   * count from `call_1` in each conversation. For many runs over one model. Default: false, one script for all calls.
   */
  readonly perRun?: boolean | undefined;
  /** Used by `delays`. Default: the machine's. */
  readonly clock?: Clock | undefined;
  /** Whether `requests` is kept. Turn it off under load: the copies grow with the square of the turns. Default: true. */
  readonly record?: boolean | undefined;
}

/** A model that answers as a test wrote down. */
export interface ScriptedModel extends Model {
  /** Each request, in the order of the calls, as it was at the call: a run's own list grows in place. */
  readonly requests: readonly ModelRequest[];
  /** Throws ScriptUnfinishedError where a step was not used, and ScriptExhaustedError where a call came too many. */
  assertDone(): void;
}

/**
 * Makes a model that plays one step a call; a call beyond the last rejects with ScriptExhaustedError. A text says itself,
 * a function computes its answer. One entry instead of a list answers every call.
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
      // As a client does: an aborted call never goes out, so it takes no step.
      if (request.signal?.aborted) return Promise.reject(request.signal.reason);
      return play.next(request);
    },
    assertDone: play.assertDone,
  };
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
      const unused = (steps ?? []).flatMap((step, at) => (used.has(at) ? [] : [`${at + 1}. ${labelOf(step)}`]));
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
