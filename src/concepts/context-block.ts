import type { ToolAnnotations } from '../tools/tool.js';
import type { ConceptSettings } from './concept-options.js';

/** Where the context goes: into a field, or beside the arguments. */
export type Augmented =
  | { readonly field: string; readonly text: string }
  | { readonly key: string; readonly context: string };

const RULE = '\n\n---\n\n';

/** The contexts of several concepts as one. */
export function joinContexts(parts: readonly string[]): string {
  return parts.join(RULE);
}

/** Puts the context into the first text field that may have it, or else under the key of its own. */
export function placeContext(
  args: Readonly<Record<string, unknown>>,
  context: string,
  { settings, annotations }: { settings: ConceptSettings; annotations: ToolAnnotations | undefined },
): Augmented {
  const { textFields, isSafe, label, contextKey } = settings;
  const mayTouch = (field: string) => !isSafe || isSafeField(field, annotations);
  const field = textFields.find((it) => Object.hasOwn(args, it) && typeof args[it] === 'string' && mayTouch(it));
  // What stands under the key already is not from here.
  if (field === undefined)
    return Object.hasOwn(args, contextKey) ? { field: contextKey, text: context } : { key: contextKey, context };
  return { field, text: `${contextBlock(context, label)}\n\n${args[field]}` };
}

/** What a shell or a writer would take as it is stays as it is. Who knows of no tool assumes that it does both. */
function isSafeField(field: string, { readOnly, destructive }: ToolAnnotations = {}): boolean {
  if (field === 'prompt') return destructive !== true;
  return field !== 'command' && readOnly === true && destructive !== true;
}

/** The context between two comments. One of them inside of the context would end the block too soon. */
function contextBlock(context: string, label: string): string {
  const start = `<!-- Knowledge Graph Context (auto-injected by ${label}) -->`;
  const end = '<!-- End Knowledge Graph Context -->';
  const defused = [start, end].reduce((text, mark) => text.replaceAll(mark, `&lt;${mark.slice(1)}`), context);
  return `${start}\n${defused}\n${end}`;
}
