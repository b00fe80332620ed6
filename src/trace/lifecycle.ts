import type { Run } from '../agent/run/run.js';
import { consoleLogger, type Logger } from '../internal/logger.js';
import { callable, mapOf, required, whole } from '../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../internal/options/validate.js';
import { isPromise } from '../internal/promise.js';
import { hookRunOf } from '../lifecycle/hook-run/hook-run.js';
import type { AgentLifecycle } from '../lifecycle/lifecycle.js';
import type { RunContext } from '../lifecycle/run-context.js';
import { type ModelPrice, priceRule } from '../model/price.js';
import { type Destination, TRACE_ENDING, TraceFolder } from './destination.js';
import type { TraceRecord } from './record.js';
import { lineOf } from './record-line.js';
import { type RedactLine, redactLines } from './secrets.js';
import { Tracer } from './tracer.js';

/**
 * Options of {@link trace}: where traces are written, their size, and the records to leave out.
 *
 * @example
 * const options: TraceOptions = { to: 'traces', maxFiles: 20 };
 */
export interface TraceOptions {
  /**
   * The path of a folder, or a function. A folder is created if necessary, gets one file per run, and can be read only
   * by the user of the process. A function receives each line of JSON.
   *
   * If this function or `redact` throws or rejects, the line is missing from the trace, and the run continues. The first
   * such error of a trace is logged.
   */
  readonly to: string | ((line: string) => void);
  /** The maximum number of trace files in the folder. The oldest files are deleted. Default: 100. */
  readonly maxFiles?: number | undefined;
  /** The maximum size of a trace file, in bytes. The rest of a longer trace is not written. Default: 67,108,864. */
  readonly maxFileBytes?: number | undefined;
  /** Prices of models, by model id. The trace contains the cost of each call of these models. Default: none. */
  readonly prices?: Readonly<Record<string, ModelPrice>> | undefined;
  /**
   * Called with each record after secrets were removed. Returns the record to write, or undefined to leave it out.
   * Default: writes every record.
   */
  readonly redact?: ((record: TraceRecord) => TraceRecord | undefined) | undefined;
}

const rules = {
  to: required({
    expected: 'the path of a folder, or a function',
    accepts: (value) => typeof value === 'function' || (typeof value === 'string' && value !== ''),
  }),
  maxFiles: whole(1),
  maxFileBytes: whole(1024),
  prices: mapOf(priceRule),
  redact: callable,
} satisfies OptionTable<TraceOptions>;

/**
 * Creates a lifecycle that writes each run as lines of JSON: its events, the decisions of lifecycles, the duration of
 * each hook and model call, and the errors. The trace of a run includes its nested runs.
 *
 * Removes secrets: API keys, members with names such as `password`, and the values of sensitive environment variables.
 *
 * Its priority of 100 makes it the outermost lifecycle, so that the trace includes all other hooks. The lifecycle does
 * not change the run. {@link explain} finds the causes of problems in a trace.
 *
 * @example
 * const agent = new Agent({ model, lifecycle: [trace({ to: 'traces' })] });
 */
export function trace(options: TraceOptions): AgentLifecycle {
  validateOptions(options, rules);
  const { to, maxFiles = 100, maxFileBytes = 67_108_864, prices = {}, redact } = options;
  let logger: Logger = consoleLogger;
  const folder = typeof to === 'string' ? new TraceFolder(to, { maxFiles, maxFileBytes }, () => logger) : undefined;
  const removeSecrets = redactLines(process.env);
  const open = new Set<Promise<void>>();
  return {
    name: 'trace',
    priority: 100,
    onFailure: 'continue',
    onInit(host) {
      logger = host.logger;
    },
    beforeAgent(input, run) {
      const traced = hookRunOf(run) as Run | undefined;
      if (traced === undefined || traced.listeners.watch !== undefined) return;
      const destination = folder?.open(nameOf(run)) ?? { write: to as Destination['write'], end: async () => {} };
      const write = writerTo(destination, { removeSecrets, redact }, run.logger);
      const { id: runId, agent, session, path, clock } = run;
      const take = (record: TraceRecord) => {
        write(record);
        if (record.type !== 'run-end' || record.runId !== runId) return;
        const ended = destination.end().finally(() => open.delete(ended));
        open.add(ended);
      };
      const tracer = new Tracer(clock, take, prices);
      traced.listeners = tracer.listen(traced.listeners, path);
      const begun = { at: clock.now(), runId, path };
      write({ type: 'trace', version: 1, ...begun, session: session?.id });
      write({ type: 'run-start', ...begun, agent, input });
      const claim = traced.attached.recorder?.claim;
      if (claim !== undefined) claim.onEntry = (entry) => tracer.entry(entry, runId);
    },
    async onShutdown() {
      await Promise.all(open);
    },
  };
}

interface Filters {
  readonly removeSecrets: RedactLine;
  readonly redact: TraceOptions['redact'];
}

/**
 * Returns a function that removes the secrets from a record, applies `redact`, and writes the rest. Never throws, because
 * a trace must not change the run.
 */
function writerTo(
  destination: Destination,
  { removeSecrets, redact }: Filters,
  logger: Logger,
): (record: TraceRecord) => void {
  let hasFailed = false;
  const fail = (error: unknown) => {
    if (!hasFailed) logger.warn('The trace is incomplete, because `to` or `redact` of `trace` failed.', error);
    hasFailed = true;
  };
  return (record) => {
    try {
      const line = removeSecrets(lineOf(record));
      const kept = redact === undefined ? line : redactedLine(line, redact);
      const writing: unknown = kept === undefined ? undefined : destination.write(kept);
      if (isPromise(writing)) writing.then(undefined, fail);
    } catch (error) {
      fail(error);
    }
  };
}

function redactedLine(line: string, redact: NonNullable<TraceOptions['redact']>): string | undefined {
  const kept = redact(JSON.parse(line) as TraceRecord);
  return kept && lineOf(kept);
}

function nameOf({ id, clock }: RunContext): string {
  const time = new Date(clock.now()).toISOString().replaceAll(/[:.]/g, '-');
  return `${time}-${id.replaceAll(/[^\w-]/g, '-').slice(-60)}${TRACE_ENDING}`;
}
