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
  /** The run to which the step belongs. Undefined for a step outside a run. */
  readonly run?: Run | undefined;
}

/**
 * The record of a finished step that the engine stores as JSON: the result, the time, and the changes that the step
 * made to its run.
 */
export interface StepRecord {
  /** Time at the end of the step, in milliseconds since the epoch. */
  readonly at: number;
  /** The position of this result among all results of the execution, in the order in which the steps ended. */
  readonly number: number;
  readonly value?: JsonValue;
  readonly error?: FailureJson;
  /** The error with which the run was aborted during the step. */
  readonly aborted?: FailureJson;
  /** The number of runs around the run that were aborted with it. */
  readonly around?: number;
  readonly effects?: JsonValue;
}

/** The execution of a step's function in this attempt. Absent for a step whose stored result is returned. */
export interface Execution {
  readonly place: OpenStep;
  error?: unknown;
  /** Ends this attempt of the execution without a result of the step. */
  readonly lose: (error: unknown) => void;
}

/** A step whose function is running, with the codec that will encode its result. */
interface Recording {
  readonly request: StepRequest;
  readonly executed: Execution;
  readonly codec: Codec;
}

/** Calls the function of a step. Returns its result or its error in the form in which it is stored. */
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

/**
 * Encodes the changes that a step has made to its run, such as added messages. If they cannot be stored, the step
 * fails.
 */
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
 * Returns an error as JSON for the engine, and remembers the error itself for this attempt. Throws the error at once if
 * it is temporary, because it must not be stored.
 */
function storedError({ request, executed }: Recording, error: unknown): FailureJson {
  if (error instanceof BlobStoreError || (request.kind === 'session' && isTemporary(error))) throw error;
  executed.error = error;
  return failureToJson(error);
}
