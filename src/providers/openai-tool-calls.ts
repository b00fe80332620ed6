import { isObject, parseJson, textOr, type WireObject } from './wire.js';

/**
 * Puts the tool calls of a stream together from their fragments. By the protocol a fragment belongs to the call of its
 * `index`, and only the first one bears the id and the name. Servers that give every call the same index, or none, that
 * repeat the id, the name or whole arguments, or that cut the name, are understood too.
 */
export class CallFragments {
  private readonly calls: OpenCall[] = [];
  private readonly byIndex = new Map<unknown, OpenCall>();

  /** Returns what the fragment adds to the arguments of its call. */
  add(fragment: WireObject): string {
    const { index, id, type, function: called, ...fields } = fragment;
    const call = this.callOf(fragment);
    if (call.id === '') call.id = textOr(id);
    call.fields = { ...call.fields, ...fields };
    if (!isObject(called)) return '';
    call.called = true;
    if (call.arguments === '') call.name = joinedName(call.name, textOr(called.name));
    const text = argumentsText(called.arguments);
    call.arguments = joinedArguments(call.arguments, text);
    return text;
  }

  /** The calls as a whole answer has them, in the order in which they began. */
  list(): readonly WireObject[] {
    return this.calls.map(({ id, name, fields, called, arguments: text }) => ({
      id,
      ...(called && { function: { name, arguments: text } }),
      ...fields,
    }));
  }

  private callOf(fragment: WireObject): OpenCall {
    const known = typeof fragment.index === 'number' ? this.byIndex.get(fragment.index) : this.unindexed(fragment);
    if (known && !beginsAnother(known, fragment)) return known;
    const call = { id: '', name: '', arguments: '', fields: {}, called: false };
    this.calls.push(call);
    if (typeof fragment.index === 'number') this.byIndex.set(fragment.index, call);
    return call;
  }

  private unindexed({ id }: WireObject): OpenCall | undefined {
    return this.calls.find((call) => call.id !== '' && call.id === id) ?? this.calls.at(-1);
  }
}

interface OpenCall {
  id: string;
  name: string;
  arguments: string;
  fields: WireObject;
  called: boolean;
}

/**
 * Only a fragment with a name can begin a call. It does where its id is another. Without an id to go by, it does where its
 * name is another, or the call before it is whole, and where it has arguments: a name alone may be a piece, or said again.
 */
function beginsAnother(call: OpenCall, fragment: WireObject): boolean {
  const called = isObject(fragment.function) ? fragment.function : {};
  const name = textOr(called.name);
  const id = textOr(fragment.id);
  if (name === '' || call.name === '') return false;
  if (id !== '' && call.id !== '') return id !== call.id;
  const hasArguments = argumentsText(called.arguments) !== '';
  if (name === call.name) return call.id === '' && hasArguments && isWhole(call.arguments);
  return call.arguments !== '' || hasArguments;
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
