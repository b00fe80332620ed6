/** Whether a tool is offered: what is included, less what is excluded. `*` stands for any text. */
export function toolFilter(
  include: readonly string[] | undefined,
  exclude: readonly string[],
): (name: string) => boolean {
  const included = include?.map(matcher);
  const excluded = exclude.map(matcher);
  return (name) => (included?.some((fits) => fits(name)) ?? true) && !excluded.some((fits) => fits(name));
}

/** The patterns that fit none of the names. */
export function patternsWithout(names: readonly string[], patterns: readonly string[]): readonly string[] {
  return patterns.filter((pattern) => !names.some(matcher(pattern)));
}

/** By hand, since a pattern of many stars takes a regular expression for ever. */
function matcher(pattern: string): (name: string) => boolean {
  const [start = '', ...rest] = pattern.split('*');
  const end = rest.pop();
  if (end === undefined) return (name) => name === pattern;
  return (name) => {
    if (!name.startsWith(start) || !name.endsWith(end) || name.length < start.length + end.length) return false;
    let at = start.length;
    for (const part of rest) {
      const found = name.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at <= name.length - end.length;
  };
}
