import type { ModelPart } from '../../../model/model.js';
import { isObject, parseJson, textOr, type WireObject } from '../../shared/wire.js';
import { ObjectEnd } from './object-end.js';

/**
 * Assembles tool calls from the deltas of a stream. In the protocol, `index` identifies a call, and only its first
 * fragment has the id and the name.
 *
 * Also accepts servers that send one index for all calls or no index. Ids, names or arguments may be repeated, and
 * names may be split.
 */
export class CallFragments {
  private readonly calls: OpenCall[] = [];
  private readonly byIndex = new Map<unknown, OpenCall>();
  private readonly byId = new Map<unknown, OpenCall>();

  /** Adds a fragment of a tool call. Returns the arguments in it as a delta. */
  add(fragment: WireObject): ModelPart {
    const { index, id, type, function: called, ...fields } = fragment;
    const call = this.callOf(fragment);
    if (call.id === '') call.id = textOr(id);
    if (call.id !== '') this.byId.set(call.id, call);
    call.fields = { ...call.fields, ...fields };
    if (!isObject(called)) return inputDelta(call, '');
    call.called = true;
    if (call.name === '' || call.arguments === '') call.name = joinedName(call.name, textOr(called.name));
    const text = argumentsText(called.arguments);
    addArguments(call, text);
    return inputDelta(call, text);
  }

  /**
   * Returns the assembled tool calls, in the order in which they began. Drops a call without an id, a name and
   * arguments.
   */
  list(): readonly WireObject[] {
    const begun = this.calls.filter(({ id, name, arguments: text }) => id + name + text !== '');
    return begun.map(({ id, name, fields, called, arguments: text }) =>
      called ? { id, function: { name, arguments: text }, ...fields } : { id, ...fields },
    );
  }

  private callOf(fragment: WireObject): OpenCall {
    // Some servers send the index as a string.
    const index = fragment.index ?? undefined;
    const named = this.byId.get(fragment.id);
    const last = index === undefined ? this.calls.at(-1) : this.byIndex.get(index);
    const known = named && (index === undefined || index === named.index) ? named : last;
    if (known && !beginsAnother(known, fragment)) return known;
    const latest = this.calls.at(-1);
    if (latest && !known && continuesLatest(fragment)) return latest;
    const call = { index, id: '', name: '', arguments: '', end: new ObjectEnd(), fields: {}, called: false };
    this.calls.push(call);
    this.byIndex.set(index, call);
    return call;
  }
}

function inputDelta({ id, name }: OpenCall, text: string): ModelPart {
  return { type: 'tool-input-delta', id, name, text };
}

interface OpenCall {
  readonly index: unknown;
  id: string;
  name: string;
  arguments: string;
  /** Finds the end of the JSON in `arguments`. */
  end: ObjectEnd;
  fields: WireObject;
  called: boolean;
}

/**
 * True if a fragment begins a new tool call. A fragment without a name never does.
 *
 * Some servers change the id with each fragment. So if the name is the same, the fragment begins a new call only if the
 * earlier arguments are complete or empty. Without ids, a name may be a repetition, or the next piece of the earlier
 * name.
 */
function beginsAnother(call: OpenCall, fragment: WireObject): boolean {
  const called = isObject(fragment.function) ? fragment.function : {};
  const name = textOr(called.name);
  const text = argumentsText(called.arguments);
  if (name === '' || call.name === '') return false;
  if (call.id !== '' && fragment.id && fragment.id !== call.id) {
    return name !== call.name || call.arguments === '' || hasCompleteArguments(call);
  }
  if (name !== call.name) return call.id === '' ? call.arguments + text !== '' : hasCompleteArguments(call);
  const isNew = call.id === '' ? text !== '' : call.arguments !== '{}' && text !== call.arguments && isComplete(text);
  return isNew && hasCompleteArguments(call);
}

/**
 * True for a fragment that has an unknown index and only arguments. The server sent a wrong index, so the fragment
 * continues the latest call.
 */
function continuesLatest({ id, function: called }: WireObject): boolean {
  return !id && isObject(called) && !called.name && argumentsText(called.arguments) !== '';
}

/** Adds a piece to the name of a tool. A server may send the next piece, or repeat the name from its start. */
function joinedName(name: string, piece: string): string {
  return piece.startsWith(name) ? piece : name + piece;
}

/**
 * Adds a piece to the arguments of a call. Some servers repeat complete arguments, and others first send `{}` as a
 * placeholder.
 */
function addArguments(call: OpenCall, piece: string): void {
  const isAgain = call.arguments === '{}' || (call.arguments === piece && isComplete(piece));
  const isReplaced = isAgain && piece.startsWith('{');
  if (isReplaced) call.end = new ObjectEnd();
  call.arguments = isReplaced ? piece : call.arguments + piece;
  call.end.add(piece);
}

function argumentsText(given: unknown): string {
  return typeof given === 'string' ? given : (JSON.stringify(given ?? undefined) ?? '');
}

function isComplete(text: string): boolean {
  return text.trimEnd().endsWith('}') && parseJson(text) !== undefined;
}

/**
 * True if the arguments of a call are complete. Parses them only if their braces are balanced, because parsing long
 * arguments again for each fragment would be slow.
 */
function hasCompleteArguments({ end, arguments: text }: OpenCall): boolean {
  return end.isReached() && parseJson(text) !== undefined;
}
