import type { ToolAnnotations } from '../tools/tool.js';
import type { ConceptSettings } from './concept-options.js';

/** The place of the context: a field of the arguments, or an additional property. */
export type Augmented =
  | { readonly field: string; readonly text: string }
  | { readonly key: string; readonly context: string };

/** Maximum length of the contexts of one call, in characters. */
const MOST_TEXT = 1_000_000;

/** Joins the contexts of several concepts with a horizontal rule. Cuts the result at a million characters, with a mark. */
export function joinContexts(parts: readonly string[]): string {
  const text = parts.join('\n\n---\n\n');
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}… (${text.length} characters)` : text;
}

/** Returns the places for the context: each allowed text field in order, then the additional property. */
export function placesFor(
  args: Readonly<Record<string, unknown>>,
  context: string,
  { settings, annotations }: { settings: ConceptSettings; annotations: ToolAnnotations | undefined },
): readonly Augmented[] {
  const { textFields, isSafe, label, contextKey } = settings;
  const mayTouch = (field: string) => !isSafe || isSafeField(field, annotations);
  const fields = textFields.filter((it) => Object.hasOwn(args, it) && typeof args[it] === 'string' && mayTouch(it));
  const block = fields.length > 0 ? contextBlock(context, label) : '';
  return [
    ...fields.map((field) => ({ field, text: `${block}\n\n${args[field]}` })),
    // An existing property is an argument of the call, so it is changed as a field.
    ...(Object.hasOwn(args, contextKey) ? [{ field: contextKey, text: context }] : []),
    { key: contextKey, context },
  ];
}

/** True if the context in this field cannot reach a shell command or a file. Unsafe if annotations are missing. */
function isSafeField(field: string, { readOnly, destructive }: ToolAnnotations = {}): boolean {
  if (field === 'prompt') return destructive !== true;
  return field !== 'command' && readOnly === true && destructive !== true;
}

/** Wraps the context in two comments. Such a comment inside the context would end the block early, so it is escaped. */
function contextBlock(context: string, label: string): string {
  const start = `<!-- Knowledge Graph Context (auto-injected by ${label}) -->`;
  const end = '<!-- End Knowledge Graph Context -->';
  const defused = [start, end].reduce((text, mark) => text.replaceAll(mark, `&lt;${mark.slice(1)}`), context);
  return `${start}\n${defused}\n${end}`;
}
