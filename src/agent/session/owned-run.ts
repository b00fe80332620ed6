import { ResumeInvalidError } from '../../errors.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import type { SuspendedCall, ToolCallPart, UserMessage } from '../../model/message.js';
import { interruptedResult } from '../../state/record/message-list.js';
import type { OpenTurn } from '../../state/record/nested-runs.js';
import type { SessionRecord } from '../../state/record/session-record.js';
import type { RunLog, RunOutcome } from '../../state/run-log/run-log.js';
import { isEdit, resolveEdits } from '../../tools/edited-approval.js';
import type { AnySessionRunOptions } from '../agent-options.js';
import type { ResumeDecisions } from '../run/resume/continuation.js';
import type { Attached } from '../run/run.js';
import type { RunResult } from '../run-result.js';
import { answerTo, wasStopped, withOutput } from './answer-to.js';
import type { BackgroundWorks } from './background/works.js';
import type { Claim } from './claim.js';
import { RunLogWriter } from './log/run-log-writer.js';
import { Mailbox } from './mailbox.js';
import { deniedPart, SessionRecorder } from './recorder.js';
import { SessionLostError } from './session-error.js';
import type { StoredSession } from './stored-session.js';

/** The open calls of an earlier run, with the decisions on them. */
interface Continued {
  readonly open: OpenTurn | undefined;
  /** The decisions on the open calls. */
  readonly resume: ResumeDecisions | undefined;
  /** True if open calls or an open answer wait for decisions. */
  readonly waits: boolean;
  /** The ids of the interrupted calls that run again. */
  readonly again: readonly string[];
  /** The waiting calls, with the reason why each of them waits. */
  readonly asked: readonly SuspendedCall[];
}

/** The connections of a run in a session, with options that only the HTTP handler sets. */
export interface SessionAttached extends Attached {
  /** True if the caller has already waited in the queue of the session. The caller leaves the queue after the run. */
  readonly isEntered?: boolean | undefined;
  /** The reason with which the run denies all waiting calls before the input is added. Undefined if it denies none. */
  readonly deniesOpen?: string | undefined;
}

/** A run that has claimed the conversation of its session. */
interface OwnedStart {
  readonly session: StoredSession;
  readonly claim: Claim;
  readonly runId: string;
  readonly options: AnySessionRunOptions;
  readonly attached: SessionAttached;
  readonly works: BackgroundWorks;
}

/** One run of a session. Releases the conversation at its end. */
export class OwnedRun {
  constructor(private readonly start: OwnedStart) {}

  /**
   * Starts a run that answers a sent message. Only releases the claim if the message was already answered, or if calls
   * wait for a decision.
   */
  async answer(post: string): Promise<void> {
    const { claim, session } = this.start;
    const { posts, pending } = session.record;
    if (posts.stateOf(post)?.type === 'waiting' && pending === undefined) await this.execute('');
    else await claim.release();
  }

  async execute(input: string | UserMessage): Promise<RunResult<unknown>> {
    const { session, claim, attached, runId } = this.start;
    const writer = session.options.runLog && this.startLog(session.options.runLog);
    const sink = writer === undefined ? attached.sink : sinkOf(attached, writer);
    const running = this.run(input, { ...attached, sink, runId });
    const outcome = await running.catch((error: unknown) => error);
    const released = claim
      .release()
      .catch(() => {})
      .then(() => writer?.close(outcomeOf(outcome)));
    session.ending = released;
    // After an abort, the run ends without waiting for the store.
    if (!(outcome instanceof RunAbortedError)) await released;
    return running;
  }

  private startLog(log: RunLog): RunLogWriter {
    const { claim, runId, session, attached } = this.start;
    const { clock, logger } = session.agent.defaults;
    const { orphanMs } = attached;
    const written = session.agent.durable?.logOver(log) ?? log;
    const writer = new RunLogWriter({ log: written, runId, clock, logger, orphanMs, onClosed: () => claim.lose() });
    claim.log = writer;
    return writer;
  }

  private async run(input: string | UserMessage, attached: Attached): Promise<RunResult<unknown>> {
    const { session, claim, runId, options, works } = this.start;
    const { record, agent } = session;
    const { id, at, by, ...runOptions } = options;
    if (id !== undefined) await session.loadIfStored(id);
    if (record.posts.works !== undefined) await works.reportLost(claim);
    const mailbox = new Mailbox({ record, claim, runId, now: () => agent.defaults.clock.now() });
    if (!record.posts.isEmpty) await mailbox.settle();
    const posted = id === undefined ? undefined : record.posts.stateOf(id);
    const inputId = posted?.type === 'joined' ? posted.entry : id;
    const { waiting } = record.posts;
    // Without an input, the run answers a waiting message.
    const post = waiting.find((one) => one.id === id) ?? (input === '' && !options.resume ? waiting[0] : undefined);
    mailbox.input = post;
    const isKnown = post === undefined && inputId !== undefined && record.get(inputId) !== undefined;
    if (isKnown) {
      const answer = answerTo(record, inputId, options.resume);
      if (answer !== undefined) return withOutput(answer, options.output);
    }
    if (at !== undefined && at !== null) await session.branchPoint(at);
    const isOff = isKnown && !record.pathTo(record.tip).some(({ id }) => id === inputId);
    // A question whose answer was stopped gets a new answer, on its own branch.
    const from = isOff || (isKnown && wasStopped(record, inputId)) ? inputId : at;
    if (from !== undefined) assertNoDecisions(options.resume);
    if (from === undefined && options.resume && agent.durable && !hasOpen(record)) throw new RunAbortedError(DECIDED);
    const continued = from === undefined ? await this.closeInterrupted() : NOTHING_OPEN;
    const tip = from === undefined ? record.tip : (from ?? undefined);
    const model = tip === record.tip ? record.model.copy() : record.modelAt(tip);
    if (continued.open !== undefined) record.nested.mark(model, continued.open);
    const { clock, agent: name } = agent.defaults;
    const place = { record, claim, tip, model, ...continued, runId, agent: name, by, now: () => clock.now() };
    const isNew = !isKnown && posted === undefined;
    mailbox.inputId = isNew ? inputId : undefined;
    const given = { posts: mailbox, works, options, inputId: mailbox.inputId };
    const recorder = new SessionRecorder({ ...place, ...given });
    const { messages } = model;
    const all = { ...runOptions, resume: continued.resume, messages };
    const closed = continued.open === undefined ? messages.length : model.indexOf(continued.open.entry);
    return agent.launch(isKnown ? '' : (post?.message ?? input), all, {
      ...attached,
      recorder,
      closed,
      waits: continued.asked,
      keepsStopped: session.options.onAbort !== 'discard',
    });
  }

  /**
   * Gives an error result to each call that was interrupted when its process stopped, so that the run can continue. If
   * `resume` approves such a call, it runs again instead.
   *
   * With `deniesOpen`, also denies the calls that wait for a decision.
   */
  private async closeInterrupted(): Promise<Continued> {
    const { claim, runId, session, options, attached } = this.start;
    const { record, agent } = session;
    const { by } = options;
    const { deniesOpen } = attached;
    const { openTurn, pending } = record;
    const resume = options.resume && resolveEdits(options.resume, openTurn?.open ?? []);
    const asked = openTurn !== undefined && pending?.entry === openTurn.entry ? pending.calls : [];
    const isAsked = ({ id }: ToolCallPart) => asked.some((call) => call.id === id);
    const interrupted = openTurn?.open.filter((call) => !isAsked(call)) ?? [];
    assertUnchanged(interrupted, resume);
    const again = interrupted.filter(({ id }) => resume?.[id] === 'approve').map(({ id }) => id);
    const ended = interrupted.filter(({ id }) => !again.includes(id));
    const now = agent.defaults.clock.now();
    const denied = deniesOpen === undefined ? [] : (openTurn?.open.filter((call) => isAsked(call)) ?? []);
    for (const { id: call } of denied) {
      const body = { type: 'decision', call, decision: { deny: deniesOpen ?? '' } } as const;
      claim.add({ id: `${runId}:${call}:denied`, parent: openTurn?.entry, at: now, run: runId, by, body });
    }
    const attemptOf = ({ id }: ToolCallPart) => record.decisions.attemptOf(openTurn?.entry ?? '', id);
    const results = [
      ...ended.map(interruptedResult),
      ...denied.map((call) => deniedPart(call, deniesOpen, attemptOf(call))),
    ];
    let parent = record.tip;
    for (const part of results) {
      const id = `${runId}:${part.id}`;
      const message = { role: 'tool', content: [part] } as const;
      claim.add({ id, parent, at: now, run: runId, body: { type: 'message', message } });
      parent = id;
    }
    await claim.flush();
    const left = Object.entries(resume ?? {}).filter(([id]) => !ended.some((call) => call.id === id));
    const { openTurn: open } = record;
    return { open, resume: resume && Object.fromEntries(left), waits: hasOpen(record), again, asked };
  }
}

/** True if calls or an answer are open. */
function hasOpen({ openTurn, pending }: SessionRecord): boolean {
  return openTurn !== undefined || pending !== undefined;
}

/** Throws if a run that goes back to an earlier entry also gets decisions. The calls there cannot be decided on. */
function assertNoDecisions(resume: ResumeDecisions = {}): void {
  const ids = Object.keys(resume);
  if (ids.length === 0) return;
  const list = ids.map((id) => `"${id}"`).join(', ');
  const problem = `\`resume\` must not have decisions in a run that goes back to an earlier entry, got ${list}. Decide without \`at\`, or call \`session.branch\` first.`;
  throw new ResumeInvalidError(problem, ids);
}

/**
 * Throws if `resume` changes the arguments of an interrupted call. The call may have had an effect, and its idempotency
 * key belongs to the old arguments.
 */
function assertUnchanged(interrupted: readonly ToolCallPart[], resume: ResumeDecisions | undefined): void {
  const ids = interrupted.map(({ id }) => id).filter((id) => isEdit(resume?.[id]));
  if (ids.length === 0) return;
  const list = ids.map((id) => `"${id}"`).join(', ');
  const problem = `The decision on ${list} must be 'approve' or 'deny', got { approve }: the call has begun, so it runs again with the same arguments.`;
  throw new ResumeInvalidError(problem, ids);
}

function sinkOf({ sink }: Attached, writer: RunLogWriter): NonNullable<Attached['sink']> {
  return (event) => {
    writer.add(event);
    sink?.(event);
  };
}

function outcomeOf(outcome: unknown): RunOutcome {
  if (outcome instanceof SessionLostError) return 'lost';
  if (outcome instanceof RunAbortedError) return 'stopped';
  if (outcome instanceof Error) return 'failed';
  return (outcome as RunResult<unknown>).status === 'suspended' ? 'suspended' : 'done';
}

const DECIDED = 'the suspended call or answer was stopped or decided before this run began';

const NOTHING_OPEN: Continued = { open: undefined, resume: undefined, waits: false, again: [], asked: [] };
