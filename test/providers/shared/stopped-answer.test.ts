import { expect, it } from 'vitest';
import type { Message } from '../../../src/index.js';
import { toPrompt } from '../../../src/providers/ai-sdk/prompt.js';
import { toWireConversation } from '../../../src/providers/anthropic/messages.js';
import { toWireMessages } from '../../../src/providers/openai/chat/messages.js';
import { toInput } from '../../../src/providers/openai/responses/request/input.js';

const history: readonly Message[] = [
  { role: 'user', content: 'What is a keelson?' },
  { role: 'assistant', content: [{ type: 'text', text: 'A timber ' }], stopped: true },
];
const next: Message = { role: 'user', content: 'Go on.' };

it('Anthropic gets a stopped answer as a plain assistant turn, without trailing spaces at the end', () => {
  const { messages } = toWireConversation(history, 'claude-sonnet-4-5');

  expect(messages.at(-1)).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'A timber' }] });
  expect(JSON.stringify(toWireConversation([...history, next], 'claude-sonnet-4-5'))).not.toContain('stopped');
});

it('Anthropic gets a question without an answer and the next question as one user turn', () => {
  const { messages } = toWireConversation([history[0] as Message, next], 'claude-sonnet-4-5');

  expect(messages.map(({ role }) => role)).toEqual(['user']);
});

it('OpenAI gets a stopped answer as a plain assistant message', () => {
  const wire = toWireMessages([...history, next], 'gpt-5-mini');

  expect(wire.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  expect(JSON.stringify(wire)).not.toContain('stopped');
});

it('the Responses API gets a stopped answer as a plain assistant message', () => {
  const input = toInput([...history, next], { model: 'gpt-5-mini', systemRole: 'developer', isStored: false });

  expect(input.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  expect(JSON.stringify(input)).not.toContain('stopped');
});

it('the AI SDK gets a stopped answer as a plain assistant message', () => {
  const prompt = toPrompt([...history, next], { model: { provider: 'test', modelId: 'test' } } as never);

  expect(prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  expect(JSON.stringify(prompt)).not.toContain('stopped');
});
