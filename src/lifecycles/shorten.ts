/** A text of at most so many UTF-16 units, its beginning and its end, with a note between them on what was left out. */
export function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.ceil(maxChars / 2);
  const head = text.slice(0, atCharacter(text, half));
  const rest = maxChars - half;
  const from = text.length - rest;
  const tail = text.slice(from === atCharacter(text, from) ? from : from + 1);
  return `${head}\n[… ${text.length - head.length - tail.length} characters left out …]\n${tail}`;
}

/** The place, or the one before it where it would cut a character of two units. */
function atCharacter(text: string, at: number): number {
  return /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at - 1 : at;
}
