import { z } from 'zod';
import type { Logger } from '../../../src/internal/logger.js';
import { calls, type ScriptedModel, scriptedModel } from '../../../src/testing/testing.js';
import { defineTool } from '../../../src/tools/define-tool.js';

/** Adds two numbers; its arguments are checked. */
export const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => String(a + b),
});

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
