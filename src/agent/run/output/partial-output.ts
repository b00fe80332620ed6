import type { AgentEvent } from '../../agent-event.js';
import { beginningOf, withoutThought } from './read-answer.js';

/** A long text is parsed again only after it has grown by this factor, so that the total work stays linear. */
const GROWTH = 1.02;

/** Yields the partial value of a JSON answer as its text arrives. Starts again with each attempt and each turn. */
export async function* partialValues<Value>(
  events: AsyncIterable<AgentEvent>,
  own: { has(event: AgentEvent): boolean },
): AsyncGenerator<Value> {
  let place = '';
  let text = '';
  let read = 0;
  let shown: string | undefined;
  for await (const event of events) {
    if (!own.has(event) || event.type !== 'text-delta') continue;
    const { turn, attempt } = event;
    if (place !== `${turn}/${attempt}`) {
      place = `${turn}/${attempt}`;
      text = '';
      read = 0;
    }
    text += event.text;
    if (text.length < read * GROWTH) continue;
    read = text.length;
    const json = closedJson(text);
    if (json === undefined || json === shown) continue;
    shown = json;
    yield JSON.parse(json);
  }
}

const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")|([{}[\],:])|[^\s"{}[\],:]+)/sy;
const UNFINISHED_STRING = /\s*"(?:[^"\\]|\\.)*/sy;
const UNFINISHED_ESCAPE = /\\u[\da-f]{0,3}$/i;

/**
 * Completes the JSON of an unfinished object or array: removes an unfinished key, number or word, and adds the closing
 * brackets. Returns undefined if no object or array has begun.
 */
function closedJson(answer: string): string | undefined {
  const visible = withoutThought(answer);
  const start = beginningOf(visible);
  if (start < 0) return undefined;
  const text = visible.slice(start);
  const closing: string[] = [];
  let json = '';
  let isKey = false;
  TOKEN.lastIndex = 0;
  for (let at = 0; ; at = TOKEN.lastIndex) {
    const token = TOKEN.exec(text);
    if (token === null) return isKey ? json : (withString(text, at, closing) ?? json);
    const [, string, mark] = token;
    const end = TOKEN.lastIndex;
    if (mark === '{' || mark === '[') closing.unshift(mark === '{' ? '}' : ']');
    else if (mark === '}' || mark === ']') closing.shift();
    const isValue = mark === undefined ? !isKey && (string !== undefined || end < text.length) : !/[,:]/.test(mark);
    if (isValue) json = text.slice(0, end) + closing.join('');
    if (closing.length === 0) return json;
    if (mark !== undefined) isKey = closing[0] === '}' && (mark === '{' || mark === ',');
  }
}

/** Completes JSON whose last value is an unfinished string. Returns undefined if the last value is not a string. */
function withString(text: string, at: number, closing: readonly string[]): string | undefined {
  UNFINISHED_STRING.lastIndex = at;
  const [begun] = UNFINISHED_STRING.exec(text) ?? [];
  const json = begun && `${text.slice(0, at)}${begun.replace(UNFINISHED_ESCAPE, '')}"${closing.join('')}`;
  return json && isJson(json) ? json : undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
