import type { HoldStream } from '../../lifecycle/chain.js';
import type { StreamGate } from '../../lifecycle/lifecycle.js';
import { type ToolCallPart, type ToolResultPart, textOf, type UserMessage } from '../../model/message.js';
import type { ModelPart, ModelResponse } from '../../model/model.js';
import type { ToolResult } from '../../tools/tool.js';
import type { Run } from './run.js';

// Callers check `run.listeners.active` first, so that no event is created without a listener.

/** Emits `run-start`. */
export function announceRun(run: Run, message: UserMessage | undefined): void {
  const input = message === undefined ? '' : textOf(message);
  run.listeners.emit({ type: 'run-start', runId: run.context.id, agent: run.config.agent, input });
}

/** Emits `turn-start`. */
export function announceTurn(run: Run): void {
  run.inTurn = true;
  run.listeners.emit({ type: 'turn-start', runId: run.context.id, turn: run.turn });
}

/** Emits `model-start`. */
export function announceModel(run: Run): void {
  run.inModel = true;
  run.listeners.emit({ type: 'model-start', runId: run.context.id, turn: run.turn, model: run.config.model.id });
}

/** Emits text that was not streamed, then `model-end`. Emits no text if a hook withheld the response. */
export function announceModelEnd(run: Run, response: ModelResponse | undefined): void {
  if (!run.inModel) return;
  if (response !== undefined && wantsParts(run)) emitRest(run, response);
  run.inModel = false;
  run.listeners.emit({ type: 'model-end', runId: run.context.id, turn: run.turn, response });
}

/** True if the streamed text belongs to a model call other than that of the response. */
function showsOther({ step, attempt }: Run, response: ModelResponse): boolean {
  if (step === undefined || attempt === 0) return false;
  const streamed = step.responses?.[attempt];
  return streamed === undefined || (streamed !== response && step.responses?.includes(response) === true);
}

/** Emits the text that a lifecycle ended the run with, as a new attempt that replaces the text of the model. */
export function announceText(run: Run, text: string): void {
  if (text !== '' && wantsParts(run)) beginAttempt(run, text);
}

function beginAttempt(run: Run, text: string): void {
  run.attempt += 1;
  emitPart(run, { type: 'text-delta', text });
}

/** Emits the missing `model-end` and `turn-end` of the current turn. */
export function announceTurnEnd(run: Run): void {
  announceModelEnd(run, undefined);
  if (!run.inTurn) return;
  run.inTurn = false;
  run.listeners.emit({ type: 'turn-end', runId: run.context.id, turn: run.turn });
}

/** Emits `tool-start`, before the `wrapToolCall` hooks. */
export function announceCall(run: Run, { id, name, input, invalidInput }: ToolCallPart): void {
  const runId = run.context.id;
  run.listeners.emit({ type: 'tool-start', runId, turn: run.turn, callId: id, name, input: invalidInput ?? input });
}

/** Emits `tool-end`, after the `wrapToolCall` hooks; without a result if the call was suspended. */
export function announceCallEnd(run: Run, { id, name }: ToolCallPart, part: ToolResultPart | undefined): void {
  const result = part && resultOf(part);
  run.listeners.emit({ type: 'tool-end', runId: run.context.id, turn: run.turn, callId: id, name, result });
}

function resultOf({ type: _type, id: _id, name: _name, ...result }: ToolResultPart): ToolResult {
  return result;
}

/** Returns the callback for streamed parts; undefined without a listener, so that the model need not stream. */
export function partSink(run: Run): ((part: ModelPart) => void) | undefined {
  if (!wantsParts(run)) return undefined;
  const { holdStream } = run.config.chain;
  if (holdStream === true) return () => {};
  return holdStream === false ? (part) => emitPart(run, part) : gatedSink(run, holdStream);
}

/** The text that passed the gates, of runs with a gate. */
const passed = new WeakMap<Run, string>();

function gatedSink(run: Run, holds: readonly HoldStream[]): (part: ModelPart) => void {
  let attempt = -1;
  let gates: StreamGate[] = [];
  return (part) => {
    if (attempt !== run.attempt) {
      attempt = run.attempt;
      gates = holds.flatMap((hold) => hold(run.context) ?? []);
      if (gates.length > 0) passed.set(run, '');
    }
    let open: ModelPart | undefined = part;
    for (const gate of gates) open = open && gate(open);
    if (open === undefined) return;
    if (gates.length > 0 && open.type === 'text-delta') passed.set(run, passed.get(run) + open.text);
    emitPart(run, open);
  };
}

/** Emits the text that was not streamed. If the streamed text has changed, a new attempt replaces it. */
function emitRest(run: Run, response: ModelResponse): void {
  const streamed = passed.get(run);
  passed.delete(run);
  if (run.streamed === run.attempt && showsOther(run, response)) {
    // A consumer clears the text of the other model call at the new attempt, also if the response has no text.
    beginAttempt(run, '');
    return emitWhole(run, response);
  }
  if (run.config.chain.holdStream === true || run.streamed !== run.attempt || run.attempt === 0) {
    return emitWhole(run, response);
  }
  if (streamed === undefined) return;
  const text = response.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  if (!text.startsWith(streamed)) run.attempt += 1;
  const rest = text.slice(text.startsWith(streamed) ? streamed.length : 0);
  if (rest !== '') emitPart(run, { type: 'text-delta', text: rest });
}

function wantsParts({ listeners }: Run): boolean {
  return listeners.hears('text-delta') || listeners.hears('reasoning-delta') || listeners.hears('tool-input-delta');
}

function emitWhole(run: Run, response: ModelResponse): void {
  for (const part of response.content) {
    if (part.type === 'text' && part.text !== '') emitPart(run, { type: 'text-delta', text: part.text });
    else if (part.type === 'reasoning') emitPart(run, { type: 'reasoning-delta', text: part.text });
  }
}

function keepShown(run: Run, text: string): void {
  const { attempt, shown } = run;
  run.shown = { attempt, text: shown?.attempt === attempt ? shown.text + text : text };
}

/** Emits a streamed part. Ignores unknown part types of custom models. */
function emitPart(run: Run, part: ModelPart): void {
  const place = { runId: run.context.id, turn: run.turn, attempt: run.attempt };
  if (part.type === 'tool-input-delta') {
    const { type, id, name, text } = part;
    run.listeners.emit({ type, ...place, callId: id, name, text });
  } else if (part.type === 'text-delta' || part.type === 'reasoning-delta') {
    run.streamed = run.attempt;
    if (run.attached.keepsStopped && part.type === 'text-delta') keepShown(run, part.text);
    run.listeners.emit({ type: part.type, ...place, text: part.text });
  }
}
