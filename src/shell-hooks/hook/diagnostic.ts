import type { Logger } from '../../internal/logger.js';
import { safeText } from '../../internal/safe-text.js';
import type { HookDialect } from '../../programs/hook-event.js';
import type { TrustScope } from '../../trust/item.js';
import type { HookRegistration } from './definition.js';

/** A problem or a notice about hooks. */
export interface HookDiagnostic {
  /** `error` means that a hook that should guard something does not run. */
  readonly level: 'error' | 'warning' | 'info';
  /** Stable name for the kind of diagnostic, such as `hook-invalid`. */
  readonly code: string;
  readonly message: string;
  readonly hook?: string | undefined;
  /** Path of the hook file. */
  readonly source?: string | undefined;
}

/** A message of a hook to the user. */
export interface HookNotice {
  readonly hook: string;
  readonly event: string;
  readonly text: string;
}

/** Callback that is called with each diagnostic. `isLogged` says that the log has a line about it already. */
export type Report = (diagnostic: HookDiagnostic, isLogged?: boolean) => void;

const METHODS = { error: 'error', warning: 'warn', info: 'info' } as const;

/** Collects diagnostics, logs them, and passes them to a listener. Keeps the last 1,000. */
export class Diagnostics {
  private readonly kept: HookDiagnostic[] = [];

  constructor(
    private readonly logger: Logger,
    private readonly listener: ((diagnostic: HookDiagnostic) => void) | undefined,
  ) {}

  readonly report: Report = (given, isLogged = false) => {
    // The message may quote a workspace file and may be printed on a terminal.
    const diagnostic = { ...given, message: safeText(given.message), hook: given.hook && safeText(given.hook) };
    this.kept.push(diagnostic);
    if (this.kept.length > 1_000) this.kept.shift();
    if (!isLogged) this.logger[METHODS[diagnostic.level]](diagnostic.message, diagnostic);
    try {
      this.listener?.(diagnostic);
    } catch (error) {
      this.logger.error('The `onDiagnostic` callback of the shell hooks threw an error.', error);
    }
  };

  list(): readonly HookDiagnostic[] {
    return [...this.kept];
  }
}

/** Origin of a hook document. Set by the caller, never by the document. */
export interface HookSource {
  readonly dialect: HookDialect;
  readonly scope: TrustScope;
  /** Absolute path of the file; undefined if the document does not come from a file. */
  readonly source?: string | undefined;
  readonly extension?: string | undefined;
  readonly root?: string | undefined;
  /** True if its hooks get the data directory in the variable `CLAUDE_PLUGIN_DATA`. */
  readonly hasData?: boolean | undefined;
  /** Called with each problem of the document. */
  readonly report: (diagnostic: HookDiagnostic) => void;
}

/** Hooks of a document. Only the structure of the document was checked, not the settings of the hooks. */
export interface HookContent {
  readonly hooks: readonly HookRegistration[];
  /** The `hooks.timeout` of the file. A file of the workspace cannot set it. */
  readonly timeout?: number | undefined;
}

/** Reports a diagnostic about a document. The message begins with the file path. */
export function reportOn({ report, source }: HookSource, diagnostic: Omit<HookDiagnostic, 'source'>): void {
  report({
    ...diagnostic,
    message: source === undefined ? diagnostic.message : `${source}: ${diagnostic.message}`,
    source,
  });
}
