import { starTest } from '../../internal/star-pattern.js';

/** Returns a filter for tool names: the included names without the excluded ones. `*` matches any characters. */
export function toolFilter(
  include: readonly string[] | undefined,
  exclude: readonly string[],
): (name: string) => boolean {
  const included = include?.map(starTest);
  const excluded = exclude.map(starTest);
  return (name) => (included?.some((fits) => fits(name)) ?? true) && !excluded.some((fits) => fits(name));
}

/** Returns the patterns that match no name. */
export function patternsWithout(names: readonly string[], patterns: readonly string[]): readonly string[] {
  return patterns.filter((pattern) => !names.some(starTest(pattern)));
}
