import type { Logger } from '../../internal/logger.js';
import { safeText } from '../../internal/safe-text.js';

/** Something about hooks that somebody should know. */
export interface HookDiagnostic {
  /** `error`: something that was meant to guard does not. */
  readonly level: 'error' | 'warning' | 'info';
  /** Stable: what kind of thing it is. */
  readonly code: string;
  readonly message: string;
  readonly hook?: string | undefined;
  /** The file that it is about. */
  readonly source?: string | undefined;
}

/** Takes a diagnostic to where it is seen. */
export type Report = (diagnostic: HookDiagnostic) => void;

const METHODS = { error: 'error', warning: 'warn', info: 'info' } as const;

/** Collects diagnostics, logs them, and hands them to a listener. Keeps the last 1,000. */
export class Diagnostics {
  private readonly kept: HookDiagnostic[] = [];

  constructor(
    private readonly logger: Logger,
    private readonly listener: Report | undefined,
  ) {}

  readonly report: Report = (given) => {
    // It may quote a file of the workspace, and be shown on a terminal.
    const diagnostic = { ...given, message: safeText(given.message), hook: given.hook && safeText(given.hook) };
    this.kept.push(diagnostic);
    if (this.kept.length > 1_000) this.kept.shift();
    this.logger[METHODS[diagnostic.level]](diagnostic.message, diagnostic);
    try {
      this.listener?.(diagnostic);
    } catch (error) {
      this.logger.error('The listener for diagnostics of hooks failed.', error);
    }
  };

  list(): readonly HookDiagnostic[] {
    return [...this.kept];
  }
}
