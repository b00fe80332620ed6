import { ToolInvalidError } from '../errors.js';
import { isObject } from '../internal/json.js';
import { withAdditions } from '../tools/additions.js';
import { describeIssues } from '../tools/standard-schema.js';
import type { Tool } from '../tools/tool.js';
import type { Augmented } from './context-block.js';

/** A tool call that gets the context of concepts, with the tool that checks its arguments. */
export interface CheckedCall {
  /** The called tool. Undefined if the tool is unknown; the first place is then used without a check. */
  readonly tool: Tool | undefined;
  readonly input: Readonly<Record<string, unknown>>;
}

/**
 * Returns the first field or property of the arguments that can hold the context, by the schema of the tool. Returns
 * undefined if the schema removes or forbids all of them.
 *
 * Throws ToolInvalidError if the schema refuses the context in a text field, for example as too long, and accepts it in
 * no other text field.
 */
export async function acceptedPlace(call: CheckedCall, places: readonly Augmented[]): Promise<Augmented | undefined> {
  if (call.tool === undefined) return places[0];
  let refusal: string | undefined;
  for (const place of places) {
    if ('key' in place) {
      if (refusal === undefined && (await reachesAsAddition(call, place))) return place;
      continue;
    }
    const checked = await call.tool.check({ ...call.input, [place.field]: place.text });
    if (checked.issues !== undefined) {
      refusal ??= `\`${place.field}\` does not accept the context: ${describeIssues(checked.issues)}`;
    } else if (!isObject(checked.value) || Object.hasOwn(checked.value, place.field)) return place;
  }
  if (refusal !== undefined) throw new ToolInvalidError(call.tool.name, refusal);
  return undefined;
}

async function reachesAsAddition(
  { tool, input }: CheckedCall,
  { key, context }: { readonly key: string; readonly context: string },
): Promise<boolean> {
  if (tool === undefined) return true;
  const added = { [key]: context };
  const plain = await tool.check(input);
  // Arguments that are invalid without the context are not checked here: an inner hook may fix them.
  const value = plain.issues === undefined ? plain.value : input;
  const reached = withAdditions(tool, value, added);
  if (!isObject(reached) || reached[key] !== context) return false;
  return plain.issues !== undefined || (await tool.check({ ...input, ...added })).issues === undefined;
}
