import type { Run } from '../../agent/run/run.js';
import type { JsonValue } from '../../internal/json.js';
import { isPromise } from '../../internal/promise.js';
import { BlobStoreError, isTemporary } from '../error.js';
import type { StepInfo } from '../step.js';
import type { Codec } from './codec.js';
import { type FailureJson, failureToJson } from './failure.js';
import { type StepScope, withoutArguments } from './scope.js';
import type { OpenStep } from './step-order.js';

/** A step to run. */
export interface StepRequest extends StepInfo {
  readonly name: string;
  /** The run that the step belongs to. */
  readonly run?: Run | undefined;
}

/** The JSON value that the engine stores for a step. */
export interface StepRecord {
  /** Time at the end of the step, in milliseconds since the epoch. */
  readonly at: number;
  /** The position of the result in the order of the results of parallel steps. */
  readonly number: number;
  readonly value?: JsonValue;
  readonly error?: FailureJson;
  /** The error of a run that was aborted during the step. */
  readonly aborted?: FailureJson;
  /** The number of enclosing runs that were aborted too. */
  readonly around?: number;
  readonly effects?: JsonValue;
}

/** A call of a step's function in this process. */
export interface Execution {
  readonly place: OpenStep;
  error?: unknown;
  /** Rejects the step, and ends this attempt. */
  readonly lose: (error: unknown) => void;
}

/** A step whose function is running, and the codec for its record. */
interface Recording {
  readonly request: StepRequest;
  readonly executed: Execution;
  readonly codec: Codec;
}

/** Calls the function of a step, and encodes its result or its error. */
export async function outcomeOf(
  recording: Recording,
  work: () => Promise<unknown>,
): Promise<Pick<StepRecord, 'value' | 'error'>> {
  try {
    const json = recording.codec.encode(await work(), recording.request);
    return { value: isPromise(json) ? await json : json };
  } catch (error) {
    return { error: storedError(recording, error) };
  }
}

/** Encodes the effects of a step on its run. If the effects cannot be stored, the step fails. */
export async function effectsOf(
  recording: Recording,
  scope: StepScope,
): Promise<Pick<StepRecord, 'effects' | 'error'> | undefined> {
  const { request, codec } = recording;
  const effects = scope.effects();
  if (effects === undefined) return undefined;
  const place = { ...request, key: `${request.key}:effects` };
  try {
    return { effects: await codec.encode(effects, place) };
  } catch (error) {
    const failure = storedError(recording, error);
    return { error: failure, effects: await codec.encode(withoutArguments(effects), place) };
  }
}

/**
 * Returns the JSON of an error. This attempt throws the error itself. Throws the error at once if it must not be
 * stored.
 */
function storedError({ request, executed }: Recording, error: unknown): FailureJson {
  if (error instanceof BlobStoreError || (request.kind === 'session' && isTemporary(error))) throw error;
  executed.error = error;
  return failureToJson(error);
}
