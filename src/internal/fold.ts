/** Returns a name without case and punctuation, so that `apiKey`, `api_key` and `API-KEY` become equal. */
export function fold(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}
