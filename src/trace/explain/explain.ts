import type { TraceRecord } from '../record.js';
import { deniedCallsIn, downServersIn, failedCallsIn } from './calls.js';
import { cacheMissesIn, largeContextsIn, slowTurnIn, tokensIn } from './costs.js';
import { failuresIn } from './failures.js';
import type { Finding } from './finding.js';
import { TraceIndex } from './trace-index.js';

/**
 * Explains what went wrong in a traced run, and which lifecycle, tool, server or model caused it. Failures come first,
 * then calls that failed or were denied, then the causes of long contexts, slow turns and high cost.
 *
 * @example
 * const lines: string[] = [];
 * const agent = new Agent({ model, lifecycle: [trace({ to: (line) => lines.push(line) })] });
 * await agent.run('Which files mention the licence?');
 * for (const { text } of explain(readTrace(lines.join('\n')))) console.log(text);
 */
export function explain(records: readonly TraceRecord[]): readonly Finding[] {
  const trace = new TraceIndex(records);
  return [
    ...failuresIn(trace),
    ...failedCallsIn(trace),
    ...deniedCallsIn(trace),
    ...downServersIn(trace),
    ...cacheMissesIn(trace),
    ...largeContextsIn(trace),
    ...slowTurnIn(trace),
    ...tokensIn(trace),
  ];
}
