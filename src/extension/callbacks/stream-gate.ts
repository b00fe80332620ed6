import type { StreamGate } from '../../lifecycle/lifecycle.js';
import type { ModelPart } from '../../model/model.js';
import type { CallbackPlan } from '../plan.js';
import { matchesTag } from '../registration.js';

/**
 * Returns the gate that delays streamed text, or undefined if no callback of the plan can change text. `onLlmOutput`
 * and `onPlainText` delay all text. `onTag` delays the text from the first tag on that a handler may match.
 */
export function streamGate({ output, plain, handlers }: CallbackPlan): StreamGate | undefined {
  if (output.length + plain.length > 0) return (part) => (part.type === 'text-delta' ? undefined : part);
  if (handlers.length === 0) return undefined;
  const gate = new TagGate(handlers.flatMap(({ handler }) => handler.tags));
  return (part) => (part.type === 'text-delta' ? withText(part, gate.pass(part.text)) : part);
}

function withText(part: ModelPart & { readonly type: 'text-delta' }, text: string): ModelPart | undefined {
  return text === '' ? undefined : { ...part, text };
}

const NAME = /^[\p{L}_][\p{L}\p{N}_.:-]*/u;
const HIGH_SURROGATE = /[\uD800-\uDBFF]$/;

/** Passes the text before the first opening tag that a handler may match. */
class TagGate {
  private held = '';
  private isClosed = false;

  constructor(private readonly patterns: readonly string[]) {}

  pass(text: string): string {
    if (this.isClosed) return '';
    const all = this.held + text;
    let at = all.indexOf('<');
    while (at >= 0 && !this.mayMatch(all, at)) at = all.indexOf('<', at + 1);
    const end = at < 0 ? all.length : at;
    this.held = all.slice(end);
    return all.slice(0, end);
  }

  /** Returns true if the text at `start` is, or may become, an opening tag with a handler. */
  private mayMatch(all: string, start: number): boolean {
    const rest = all.slice(start + 1);
    const name = NAME.exec(rest)?.[0] ?? '';
    const tail = rest.slice(name.length);
    if (tail === '' || HIGH_SURROGATE.test(tail.slice(0, 1))) return tail.length < 2 && this.mayContinue(name);
    this.isClosed = name !== '' && matchesTag(this.patterns, name);
    return this.isClosed;
  }

  private mayContinue(name: string): boolean {
    return this.patterns.some((pattern) => {
      const fixed = pattern.endsWith('*') ? pattern.slice(0, -1) : pattern;
      return fixed.startsWith(name) || (pattern !== fixed && name.startsWith(fixed));
    });
  }
}
