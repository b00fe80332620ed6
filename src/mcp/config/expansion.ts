import { replaceVariables } from '../../internal/placeholder.js';

/**
 * Returns the sorted names of the variables in strings. A string refers to a variable as `${NAME}`, `${env:NAME}` or
 * `${NAME:-default}`.
 */
export function variablesIn(texts: readonly string[]): readonly string[] {
  const names = new Set<string>();
  for (const text of texts) {
    replaceVariables(text, (whole, name) => {
      names.add(name);
      return whole;
    });
  }
  return [...names].sort();
}

/** Returns the `${…}` sequences that are not supported variables. Expansion leaves such a sequence unchanged. */
export function unknownPlaceholdersIn(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.flatMap((text) => replaceVariables(text, fallbackOf).match(/\$\{[^}]{0,80}\}?/g) ?? []))];
}

/** Returns the default of a variable unchanged, so that a `${` inside the default is found as a placeholder. */
function fallbackOf(_whole: string, _name: string, fallback = ''): string {
  return fallback;
}

/** Replaces variables by their values. Variables inside a value are not replaced. */
export class Expansion {
  readonly missing: Set<string> = new Set();

  constructor(
    private readonly env: NodeJS.ProcessEnv,
    private readonly isEmptyAllowed = false,
  ) {}

  text(text: string): string {
    return replaceVariables(text, (_whole, name, fallback) => this.value(name, fallback));
  }

  map(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, this.text(text)]));
  }

  /** As in a shell, the default after `:-` also replaces an empty value. */
  private value(name: string, fallback: string | undefined): string {
    // `env` is a plain object, which inherits properties such as `constructor`.
    const value = Object.hasOwn(this.env, name) ? this.env[name] : undefined;
    if (value === undefined && fallback === undefined && !this.isEmptyAllowed) this.missing.add(name);
    return (fallback === undefined ? value : value || fallback) ?? '';
  }
}
