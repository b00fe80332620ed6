import type { ModelPart } from '../../model/model.js';
import { isObject, parseJson, textOr, type WireObject } from '../shared/wire.js';

/**
 * Puts the tool calls of a stream together from their fragments. By the protocol a fragment belongs to the call of its
 * `index`, and only the first one bears the id and the name. Servers that give every call the same index, or none, that
 * repeat the id, the name or whole arguments, or that cut the name, are understood too.
 */
export class CallFragments {
  private readonly calls: OpenCall[] = [];
  private readonly byIndex = new Map<unknown, OpenCall>();
  private readonly byId = new Map<unknown, OpenCall>();

  /** Returns the piece that the fragment adds to the arguments of its call. */
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
    call.arguments = joinedArguments(call.arguments, text);
    return inputDelta(call, text);
  }

  /** The calls as a whole answer has them, in the order in which they began. A place that nothing came for is none. */
  list(): readonly WireObject[] {
    const begun = this.calls.filter(({ id, name, arguments: text }) => id + name + text !== '');
    return begun.map(({ id, name, fields, called, arguments: text }) => ({
      id,
      ...(called && { function: { name, arguments: text } }),
      ...fields,
    }));
  }

  private callOf(fragment: WireObject): OpenCall {
    // A number, or the same as text.
    const index = fragment.index ?? undefined;
    const named = this.byId.get(fragment.id);
    const last = index === undefined ? this.calls.at(-1) : this.byIndex.get(index);
    const known = named && (index === undefined || index === named.index) ? named : last;
    if (known && !beginsAnother(known, fragment)) return known;
    const latest = this.calls.at(-1);
    if (latest && !known && goesOn(fragment)) return latest;
    const call = { index, id: '', name: '', arguments: '', fields: {}, called: false };
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
  fields: WireObject;
  called: boolean;
}

/**
 * Only a fragment with a name can begin a call. It does where its id is another, and where the call before it is whole and
 * it has a name or arguments of its own; a call without id may be made twice with the same. Before a call is whole, a name
 * alone may be a piece, or said again.
 */
function beginsAnother(call: OpenCall, fragment: WireObject): boolean {
  const called = isObject(fragment.function) ? fragment.function : {};
  const name = textOr(called.name);
  const text = argumentsText(called.arguments);
  if (name === '' || call.name === '') return false;
  if (call.id !== '' && fragment.id && fragment.id !== call.id) {
    return name !== call.name || call.arguments === '' || isWhole(call.arguments);
  }
  if (name !== call.name) return call.id === '' ? call.arguments + text !== '' : isWhole(call.arguments);
  const isNew = call.id === '' ? text !== '' : call.arguments !== '{}' && text !== call.arguments && isWhole(text);
  return isNew && isWhole(call.arguments);
}

/** With arguments alone, at a place where no call began: the place is wrong. */
function goesOn({ id, function: called }: WireObject): boolean {
  return !id && isObject(called) && !called.name && argumentsText(called.arguments) !== '';
}

/** A name may be said again, from its start or in whole, or go on. */
function joinedName(name: string, piece: string): string {
  return piece.startsWith(name) ? piece : name + piece;
}

/** Whole arguments are followed by no more: `{}` held their place, or they are said again. */
function joinedArguments(text: string, piece: string): string {
  const isAgain = text === '{}' || (text === piece && isWhole(text));
  return isAgain && piece.startsWith('{') ? piece : text + piece;
}

function argumentsText(given: unknown): string {
  return typeof given === 'string' ? given : (JSON.stringify(given ?? undefined) ?? '');
}

/** Looks at the end first, since a long text is asked at each of its pieces. */
function isWhole(text: string): boolean {
  return text.trimEnd().endsWith('}') && parseJson(text) !== undefined;
}
