import type { AgentEvent, AgentEventOf } from '../../agent/agent-event.js';
import type { RunResult } from '../../agent/run-result.js';
import { describeError, KeelsonError } from '../../errors.js';
import { LifecycleError } from '../../lifecycle/run-failure.js';
import { checkMessages } from '../../model/check-messages.js';
import { type Message, textOf, toolCallsOf } from '../../model/message.js';
import type { ModelRequest, Usage } from '../../model/model.js';
import { RunError } from '../../model/run-error.js';
import { quote } from '../script/describe-messages.js';

/** The end of a run, with the requests that the model got. */
export interface Outcome extends Witness {
  /** `completed`, `suspended`, or the code of the error. */
  readonly ending: string;
  readonly error?: unknown;
  readonly text?: string | undefined;
  readonly messages: readonly Message[];
  readonly history: readonly Message[];
  readonly usage?: Usage | undefined;
}

/** The requests and events that a run was seen to make, in addition to its result. */
export interface Witness {
  readonly requests: readonly ModelRequest[];
  /** The events in order, if the run was a stream. */
  readonly events: readonly AgentEvent[];
}

/** Returns the outcome of a run that returned a result. */
export function resultOutcome(result: RunResult<unknown>, witness: Witness): Outcome {
  const { status, text, messages, history, usage } = result;
  return { ending: status, text, messages, history, usage, ...witness };
}

/** Returns the outcome of a run that failed. */
export function errorOutcome(error: unknown, witness: Witness): Outcome {
  const ending = error instanceof KeelsonError ? error.code : 'an error without code';
  if (!(error instanceof RunError)) return { ending, error, messages: [], history: [], ...witness };
  const { messages, history, usage } = error;
  return { ending, error, messages, history, usage, ...witness };
}

/** Returns the parts of an outcome that a passive lifecycle must not change. */
export function comparable({ ending, error, text, messages, history, usage, requests }: Outcome): unknown {
  return {
    ending,
    error: error === undefined ? undefined : describeError(error),
    text,
    messages,
    history,
    usage,
    requests: requests.map(({ signal: _signal, onPart: _onPart, ...request }) => request),
  };
}

/** Returns the parts of an outcome that must be equal in all runs of one scenario, although their texts differ. */
export function shapeOf({ ending, history }: Outcome): unknown {
  const shapes = history.map((message) => [message.role, ...toolCallsOf(message).map((call) => call.name)].join(' '));
  return { ending, history: shapes };
}

/** Returns the problems that no run may have, whatever the scenario. */
export function outcomeProblems(outcome: Outcome): readonly { readonly problem: string; readonly kind?: string }[] {
  const { ending, error, history, requests } = outcome;
  const asked = requests.map(({ messages }, index) => [`model call ${index + 1}`, pairingProblem(messages)] as const);
  const kept = ['the history of the run', pairingProblem(history, ending === 'suspended')] as const;
  // Reports only the first one, because all later messages contain the same gap.
  const unpaired = [...asked, kept].find(([, problem]) => problem !== undefined);
  const problems: { problem: string; kind?: string }[] = [];
  if (unpaired !== undefined) {
    const [place, problem] = unpaired;
    problems.push({ problem: `${place} must pair each tool call with its result: ${problem}`, kind: 'pairing' });
  }
  if (error instanceof LifecycleError) problems.push({ problem: error.message });
  else if (error !== undefined && !(error instanceof RunError)) {
    problems.push({ problem: `the run could not start: ${describeError(error)}` });
  }
  const streamed = streamProblem(outcome);
  if (streamed !== undefined) problems.push({ problem: streamed, kind: 'stream text' });
  return problems;
}

/** Returns a problem if the streamed text of a turn differs from the text of its response. */
function streamProblem({ events }: Outcome): string | undefined {
  for (const [index, event] of events.entries()) {
    if (event.type !== 'model-end' || event.response === undefined) continue;
    // Considers only earlier deltas: a lifecycle may later end the run with its own text.
    const shown = shownText(events.slice(0, index), event.turn);
    const text = textOf({ role: 'assistant', content: event.response.content });
    if (shown === undefined || shown === text) continue;
    return (
      `the stream showed ${quote(shown)}, but the response says ${quote(text)}: ` +
      'set `holdStream` if the lifecycle rewrites text, and return the last result of `next`'
    );
  }
  return undefined;
}

/** Returns the text that the last attempt of a turn streamed, or undefined if nothing was streamed. */
function shownText(events: readonly AgentEvent[], turn: number): string | undefined {
  const deltas = events.filter(
    (event): event is AgentEventOf<'text-delta'> => event.type === 'text-delta' && event.turn === turn,
  );
  const attempt = deltas.at(-1)?.attempt;
  if (attempt === undefined) return undefined;
  return deltas.map((delta) => (delta.attempt === attempt ? delta.text : '')).join('');
}

/**
 * Returns a problem that would make a provider reject the conversation. Each tool call needs exactly one result and
 * each result a call, in the same order.
 *
 * Open tool calls at the end are allowed only if `mayWait` is true.
 */
export function pairingProblem(messages: readonly Message[], mayWait = false): string | undefined {
  try {
    const open = checkMessages(messages);
    if (open !== undefined && !mayWait) return `tool call "${open.open[0]?.id}" has no result`;
  } catch (error) {
    return describeError(error);
  }
  const index = messages.findIndex((message, at) => isOutOfOrder(message, messages[at - 1]));
  return index < 0 ? undefined : `message ${index} has its results in another order than the calls`;
}

function isOutOfOrder(message: Message, before: Message | undefined): boolean {
  if (message.role !== 'tool' || before === undefined) return false;
  const ids = toolCallsOf(before).map((call) => call.id);
  const places = message.content.map((result) => ids.indexOf(result.id));
  return places.some((place, at) => at > 0 && place < (places[at - 1] as number));
}
