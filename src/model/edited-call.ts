import { toJson } from '../internal/json.js';
import { isSameData } from '../internal/plain-data.js';
import type { ToolCallPart, ToolResultPart } from './message.js';

type CallInput = Pick<ToolCallPart, 'input' | 'invalidInput' | 'editedInput'>;

/**
 * Returns a call with the arguments that a person entered. Returns the call without a change if they equal the
 * arguments of the model.
 */
export function withEdit({ editedInput: _before, ...call }: ToolCallPart, input: unknown): ToolCallPart {
  const isSame = call.invalidInput === undefined && isSameData(input, call.input);
  return isSame ? call : { ...call, editedInput: input };
}

/** Returns a call with the arguments to run: the ones that a person entered, or else the ones of the model. */
export function callAsRun<Call extends CallInput>(call: Call): Call {
  if (call.editedInput === undefined) return call;
  const { editedInput: input, invalidInput: _refused, ...own } = call;
  return { ...own, input } as Call;
}

/** Returns the arguments of a call to run. If the arguments are not JSON, returns the string of the model. */
export function inputOf(call: CallInput): unknown {
  const { input, invalidInput } = callAsRun(call);
  return invalidInput ?? input;
}

/** Adds a note for the model at the beginning of a result: a person has changed the arguments. */
export function withEditNote<Result extends Pick<ToolResultPart, 'content'>>(result: Result, input: unknown): Result {
  const note = `The person changed the arguments to ${toJson(input)}.`;
  const { content } = result;
  const noted = typeof content === 'string' ? `${note}\n${content}` : [{ type: 'text', text: note }, ...content];
  return { ...result, content: noted };
}
