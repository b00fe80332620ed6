import { HookResultInvalidError } from '../../errors.js';
import type { JsonValue } from '../../internal/json.js';
import { HookAction, type ModifyAction } from '../../lifecycle/hook-action.js';
import type { ModelResponse } from '../../model/model.js';
import type { AnnotatedOutput } from '../definition.js';
import type { Registration } from '../registration.js';
import type { ExtensionRun } from '../run.js';
import { isShortCircuit, type ShortCircuit } from '../short-circuit.js';
import { encodeState } from '../state/state-codec.js';
import { passTags } from '../tags/pass.js';
import { runCallback } from './callback.js';
import { editBetween, editContent, type TextEdit, textIn } from './text-edit.js';
import { acceptText } from './text-result.js';

/** Calls `onLlmOutput` for a response, then `onTag` for its tags, then `onPlainText` for the text between them. */
export async function passOutput(run: ExtensionRun, response: ModelResponse): Promise<ModifyAction | undefined> {
  const original = textIn(response.content);
  const whole: Whole = { text: original, annotations: undefined, end: undefined };
  const { output, plain, handlers } = run.plan;
  for (const registration of output) {
    takeOutput(whole, registration, await callOutput(run, registration, whole.text));
    if (whole.end !== undefined) return endRun(run, { response, original, whole }, whole.end);
  }
  const hasPieces = plain.length > 0 || (handlers.length > 0 && whole.text.includes('<'));
  const edits = hasPieces ? await passPieces(run, whole.text) : [];
  return finishOutput(run, { response, original, whole }, edits);
}

interface Whole {
  text: string;
  annotations: Record<string, JsonValue> | undefined;
  /** The short circuit of an extension, if there is one. */
  end: { readonly text: string; readonly by: string } | undefined;
}

interface Change {
  readonly response: ModelResponse;
  readonly original: string;
  readonly whole: Whole;
}

type OutputOf = Partial<AnnotatedOutput> | ShortCircuit;

function callOutput(run: ExtensionRun, registration: Registration, text: string): Promise<OutputOf | undefined> {
  const { source, extension } = registration;
  return runCallback(run, registration, {
    name: 'onLlmOutput',
    call: (context) => extension.onLlmOutput?.call(source, text, context),
    accept: (returned) => acceptOutput(returned, extension.id),
  });
}

function takeOutput(whole: Whole, { extension: { id } }: Registration, result: OutputOf | undefined): void {
  if (isShortCircuit(result)) {
    whole.end = { text: result.text, by: id };
    return;
  }
  if (result?.output !== undefined) whole.text = result.output;
  if (result?.metadata === undefined) return;
  whole.annotations ??= {};
  whole.annotations[id] = result.metadata;
}

function endRun(run: ExtensionRun, change: Change, end: NonNullable<Whole['end']>): ModifyAction {
  log(run, change.original, end.text);
  run.run.end({ type: 'respond', ...end });
  const content = change.response.content.filter((part) => part.type !== 'text');
  return modify(change, content);
}

function finishOutput(run: ExtensionRun, change: Change, edits: readonly TextEdit[]): ModifyAction | undefined {
  const { response, original, whole } = change;
  const edit = editBetween(original, whole.text);
  const changed = edit === undefined ? response.content : editContent(response.content, [edit]);
  const content = editContent(changed, edits);
  if (content === response.content && whole.annotations === undefined) return undefined;
  if (content !== response.content) log(run, original, textIn(content));
  return modify(change, content);
}

function modify({ response, whole }: Change, content: ModelResponse['content']): ModifyAction {
  if (whole.annotations === undefined) return HookAction.modify({ ...response, content });
  const annotations = { ...response.annotations, ...whole.annotations };
  return HookAction.modify({ ...response, content, annotations });
}

function acceptOutput(returned: unknown, id: string): Partial<AnnotatedOutput> | ShortCircuit {
  if (returned === undefined) return {};
  if (typeof returned === 'string') return { output: returned };
  if (isShortCircuit(returned)) return returned;
  const { output, metadata } = (returned ?? {}) as Partial<AnnotatedOutput>;
  if (metadata === undefined || (output !== undefined && typeof output !== 'string')) {
    const expected = 'onLlmOutput returns a string, { output, metadata }, shortCircuit(text) or nothing';
    throw new HookResultInvalidError(expected, returned);
  }
  // Annotations are stored and sent as JSON. The round trip refuses other values, and makes a copy.
  const notes: JsonValue = JSON.parse(encodeState(`annotations.${id}`, metadata, undefined));
  return { output, metadata: notes };
}

/** Returns the edits of the tag sections, and of the pieces between them. */
async function passPieces(run: ExtensionRun, text: string): Promise<readonly TextEdit[]> {
  const { handlers, plain } = run.plan;
  const sections = handlers.length > 0 ? await passTags(run, text) : [];
  if (plain.length === 0) return sections;
  const edits: TextEdit[] = [];
  let done = 0;
  for (const section of [...sections, undefined]) {
    edits.push(...(await passPlain(run, { start: done, text: text.slice(done, section?.start) })));
    if (section !== undefined) edits.push(section);
    done = section?.end ?? text.length;
  }
  return edits;
}

async function passPlain(run: ExtensionRun, piece: { start: number; text: string }): Promise<readonly TextEdit[]> {
  if (piece.text === '') return [];
  let { text } = piece;
  for (const registration of run.plan.plain) {
    const { source, extension } = registration;
    const given = text;
    const result = await runCallback(run, registration, {
      name: 'onPlainText',
      call: (context) => extension.onPlainText?.call(source, given, context),
      accept: acceptText('onPlainText'),
    });
    if (typeof result === 'string') text = result;
    if (!isShortCircuit(result)) continue;
    text = result.text;
    break;
  }
  const edit = editBetween(piece.text, text);
  return edit === undefined ? [] : [{ start: piece.start + edit.start, end: piece.start + edit.end, text: edit.text }];
}

function log(run: ExtensionRun, original: string, modified: string): void {
  const details = { session: run.sessionId, original, modified };
  run.logger.debug(`Extensions changed an output in session "${run.sessionId}".`, details);
}
