import type { Logger } from '../internal/logger.js';
import { namesText } from '../internal/names-text.js';
import { type ManifestDiagnostic, placeText, problemsText } from '../internal/problem.js';

/** Keeps the diagnostics of a reload for `status()`. Logs each error, and each cause of warnings once. */
export class DiagnosticLog {
  private kept: ManifestDiagnostic[] = [];
  private waiting: ManifestDiagnostic[] = [];

  constructor(private readonly logger: Logger) {}

  list(): readonly ManifestDiagnostic[] {
    return [...this.kept];
  }

  clear(): void {
    this.kept = [];
  }

  /** Logs an error at once. A warning is logged by `flush`, so that equal warnings of several packages become one. */
  readonly report = (diagnostic: ManifestDiagnostic): void => {
    this.kept.push(diagnostic);
    const { level, message } = diagnostic;
    if (level === 'error') this.logger.error(message, diagnostic);
    else if (level === 'info') this.logger.debug(message, diagnostic);
    else this.waiting.push(diagnostic);
  };

  /** Logs the warnings that were reported since the last call. */
  flush(): void {
    const { waiting } = this;
    this.waiting = [];
    const causes = new Map<string, Set<string>>();
    for (const diagnostic of waiting) {
      for (const problem of diagnostic.problems) {
        const cause = problemsText([problem]);
        causes.set(cause, (causes.get(cause) ?? new Set()).add(placeText(diagnostic)));
      }
    }
    for (const [cause, places] of causes) {
      const sources = [...places];
      this.logger.warn(`${namesText(sources)}: ${cause}`, { level: 'warning', cause, sources });
    }
  }
}
