import type { EntryWriter } from '../../../src/agent/session/entry-writer.js';
import type { RecordedStart } from '../../../src/agent/session/recorded-start.js';
import { deniedPart, type SessionRecorder } from '../../../src/agent/session/recorder.js';
import type { Budget } from './explorer.js';
import type { DirectStore } from './gated-store.js';
import type { World } from './world.js';

/** A fault that the check must find. */
export interface PlantedFault {
  /** The scenario in which it is found. */
  readonly scenario: string;
  /** The smallest budget that finds it. */
  readonly budget: Partial<Budget>;
  /** The broken rule. */
  readonly finds: string;
  /** Plants the fault in the store of one execution. */
  readonly store?: ((store: DirectStore, world: World) => Partial<DirectStore>) | undefined;
  /** Plants the fault in the library. Returns a function that removes it. */
  readonly code?: (() => () => void) | undefined;
}

export type Method = (this: never, ...given: never[]) => unknown;

/** Replaces a method. Returns a function that puts the original back. */
export function replace<Owner extends object>(
  prototype: Owner,
  name: string,
  make: (original: (this: Owner, ...given: unknown[]) => unknown) => Method,
): () => void {
  const methods = prototype as Record<string, unknown>;
  const original = methods[name];
  methods[name] = make(original as (this: Owner, ...given: unknown[]) => unknown);
  return () => {
    methods[name] = original;
  };
}

/** Appends the decisions, and then the results of the denied calls. */
export async function decidesInTwo(
  this: SessionRecorder,
  run: Parameters<SessionRecorder['decide']>[0],
): Promise<void> {
  const { start, writer } = this as unknown as { start: RecordedStart; writer: EntryWriter };
  const { open, claim } = start;
  const resume = run.conversation.resuming?.calls?.decisions;
  Object.assign(this, { isUndecided: false });
  for (const { id: call } of open?.open ?? []) {
    const decision = resume?.[call] === 'deny' ? { deny: '' } : 'approve';
    writer.put({ type: 'decision', call, decision }, { parent: open?.entry });
  }
  await claim.flush();
  for (const call of open?.open ?? [])
    if (resume?.[call.id] === 'deny') this.addResult(run, deniedPart(call, undefined));
  await claim.flush();
}
