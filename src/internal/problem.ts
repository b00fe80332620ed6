/** What is wrong with one place of a manifest. */
export interface ManifestProblem {
  /** Such as `hooks[0].command`; empty for the whole file. */
  readonly path: string;
  readonly message: string;
}

/** What a loader has to say of an extension, a skill or a setting. Each is logged once, at its level. */
export interface ManifestDiagnostic {
  readonly level: 'error' | 'warning';
  /** One text with everything in it. */
  readonly message: string;
  /** The name of the extension, or of its folder where it has none. */
  readonly extension?: string | undefined;
  /** The file or folder that it is about. */
  readonly source: string;
  readonly problems: readonly ManifestProblem[];
}

const MAX_TEXT = 20_000;

/** Problems as one string, cut so that a large file that is wrong all over does not fill a log. */
export function problemsText(problems: readonly ManifestProblem[]): string {
  const lines = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const text = lines.join('; ');
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)} … (${problems.length} in all)`;
}

/** Where a value stands, such as `hooks[0].command`; a key with other characters is quoted. */
export function pathText(path: readonly PropertyKey[]): string {
  const steps = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    const key = String(step);
    return /^[A-Za-z_][\w-]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  });
  return steps.join('').replace(/^\./, '');
}
