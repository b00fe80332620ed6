import type { AssistantPart } from '../../model/message.js';

/** A replacement of the characters from `start` to before `end`. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Returns the joined text of all text parts. */
export function textIn(content: readonly AssistantPart[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/**
 * Returns the edit between the common prefix and the common suffix of two strings; undefined if they are equal. The
 * edit never splits a surrogate pair, whose halves could otherwise land in two parts.
 */
export function editBetween(before: string, after: string): TextEdit | undefined {
  if (before === after) return undefined;
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head += 1;
  if (isInside(before, head) || isInside(after, head)) head -= 1;
  let tail = 0;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  if (isInside(before, before.length - tail) || isInside(after, after.length - tail)) tail -= 1;
  return { start: head, end: before.length - tail, text: after.slice(head, after.length - tail) };
}

/** Returns true if the index lies between the halves of a surrogate pair. */
function isInside(text: string, index: number): boolean {
  return (text.codePointAt(index - 1) ?? 0) > 0xff_ff;
}

/**
 * Applies sorted, disjoint edits to the joined text of a response. The parts keep their order. If an edit spans several
 * parts, the first of them receives the replacement. Removes empty text parts. A response without text gets a new text
 * part after its leading reasoning parts.
 */
export function editContent(content: readonly AssistantPart[], edits: readonly TextEdit[]): readonly AssistantPart[] {
  if (edits.length === 0) return content;
  const last = content.findLastIndex((part) => part.type === 'text');
  if (last < 0) return withText(content, edits.map((edit) => edit.text).join(''));
  const state = { edits, next: 0, offset: 0, done: 0 };
  return content.flatMap((part, index): AssistantPart | AssistantPart[] => {
    if (part.type !== 'text') return part;
    const text = editPart(part.text, state, index === last);
    if (text === part.text) return part;
    return text === '' ? [] : { ...part, text };
  });
}

interface EditState {
  readonly edits: readonly TextEdit[];
  next: number;
  /** Index in the joined text at which the current part starts. */
  offset: number;
  /** Index in the joined text up to which all characters are copied or replaced. */
  done: number;
}

function editPart(text: string, state: EditState, isLast: boolean): string {
  const { edits, offset } = state;
  const end = offset + text.length;
  let edited = '';
  const copyUntil = (until: number) => {
    if (until > state.done) edited += text.slice(Math.max(0, state.done - offset), until - offset);
    state.done = Math.max(state.done, until);
  };
  for (let edit = edits[state.next]; edit !== undefined; edit = edits[state.next]) {
    if (edit.start >= end && !isLast) break;
    copyUntil(edit.start);
    edited += edit.text;
    state.done = Math.max(state.done, edit.end);
    state.next += 1;
  }
  copyUntil(end);
  state.offset = end;
  return edited;
}

function withText(content: readonly AssistantPart[], text: string): readonly AssistantPart[] {
  if (text === '') return content;
  const index = content.findIndex((part) => part.type !== 'reasoning');
  return content.toSpliced(index < 0 ? content.length : index, 0, { type: 'text', text });
}
