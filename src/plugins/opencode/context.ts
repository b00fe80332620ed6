import type { Logger } from '../../internal/logger.js';
import { OpencodeUnavailableError } from '../error.js';

/** The workspace, logger and client that a plugin for opencode receives. */
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

/**
 * Creates the argument of a factory of an opencode plugin. The default client supports only `app.log`; every other call
 * rejects.
 */
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
  // Older releases of opencode pass the log line itself, without `body`.
  return async (line: LogBody & { readonly body?: LogBody } = {}) => {
    const { service = 'opencode', level = 'info', message = '', extra } = line.body ?? line;
    const known = level === 'debug' || level === 'warn' || level === 'error' ? level : 'info';
    logger[known](`[${service}] ${message}`, extra);
    return { data: true };
  };
}

/** Stands for a feature that exists only in opencode. Every call rejects with an error that names the feature. */
function absent(name: string, known: Readonly<Record<string, unknown>> = {}): unknown {
  return new Proxy(() => unavailable(name), {
    get(_target, key) {
      // These keys are read when the feature is awaited or printed, which must not fail.
      if (typeof key === 'symbol' || key === 'then') return undefined;
      return Object.hasOwn(known, key) ? known[key] : absent(`${name}.${key}`);
    },
  });
}

/**
 * Returns a rejected promise that causes no unhandled rejection. A chained call such as `.quiet().text()` rejects too.
 */
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
