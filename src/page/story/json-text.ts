/** Returns a string as it is, and other values as JSON. */
export function jsonText(value: unknown, indent = 0): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, indent) ?? '');
}
