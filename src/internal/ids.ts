/** Source of ids. A durable engine or a test can supply its own. */
export interface Ids {
  /**
   * Returns a new id that is unique among all stored runs. `kind` says what the id is for, and may become its prefix.
   */
  next(kind: 'run' | 'session' | 'call' | 'entry'): string;
}

/** Generates random 128-bit ids such as `run_9f86d081…`. */
export const randomIds: Ids = {
  next: (kind) => `${kind}_${crypto.randomUUID().replaceAll('-', '')}`,
};
