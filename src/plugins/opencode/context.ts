import type { Logger } from '../../internal/logger.js';
import { OpencodeUnavailableError } from '../error.js';

/** What a plugin for opencode is told of where it runs. */
export interface OpencodeHost {
  readonly workspaceDir: string;
  readonly logger: Logger;
  readonly client: object | undefined;
}

interface LogBody {
  readonly service?: string;
  readonly level?: string;
  readonly message?: string;
  readonly extra?: unknown;
}

/** What a plugin for opencode is made with. Of the client only `app.log` works; anything else of it rejects. */
export function opencodeContext({ workspaceDir, logger, client }: OpencodeHost): object {
  const bun = (globalThis as { Bun?: { readonly $?: unknown } }).Bun;
  return {
    client: client ?? absent('client', { app: absent('client.app', { log: logInto(logger) }) }),
    project: { id: 'global', worktree: workspaceDir },
    directory: workspaceDir,
    worktree: workspaceDir,
    $: bun?.$ ?? absent('$'),
    serverUrl: absent('serverUrl'),
    experimental_workspace: absent('experimental_workspace'),
  };
}

function logInto(logger: Logger) {
  // Older releases of opencode took the line itself.
  return async (line: LogBody & { readonly body?: LogBody } = {}) => {
    const { service = 'opencode', level = 'info', message = '', extra } = line.body ?? line;
    const known = level === 'debug' || level === 'warn' || level === 'error' ? level : 'info';
    logger[known](`[${service}] ${message}`, extra);
    return { data: true };
  };
}

/** Something that is not there: every call of it, or of what is in it, rejects with its name. */
function absent(name: string, known: Readonly<Record<string, unknown>> = {}): unknown {
  return new Proxy(() => unavailable(name), {
    get(_target, key) {
      // Whoever awaits it, or prints it, does not call it.
      if (typeof key === 'symbol' || key === 'then') return undefined;
      return Object.hasOwn(known, key) ? known[key] : absent(`${name}.${key}`);
    },
  });
}

/** A rejection that nobody has to catch, and that goes on rejecting in a chain such as `.quiet().text()`. */
function unavailable(name: string): unknown {
  const rejection = Promise.reject(new OpencodeUnavailableError(name));
  rejection.catch(() => {});
  return new Proxy(rejection, {
    get(promise, key) {
      const value: unknown = Reflect.get(promise, key);
      if (value === undefined) return () => unavailable(name);
      return typeof value === 'function' ? value.bind(promise) : value;
    },
  });
}
