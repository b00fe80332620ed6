import { HookResultInvalidError } from '../../errors.js';
import type { JsonValue } from '../../internal/json.js';
import { HookAction, type ModifyAction } from '../../lifecycle/hook-action.js';
import type { ModelResponse } from '../../model/model.js';
import type { AnnotatedOutput } from '../definition.js';
import type { ExtensionRun } from '../run.js';
import { isShortCircuit, type ShortCircuit } from '../short-circuit.js';
import { encodeState } from '../state/state-codec.js';
import { passTags } from '../tags/pass.js';
import { runCallback } from './callback.js';
import { createContext } from './callback-context.js';
import { editBetween, editContent, type TextEdit, textIn } from './text-edit.js';
import { acceptText } from './text-result.js';

/**
 * Passes a response through `onLlmOutput`, then its tags through `onTag`, then the text between them through
 * `onPlainText`.
 */
export async function passOutput(run: ExtensionRun, response: ModelResponse): Promise<ModifyAction | undefined> {
  const original = textIn(response.content);
  const output = await passWhole(run, original);
  const annotations = { ...response.annotations, ...output.annotations };
  const notes = Object.keys(output.annotations).length > 0 ? { annotations } : {};
  if (output.end !== undefined) {
    log(run, original, output.end.text);
    run.run.end({ type: 'respond', ...output.end });
    const content = response.content.filter((part) => part.type !== 'text');
    return HookAction.modify({ ...response, content, ...notes });
  }
  const edit = editBetween(original, output.text);
  const changed = editContent(response.content, edit === undefined ? [] : [edit]);
  const content = editContent(changed, await passPieces(run, output.text));
  if (content === response.content && Object.keys(notes).length === 0) return undefined;
  if (content !== response.content) log(run, original, textIn(content));
  return HookAction.modify({ ...response, content, ...notes });
}

interface Whole {
  readonly text: string;
  readonly annotations: Readonly<Record<string, JsonValue>>;
  /** The short circuit of an extension, if there is one. */
  readonly end?: { readonly text: string; readonly by: string };
}

async function passWhole(run: ExtensionRun, original: string): Promise<Whole> {
  const annotations: Record<string, JsonValue> = {};
  let text = original;
  for (const registration of run.registrations) {
    const { source, extension } = registration;
    const { onLlmOutput } = extension;
    if (onLlmOutput === undefined) continue;
    const given = text;
    const result = await runCallback(run, registration, {
      name: 'onLlmOutput',
      call: (callback) => onLlmOutput.call(source, given, createContext(callback)),
      accept: (returned) => acceptOutput(returned, extension.id),
    });
    if (isShortCircuit(result)) return { text, annotations, end: { text: result.text, by: extension.id } };
    if (result?.output !== undefined) text = result.output;
    if (result?.metadata !== undefined) annotations[extension.id] = result.metadata;
  }
  return { text, annotations };
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
  const hasTags = run.registrations.some(({ handlers }) => handlers.length > 0);
  const sections = hasTags ? await passTags(run, text) : [];
  const hasPlain = run.registrations.some(({ extension }) => extension.onPlainText !== undefined);
  if (!hasPlain) return sections;
  const edits: TextEdit[] = [];
  let done = 0;
  for (const section of [...sections, undefined]) {
    edits.push(...(await passPlain(run, { start: done, text: text.slice(done, section?.start) })));
    if (section !== undefined) edits.push(section);
    done = section?.end ?? text.length;
  }
  return edits;
}

/** Passes one piece of text through `onPlainText` of each extension. */
async function passPlain(run: ExtensionRun, piece: { start: number; text: string }): Promise<readonly TextEdit[]> {
  if (piece.text === '') return [];
  let { text } = piece;
  for (const registration of run.registrations) {
    const { source, extension } = registration;
    const { onPlainText } = extension;
    if (onPlainText === undefined) continue;
    const given = text;
    const result = await runCallback(run, registration, {
      name: 'onPlainText',
      call: (callback) => onPlainText.call(source, given, createContext(callback)),
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
