/** Returns the names, separated by commas. Names after the first `most` are only counted. */
export function namesText(names: readonly string[], most = 5): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
