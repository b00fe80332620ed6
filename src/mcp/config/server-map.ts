import { isTimerMs, MAX_TIMER_MS } from '../../internal/clock.js';
import { isObject } from '../../internal/json.js';
import { fold } from '../../internal/names-text.js';
import { nearestName } from '../../internal/options/nearest-name.js';
import { isVariableName } from '../../process/environment.js';
import type { McpServerDefinition, McpServerEntry, McpServerOrigin } from './definition.js';
import { unknownPlaceholdersIn } from './expansion.js';
import { problemOfUrl } from './server-url.js';

type Fields = Readonly<Record<string, unknown>>;

/** Transports by the type names of various programs, in lower case and without `-` and `_`. */
const TRANSPORTS: ReadonlyMap<string, McpServerDefinition['transport']> = new Map([
  ['stdio', 'stdio'],
  ['local', 'stdio'],
  ['sse', 'sse'],
  ['http', 'http'],
  ['streamablehttp', 'http'],
]);

/** Keys that hold the map of servers in a configuration file: the common key, that of VS Code, and that of Zed. */
export const SERVER_MAPS: readonly string[] = ['mcpServers', 'servers', 'context_servers'];

/**
 * Reads the servers of a map, or of an object that holds the map under a key of `SERVER_MAPS`. Each entry has a definition
 * or a problem. An invalid entry does not affect the others.
 */
export function readServerMap(map: object, origin: McpServerOrigin): readonly McpServerEntry[] {
  return Object.entries(serversOf(map as Fields)).map(([name, fields]) => readServer(name, fields, origin));
}

/** Finds the map of servers. In a bare map, `servers` may be the name of a server, whose fields are not all objects. */
function serversOf(map: Fields): Fields {
  const [own, ...others] = SERVER_MAPS.map((key) => map[key]);
  if (isObject(own)) return own;
  const found = others.filter(isObject);
  return found.find((servers) => Object.values(servers).every(isObject)) ?? map;
}

/** Reads one server. Returns its definition, or the problem with it. */
export function readServer(name: string, fields: unknown, origin: McpServerOrigin): McpServerEntry {
  if (!isObject(fields))
    return { name, problem: 'it must be an object with a `command` or a `url`', notes: [], origin };
  const ours = translate(fields);
  const notes = notesOn(ours);
  const ignored = Object.keys(ours).filter((field) => !KNOWN.has(field) && !isMissed(field));
  const problems = problemsOf(name, ours, origin);
  if (problems.length > 0) return { name, problem: problems.join('; '), notes, ignored, origin };
  return { name, definition: define(name, ours, origin), notes, ignored };
}

/**
 * Renames fields that other programs name differently: `httpUrl`, `serverUrl`, `enabled`, `tools` and `disabledTools`. If
 * both names are present, the other program's field is kept and reported as unknown. Null counts as absent.
 */
function translate(given: Fields): Fields {
  const present: Fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  const { httpUrl, serverUrl, tools, disabledTools, enabled, ...own } = present;
  const fields: Record<string, unknown> = { ...own };
  if (tools !== undefined) fields[isTexts(tools) && own.includeTools === undefined ? 'includeTools' : 'tools'] = tools;
  if (httpUrl !== undefined && own.url === undefined) {
    fields.url = httpUrl;
    fields.type = typeOf(own) ?? 'http';
  } else if (httpUrl !== undefined) fields.httpUrl = httpUrl;
  if (serverUrl !== undefined) fields[fields.url === undefined ? 'url' : 'serverUrl'] = serverUrl;
  if (typeof enabled === 'boolean') fields.disabled = own.disabled || !enabled;
  else if (enabled !== undefined) fields.enabled = enabled;
  if (disabledTools !== undefined) fields.excludeTools = [own.excludeTools ?? [], disabledTools].flat();
  return fields;
}

/** Returns a note for each unknown field that its author misses, and for each unknown variable. */
function notesOn(fields: Fields): string[] {
  const { command, args, env = {}, cwd, url, headers = {} } = fields;
  const texts = [command, args, cwd, url, ...[env, headers].map((map) => isObject(map) && Object.values(map))].flat();
  return [
    ...Object.keys(fields)
      .filter((field) => !KNOWN.has(field) && isMissed(field))
      .map((field) => `the unknown field ${JSON.stringify(field.slice(0, 100))} is ignored${hintFor(field)}`),
    ...unknownPlaceholdersIn(texts.filter(isText)).map(
      (text) => `${JSON.stringify(text)} is not a supported variable and stays unchanged`,
    ),
  ];
}

function define(name: string, fields: Fields, origin: McpServerOrigin): McpServerDefinition {
  const typed = fields as Partial<McpServerDefinition> & { timeout?: number };
  return {
    name,
    transport: transportOf(fields, origin) ?? 'stdio',
    sseFallback: typeOf(fields) === undefined,
    command: typed.command,
    args: [...(typed.args ?? [])],
    env: { ...typed.env },
    cwd: typed.cwd,
    url: typed.url,
    headers: { ...typed.headers },
    includeTools: typed.includeTools && [...typed.includeTools],
    excludeTools: [...(typed.excludeTools ?? [])],
    callTimeoutMs: typed.timeout,
    protocol: typed.protocol,
    disabled: typed.disabled ?? false,
    origin,
  };
}

function typeOf({ type, transport }: Fields): unknown {
  return type ?? transport;
}

function transportOf(fields: Fields, origin: McpServerOrigin): McpServerDefinition['transport'] | undefined {
  const type = typeOf(fields);
  if (type !== undefined)
    return typeof type === 'string' ? TRANSPORTS.get(type.toLowerCase().replace(/[-_]/g, '')) : undefined;
  return fields.url === undefined ? 'stdio' : (origin.urlMeans ?? 'http');
}

function problemsOf(name: string, fields: Fields, origin: McpServerOrigin): string[] {
  return [
    ...(isName(name, origin) ? [] : [`its name must have 1 to ${MAX_NAME} characters, without control characters`]),
    ...kindProblems(fields),
    ...transportProblems(fields, origin),
  ];
}

const MAX_NAME = 128;

/** The name of an extension's server begins with the name of the extension, which does not count. */
function isName(name: string, { extension }: McpServerOrigin): boolean {
  const max = MAX_NAME + (extension === undefined ? 0 : extension.length + 1);
  return name.length >= 1 && name.length <= max && !/\p{Cc}/u.test(name);
}

const KINDS: readonly (readonly [kind: string, fits: (value: unknown) => boolean, fields: readonly string[]])[] = [
  ['a string without NUL characters', isText, ['command', 'cwd', 'url']],
  ['an array of strings without NUL characters', isTexts, ['args', 'includeTools', 'excludeTools']],
  ['an object of strings without NUL characters', isTextMap, ['headers']],
  ['an object of strings without NUL characters, by the names of variables', isVariables, ['env']],
  ['a boolean', (value) => typeof value === 'boolean', ['disabled']],
  ['"auto", "2025-11-25" or "2026-07-28"', (value) => PROTOCOLS.includes(value), ['protocol']],
  [`a number of milliseconds from 1 to ${MAX_TIMER_MS}`, isTimerMs, ['timeout']],
];

const PROTOCOLS: readonly unknown[] = ['auto', '2025-11-25', '2026-07-28'];

/** Leaves out `trust`, `alwaysAllow` and `autoApprove`: a configuration file must not switch off approvals. */
const KNOWN = new Set(['type', 'transport', ...KINDS.flatMap(([, , fields]) => fields)]);

const GRANTS = ['trust', 'alwaysAllow', 'autoApprove', 'autoAllow'].map(fold);
/** Fields of other programs without which a server may not start, and names for known fields that are also present. */
const NEEDED = ['envFile', 'envHttpHeaders', 'headersHelper', 'bearerTokenEnvVar', 'httpUrl', 'serverUrl', 'tools'].map(
  fold,
);
const RESTRICTS = /allow|den[iy]|block|forbid|disable|enable|exclude|include|only|restrict|permission/i;

/** True for an unknown field that restricts the server, that the server needs, or that looks like a misspelt name. */
function isMissed(field: string): boolean {
  const name = fold(field);
  if (GRANTS.includes(name)) return false;
  return NEEDED.includes(name) || RESTRICTS.test(field) || nearestName(field, [...KNOWN]) !== undefined;
}

function hintFor(field: string): string {
  const near = nearestName(field, [...KNOWN]);
  return near === undefined ? '' : `; did you mean "${near}"?`;
}

function kindProblems(fields: Fields): string[] {
  return KINDS.flatMap(([kind, fits, names]) =>
    names
      .filter((name) => fields[name] !== undefined && !fits(fields[name]))
      .map((name) => `\`${name}\` must be ${kind}`),
  );
}

function transportProblems(fields: Fields, origin: McpServerOrigin): string[] {
  const transport = transportOf(fields, origin);
  const { command, args, url, protocol } = fields;
  if (transport === 'sse' && protocol === '2026-07-28')
    return ['`protocol` "2026-07-28" needs the type "stdio" or "http", got "sse"'];
  if (transport === undefined)
    return [`\`type\` must be "stdio", "http" or "sse", got ${JSON.stringify(typeOf(fields))}`];
  if (command !== undefined && url !== undefined) return ['it must have a `command` or a `url`, not both'];
  if (transport !== 'stdio')
    return url === undefined ? [`a server of the type "${transport}" must have a \`url\``] : urlProblems(url);
  return [
    ...(command === undefined || command === '' ? ['it must have a `command` or a `url`'] : []),
    ...(origin.argsRequired && args === undefined ? ['it must have `args`, which may be an empty array'] : []),
  ];
}

/** Skips a URL with a variable. `prepareLaunch` checks such a URL after expansion. */
function urlProblems(url: unknown): string[] {
  if (typeof url !== 'string' || url.includes('${')) return [];
  const problem = problemOfUrl(url);
  return problem === undefined ? [] : [problem];
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0');
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}

function isTextMap(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && Object.values(value).every(isText);
}

function isVariables(value: unknown): boolean {
  return isTextMap(value) && Object.keys(value).every(isVariableName);
}
