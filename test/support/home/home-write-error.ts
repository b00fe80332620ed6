/** Thrown if a test writes to the home directory of the person who runs the tests. */
export class HomeWriteError extends Error {
  readonly code = 'ERR_HOME_WRITE';

  constructor(paths: readonly string[]) {
    super(`A test must not write to the real home directory, but it wrote: ${paths.join(', ')}`);
    this.name = 'HomeWriteError';
  }
}
