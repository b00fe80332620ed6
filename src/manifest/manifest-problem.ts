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

/** A problem as a line: where, and what. */
export function problemText({ path, message }: ManifestProblem): string {
  return path === '' ? message : `${path}: ${message}`;
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
