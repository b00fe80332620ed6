import { describeError } from '../../../errors.js';
import { Stop } from '../../../internal/stop.js';
import type { ApprovableCall, CallsInFlight } from '../../../lifecycle/hook-run/run-end.js';
import { deniedCall } from '../../../model/denial.js';
import type { Message, ToolCallPart, ToolResultPart } from '../../../model/message.js';
import type { ToolResult } from '../../../tools/tool.js';
import { errorResult } from '../../../tools/tool-result.js';
import type { ResumeDecision, ResumedCalls } from '../resume/continuation.js';
import type { Run } from '../run.js';
import type { ToolCall } from './tool-call.js';

/** Results and approvals that are known before the calls of a turn run. */
export interface PriorResults {
  /** By call id: results of an earlier run, denied calls, and calls whose response was cut off. */
  readonly results: ReadonlyMap<string, ToolResult>;
  /** By call id: the name and arguments of each call that `resume` approved, as JSON. */
  readonly approved?: ReadonlyMap<string, string>;
}

/** The tool calls of one turn. Each gets exactly one result, in call order, or is left open because a hook suspended it. */
export class TurnCalls implements CallsInFlight {
  readonly parts: readonly ToolCallPart[];
  readonly prior: PriorResults | undefined;
  readonly results: (ToolResultPart | undefined)[];
  halted = false;
  /** The number of calls that were started. */
  begun = 0;
  /** The number of calls that are running. */
  running = 0;
  /** The error that ended the turn early. */
  failure: { readonly error: unknown } | undefined = undefined;
  /** True while the loop itself awaits the promise of the turn's only call. */
  single = false;
  /** The call that was started last, while it runs. Undefined for a call with wraps. */
  latest: ToolCall | undefined = undefined;
  /** Ends the loop's wait. */
  release: (() => void) | undefined = undefined;
  ran: Set<string> | undefined = undefined;
  private stopper: Stop | undefined = undefined;
  readonly run: Run;

  constructor(run: Run, parts: readonly ToolCallPart[], prior: PriorResults | undefined) {
    this.run = run;
    this.parts = parts;
    this.prior = prior;
    this.results = new Array(parts.length);
  }

  get stop(): Stop {
    if (this.stopper === undefined) {
      this.stopper = new Stop();
      // A tool that reads its signal must also get an abort by `agent.close()`.
      this.run.end.stopper();
      if (this.halted) this.stopper.stop(this.run.end.abortError ?? this.reason);
    }
    return this.stopper;
  }

  get reason(): string {
    const { verdict, abortError } = this.run.end;
    if (abortError !== undefined) return `The call was aborted. ${abortError.message}`;
    if (this.failure !== undefined) return `The call was not completed: ${describeError(this.failure.error)}`;
    const action = verdict?.action;
    if (action === undefined) return 'The call got a result before it was completed.';
    return `The call was not completed, because the run ended${'reason' in action ? `: ${action.reason}` : '.'}`;
  }

  accepts(id: string): boolean {
    if (this.halted) return false;
    for (let i = 0; i < this.parts.length; i++) if (this.parts[i]?.id === id) return this.results[i] === undefined;
    return false;
  }

  isApproved({ id, name, input }: ApprovableCall): boolean {
    const text = textOf(name, input);
    return text !== '' && this.prior?.approved?.get(id) === text;
  }

  halt(): void {
    if (this.halted) return;
    this.halted = true;
    this.stopper?.stop(this.run.end.abortError ?? this.reason);
    this.release?.();
  }

  /** Halts tools that an abandoned hook left running. */
  close(): void {
    this.halted = true;
    this.stopper?.stop(this.reason);
  }
}

/**
 * Makes the calls of a resumed run. Approved calls run, with their hooks; denied calls get an error result. The
 * messages that followed the calls are added after the results.
 */
export function resumedCalls(run: Run, resumed: ResumedCalls, message: Message | undefined): TurnCalls {
  const { calls, results, open, decisions, later } = resumed;
  run.conversation.enqueueFirst(message === undefined ? later : [...later, message]);
  const known = new Map<string, ToolResult>(results.map((result) => [result.id, result]));
  const approved = new Map<string, string>();
  for (const { id, name, input, invalidInput } of open) {
    const decision = decisions[id] as ResumeDecision;
    const record = { by: 'resume', point: 'resume', call: { id, name } } as const;
    if (decision === 'approve') {
      // Kept as a string, because hooks may change the arguments in place.
      approved.set(id, textOf(name, invalidInput === undefined ? input : undefined));
      run.record({ ...record, type: 'approve' });
      continue;
    }
    const reason = decision === 'deny' ? undefined : decision.deny;
    run.record({ ...record, type: 'block', reason });
    known.set(id, errorResult(deniedCall(reason)));
  }
  return new TurnCalls(run, calls, { results: known, approved });
}

/** Returns the name and the arguments as JSON, or an empty string if the arguments are not JSON. */
function textOf(name: string, input: unknown): string {
  try {
    return JSON.stringify([name, input]);
  } catch {
    return '';
  }
}
