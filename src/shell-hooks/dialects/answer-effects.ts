import type { JsonObject, JsonValue } from '../../internal/json.js';
import type { FieldMeaning } from '../../programs/hook-table.js';
import type { ToolResult } from '../../tools/tool.js';
import type { ShellHook } from '../hook/definition.js';
import type { HookEffects } from '../hook/effects.js';
import { requestChange, responseChange } from './gemini-conversation.js';
import { resultOf, textOf } from './output.js';

type Effect = (value: JsonValue, hook: ShellHook) => HookEffects;

/** Returns the effect of one field of an answer. The value has the type of the field. */
export function effectOf(means: FieldMeaning, value: JsonValue, hook: ShellHook): HookEffects {
  return EFFECTS[means]?.(value, hook) ?? {};
}

/** The effects of the fields. Decisions and reasons are missing, because they are parts of a refusal. */
const EFFECTS: Readonly<Partial<Record<FieldMeaning, Effect>>> = {
  context: (value) => ofText(value, (text) => ({ modelTexts: [text] })),
  again: (value) => ofText(value, (again) => ({ again })),
  user: (value) => ofText(value, (userText) => ({ userText })),
  input: (value) => ({ input: value as JsonObject }),
  'input-changes': (value) => ({ inputChanges: value as JsonObject }),
  result: (value) => ({ result: resultOf(value) }),
  'copilot-result': (value) => ({ result: copilotResult(value as JsonObject) }),
  tools: (value, { dialect, extension }) => ({ tools: { ...toolLimit(value as JsonObject), dialect, extension } }),
  request: (value) => ({ request: requestChange(value as JsonObject) }),
  response: (value) => ({ response: responseChange(value as JsonObject) }),
};

function ofText(value: JsonValue, effect: (text: string) => HookEffects): HookEffects {
  const text = textOf(value);
  return text === undefined ? {} : effect(text);
}

function copilotResult({ textResultForLlm: text, resultType }: JsonObject): ToolResult | undefined {
  if (typeof text !== 'string') return undefined;
  return resultType === 'failure' ? { content: text, isError: true } : { content: text };
}

const MODES: Readonly<Record<string, 'none' | 'any' | 'auto'>> = { NONE: 'none', ANY: 'any', AUTO: 'auto' };

function toolLimit({ mode, allowedFunctionNames: names }: JsonObject) {
  const limit = MODES[textOf(mode)?.toUpperCase() ?? 'AUTO'] ?? ('auto' as const);
  const listed = Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  return { names: listed.length > 0 ? listed : undefined, mode: limit, joins: true };
}
