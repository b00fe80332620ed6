/** Shortens a string to `maxChars` UTF-16 units: its beginning, a note on the omitted characters, and its end. */
export function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.ceil(maxChars / 2);
  const head = text.slice(0, atCharacter(text, half));
  const rest = maxChars - half;
  const from = text.length - rest;
  const tail = text.slice(from === atCharacter(text, from) ? from : from + 1);
  return `${head}\n[… ${text.length - head.length - tail.length} characters left out …]\n${tail}`;
}

/** Returns `at`, or `at - 1` if a cut at `at` would split a surrogate pair. */
function atCharacter(text: string, at: number): number {
  return /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at - 1 : at;
}
