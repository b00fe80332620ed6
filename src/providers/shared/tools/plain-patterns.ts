import { isObject, textOr, type WireObject } from '../wire.js';

/**
 * Matches regular expression syntax that Python does not have: `\p{L}`, `\u{1F600}`, `\k<name>`, `\cA`, `(?<name>…)`,
 * `(?<=…)`, `[]` and `[^]`. Python has lookbehinds of a fixed length only.
 */
const NOT_PYTHON = /\\(?:[pPkc]|u\{)|\(\?<|\[\^?\]/;

/**
 * Returns the node without patterns that OpenAI refuses the request for: it compiles them with Python. Such a pattern moves
 * into the description. The arguments are still checked against it.
 */
export function withPlainPatterns(node: WireObject): WireObject {
  const { pattern, patternProperties } = node;
  const isOdd = typeof pattern === 'string' && !isPlain(pattern);
  const odd = isObject(patternProperties) ? Object.keys(patternProperties).filter((key) => !isPlain(key)) : [];
  if (!isOdd && odd.length === 0) return node;
  const limits = { ...(isOdd && { pattern }), ...(odd.length > 0 && { patternProperties: odd }) };
  const description = [textOr(node.description), `(${JSON.stringify(limits)})`].filter(Boolean).join(' ');
  const { pattern: _, ...rest } = node;
  const kept = isOdd ? rest : node;
  return { ...kept, ...(odd.length > 0 && openObject(kept, odd)), description };
}

/** Without a pattern for their names, additional properties must be allowed. */
function openObject({ patternProperties }: WireObject, odd: readonly string[]): WireObject {
  const patterns = Object.entries(patternProperties as WireObject).filter(([key]) => !odd.includes(key));
  return { patternProperties: Object.fromEntries(patterns), additionalProperties: true, unevaluatedProperties: true };
}

function isPlain(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u');
    return !NOT_PYTHON.test(pattern.replaceAll('\\\\', ''));
  } catch {
    return false;
  }
}
