import type { Logger, Tool } from 'keelson';
import { calls, type ScriptedModel, scriptedModel } from 'keelson/testing';

/** A tool that adds two numbers. Its schema is written by hand, so that most test files load no schema library. */
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

/** A model that calls `add` once and then answers `done`. A run with this model passes every hook point. */
export function addingModel(): ScriptedModel {
  return scriptedModel([calls('add', { a: 1, b: 2 }), 'done']);
}

/** A logger that stores its lines as `level: message`. */
export function keepingLogger(): Logger & { readonly lines: string[]; readonly details: unknown[] } {
  const lines: string[] = [];
  const details: unknown[] = [];
  const keep = (level: string) => (message: string, detail?: unknown) => {
    lines.push(`${level}: ${message}`);
    details.push(detail);
  };
  return { lines, details, debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
}

/** The hook points of a run, in the order of a turn with a tool call. */
export const POINTS = [
  'beforeAgent',
  'beforeModel',
  'beforeToolSelection',
  'wrapModelCall',
  'afterModel',
  'wrapToolCall',
  'afterAgent',
] as const;
