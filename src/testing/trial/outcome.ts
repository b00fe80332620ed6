import type { AgentEvent, TextDeltaEvent } from '../../agent/agent-event.js';
import type { RunResult } from '../../agent/run-result.js';
import { describeError, KeelsonError } from '../../errors.js';
import { LifecycleError } from '../../lifecycle/run-failure.js';
import { type Message, textOf, toolCallsOf } from '../../model/message.js';
import type { ModelRequest, Usage } from '../../model/model.js';
import { RunError } from '../../model/run-error.js';
import { quote } from '../script/describe-messages.js';
import { pairingProblem } from './pairing.js';

/** How a run ended, with what the model was asked on the way. */
export interface Outcome extends Witness {
  /** `completed`, `suspended`, or the code of the error. */
  readonly ending: string;
  readonly error?: unknown;
  readonly text?: string | undefined;
  readonly messages: readonly Message[];
  readonly history: readonly Message[];
  readonly usage?: Usage | undefined;
}

/** What was seen of a run from outside. */
export interface Witness {
  readonly requests: readonly ModelRequest[];
  /** In the order they came, where the run was a stream. */
  readonly events: readonly AgentEvent[];
  /** Whether it had been aborted when it ended. */
  readonly aborted: boolean;
}

/** The outcome of a run that gave a result. */
export function resultOutcome(result: RunResult<unknown>, witness: Witness): Outcome {
  const { status, text, messages, history, usage } = result;
  return { ending: status, text, messages, history, usage, ...witness };
}

/** The outcome of a run that failed. */
export function errorOutcome(error: unknown, witness: Witness): Outcome {
  const ending = error instanceof KeelsonError ? error.code : 'an error without code';
  if (!(error instanceof RunError)) return { ending, error, messages: [], history: [], ...witness };
  const { messages, history, usage } = error;
  return { ending, error, messages, history, usage, ...witness };
}

/** What has to be the same where a lifecycle changes nothing. */
export function comparable({ ending, error, text, messages, history, usage, requests }: Outcome): unknown {
  return {
    ...{ ending, error: error === undefined ? undefined : describeError(error), text, messages, history, usage },
    requests: requests.map(({ signal: _signal, onPart: _onPart, ...request }) => request),
  };
}

/** What has to be the same in every run of one kind, whatever the texts are. */
export function shapeOf({ ending, history }: Outcome): unknown {
  const shapes = history.map((message) => [message.role, ...toolCallsOf(message).map((call) => call.name)].join(' '));
  return { ending, history: shapes };
}

/** What is wrong with an outcome whatever the run was. */
export function outcomeProblems(outcome: Outcome): readonly { readonly problem: string; readonly kind?: string }[] {
  const { ending, error, history, requests } = outcome;
  const asked = requests.map(({ messages }, at) => ({
    problem: pairingProblem(messages),
    what: `model call ${at + 1}`,
  }));
  const kept = { problem: pairingProblem(history, ending === 'suspended'), what: 'the history that the run left' };
  // Whatever comes after the first gap has it too.
  const unpaired = [...asked, kept].find(({ problem }) => problem !== undefined);
  const problems: { problem: string; kind?: string }[] = [];
  if (unpaired !== undefined)
    problems.push({ problem: `${unpaired.what} is not paired: ${unpaired.problem}`, kind: 'pairing' });
  if (error instanceof LifecycleError) problems.push({ problem: error.message });
  else if (error !== undefined && !(error instanceof RunError)) {
    problems.push({ problem: `the run was not made: ${describeError(error)}` });
  }
  return problems;
}

/** Where what a stream showed of a turn is not the text that the turn ended with. */
export function streamProblem({ events }: Outcome): string | undefined {
  for (const [at, event] of events.entries()) {
    if (event.type !== 'model-end' || event.response === undefined) continue;
    // A lifecycle may end the run with a text of its own later.
    const shown = shownText(events.slice(0, at), event.turn);
    const text = textOf({ role: 'assistant', content: event.response.content });
    if (shown === undefined || shown === text) continue;
    return (
      `the stream showed ${quote(shown)} where the response says ${quote(text)}: ` +
      'set `holdStream` where it rewrites text, and give back what `next` gave last'
    );
  }
  return undefined;
}

/** The text that a turn's last attempt streamed; undefined where nothing was. */
function shownText(events: readonly AgentEvent[], turn: number): string | undefined {
  const deltas = events.filter((event): event is TextDeltaEvent => event.type === 'text-delta' && event.turn === turn);
  const attempt = deltas.at(-1)?.attempt;
  if (attempt === undefined) return undefined;
  return deltas.map((delta) => (delta.attempt === attempt ? delta.text : '')).join('');
}
