/** The JSON values in an answer. */
export interface AnswerValues {
  /** The outermost JSON values in the text, in order. An object inside an object is not listed. */
  readonly values: readonly unknown[];
  /** True if a value in the answer is invalid JSON or is cut off. Then the intended value is unknown. */
  readonly isBroken: boolean;
}

/** Limits the scans for a closing bracket in an answer with unclosed brackets. */
const MOST_SCANS = 100;

/** Matches the thoughts before an answer. Some servers leave out the opening tag. */
const THOUGHT = /^\s*<(think|thinking|thought|reasoning)>.*?(?:<\/\1>|$)|^(?:(?!<think>).)*?<\/think>/is;

/** Matches the beginning of a value as JSON or JavaScript writes it. A bracket in prose does not match. */
const BEGINNING = /\{\s*(?:["'}]|[\w$]+\s*:)|\[\s*(?:["'[{\]\d-]|true|false|null)/y;

/**
 * Finds the JSON values in an answer: the whole text, or else the objects and arrays between words and the values in
 * code fences. Ignores thoughts before the answer.
 */
export function readAnswer(answer: string): AnswerValues {
  for (const text of [answer, withoutThought(answer)]) {
    const whole = parsed(withoutFence(text));
    if (whole !== undefined) return { values: [whole.value], isBroken: false };
  }
  return scan(withoutThought(answer));
}

/** Returns an answer without the thoughts before it. */
export function withoutThought(answer: string): string {
  return answer.replace(THOUGHT, '');
}

/** Removes a Markdown code fence around a text. */
function withoutFence(text: string): string {
  const trimmed = text.trim();
  return trimmed.startsWith('```') ? trimmed.replace(/^```(?:json)?|```$/gi, '') : trimmed;
}

/** Matches a code fence and its content. */
const FENCED = /```(?:json)?[^\S\n]*\n([^`]*)```/gi;

function scan(text: string): AnswerValues {
  const fenced = [...text.matchAll(FENCED)].map(([, inner = '']) => parsed(inner)?.value);
  const values = fenced.filter((value) => value !== undefined && typeof value !== 'object');
  let unclosed = 0;
  for (let at = nextBracket(text, 0); at >= 0; ) {
    const end = endOf(text, at);
    const value = end < 0 ? undefined : parsed(text.slice(at, end));
    if (value !== undefined) values.push(value.value);
    else if (isBeginning(text, at)) return { values, isBroken: true };
    if (end < 0) unclosed += 1;
    if (unclosed > MOST_SCANS) return { values, isBroken: true };
    at = nextBracket(text, value === undefined ? at + 1 : end);
  }
  return { values, isBroken: false };
}

function nextBracket(text: string, from: number): number {
  const [brace, bracket] = [text.indexOf('{', from), text.indexOf('[', from)];
  return brace < 0 || bracket < 0 ? Math.max(brace, bracket) : Math.min(brace, bracket);
}

/** Returns the position of the first object or array, which may be unfinished, or -1. */
export function beginningOf(text: string): number {
  let at = nextBracket(text, 0);
  while (at >= 0 && !isBeginning(text, at)) at = nextBracket(text, at + 1);
  return at;
}

function isBeginning(text: string, at: number): boolean {
  BEGINNING.lastIndex = at;
  return BEGINNING.test(text);
}

/** Returns the position behind the bracket that closes the one at `at`, or -1. Brackets in strings do not count. */
function endOf(text: string, at: number): number {
  const marks = /["{}[\]]/g;
  marks.lastIndex = at;
  let depth = 0;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (mark[0] === '"') {
      const end = endOfString(text, mark.index);
      if (end < 0) return -1;
      marks.lastIndex = end;
      continue;
    }
    depth += mark[0] === '{' || mark[0] === '[' ? 1 : -1;
    if (depth === 0) return mark.index + 1;
  }
  return -1;
}

function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text[first - 1] === '\\') first -= 1;
    if ((end - first) % 2 === 0) return end + 1;
  }
  return -1;
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
