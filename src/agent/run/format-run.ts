import { counted } from '../../internal/names-text.js';
import type { Decision } from '../../lifecycle/decision.js';
import {
  contentText,
  type Message,
  type ToolCallPart,
  type ToolResultPart,
  textOf,
  toolCallsOf,
} from '../../model/message.js';
import { RunError } from '../../model/run-error.js';
import { BETWEEN } from '../../model/waiting.js';
import { failureRecordOf, type NestedRun, type RunResult } from '../run-result.js';

const SHOWN_CHARACTERS = 60;
const LONGEST_REASON = 300;

/** One model response to draw: its tool calls with their results, or its text. */
interface Turn {
  readonly number: number;
  /** The agent that the run was handed over to. */
  readonly agent?: string | undefined;
  readonly calls: readonly (ToolCallPart | ToolResultPart)[];
  readonly text: string;
  readonly results: ToolResultPart[];
}

/**
 * Formats a run for people: a summary line, one line per turn with its tool calls, and one line per decision of a
 * lifecycle.
 *
 * After a handover, a turn shows the name of its agent. A nested run is drawn below the turn of its call. A failed tool
 * call shows its reason.
 *
 * For a failed run, pass its error. Long strings are cut. Control characters are removed.
 *
 * @example
 * const result = await agent.run('Which files mention the licence?');
 * console.log(formatRun(result));
 * // completed: 2 turns, 1 tool call, 310 + 42 tokens
 * // ├─ turn 1  search {"text":"licence"} ✓
 * // └─ turn 2  "README.md and LICENSE."
 */
export function formatRun(result: RunResult<unknown> | Error): string {
  if (result instanceof RunError) {
    const { messages, usage } = result;
    const failed = { status: 'failed', pending: [], messages, usage, ...failureRecordOf(result) };
    return `${draw(failed)}\n${failureOf(result)}`;
  }
  return result instanceof Error ? failureOf(result) : draw(result);
}

/** The members of a result that are drawn. */
type Drawn = Pick<RunResult<unknown>, 'messages' | 'usage' | 'pending' | 'decisions' | 'nested'> & {
  readonly status: string;
};

function failureOf({ name, message }: Pick<Error, 'name' | 'message'>): string {
  return `✗ ${name}: ${shortened(message, LONGEST_REASON)}`;
}

function draw(result: Drawn): string {
  const turns = turnsOf(result.messages);
  const lines = turns.flatMap((turn) => [
    drawTurn(turn, result, turn === turns.at(-1)),
    ...drawInside(result, turns, turn),
  ]);
  return [drawSums(result, turns), ...drawInside(result, turns, undefined), ...lines].join('\n');
}

function turnsOf(messages: readonly Message[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') {
      const number = (turns.at(-1)?.number ?? 0) + 1;
      const { agent } = message;
      turns.push({ number, agent, calls: toolCallsOf(message), text: textOf(message), results: [] });
    } else if (message.role === 'tool') {
      // The results of a resumed run come before its first model call.
      if (turns.length === 0) turns.push({ number: 0, calls: message.content, text: '', results: [] });
      turns.at(-1)?.results.push(...message.content);
    }
  }
  return turns;
}

function drawSums({ status, usage }: Drawn, turns: readonly Turn[]): string {
  const calls = turns.reduce((sum, turn) => sum + turn.calls.length, 0);
  const models = turns.filter(({ number }) => number > 0).length;
  return `${status}: ${counted(models, 'turn')}, ${counted(calls, 'tool call')}, ${usage.inputTokens} + ${usage.outputTokens} tokens`;
}

function drawTurn(turn: Turn, result: Drawn, isLast: boolean): string {
  const calls = turn.calls.map(
    (call) => `${shortened(call.name)}${argumentsOf(call)} ${markOf(call.id, turn, result)}`,
  );
  const speaker = turn.agent === undefined ? '' : `${shortened(turn.agent)}: `;
  const summary = speaker + (calls.length > 0 ? calls.join(', ') : JSON.stringify(shortened(turn.text)));
  return `${isLast ? '└─' : '├─'} turn ${turn.number}  ${summary}`;
}

/**
 * Draws the decisions and the nested runs of a turn. If `turn` is undefined, draws the ones before the first response.
 */
function drawInside({ decisions, nested = [] }: Drawn, turns: readonly Turn[], turn: Turn | undefined): string[] {
  const isHere = (event: Decision | NestedRun) => turns.findLast(({ number }) => number <= event.turn) === turn;
  const lines = [...decisions.filter(isHere).map(drawDecision), ...nested.filter(isHere).flatMap(drawNested)];
  const indent = turn === turns.at(-1) ? '   ' : '│  ';
  return lines.map((line) => `${indent}         ${line}`);
}

/** Draws a nested run, below the turn of the call. */
function drawNested(run: NestedRun): string[] {
  const lines = draw(run).split('\n');
  if (run.error !== undefined) lines.push(failureOf(run.error));
  return lines.map((line, index) =>
    index > 0 ? line : `${shortened(run.path.at(-1) ?? '')} ${shortened(run.agent)} ${line}`,
  );
}

function argumentsOf(call: ToolCallPart | ToolResultPart): string {
  const input = call.type === 'tool-call' ? call.input : undefined;
  return input === undefined ? '' : ` ${shortened(JSON.stringify(input))}`;
}

function markOf(id: string, { results }: Turn, { pending }: Drawn): string {
  // A call of the nested run may wait.
  if (pending.some((waiting) => waiting.id === id || waiting.id.startsWith(id + BETWEEN)))
    return '… waits for a decision';
  const result = results.find((part) => part.id === id);
  if (result === undefined) return '✗';
  return result.isError ? `✗ (${shortened(contentText(result.content), LONGEST_REASON)})` : '✓';
}

function drawDecision({ type, by, point, reason, call }: Decision): string {
  const about = call === undefined ? point : shortened(call.name);
  return `${shortened(by)}: ${type} ${about}${reason === undefined ? '' : ` (${shortened(reason, LONGEST_REASON)})`}`;
}

/** Puts a string on one line, removes control and formatting characters, and cuts the string. */
function shortened(text: string, longest = SHOWN_CHARACTERS): string {
  const line = text
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .trim();
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}
