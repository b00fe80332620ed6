import type { Entry, EntryBody } from '../../state/record/entry.js';
import type { Claim } from './claim.js';

/** The run that adds entries, and where in the session it adds them. */
export interface EntryOrigin {
  readonly claim: Claim;
  /** The entry before the first entry of the run. */
  readonly tip: string | undefined;
  readonly runId: string;
  /** The name of the current agent. */
  agent: string;
  readonly now: () => number;
  /** The ids of the enclosing tool calls, if the run is nested. */
  readonly path?: readonly string[] | undefined;
  /** Returns the id of the next entry. Default: the id of the run with a number. */
  readonly nextId?: (() => string) | undefined;
}

/** The members of an entry that the run does not determine. */
interface EntryPlace {
  /** Default: the next id of the run. */
  readonly id?: string | undefined;
  readonly parent?: string | undefined;
  readonly by?: string | undefined;
}

/** Creates the entries of a run, and adds them to the next append of the claim. */
export class EntryWriter {
  private tip: string | undefined;
  private count = 0;

  constructor(private readonly origin: EntryOrigin) {
    this.tip = origin.tip;
  }

  nextId(): string {
    const { nextId, runId } = this.origin;
    if (nextId !== undefined) return nextId();
    this.count += 1;
    return `${runId}.${this.count - 1}`;
  }

  /** Adds an entry after the last entry of the run. */
  follow(body: EntryBody, { id, by }: Omit<EntryPlace, 'parent'> = {}): Entry {
    const entry = this.put(body, { parent: this.tip, id, by });
    this.tip = entry.id;
    return entry;
  }

  /** Adds an entry. */
  put(body: EntryBody, { parent, by, id }: EntryPlace): Entry {
    const { claim, runId: run, agent, now, path } = this.origin;
    const entry: Entry = {
      id: id ?? this.nextId(),
      ...(parent !== undefined && { parent }),
      at: now(),
      run,
      agent,
      ...(by !== undefined && { by }),
      ...(path !== undefined && { path }),
      body,
    };
    claim.add(entry);
    return entry;
  }
}
