import { describe, expect, test } from 'vitest';
import type { ToolSpec } from '../../../../src/model/model.js';
import { toWireRequest as toAnthropic } from '../../../../src/providers/anthropic/request.js';
import { toWireRequest as toOpenAI } from '../../../../src/providers/openai/chat/request.js';
import { keepingLogger } from '../../../support/agent/silent-logger.js';

const messages = [{ role: 'user' as const, content: 'Hi' }];
const schema = { type: 'object' as const, properties: {} };
const tool = (name: string, inputSchema: ToolSpec['inputSchema'] = schema): ToolSpec => ({
  ...{ name, description: name, inputSchema },
});
const namesIn = (tools: unknown) =>
  (tools as { name?: string; function?: { name: string } }[]).map((it) => it.function?.name ?? it.name);

function openAI(tools: readonly ToolSpec[], server: 'openai' | 'other' = 'openai') {
  const logger = keepingLogger();
  const body = toOpenAI({ messages, tools }, { model: 'gpt-5-mini', maxTokensField: 'max_tokens', server, logger });
  return { body, names: namesIn(body.tools ?? []), lines: logger.lines };
}

describe('requests to OpenAI', () => {
  test('leave out a tool with a name that the API refuses, with a warning that names the tool', () => {
    const { names, lines } = openAI([tool('a.b'), tool('good'), tool('x'.repeat(65))]);

    expect(names).toEqual(['good']);
    expect(lines).toEqual([
      'warn: Tool "a.b" is left out of requests to OpenAI: its name must match ^[a-zA-Z0-9_-]{1,64}$. Rename the tool.',
      expect.stringContaining('Tool "xxx'),
    ]);
  });

  test('have at most 128 tools, with one warning', () => {
    const tools = Array.from({ length: 131 }, (_, index) => tool(`t${index}`));
    const { names, lines } = openAI(tools);

    expect(names).toHaveLength(128);
    expect(lines).toEqual([
      expect.stringContaining('OpenAI accepts 128 tools in a request, got 131. Left out: t128, t129, t130.'),
    ]);
  });

  test('are warned about with the names of all tools that are left out', () => {
    const { lines } = openAI(Array.from({ length: 209 }, (_, index) => tool(`t${index}`)));
    const left = Array.from({ length: 81 }, (_, index) => `t${128 + index}`);

    expect(lines).toEqual([expect.stringContaining(`Left out: ${left.join(', ')}. Offer fewer tools`)]);
  });

  test('leave out a tool whose schema is invalid, with a warning that names the keyword', () => {
    const { names, lines } = openAI([
      tool('bad', { type: 'object', properties: { a: { type: 'text' } } }),
      tool('good'),
    ]);

    expect(names).toEqual(['good']);
    expect(lines).toEqual([
      'warn: Tool "bad" is left out of requests to OpenAI: its schema cannot be sent: `properties.a.type` must be array, boolean, integer, null, number, object, string, or an array of these, got "text"',
    ]);
  });

  test('have neither `tools` nor `tool_choice` if every tool is left out', () => {
    expect(openAI([tool('a b')]).body).not.toHaveProperty('tools');
  });

  test('leave out a tool whose schema cannot be written as JSON', () => {
    const circular: Record<string, unknown> = { type: 'object' };
    circular.properties = { self: circular };

    const { names, lines } = openAI([tool('round', circular), tool('good')]);

    expect(names).toEqual(['good']);
    expect(lines).toHaveLength(1);
  });

  test('to other servers have all tools', () => {
    const tools = [tool('a.b'), ...Array.from({ length: 130 }, (_, index) => tool(`t${index}`))];

    expect(openAI(tools, 'other').names).toHaveLength(131);
  });
});

test('a warning is logged once for each logger', () => {
  const logger = keepingLogger();
  const send = () => toAnthropic({ messages, tools: [tool('a b')] }, 'claude-sonnet-5', logger);
  send();
  send();

  expect(logger.lines).toHaveLength(1);
});

describe('a warning about too many tools', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => tool(`t${index}`));
  const linesOf = (...requests: readonly (readonly ToolSpec[])[]) => {
    const logger = keepingLogger();
    const target = { model: 'gpt-5-mini', maxTokensField: 'max_tokens', server: 'openai', logger } as const;
    for (const tools of requests) toOpenAI({ messages, tools }, target);
    return logger.lines.map((line) => /Left out: (.*)\. Offer/.exec(line)?.[1]);
  };

  test('names each tool once, although the number of tools changes', () => {
    expect(linesOf(many(129), many(130), many(130), many(129), many(132))).toEqual(['t128', 't129', 't130, t131']);
  });

  test('names each tool once, although the order of tools changes', () => {
    expect(linesOf(many(130), many(130).reverse(), many(130))).toEqual(['t128, t129', 't1, t0']);
  });

  test('names the tools beyond the limit, and not a tool at the end that is left out for its name', () => {
    const logger = keepingLogger();
    const target = { model: 'gpt-5-mini', maxTokensField: 'max_tokens', server: 'openai', logger } as const;
    toOpenAI({ messages, tools: [...many(129), tool('a b')] }, target);

    expect(logger.lines).toEqual([
      expect.stringContaining('Tool "a b" is left out'),
      expect.stringContaining('got 129. Left out: t128. Offer'),
    ]);
  });
});
