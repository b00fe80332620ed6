/** One problem in a manifest. */
export interface ManifestProblem {
  /** Path of the value, such as `hooks[0].command`. Empty for the whole file. */
  readonly path: string;
  readonly message: string;
}

/**
 * A problem with an extension package, a skill or a setting. A loader logs each `error` and each cause of a `warning`
 * once.
 */
export interface ManifestDiagnostic {
  /**
   * `error`: a hook that can block is not active, or a whole package was not loaded. `warning`: another part does not
   * work as its author intended. `info`: everything works; logged only at level `debug`.
   */
  readonly level: 'error' | 'warning' | 'info';
  /** The complete message, including the source and the problems. */
  readonly message: string;
  /** The name of the extension package, or the name of its directory if it has none. */
  readonly extension?: string | undefined;
  /** The file or directory with the problem. */
  readonly source: string;
  readonly problems: readonly ManifestProblem[];
}

/** A problem and its level. */
export interface LeveledProblem extends ManifestProblem {
  readonly level: ManifestDiagnostic['level'];
}

/** The file or directory with a problem, and the extension package that it belongs to. */
export type ProblemPlace = Pick<ManifestDiagnostic, 'extension' | 'source'>;

/** Returns one diagnostic for several problems of the same level in the same file. */
export function diagnosticOf(
  level: ManifestDiagnostic['level'],
  { extension, source }: ProblemPlace,
  problems: readonly ManifestProblem[],
): ManifestDiagnostic {
  const message = `${placeText({ extension, source })}: ${problemsText(problems)}`;
  return { level, message, ...(extension === undefined ? {} : { extension }), source, problems };
}

/** Returns one diagnostic for each level that has problems. */
export function diagnosticsOf(place: ProblemPlace, found: readonly LeveledProblem[]): readonly ManifestDiagnostic[] {
  return (['error', 'warning', 'info'] as const).flatMap((level) => {
    const problems = found.filter((one) => one.level === level).map(({ path, message }) => ({ path, message }));
    return problems.length === 0 ? [] : [diagnosticOf(level, place, problems)];
  });
}

/** Returns a name for the file with a problem, with its extension package if it belongs to one. */
export function placeText({ extension, source }: ProblemPlace): string {
  return extension === undefined ? source : `Extension "${extension}" (${source})`;
}

const MAX_TEXT = 20_000;

/** Joins problems into one string, with a length limit so that a large broken file does not fill the log. */
export function problemsText(problems: readonly ManifestProblem[]): string {
  const lines = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const text = lines.join('; ');
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)} … (${problems.length} in all)`;
}

/** Returns the path of a value, such as `hooks[0].command`. A key with special characters is quoted. */
export function pathText(path: readonly PropertyKey[]): string {
  const steps = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    const key = String(step);
    return /^[A-Za-z_][\w-]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  });
  return steps.join('').replace(/^\./, '');
}
