/** Returns a filter for tool names: the included names without the excluded ones. `*` matches any characters. */
export function toolFilter(
  include: readonly string[] | undefined,
  exclude: readonly string[],
): (name: string) => boolean {
  const included = include?.map(matcher);
  const excluded = exclude.map(matcher);
  return (name) => (included?.some((fits) => fits(name)) ?? true) && !excluded.some((fits) => fits(name));
}

/** Returns the patterns that match no name. */
export function patternsWithout(names: readonly string[], patterns: readonly string[]): readonly string[] {
  return patterns.filter((pattern) => !names.some(matcher(pattern)));
}

/** Matches without a regular expression, which would be extremely slow for a pattern with many stars. */
function matcher(pattern: string): (name: string) => boolean {
  const [start = '', ...rest] = pattern.split('*');
  const end = rest.pop();
  if (end === undefined) return (name) => name === pattern;
  return (name) => {
    if (!name.startsWith(start) || !name.endsWith(end) || name.length < start.length + end.length) return false;
    let position = start.length;
    for (const part of rest) {
      const found = name.indexOf(part, position);
      if (found < 0) return false;
      position = found + part.length;
    }
    return position <= name.length - end.length;
  };
}
