import { MAX_TIMER_MS } from '../internal/clock.js';
import { isVariableName } from '../process/environment.js';
import type { McpServerDefinition, McpServerEntry, McpServerOrigin } from './server-definition.js';
import { problemOfUrl } from './server-url.js';

type Fields = Readonly<Record<string, unknown>>;

const TRANSPORTS: Readonly<Record<string, McpServerDefinition['transport']>> = {
  stdio: 'stdio',
  sse: 'sse',
  http: 'http',
  'streamable-http': 'http',
  streamableHttp: 'http',
};

/** Whoever wrote the file does not get to say that nobody is to be asked. */
const DROPPED = ['trust', 'alwaysAllow', 'autoApprove'];

/**
 * The servers of a map, or of an object that has it as `mcpServers`; each is sound, or says what is wrong with it. One
 * bad entry does not void the others.
 */
export function readServerMap(map: object, origin: McpServerOrigin): readonly McpServerEntry[] {
  const { mcpServers } = map as { mcpServers?: unknown };
  const servers = isObject(mcpServers) ? mcpServers : map;
  return Object.entries(servers).map(([name, fields]) => readServer(name, fields, origin));
}

/** One server, or what is wrong with it. */
export function readServer(name: string, fields: unknown, origin: McpServerOrigin): McpServerEntry {
  if (!isObject(fields)) return { name, problem: 'it is no object', notes: [], origin };
  const notes = DROPPED.filter((field) => field in fields).map((field) => `"${field}" is ignored`);
  const problems = problemsOf(name, fields, origin);
  if (problems.length > 0) return { name, problem: problems.join('; '), notes, origin };
  return { name, definition: define(name, fields, origin), notes };
}

function define(name: string, fields: Fields, origin: McpServerOrigin): McpServerDefinition {
  const typed = fields as Partial<McpServerDefinition> & { httpUrl?: string; timeout?: number };
  return {
    name,
    transport: transportOf(fields, origin) ?? 'stdio',
    sseFallback: typeOf(fields) === undefined && fields.httpUrl === undefined,
    command: typed.command,
    args: [...(typed.args ?? [])],
    env: { ...typed.env },
    cwd: typed.cwd,
    url: typed.url ?? typed.httpUrl,
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
  if (type !== undefined) return Object.hasOwn(TRANSPORTS, String(type)) ? TRANSPORTS[String(type)] : undefined;
  if (fields.httpUrl !== undefined) return 'http';
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
  ['a text without NUL', isText, ['command', 'cwd', 'url', 'httpUrl']],
  ['a list of texts without NUL', isTexts, ['args', 'includeTools', 'excludeTools']],
  ['an object of texts', isTextMap, ['headers']],
  ['an object of variables and their texts', isVariables, ['env']],
  ['true or false', (value) => typeof value === 'boolean', ['disabled']],
  [`a number of milliseconds from 1 to ${MAX_TIMER_MS}`, isMilliseconds, ['timeout']],
];

function kindProblems(fields: Fields): string[] {
  return KINDS.flatMap(([kind, fits, names]) =>
    names
      .filter((name) => fields[name] !== undefined && !fits(fields[name]))
      .map((name) => `\`${name}\` is not ${kind}`),
  );
}

function transportProblems(fields: Fields, origin: McpServerOrigin): string[] {
  const transport = transportOf(fields, origin);
  const { command, args, url = fields.httpUrl } = fields;
  if (transport === undefined) return [`"${String(typeOf(fields))}" is no type: it is stdio, http or sse`];
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

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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

function isMilliseconds(value: unknown): boolean {
  return typeof value === 'number' && value >= 1 && value <= MAX_TIMER_MS;
}
