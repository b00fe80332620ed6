import type { Logger } from '../../internal/logger.js';
import type { McpServerEntry, McpServerOrigin } from '../config/definition.js';
import { ServerLog } from '../server-log.js';

const PRECEDENCE: readonly McpServerOrigin['scope'][] = ['builtin', 'user', 'workspace'];

/**
 * Holds all servers by their names, and decides which server of a name is used. The result depends on the origins of
 * the servers alone, never on the order of the calls.
 */
export class NameClaims {
  private readonly byName = new Map<string, readonly McpServerEntry[]>();
  revision = 0;

  put(entry: McpServerEntry): void {
    const others = this.of(entry.name).filter((other) => compareEntries(other, entry) !== 0);
    this.byName.set(entry.name, [...others, entry].sort(compareEntries));
    this.revision += 1;
  }

  /** Removes the server of a name and an origin. Without an origin, removes the server that has the name. */
  remove(name: string, origin?: McpServerOrigin): McpServerEntry | undefined {
    const all = this.of(name);
    const gone = origin === undefined ? all[0] : all.find((entry) => compareOrigins(originOf(entry), origin) === 0);
    const left = all.filter((entry) => entry !== gone);
    if (left.length > 0) this.byName.set(name, left);
    else this.byName.delete(name);
    this.revision += 1;
    return gone;
  }

  holder(name: string): McpServerEntry | undefined {
    return this.of(name)[0];
  }

  /** True if no server with this name has the same origin or precedence. */
  isFree(entry: McpServerEntry): boolean {
    const holder = this.holder(entry.name);
    return holder === undefined || compareEntries(entry, holder) < 0;
  }

  /** Returns the servers of a configuration file, including those that do not get their names. */
  ofFile(path: string): readonly McpServerEntry[] {
    return [...this.byName.values()].flat().filter((entry) => {
      const { source, extension } = originOf(entry);
      return source === path && extension === undefined;
    });
  }

  private of(name: string): readonly McpServerEntry[] {
    return this.byName.get(name) ?? [];
  }
}

/**
 * Orders servers of one name: the host application, the user, the workspace; then by the name of the extension package
 * and by the path of the file, in code-unit order. A server without an extension package goes first. Returns 0 for
 * servers of one origin.
 */
function compareOrigins(a: McpServerOrigin, b: McpServerOrigin): number {
  return (
    rankOf(a) - rankOf(b) ||
    compareTexts(a.extension ?? '', b.extension ?? '') ||
    compareTexts(a.source ?? '', b.source ?? '')
  );
}

export function compareEntries(a: McpServerEntry, b: McpServerEntry): number {
  return compareOrigins(originOf(a), originOf(b));
}

export function originOf(entry: McpServerEntry): McpServerOrigin {
  return 'definition' in entry ? entry.definition.origin : entry.origin;
}

export function reportLeftOut(loser: McpServerEntry, holder: McpServerEntry, logger: () => Logger): void {
  const [own, others] = [originOf(loser), originOf(holder)].map(shownOrigin);
  const problem = `the server of ${own} is left out: a server of ${others} has this name. Rename one of them.`;
  new ServerLog(loser.name, logger).write('warn', problem);
}

function shownOrigin({ scope, precedence = scope, extension, source }: McpServerOrigin): string {
  if (extension !== undefined) return `extension "${extension}"${source === undefined ? '' : ` (${source})`}`;
  return source ?? (precedence === 'builtin' ? 'the host application' : `the ${precedence}`);
}

function rankOf({ scope, precedence = scope }: McpServerOrigin): number {
  return PRECEDENCE.indexOf(precedence);
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
