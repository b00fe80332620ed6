import { hookRunOf } from './hook-run.js';
import type { RunContext } from './run-context.js';

/** A model call failed, and another one takes its place. */
export interface ModelErrorReport {
  readonly type: 'model-error';
  readonly error: unknown;
  /** `retry`: the same model is asked again. `fallback`: another one is. */
  readonly action: 'retry' | 'fallback';
  /** The id of the model that is asked next. */
  readonly model: string;
  /** The wait before the next call, in milliseconds. */
  readonly delayMs: number;
}

/** A long conversation is about to be summarised. */
export interface CompactionStartReport {
  readonly type: 'compaction-start';
  /** The number of messages. */
  readonly messages: number;
}

/** The summary is there, or could not be made. */
export interface CompactionEndReport {
  readonly type: 'compaction-end';
  /** The number of messages that are left; absent when the conversation stays as it is. */
  readonly messages?: number | undefined;
}

/** A lifecycle's news of its run. */
export type RunReport = ModelErrorReport | CompactionStartReport | CompactionEndReport;

/** Tells the listeners of a run. Writes `message` to the log instead when nobody listens to this type of event. */
export function report(run: RunContext, news: RunReport, message?: string): void {
  const isHeard = hookRunOf(run)?.report(news) ?? false;
  if (!isHeard && message !== undefined) run.logger.warn(message);
}
