/** One spelling of a name: `apiKey`, `api_key` and `API-KEY` are the same. */
export function fold(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}
