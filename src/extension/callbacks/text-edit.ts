import type { AssistantPart } from '../../model/message.js';

/** A piece of a text that is replaced. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The text of an answer: that of its text parts, joined. */
export function textIn(content: readonly AssistantPart[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/**
 * What makes one text another: the stretch between their common beginning and end; undefined where they are the same. No
 * end of it lies inside a character: its halves would come into two parts.
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

/** Whether both halves of one character meet at a place. */
function isInside(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xff_ff;
}

/**
 * Applies edits (sorted, apart from each other) to the joined text of an answer. Parts stay what and where they are: a
 * new text stands in the part in which the old one began. A text part that becomes empty is dropped; where there was
 * none, the text comes after the reasoning that the answer begins with.
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
  /** Where the part begins in the joined text. */
  offset: number;
  /** How far the joined text is taken over or replaced. */
  done: number;
}

function editPart(text: string, state: EditState, isLast: boolean): string {
  const { edits, offset } = state;
  const end = offset + text.length;
  let made = '';
  const keep = (until: number) => {
    if (until > state.done) made += text.slice(Math.max(0, state.done - offset), until - offset);
    state.done = Math.max(state.done, until);
  };
  for (let edit = edits[state.next]; edit !== undefined; edit = edits[state.next]) {
    if (edit.start >= end && !isLast) break;
    keep(edit.start);
    made += edit.text;
    state.done = Math.max(state.done, edit.end);
    state.next += 1;
  }
  keep(end);
  state.offset = end;
  return made;
}

function withText(content: readonly AssistantPart[], text: string): readonly AssistantPart[] {
  if (text === '') return content;
  const at = content.findIndex((part) => part.type !== 'reasoning');
  return content.toSpliced(at < 0 ? content.length : at, 0, { type: 'text', text });
}
