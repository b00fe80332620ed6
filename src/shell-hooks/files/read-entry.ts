import { dirname } from 'node:path';
import { MAX_TIMER_MS } from '../../internal/clock.js';
import { isObject, isTexts } from '../../internal/json.js';
import { memberProblems } from '../../internal/options/validate.js';
import type { HookFacts } from '../../programs/hook-facts.js';
import type { EntryTable } from '../../programs/hook-table.js';
import { loose } from '../../programs/loose.js';
import { definitionRules } from '../hook/definition.js';
import { type HookSource, reportOn } from '../hook/diagnostic.js';
import { compilePermissionRule } from '../rule/permission-rule.js';

/** A JSON object of a document. */
export type JsonMap = Readonly<Record<string, unknown>>;

/** Hook settings from an entry of a file, not validated. */
export type HookSettings = JsonMap & { readonly command: unknown };

/** Reads one hook of another program's file. Returns the reason if the hook cannot run. */
export function readEntry(entry: JsonMap, source: HookSource, facts: HookFacts): HookSettings | string {
  const rules = facts.entry;
  const problem = problemOf(entry, source, facts);
  if (problem !== undefined) return problem;
  const line = loose.word(entry.type) === 'http' ? serverOf(entry, rules) : commandOf(entry, rules);
  if (typeof line === 'string') return line;
  if (line === undefined)
    return `it must have ${[...rules.command, rules.program ?? []].flat().map(quoted).join(' or ')}`;
  reportVariables(entry, source, facts);
  const time = rules.timeout.map((name) => entry[name]).find((value) => value !== undefined);
  const failClosed = rules.failClosed !== undefined && loose.boolean(entry[rules.failClosed]) === true;
  const onFailure = rules.onFailure ? loose.word(entry.onFailure) : undefined;
  return {
    ...line,
    timeout: inMilliseconds(loose.number(time), facts),
    env: rules.env ? loose.textMap(entry.env) : undefined,
    cwd: rules.cwd ? entry.cwd : folderOf(source, facts),
    onFailure: failClosed ? 'block' : onFailure,
    condition: rules.condition === undefined ? undefined : entry[rules.condition],
    background: rules.background?.some((name) => loose.boolean(entry[name]) === true) || undefined,
  };
}

function problemOf(entry: JsonMap, { hasData }: HookSource, facts: HookFacts): string | undefined {
  const { entry: rules, variables } = facts;
  const { type = 'command', args, shell } = entry;
  if (!rules.types.some((known) => known === loose.word(type)))
    return `\`type\` must be ${rules.types.map((name) => `"${name}"`).join(' or ')}, got ${JSON.stringify(type)}`;
  const rule = rules.condition === undefined ? undefined : entry[rules.condition];
  if (rule !== undefined && (typeof rule !== 'string' || compilePermissionRule(rule) === undefined)) {
    return `\`if\` must be one permission rule such as "Bash(git push *)", got ${JSON.stringify(rule)}`;
  }
  if (args === undefined && shell !== undefined && loose.word(shell) !== 'bash') {
    return `\`shell\` must be "bash", got ${JSON.stringify(shell)}`;
  }
  // A shell expands an unset variable to an empty string, so `rm -r "$CLAUDE_PLUGIN_DATA/cache"` would delete `/cache`.
  const { data } = variables;
  const needsData = data !== undefined && textsOf(entry).some((text) => text.includes(data));
  return needsData && !hasData ? `it uses \`${data}\`, which only plugins get` : undefined;
}

function commandOf(entry: JsonMap, rules: EntryTable): HookSettings | undefined {
  const { args } = entry;
  const command = rules.command.map((name) => entry[name]).find((value) => value !== undefined);
  const program = rules.program === undefined ? undefined : entry[rules.program];
  if (command === undefined && program !== undefined) return { command: program, args: args ?? [], shell: false };
  if (command === undefined) return undefined;
  if (rules.argsWithoutShell && args !== undefined) return { command, args: loose.texts(args), shell: false };
  return {
    // Gemini CLI replaces its path separator in the line before a shell reads it.
    command: rules.quotesFolders && typeof command === 'string' ? command.replaceAll(`\${/}`, '/') : command,
    args: rules.program ? undefined : args,
    shell: 'bash',
  };
}

/** Reads an HTTP handler. Returns the reason if its server cannot be called. */
function serverOf(entry: JsonMap, { http }: EntryTable): HookSettings | string {
  if (http === undefined) return 'it has no server';
  const { [http.url]: url, [http.headers]: given = {}, [http.variables]: variables = [] } = entry;
  const address = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || !/^https?:$/.test(address.protocol) || address.username + address.password !== '') {
    const shown = typeof url === 'string' ? url.replace(/\/\/.*@/s, '//…@') : url;
    return `\`${http.url}\` must be an http: or https: URL without a user name, got ${JSON.stringify(shown)}`;
  }
  const headers = loose.textMap(given);
  if (!isObject(headers) || !Object.entries(headers).every(isHeader))
    return `\`${http.headers}\` must be an object of names and values of HTTP headers`;
  if (!isTexts(variables)) return `\`${http.variables}\` must be an array of names of variables`;
  return { command: address.href, args: [], shell: false, http: { headers, variables } };
}

function isHeader([name, value]: readonly [string, unknown]): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && typeof value === 'string' && !/[\r\n\0]/.test(value);
}

function textsOf({ command, args }: JsonMap): readonly string[] {
  const texts: readonly unknown[] = [command, ...(Array.isArray(args) ? args : [])];
  return texts.filter((text) => typeof text === 'string');
}

/** Warns about variables in the entry that have no value in Keelson. */
function reportVariables(entry: JsonMap, source: HookSource, { entry: rules, variables }: HookFacts): void {
  for (const [name, loss] of Object.entries(variables.missing ?? {})) {
    if (!textsOf(entry).some((text) => text.includes(name))) continue;
    const message = `A hook names \`${name}\`, which is not set here: ${loss}. Set them where the agent starts.`;
    reportOn(source, { level: 'warning', code: 'variable-unsupported', message });
  }
  const { env } = entry;
  if (
    rules.env &&
    !rules.onFailure &&
    isObject(env) &&
    Object.values(env).some((value) => String(value).includes('$'))
  ) {
    const message = 'A hook has a `$` in `env`: variables in `env` are not expanded.';
    reportOn(source, { level: 'warning', code: 'env-literal', message });
  }
}

/**
 * Converts a time limit to milliseconds. Some files give milliseconds to a program that reads seconds, so the result is
 * capped at the longest timer.
 */
function inMilliseconds(time: unknown, { timeUnit }: HookFacts): unknown {
  if (typeof time !== 'number' || timeUnit === 'milliseconds') return time;
  return Math.min(Math.round(time * 1_000), MAX_TIMER_MS);
}

/**
 * Returns the directory of the hook file, if the program starts hooks of the user in it. Otherwise returns undefined.
 */
function folderOf({ scope, source }: HookSource, { startsIn }: HookFacts): string | undefined {
  const isOfFile = startsIn === 'file' && scope === 'user' && source !== undefined;
  return isOfFile ? dirname(source) : undefined;
}

/** A hook is still a guard if one of these fields is missing. */
const SECONDARY = ['name', 'timeout', 'env', 'cwd', 'onFailure', 'files', 'reads', 'sensitive', 'exitCodes'] as const;

/**
 * Returns the value in place of an invalid one, on the safe side. With `files`, an approval must not cover less than the
 * file asks for, so each value is read as the name of a file.
 */
const SAFE: Readonly<Record<string, (value: unknown) => unknown>> = {
  onFailure: () => 'block',
  exitCodes: () => true,
  files: (value) => [value].flat().map((name) => (typeof name === 'string' ? name : JSON.stringify(name))),
};

/**
 * Replaces and reports an invalid field if the hook is still a guard without it. For example, a wrong time limit must
 * not switch off a guard.
 */
export function withoutBadFields<Settings extends JsonMap>(
  settings: Settings,
  source: HookSource,
  at: string,
): Settings {
  const kept: Record<string, unknown> = { ...settings };
  for (const field of SECONDARY) {
    if (kept[field] === undefined) continue;
    const [problem] = memberProblems({ [field]: kept[field] }, { [field]: definitionRules[field] });
    if (problem === undefined) continue;
    kept[field] = SAFE[field]?.(kept[field]);
    const value = kept[field] === undefined ? 'its default' : JSON.stringify(kept[field]);
    const message = `A hook at ${at} runs with ${value} as \`${field}\`: ${problem}.`;
    reportOn(source, { level: 'warning', code: 'field-invalid', message });
  }
  return kept as Settings;
}

function quoted(name: string): string {
  return `\`${name}\``;
}
