import { type Model, textOf } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';

/** A model without a key: it repeats the last message, and keeps notes. */
export const script: Model = scriptedModel(({ messages }) => {
  const last = messages.at(-1);
  const text = last === undefined ? '' : textOf(last);
  if (last?.role === 'tool') return text;
  const [, note] = /^note:? (.*)/i.exec(text) ?? [];
  if (note !== undefined) return calls('keep_note', { note });
  const asked = messages.filter(({ role }) => role === 'user').length;
  return `You said "${text}" in message ${asked}. Try "note: buy rope".`;
});
