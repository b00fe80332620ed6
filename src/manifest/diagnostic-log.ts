import type { Logger } from '../internal/logger.js';
import { namesText } from '../internal/names-text.js';
import { type ManifestDiagnostic, placeText, problemsText } from '../internal/problem.js';

/**
 * Keeps the diagnostics of a reload for `status()`. Logs each error. Logs a warning once if several packages have the
 * same cause.
 */
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
    const sources = sourcesByCause(waiting);
    const shared = [...sources].filter(([, places]) => places.length > 1);
    for (const [cause, places] of shared) {
      this.logger.warn(`${namesText(places)}: ${cause}`, { level: 'warning', cause, sources: places });
    }
    for (const diagnostic of waiting) {
      const own = diagnostic.problems.filter((problem) => sources.get(problemsText([problem]))?.length === 1);
      if (own.length === diagnostic.problems.length) this.logger.warn(diagnostic.message, diagnostic);
      else if (own.length > 0) this.logger.warn(`${placeText(diagnostic)}: ${problemsText(own)}`, diagnostic);
    }
  }
}

function sourcesByCause(diagnostics: readonly ManifestDiagnostic[]): ReadonlyMap<string, readonly string[]> {
  const sources = new Map<string, Set<string>>();
  for (const diagnostic of diagnostics) {
    for (const problem of diagnostic.problems) {
      const cause = problemsText([problem]);
      const known = sources.get(cause) ?? new Set();
      sources.set(cause, known.add(placeText(diagnostic)));
    }
  }
  return new Map([...sources].map(([cause, places]) => [cause, [...places]]));
}
