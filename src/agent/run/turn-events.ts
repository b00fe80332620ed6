import type { ModelPart, ModelResponse } from '../../model/model.js';
import type { Run } from './run.js';

// Called only where `run.listening` says that an event would reach somebody.

/** Tells that a turn begins. */
export function announceTurn(run: Run): void {
  run.inTurn = true;
  run.emit({ type: 'turn-start', runId: run.id, turn: run.turn });
}

/** Tells that the model is about to be called. */
export function announceModel(run: Run): void {
  run.inModel = true;
  run.emit({ type: 'model-start', runId: run.id, turn: run.turn, model: run.model.id });
}

/** Passes on what no listener has seen yet, then the response; nothing of one that a hook withheld. */
export function announceModelEnd(run: Run, response: ModelResponse | undefined): void {
  if (!run.inModel) return;
  if (response !== undefined && wantsParts(run) && (isHeld(run) || run.streamed !== run.attempt || run.attempt === 0)) {
    emitWhole(run, response);
  }
  run.inModel = false;
  run.emit({ type: 'model-end', runId: run.id, turn: run.turn, response });
}

/** Closes every event of the turn that is still open. */
export function announceTurnEnd(run: Run): void {
  announceModelEnd(run, undefined);
  if (!run.inTurn) return;
  run.inTurn = false;
  run.emit({ type: 'turn-end', runId: run.id, turn: run.turn });
}

/** Where the model's parts go; undefined where nobody wants any, so that the model need not stream. */
export function partSink(run: Run): ((part: ModelPart) => void) | undefined {
  if (!wantsParts(run)) return undefined;
  if (isHeld(run)) return () => {};
  return (part) => emitPart(run, part);
}

function isHeld(run: Run): boolean {
  return run.config.chain.holdStream;
}

function wantsParts({ attached, config }: Run): boolean {
  return attached.sink !== undefined || config.hub.hears('text-delta') || config.hub.hears('reasoning-delta');
}

function emitWhole(run: Run, response: ModelResponse): void {
  for (const part of response.content) {
    if (part.type === 'text' && part.text !== '') emitPart(run, { type: 'text-delta', text: part.text });
    else if (part.type === 'reasoning') emitPart(run, { type: 'reasoning-delta', text: part.text });
  }
}

/** A listener is told of text and reasoning. */
function emitPart(run: Run, { type, text }: ModelPart): void {
  if (type !== 'text-delta' && type !== 'reasoning-delta') return;
  run.streamed = run.attempt;
  run.emit({ type, runId: run.id, turn: run.turn, attempt: run.attempt, text });
}
