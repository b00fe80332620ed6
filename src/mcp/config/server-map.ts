import { isTimerMs, MAX_TIMER_MS } from '../../internal/clock.js';
import { isObject } from '../../internal/json.js';
import { fold } from '../../internal/names-text.js';
import { nearestName } from '../../internal/options/nearest-name.js';
import { isVariableName } from '../../process/environment.js';
import { known } from '../../programs/cell.js';
import { programOf, serverCells } from '../../programs/list.js';
import { loose } from '../../programs/loose.js';
import type { McpServerDefinition, McpServerEntry, McpServerOrigin } from './definition.js';
import { unknownPlaceholdersIn } from './expansion.js';
import { translate } from './foreign-fields.js';
import { problemOfUrl } from './server-url.js';

type Fields = Readonly<Record<string, unknown>>;

/** Transports by the type names of various programs, in lower case and without `-` and `_`. */
const TRANSPORTS: ReadonlyMap<string, McpServerDefinition['transport']> = new Map(
  Object.entries({ stdio: 'stdio', local: 'stdio', sse: 'sse', http: 'http', streamablehttp: 'http' } as const),
);

/**
 * Returns the keys that lead to the map of servers in the files of all programs. The longest come first, because `mcp`
 * may hold the map `mcp.servers`.
 */
function mapPaths(): readonly (readonly string[])[] {
  return serverCells(({ maps }) => maps)
    .flat()
    .sort((a, b) => b.length - a.length);
}

/**
 * Reads the servers of a map, or of an object that holds the map under a key of some program. Each entry has a definition
 * or a problem. An invalid entry does not affect the others.
 */
export function readServerMap(document: object, origin: McpServerOrigin): readonly McpServerEntry[] {
  const isOff = switchedOff(document as Fields);
  const { servers } = findServerMap(document as Fields);
  return Object.entries(servers).map(([name, fields]) =>
    readServer(name, isObject(fields) && isOff(name) ? { ...fields, disabled: true } : fields, origin),
  );
}

/** Finds the map of servers, and the keys that lead to it. No keys mean that the whole document is the map. */
export function findServerMap(document: Fields): { readonly servers: Fields; readonly keys: readonly string[] } {
  const { mcpServers } = document;
  if (mcpServers === null) return { servers: {}, keys: ['mcpServers'] };
  if (isObject(mcpServers)) return { servers: mcpServers, keys: ['mcpServers'] };
  // In a file that holds only the map, `servers` may be the name of a server. The fields of a server are not all objects.
  const found = mapPaths().map((keys) => ({ keys, servers: valueAt(document, keys) }));
  const named = found.find(({ servers }) => isObject(servers) && Object.values(servers).every(isObject));
  if (named !== undefined) return named as { servers: Fields; keys: readonly string[] };
  // Keys such as `$schema` and `_comment` are notes.
  const servers = Object.entries(document).filter(([key, value]) => isObject(value) || !/^[$_/]/.test(key));
  return { servers: Object.fromEntries(servers), keys: [] };
}

function valueAt(document: Fields, keys: readonly string[]): unknown {
  return keys.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), document);
}

/**
 * Returns a predicate for the servers that another list of the file switches off, such as `mcp.excluded` of Gemini CLI.
 */
function switchedOff(document: Fields): (name: string) => boolean {
  const listsOf = (kind: 'off' | 'on') =>
    serverCells(({ lists }) => lists).flatMap((lists) => {
      const keys = lists[kind];
      const names = keys && valueAt(document, keys);
      return Array.isArray(names) ? [names as readonly unknown[]] : [];
    });
  const [off, on] = [listsOf('off'), listsOf('on')];
  return (name) => off.some((names) => names.includes(name)) || on.some((names) => !names.includes(name));
}

export function readServer(name: string, fields: unknown, origin: McpServerOrigin): McpServerEntry {
  if (!isObject(fields))
    return { name, problem: 'it must be an object with a `command` or a `url`', notes: [], origin };
  const ours = translate(fields, origin);
  const notes = notesOn(ours);
  const ignored = Object.keys(ours).filter((field) => !KNOWN.has(field) && !isMissed(field));
  const problems = problemsOf(name, ours, origin);
  if (problems.length > 0) return { name, problem: problems.join('; '), notes, ignored, origin };
  return { name, definition: define(name, ours, origin), notes, ignored };
}

/** A `timeout` below this number of milliseconds was probably meant in seconds. */
const SHORT_MS = 1_000;

function notesOn(fields: Fields): string[] {
  const { command, args, env = {}, cwd, url, headers = {}, timeout } = fields;
  const isShort = typeof timeout === 'number' && timeout > 0 && timeout < SHORT_MS;
  const texts = [command, args, cwd, url, ...[env, headers].map((map) => isObject(map) && Object.values(map))].flat();
  return [
    ...Object.keys(fields)
      .filter((field) => !KNOWN.has(field) && isMissed(field))
      .map((field) => `the unknown field ${JSON.stringify(field.slice(0, 100))} is ignored${hintFor(field)}`),
    ...unknownPlaceholdersIn(texts.filter(isText)).map(
      (text) => `${JSON.stringify(text)} is not a supported variable and stays unchanged`,
    ),
    ...(isShort
      ? [`\`timeout\` is in milliseconds, so requests end after ${timeout} ms: write ${timeout * 1_000} for seconds`]
      : []),
  ];
}

function define(name: string, fields: Fields, origin: McpServerOrigin): McpServerDefinition {
  const typed = fields as Partial<McpServerDefinition> & { timeout?: number };
  return {
    name,
    transport: transportOf(fields, origin) ?? 'stdio',
    sseFallback: fields.type === undefined,
    command: typed.command,
    args: [...(typed.args ?? [])],
    env: { ...typed.env },
    cwd: typed.cwd ?? startFolder(origin),
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

/** Returns the directory in which the servers of the origin's program start; undefined for the default. */
function startFolder({ program, root, workspaceDir }: McpServerOrigin): string | undefined {
  const place = known(programOf(program)?.servers?.startsIn, 'package');
  return place === 'workspace' && root !== undefined ? workspaceDir : undefined;
}

function transportOf(fields: Fields, origin: McpServerOrigin): McpServerDefinition['transport'] | undefined {
  const { type } = fields;
  if (type !== undefined)
    return typeof type === 'string' ? TRANSPORTS.get(String(loose.word(type)).replace(/[-_]/g, '')) : undefined;
  return fields.url === undefined ? 'stdio' : (origin.urlMeans ?? 'http');
}

function problemsOf(name: string, fields: Fields, origin: McpServerOrigin): string[] {
  // The name of an extension's server begins with the name of the extension and a separator.
  const most = MAX_NAME + (origin.extension === undefined ? 0 : origin.extension.length + 1);
  const isName = name.length >= 1 && name.length <= most && !/\p{Cc}/u.test(name);
  const wrongKinds = KINDS.flatMap(([kind, fits, names]) =>
    names
      .filter((field) => fields[field] !== undefined && !fits(fields[field]))
      .map((field) => `\`${field}\` must be ${kind}`),
  );
  return [
    ...(isName ? [] : [`its name must have 1 to ${MAX_NAME} characters, without control characters`]),
    ...wrongKinds,
    ...transportProblems(fields, origin),
  ];
}

const MAX_NAME = 128;

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

/**
 * Fields that Keelson reads. `trust`, `alwaysAllow` and `autoApprove` are not among them: a configuration file must not
 * switch off approvals.
 */
const KNOWN = new Set(['type', 'transport', ...KINDS.flatMap(([, , fields]) => fields)]);

const GRANTS = ['trust', 'alwaysAllow', 'autoApprove', 'autoAllow'].map(fold);
/**
 * Fields of other programs without which a server may not start. A second name of a known field, such as `serverUrl`,
 * is unknown only if the server has the known field too.
 */
const NEEDED = ['envFile', 'envHttpHeaders', 'headersHelper', 'bearerTokenEnvVar', 'httpUrl', 'serverUrl', 'tools'].map(
  fold,
);
const RESTRICTS = /allow|den[iy]|block|forbid|disable|enable|exclude|include|only|restrict|permission/i;

/**
 * True for an unknown field that must not be ignored: it may restrict the server, the server may need it to start, or
 * it looks like a misspelt name.
 */
function isMissed(field: string): boolean {
  const name = fold(field);
  if (GRANTS.includes(name)) return false;
  return NEEDED.includes(name) || RESTRICTS.test(field) || nearestName(field, [...KNOWN]) !== undefined;
}

function hintFor(field: string): string {
  const near = nearestName(field, [...KNOWN]);
  return near === undefined ? '' : `; did you mean "${near}"?`;
}

function transportProblems(fields: Fields, origin: McpServerOrigin): string[] {
  const transport = transportOf(fields, origin);
  const { command, args, url, protocol } = fields;
  if (transport === 'sse' && protocol === '2026-07-28')
    return ['`protocol` "2026-07-28" needs the type "stdio" or "http", got "sse"'];
  if (transport === undefined) return [`\`type\` must be "stdio", "http" or "sse", got ${JSON.stringify(fields.type)}`];
  if (command !== undefined && url !== undefined) return ['it must have a `command` or a `url`, not both'];
  if (transport !== 'stdio') {
    if (url === undefined) return [`a server of the type "${transport}" must have a \`url\``];
    // `prepareLaunch` checks a URL with a variable after the variable is expanded.
    const problem = typeof url === 'string' && !url.includes('${') ? problemOfUrl(url) : undefined;
    return problem === undefined ? [] : [problem];
  }
  return [
    ...(command === undefined || command === '' ? ['it must have a `command` or a `url`'] : []),
    ...(origin.argsRequired && args === undefined ? ['it must have `args`, which may be an empty array'] : []),
  ];
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
