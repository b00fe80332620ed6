const VARIABLE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** The variables that texts name as `${NAME}`, `${env:NAME}` or `${NAME:-default}`, sorted, each once. */
export function variablesIn(texts: readonly string[]): readonly string[] {
  const names = texts.flatMap((text) => [...wholeOf(text).matchAll(VARIABLE)].map(([, name = '']) => name));
  return [...new Set(names)].sort();
}

/** What looks like a variable in texts, and is none: it stays as it is. */
export function strangersIn(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.flatMap((text) => replaceVariables(text, nested).match(/\$\{[^}]{0,80}\}?/g) ?? []))];
}

function replaceVariables(text: string, replacement: (whole: string, name: string, fallback?: string) => string) {
  const whole = wholeOf(text);
  return whole.replace(VARIABLE, replacement) + text.slice(whole.length);
}

/** What is behind the last brace has no end, and would be looked through for each variable that begins in it. */
function wholeOf(text: string): string {
  return text.slice(0, text.lastIndexOf('}') + 1);
}

/** A default is taken by its text, also where it looks like a variable itself. */
function nested(_whole: string, _name: string, fallback = ''): string {
  return fallback;
}

/** Puts the values of variables in their place. What a value holds is not looked at again. */
export class Expansion {
  /** The variables that have neither a value nor a default. */
  readonly missing: Set<string> = new Set();

  constructor(private readonly env: NodeJS.ProcessEnv) {}

  text(text: string): string {
    return replaceVariables(text, (_whole, name, fallback) => this.value(name, fallback));
  }

  map(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, this.text(text)]));
  }

  /** As in a shell, `:-` stands in for an empty value too. */
  private value(name: string, fallback: string | undefined): string {
    // The environment inherits names such as `constructor`.
    const value = Object.hasOwn(this.env, name) ? this.env[name] : undefined;
    if (value === undefined && fallback === undefined) this.missing.add(name);
    return (fallback === undefined ? value : value || fallback) ?? '';
  }
}
