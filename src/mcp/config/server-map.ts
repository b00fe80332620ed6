import { isTimerMs, MAX_TIMER_MS } from '../../internal/clock.js';
import { isObject } from '../../internal/json.js';
import { isVariableName } from '../../process/environment.js';
import type { McpServerDefinition, McpServerEntry, McpServerOrigin } from './definition.js';
import { strangersIn } from './expansion.js';
import { problemOfUrl } from './server-url.js';

type Fields = Readonly<Record<string, unknown>>;

/** By what programs call them, in small letters without `-` and `_`. */
const TRANSPORTS: ReadonlyMap<string, McpServerDefinition['transport']> = new Map([
  ['stdio', 'stdio'],
  ['local', 'stdio'],
  ['sse', 'sse'],
  ['http', 'http'],
  ['streamablehttp', 'http'],
]);

/** The keys of a map of servers: the usual one, VS Code's and Zed's. */
export const SERVER_MAPS: readonly string[] = ['mcpServers', 'servers', 'context_servers'];

/**
 * The servers of a map, or of an object that has it under one of these keys; each is sound, or
 * says what is wrong with it. One bad entry does not void the others.
 */
export function readServerMap(map: object, origin: McpServerOrigin): readonly McpServerEntry[] {
  return Object.entries(serversOf(map as Fields)).map(([name, fields]) => readServer(name, fields, origin));
}

/** Of a bare map, `servers` may be the name of a server: then its fields are no servers. */
function serversOf(map: Fields): Fields {
  const [own, ...others] = SERVER_MAPS.map((key) => map[key]);
  if (isObject(own)) return own;
  const found = others.filter(isObject);
  return found.find((servers) => Object.values(servers).every(isObject)) ?? map;
}

/** One server, or what is wrong with it. */
export function readServer(name: string, fields: unknown, origin: McpServerOrigin): McpServerEntry {
  if (!isObject(fields)) return { name, problem: 'it is no object', notes: [], origin };
  const ours = translate(fields);
  const notes = notesOn(ours);
  const problems = problemsOf(name, ours, origin);
  if (problems.length > 0) return { name, problem: problems.join('; '), notes, origin };
  return { name, definition: define(name, ours, origin), notes };
}

/**
 * What other programs call by other names: the address, whether it counts, and which tools to offer or to leave out. One that is there under
 * both names stays as it is, and is told. Some write null where there is nothing.
 */
function translate(fields: Fields): Fields {
  const given: Fields = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  const { httpUrl, serverUrl, tools, disabledTools, enabled, ...ours } = given;
  return {
    ...ours,
    ...(tools !== undefined && {
      [isTexts(tools) && ours.includeTools === undefined ? 'includeTools' : 'tools']: tools,
    }),
    ...(httpUrl !== undefined &&
      (ours.url === undefined ? { url: httpUrl, type: typeOf(ours) ?? 'http' } : { httpUrl })),
    ...(serverUrl !== undefined && { [(ours.url ?? httpUrl) === undefined ? 'url' : 'serverUrl']: serverUrl }),
    ...(enabled !== undefined &&
      (typeof enabled === 'boolean' ? { disabled: ours.disabled || !enabled } : { enabled })),
    ...(disabledTools !== undefined && { excludeTools: [ours.excludeTools ?? [], disabledTools].flat() }),
  };
}

/** A field that nobody knows may have been meant to forbid something, so it is not passed over in silence. */
function notesOn(fields: Fields): string[] {
  const { command, args, env = {}, cwd, url, headers = {} } = fields;
  const texts = [command, args, cwd, url, ...[env, headers].map((map) => isObject(map) && Object.values(map))].flat();
  return [
    ...Object.keys(fields)
      .filter((field) => !KNOWN.has(field))
      .map((field) => `${JSON.stringify(field.slice(0, 100))} is ignored`),
    ...strangersIn(texts.filter(isText)).map((text) => `${JSON.stringify(text)} is no variable, and stays as it is`),
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
    ...(isName(name) ? [] : ['its name has to have 1 to 128 characters, and no control characters']),
    ...kindProblems(fields),
    ...transportProblems(fields, origin),
  ];
}

function isName(name: string): boolean {
  return name.length >= 1 && name.length <= 128 && !/\p{Cc}/u.test(name);
}

const KINDS: readonly (readonly [kind: string, fits: (value: unknown) => boolean, fields: readonly string[]])[] = [
  ['a text without NUL', isText, ['command', 'cwd', 'url']],
  ['a list of texts without NUL', isTexts, ['args', 'includeTools', 'excludeTools']],
  ['an object of texts', isTextMap, ['headers']],
  ['an object of variables and their texts', isVariables, ['env']],
  ['true or false', (value) => typeof value === 'boolean', ['disabled']],
  [`a number of milliseconds from 1 to ${MAX_TIMER_MS}`, isTimerMs, ['timeout']],
];

/** Not `trust`, `alwaysAllow`, `autoApprove`: whoever wrote the file does not get to say that nobody is to be asked. */
const KNOWN = new Set(['type', 'transport', ...KINDS.flatMap(([, , fields]) => fields)]);

function kindProblems(fields: Fields): string[] {
  return KINDS.flatMap(([kind, fits, names]) =>
    names
      .filter((name) => fields[name] !== undefined && !fits(fields[name]))
      .map((name) => `\`${name}\` is not ${kind}`),
  );
}

function transportProblems(fields: Fields, origin: McpServerOrigin): string[] {
  const transport = transportOf(fields, origin);
  const { command, args, url } = fields;
  if (transport === undefined) return [`${JSON.stringify(typeOf(fields))} is no type: it is stdio, http or sse`];
  if (command !== undefined && url !== undefined) return ['it has both a `command` and a `url`: one of them has to go'];
  if (transport !== 'stdio') return url === undefined ? [`${transport} needs a \`url\``] : urlProblems(url);
  return [
    ...(command === undefined || command === '' ? ['it needs a `command`, or a `url`'] : []),
    ...(origin.argsRequired && args === undefined ? ['it needs `args`, if only as an empty list'] : []),
  ];
}

/** What holds a variable is looked at when it is expanded. */
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
