import type { RunContext } from '../../lifecycle/run-context.js';
import type { Message, ToolCallPart } from '../../model/message.js';
import type { HookEffects } from '../hook/effects.js';
import type { CallRecord } from './event-fields.js';

/** What the hooks of one run have to remember of it. */
export class RunState {
  /** Every call of the run, in call order. */
  readonly calls: CallRecord[] = [];
  /** The calls that reached their tool, by id, with the arguments that they had then. */
  private readonly reached = new Map<string, CallRecord>();
  /** What hooks said about the model call that comes next: it holds for that one. */
  texts: readonly Message[] = [];
  changes: readonly Pick<HookEffects, 'response' | 'request'>[] = [];
  mustCallTool = false;
  /** What the run was asked. */
  prompt = '';
  /** How often the agent went on after its answer. */
  continued = 0;
  private turnCalls = new Map<string, CallRecord>();
  private controller: AbortController | undefined = undefined;
  private release: (() => void) | undefined = undefined;

  /** Begins a model call. */
  clearRequest(): void {
    this.texts = [];
    this.changes = [];
    this.mustCallTool = false;
  }

  /** Takes note of the calls of a response. */
  noteCalls(calls: readonly ToolCallPart[]): void {
    const records = calls.map(({ id, name, input }): CallRecord => ({ id, name, args: input }));
    this.calls.push(...records);
    this.turnCalls = new Map(records.map((record) => [record.id, record]));
  }

  /** Takes note that a call goes to its tool. */
  noteReached(call: CallRecord): void {
    this.reached.set(call.id, call);
    const record = this.turnCalls.get(call.id);
    if (record !== undefined) record.args = call.args;
  }

  /** The call as it went to its tool, if it did; once. */
  takeReached(id: string): CallRecord | undefined {
    const call = this.reached.get(id);
    this.reached.delete(id);
    return call;
  }

  /** Aborted with the run, and when it is over: no program of a hook outlives its run. */
  signalOf(run: RunContext): AbortSignal {
    if (this.controller === undefined) {
      const controller = new AbortController();
      const { signal } = run;
      const abort = () => controller.abort(signal.reason);
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort, { once: true });
      this.release = () => signal.removeEventListener('abort', abort);
      this.controller = controller;
    }
    return this.controller.signal;
  }

  /** Ends what is still running. */
  close(): void {
    this.release?.();
    this.controller?.abort();
  }
}

/** The notes of each run, for as long as there is the run. */
export class RunStates {
  private readonly byRun = new WeakMap<RunContext, RunState>();

  of(run: RunContext): RunState {
    const known = this.byRun.get(run);
    if (known !== undefined) return known;
    const notes = new RunState();
    this.byRun.set(run, notes);
    return notes;
  }

  closeOf(run: RunContext): void {
    this.byRun.get(run)?.close();
    this.byRun.delete(run);
  }
}
