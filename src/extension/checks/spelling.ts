import type { OptionRules } from '../../internal/options/validate.js';

type Members = Readonly<Record<string, unknown>>;

/** Returns rules that accept each name in camelCase and in snake_case: `onTag` and `on_tag`. */
export function inBothSpellings(rules: OptionRules): OptionRules {
  return Object.fromEntries(Object.entries(rules).flatMap(([name, rule]) => spellingsOf(name).map((it) => [it, rule])));
}

/** Returns a problem for each member that is given in camelCase and in snake_case. `path` is put before the names. */
export function doubledNames(members: object, rules: OptionRules, path = ''): string[] {
  return Object.keys(rules).flatMap((name) => {
    const [camel, snake] = spellingsOf(name).filter((spelling) => (members as Members)[spelling] !== undefined);
    return snake === undefined
      ? []
      : [`\`${path}${camel}\` and \`${path}${snake}\` are the same member; remove one of the two`];
  });
}

/** Returns the members that are not undefined, under their camelCase names. */
export function inCamelCase(members: object, rules: OptionRules): Members {
  const given = Object.keys(rules).flatMap((name) => {
    const value = spellingsOf(name)
      .map((spelling) => (members as Members)[spelling])
      .find((it) => it !== undefined);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(given);
}

function spellingsOf(name: string): readonly string[] {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return snake === name ? [name] : [name, snake];
}
