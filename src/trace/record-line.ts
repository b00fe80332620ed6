import { KeelsonError } from '../errors.js';
import type { TraceRecord } from './record.js';
import { tracedError } from './traced-error.js';

/** A trace cannot be read, because one of its lines is not a record. */
export class TraceInvalidError extends KeelsonError {
  readonly code = 'ERR_TRACE_INVALID';

  constructor(line: number, expected: string) {
    super(`Line ${line} of the trace must be ${expected}. Pass a file that \`trace()\` has written.`);
  }
}

/**
 * Returns a record as JSON. Values that JSON cannot represent, such as bigints and circular references, become strings.
 * Errors become objects.
 */
export function lineOf(record: TraceRecord): string {
  try {
    return JSON.stringify(record);
  } catch {
    return JSON.stringify(record, plainly());
  }
}

/**
 * Reads the records of a trace. Drops an incomplete last line, which a crash may leave. Values nested more than 64
 * levels deep become `…`. Throws a TraceInvalidError for any other invalid line.
 *
 * @example
 * const lines: string[] = [];
 * const agent = new Agent({ model, lifecycle: [trace({ to: (line) => lines.push(line) })] });
 * await agent.run('Which files mention the licence?');
 * const records = readTrace(lines.join('\n'));
 */
export function readTrace(text: string): readonly TraceRecord[] {
  const lines = text.split('\n');
  const records = lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    const record = parse(line);
    if (record !== undefined) return [record];
    if (index === lines.length - 1) return [];
    throw new TraceInvalidError(index + 1, 'a JSON object with a `type`');
  });
  const [first] = records;
  if (first?.type !== 'trace' || first.version !== 1) {
    throw new TraceInvalidError(1, 'a record of type "trace" with `version` 1');
  }
  return records.filter(({ type }) => (type as string) !== 'cut');
}

function parse(line: string): TraceRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof Object(value).type === 'string' ? (shallow(value, MAX_DEPTH) as TraceRecord) : undefined;
  } catch {
    return undefined;
  }
}

/** Maximum depth of the values in a trace. Deeper values in a file could overflow the stack of recursive functions. */
const MAX_DEPTH = 64;

/** Replaces all values more than `levels` levels deep by `…`. Changes `value` itself. */
function shallow(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return '…';
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) {
    const member = members[name];
    if (typeof member === 'object' && member !== null) members[name] = shallow(member, levels - 1);
  }
  return value;
}

function plainly(): (key: string, value: unknown) => unknown {
  const above: unknown[] = [];
  return function (this: unknown, _key, value) {
    if (typeof value === 'bigint') return `${value}n`;
    if (value instanceof Error) return tracedError(value);
    if (typeof value !== 'object' || value === null) return value;
    while (above.length > 0 && above.at(-1) !== this) above.pop();
    if (above.includes(value)) return '[circular]';
    above.push(value);
    return value;
  };
}
