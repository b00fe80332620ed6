/** Returns the names, separated by commas. More than `most` names end with a number: `a, b and 3 more`. */
export function namesText(names: readonly string[], most = 5): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Returns the number and the noun, in the plural unless the number is 1. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Returns a name without case and punctuation, so that `apiKey`, `api_key` and `API-KEY` become equal. */
export function fold(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}
