/** Where ids come from. A durable engine or a test puts its own in. */
export interface Ids {
  /** A new id, unique wherever the runs are kept. `kind` says what it is for and may become its prefix. */
  next(kind: 'run' | 'session' | 'call'): string;
}

/** Random ids of 128 bits: `run_9f86d081…`. */
export const randomIds: Ids = {
  next: (kind) => `${kind}_${crypto.randomUUID().replaceAll('-', '')}`,
};
