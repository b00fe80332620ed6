import type { Logger } from '../../../src/internal/logger.js';
import { calls, type ScriptedModel, scriptedModel } from '../../../src/testing/testing.js';
import type { Tool } from '../../../src/tools/tool.js';

/** Adds two numbers; its arguments are checked. No schema library is loaded for it, since most test files want it. */
export const add: Tool = {
  name: 'add',
  description: 'Adds two numbers.',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
  check(value) {
    const given = value as Record<string, unknown> | null | undefined;
    const wrong = ['a', 'b'].filter((key) => typeof given?.[key] !== 'number');
    return wrong.length === 0
      ? { value }
      : { issues: wrong.map((key) => ({ message: 'expected a number', path: [key] })) };
  },
  execute(input) {
    const { a, b } = input as { readonly a: number; readonly b: number };
    return String(a + b);
  },
};

/** A model that calls `add` once and then says `done`: a run over it passes every hook point. */
export function addingModel(): ScriptedModel {
  return scriptedModel([calls('add', { a: 1, b: 2 }), 'done']);
}

/** A logger that keeps what it is told, as `level: message`. */
export function keepingLogger(): Logger & { readonly lines: string[]; readonly details: unknown[] } {
  const lines: string[] = [];
  const details: unknown[] = [];
  const keep = (level: string) => (message: string, detail?: unknown) => {
    lines.push(`${level}: ${message}`);
    details.push(detail);
  };
  return { lines, details, debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
}

/** The points of a run, in the order in which one turn with a tool call passes them. */
export const POINTS = [
  'beforeAgent',
  'beforeModel',
  'beforeToolSelection',
  'wrapModelCall',
  'afterModel',
  'wrapToolCall',
  'afterAgent',
] as const;
