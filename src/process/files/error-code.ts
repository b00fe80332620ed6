/** True if an error of `node:fs` has one of the codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(String((error as { code?: unknown } | null)?.code));
}
