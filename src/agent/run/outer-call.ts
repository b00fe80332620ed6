import type { CallsInFlight } from '../../lifecycle/hook-run/run-end.js';
import type { ToolRun } from '../../tools/tool.js';
import type { EventSink } from '../listeners.js';

/** The tool call that runs are inside of. */
interface CallOfRun {
  readonly callId: string;
  readonly idempotencyKey: string;
  readonly calls: CallsInFlight;
  readonly loop: { readonly context: ToolRun; readonly listeners: { readonly nested?: EventSink | undefined } };
}

/** A tool call, for the runs that its tool starts. Made when the tool reads `context.run`. */
export class OuterCall {
  /** The ids of the calls that lead to the runs inside. The last one is the call itself. */
  readonly path: readonly string[];
  private started = 0;

  constructor(private readonly call: CallOfRun) {
    this.path = [...(call.loop.context.path ?? []), call.callId];
  }

  /** Passes on the events of the runs inside, until the call has its result. Undefined if nobody wants them. */
  get events(): EventSink | undefined {
    const { calls, callId, loop } = this.call;
    const { nested } = loop.listeners;
    return nested && ((event) => (calls.accepts(callId) ? nested(event) : undefined));
  }

  /** Returns the id of the next run inside. A repeat of the call has the same ids. */
  nextRunId(): string {
    this.started += 1;
    return `${this.call.idempotencyKey}/${this.started}`;
  }
}

/** Key of the call in the run that a tool sees. A registered symbol, because of copies of the library. */
export const CALL = Symbol.for('keelson.call');

/** Returns the call that a nested run is inside of. Undefined if a hook has started the run. */
export function outerCallOf(parent: object | undefined): OuterCall | undefined {
  return (parent as { readonly [CALL]?: OuterCall } | undefined)?.[CALL];
}

/** Returns the path of a run with this parent. */
export function pathInside(parent: ToolRun | undefined): readonly string[] | undefined {
  return outerCallOf(parent)?.path ?? parent?.path;
}
