import type { Entry, ToolContext, ToolRun } from 'keelson';
import type { Process } from '../process.js';
import { deniedCalls, ownId, stoppedRuns } from './record-path.js';

/** One act of a tool in the world outside. */
interface Effect {
  readonly process: string;
  readonly attempt: number;
  readonly key: string;
  /** The call around the call. */
  readonly outer: string | undefined;
}

/** The record, as far as the rules of effects need it. */
interface Recorded {
  entries(): readonly Entry[];
  /** The run that holds the conversation. */
  readonly holder: string | undefined;
  fail(why: string): void;
}

/** The acts of the tools, with the rules that an act must keep. */
export class Effects {
  private readonly done = new Map<string, Effect[]>();

  constructor(private readonly record: Recorded) {}

  /** Called when a tool begins. Its run must hold the conversation then. */
  begin(process: Process, { callId, run: own }: ToolContext): void {
    const run = outermost(own);
    if (this.record.holder !== run.id) this.record.fail(`${process.label} begins ${callId} without the claim`);
    const isStopped = stoppedRuns(process.session?.entries ?? []).includes(run.id);
    if (isStopped) this.record.fail(`${process.label} begins ${callId} although it knows of the stop`);
  }

  /** Called when a tool acts, which may be long after it began. */
  act({ label }: Process, { callId, attempt, idempotencyKey: key, run }: ToolContext): void {
    const before = this.done.get(callId) ?? [];
    this.done.set(callId, [...before, { process: label, attempt, key, outer: run.path?.at(-1) }]);
    const why = this.faultOf(callId, outermost(run).id);
    if (why !== undefined) this.record.fail(why);
  }

  toString(): string {
    return [...this.done]
      .map(([call, acts]) => `${call}:${acts.map(({ attempt }) => attempt)}`)
      .sort()
      .join();
  }

  private faultOf(call: string, run: string): string | undefined {
    const acts = this.done.get(call) ?? [];
    const { attempt, key } = acts.at(-1) as Effect;
    const keys = new Set(acts.map((one) => one.key));
    if (keys.size > 1) return `the attempts of ${call} have two keys`;
    if (acts.filter((one) => one.attempt === attempt).length > 1) return `attempt ${attempt} of ${call} acts twice`;
    if (key === '') return `${call} acts without a key`;
    return this.recordedFault(call, run);
  }

  /** A call that the record says did not run must not act. */
  private recordedFault(call: string, run: string): string | undefined {
    const entries = this.record.entries();
    if (deniedCalls(entries).map(ownId).includes(call)) return `the denied call ${call} acts`;
    const text = resultOf(entries, call);
    // A process that was suspended may wake up in a tool. Only the key protects then.
    return text === undefined || this.record.holder !== run ? undefined : `${call} acts after its result "${text}"`;
  }

  /** The result of a call that has acted must not say anything else. */
  wrongResult(): string | undefined {
    const entries = this.record.entries();
    for (const [call, acts] of this.done) {
      const outer = acts[0]?.outer;
      const text = resultOf(entries, call) ?? (outer && resultOf(entries, outer)) ?? 'ok';
      if (text !== 'ok' && !text.includes('may have happened')) return `${call} has acted, and its result is "${text}"`;
    }
    return undefined;
  }
}

function outermost(run: ToolRun): ToolRun {
  return run.parent === undefined ? run : outermost(run.parent);
}

function resultOf(entries: readonly Entry[], call: string): string | undefined {
  const results = entries.flatMap(({ body }) =>
    body.type === 'message' && body.message.role === 'tool' ? body.message.content : [],
  );
  const found = results.find(({ id }) => id === call);
  return found && String(found.content);
}
