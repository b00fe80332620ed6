import type { Entry, EntryBody } from '../../state/record/entry.js';
import type { Claim } from './claim.js';

/** The run that adds entries, and the place where it begins. */
export interface EntryOrigin {
  readonly claim: Claim;
  /** The entry that the first one of the run follows. */
  readonly tip: string | undefined;
  readonly runId: string;
  readonly agent: string;
  readonly now: () => number;
  /** The calls that lead to the run, if it is a nested one. */
  readonly path?: readonly string[] | undefined;
  /** Returns the id of the next entry. Default: the id of the run and a number. */
  readonly nextId?: (() => string) | undefined;
}

/** The members of an entry that differ from those of its run. */
interface EntryPlace {
  /** Default: the next id of the run. */
  readonly id?: string | undefined;
  readonly parent?: string | undefined;
  readonly by?: string | undefined;
}

/** Makes the entries of a run, which wait for the next append of its claim. */
export class EntryWriter {
  /** The name of the agent that adds the entries. */
  agent: string;
  private tip: string | undefined;
  private count = 0;

  constructor(private readonly origin: EntryOrigin) {
    this.agent = origin.agent;
    this.tip = origin.tip;
  }

  nextId(): string {
    const { nextId, runId } = this.origin;
    if (nextId !== undefined) return nextId();
    this.count += 1;
    return `${runId}.${this.count - 1}`;
  }

  /** Puts an entry at the end of the path. */
  follow(body: EntryBody, { id, by }: Omit<EntryPlace, 'parent'> = {}): Entry {
    const entry = this.put(body, { parent: this.tip, id, by });
    this.tip = entry.id;
    return entry;
  }

  /** Adds an entry. */
  put(body: EntryBody, { parent, by, id }: EntryPlace): Entry {
    const { claim, runId: run, now, path } = this.origin;
    const entry: Entry = {
      id: id ?? this.nextId(),
      ...(parent !== undefined && { parent }),
      at: now(),
      run,
      agent: this.agent,
      ...(by !== undefined && { by }),
      ...(path !== undefined && { path }),
      body,
    };
    claim.add(entry);
    return entry;
  }
}
