import { isBuiltin } from 'node:module';
import { type ImportOf, importsOf, reachable } from './import-graph.js';
import type { SourceFile } from './source-file.js';

const ENTRY = 6;
const LEAF = 5;
const layerOf: Record<string, number> = {
  'errors.ts': -1,
  'version.ts': -1,
  internal: 0,
  model: 1,
  tools: 2,
  state: 2,
  process: 2,
  programs: 2,
  telemetry: 2,
  lifecycle: 3,
  agent: 4,
  extension: LEAF,
  trust: LEAF,
  'shell-hooks': LEAF,
  manifest: LEAF,
  skills: LEAF,
  mcp: LEAF,
  plugins: LEAF,
  concepts: LEAF,
  providers: LEAF,
  stores: LEAF,
  lifecycles: LEAF,
  durable: LEAF,
  testing: LEAF,
  trace: LEAF,
  page: LEAF,
  ui: LEAF,
  'telemetry/otel': LEAF,
  'index.ts': ENTRY,
  runtime: ENTRY,
  cli: ENTRY,
};

/** The folders that a leaf folder may import in addition to the layers 0 to 3. */
const leafMayImport: Record<string, readonly string[]> = {
  'shell-hooks': ['trust'],
  manifest: ['trust', 'shell-hooks', 'mcp', 'skills'],
  skills: ['trust'],
  mcp: ['trust'],
  plugins: ['trust'],
  testing: ['agent'],
  trace: ['agent'],
  page: ['trace'],
  ui: ['agent'],
  durable: ['agent'],
};

const nodeAllowed = [
  'process',
  'trust',
  'shell-hooks',
  'manifest',
  'skills',
  'mcp',
  'plugins',
  'concepts',
  'stores',
  'durable',
  'telemetry/otel',
  'trace',
  'cli',
  'runtime',
];

/** The folder or file that may import each package; `''` means any file. */
const clients: Record<string, readonly string[]> = {
  zod: [''],
  '@cfworker/json-schema': ['tools/json-schema-check.ts', 'tools/lenient-schema.ts', 'mcp/schema/schema-worker.ts'],
  eventemitter3: ['agent/listeners.ts'],
  'p-timeout': [''],
  '@anthropic-ai/sdk': ['providers/anthropic'],
  ai: ['providers/ai-sdk'],
  '@ai-sdk/provider': ['providers/ai-sdk'],
  '@modelcontextprotocol/client': ['mcp/connection/sdk-v2', 'mcp/transport/authorization.ts'],
  '@modelcontextprotocol/sdk': ['mcp/connection/sdk-v1', 'mcp/transport/authorization.ts'],
  '@redis/client': ['stores/redis'],
  '@opentelemetry/api': ['telemetry/otel'],
  '@restatedev/restate-sdk': ['durable/restate'],
  '@dbos-inc/dbos-sdk': ['durable/dbos'],
  'es-module-lexer': ['plugins/imports.ts'],
  minisearch: ['lifecycles/tool-search/index-tools.ts'],
  re2js: ['shell-hooks/hook/linear-pattern.ts'],
  yaml: ['skills/front-matter.ts'],
  jiti: ['plugins'],
  // The build removes the import.
  esbuild: ['mcp/schema/worker-source.ts', 'cli/page/page-source.ts'],
};

const rootMayReach = ['@cfworker/json-schema', 'eventemitter3', 'p-timeout', 'zod'];

/** Returns the folder that decides the layer of a file: its top folder, or a subfolder with its own layer. */
function partOf(path: string): string {
  const [top = path, below] = path.split('/');
  return `${top}/${below}` in layerOf ? `${top}/${below}` : top;
}

/** Reports imports of a higher layer, or of another folder in the same layer. Type imports count. */
export function layerViolations(files: readonly SourceFile[]): string[] {
  const unknown = files
    .filter(({ path }) => !(partOf(path) in layerOf))
    .map(({ path }) => `${path} is in no known layer`);
  const wrong = files.flatMap(importsOf).filter((it) => it.ours && !mayImport(partOf(it.from), partOf(it.to)));
  return [...unknown, ...wrong.map(({ from, to }) => `${from} may not import ${to}`)];
}

function mayImport(from: string, to: string): boolean {
  if (from === to) return true;
  if (leafMayImport[from]?.includes(to)) return true;
  const below = Math.min(layerOf[from] ?? 0, ENTRY);
  // A leaf folder may import the types that hooks use (layers 0 to 3), but not the agent.
  const limit = below === LEAF ? 4 : below;
  return (layerOf[to] ?? ENTRY) < limit;
}

/** Reports `node:` imports outside of the allowed folders, or reachable from the root entry. */
export function nodeViolations(files: readonly SourceFile[]): string[] {
  const outside = files.flatMap(importsOf).filter((it) => isNode(it) && !nodeAllowed.includes(partOf(it.from)));
  const reached = reachable(files, 'index.ts').filter(isNode);
  return [
    ...outside.map(({ from, to }) => `${from} may not import ${to}`),
    ...reached.map(({ from, to }) => `index.ts reaches ${to} through ${from}`),
  ];
}

function isNode({ to, ours }: ImportOf): boolean {
  return !ours && isBuiltin(to);
}

/** Reports undeclared packages, packages outside of their folder, and optional packages that the root entry reaches. */
export function packageViolations(files: readonly SourceFile[]): string[] {
  const packages = (imports: readonly ImportOf[]) => imports.filter((it) => !it.ours && !isNode(it));
  const outside = packages(files.flatMap(importsOf)).filter((it) => !isAtHome(it));
  const reached = packages(reachable(files, 'index.ts')).filter((it) => !isFitForRoot(it));
  return [
    ...outside.map(({ from, to }) => `${from} may not import ${to}`),
    ...reached.map(({ from, to }) => `index.ts reaches ${to} through ${from}`),
  ];
}

function isAtHome({ from, to }: ImportOf): boolean {
  const homes = clients[packageName(to)] ?? [];
  return homes.some((home) => home === '' || from === home || from.startsWith(`${home}/`));
}

/** Schema libraries are slow to load, so the core loads one only for the first check of a JSON Schema. */
function isFitForRoot({ to, kind }: ImportOf): boolean {
  return rootMayReach.includes(packageName(to)) && (packageName(to) !== 'zod' || kind === 'lazy');
}

function packageName(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}
