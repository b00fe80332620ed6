const REDACTED = '[redacted]';

/**
 * Matches JSON members with names such as `password`, also in JSON inside a string. A match starts at the first of
 * several backslashes, so that matching takes linear time.
 */
const MEMBERS =
  /(?<!\\)(\\*")((?:[\w-]*[_-])?(?:api[_-]?key|access[_-]?key|secret|password|passwd|credentials?|authorization|(?:auth|access|refresh|bearer)[_-]?token|token|private[_-]?key)|\w*(?:ApiKey|Secret|Password|Token))\1(\s*:\s*)\1(?:(?!\1).)+?\1/gi;

/** Matches API keys of well-known services, and bearer tokens. */
const KEYS =
  /\b(?:sk-[\w-]{16,}|gh[pousr]_\w{20,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{35}|Bearer\s+[\w.~+/=-]{16,})/g;

const SENSITIVE_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)/;
const SHORTEST_VALUE = 8;

/** Removes secrets from a line of JSON. */
export type RedactLine = (line: string) => string;

/**
 * Returns a function that removes secrets from a line of JSON: API keys of well-known services, values of sensitive
 * environment variables, and members with names such as `password`.
 */
export function redactLines(env: Readonly<Record<string, string | undefined>>): RedactLine {
  const values = Object.entries(env).flatMap(([name, value = '']) =>
    SENSITIVE_NAME.test(name) && value.length >= SHORTEST_VALUE ? [JSON.stringify(value).slice(1, -1)] : [],
  );
  return (line) => {
    let shown = line.replace(MEMBERS, `$1$2$1$3$1${REDACTED}$1`).replace(KEYS, REDACTED);
    for (const value of values) shown = shown.replaceAll(value, REDACTED);
    return shown;
  };
}
