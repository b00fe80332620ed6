/** Compiles a pattern in which only `*` is special. It matches any characters. */
export function glob(pattern: string): RegExp {
  return new RegExp(`^${globSource(pattern)}$`, 's');
}

export function globSource(pattern: string): string {
  return pattern.split(/\*+/).map(escaped).join('[\\s\\S]*');
}

/** Escapes the special characters of a regular expression. */
export function escaped(text: string): string {
  return text.replace(/[-.*+?^${}()|[\]\\]/g, '\\$&');
}
