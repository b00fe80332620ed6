import fc from 'fast-check';
import type { Step } from './session-model.js';

const text = fc.string({ minLength: 1, maxLength: 5 }).filter((it) => it.trim() !== '');
const count = fc.integer({ min: 1, max: 3 });
const of = <Type extends Step['type']>(...types: readonly Type[]) => fc.constantFrom(...types);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: of('ask', 'fail', 'suspend-answer', 'discard'), text }),
  fc.record({ type: of('stop'), text, shown: fc.oneof(fc.constant(''), text) }),
  fc.record({
    type: of('tools', 'stop-tools', 'fail-later', 'suspend', 'suspend', 'crash', 'compact'),
    text,
    calls: count,
  }),
  fc.record({ type: of('append'), role: fc.constantFrom('user', 'assistant', 'system'), text }),
  fc.record({ type: of('resume'), yes: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }), text }),
  fc.record({ type: of('resume'), yes: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }), text }),
  fc.record({ type: of('fork', 'branch', 'branch'), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.constant({ type: 'delete' as const }),
);
/** A step, and the number of the agent that makes it. */
export const sessionHistory = fc.array(fc.tuple(step, fc.integer({ min: 0, max: 2 })), { minLength: 1, maxLength: 12 });
