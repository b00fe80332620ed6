import { AsyncLocalStorage } from 'node:async_hooks';
import { DurableSetupError, ReplayMismatchError } from '../error.js';
import type { DbosStepSdk } from './dbos-sdk.js';

/** The steps of one DBOS workflow. */
export class WorkflowSteps {
  /** The names of the steps that this attempt has started. */
  private readonly asked: string[] = [];

  constructor(
    private readonly dbos: DbosStepSdk,
    private readonly id: string,
  ) {}

  /**
   * Runs a step, or returns its stored result. Rejects with a ReplayMismatchError if DBOS has stored a step with
   * another name in its place.
   */
  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const { dbos, id } = this;
    // Outside its workflow, DBOS would call the function without storing the result.
    if (dbos.workflowID !== id || !dbos.isInWorkflow()) throw elsewhere(name, id, dbos);
    this.asked.push(name);
    try {
      return await dbos.runStep(() => untilCancelled(dbos, work), { name });
    } catch (error) {
      throw mismatchOf(error, name) ?? error;
    }
  }

  /** Returns the names of the stored steps that this attempt has not started. */
  async unread(): Promise<readonly string[]> {
    // Inside the workflow, DBOS would store the list as a step.
    const stored = (await outside(() => this.dbos.listWorkflowSteps(this.id))) ?? [];
    const rest = [...this.asked];
    return stored.flatMap(({ name }) => {
      const at = rest.indexOf(name);
      if (at >= 0) rest.splice(at, 1);
      return at < 0 ? [name] : [];
    });
  }

  /**
   * Logs why the program does not match the stored steps, and never resolves. The workflow then stays pending, and a
   * later version of the program can continue it.
   *
   * If the workflow function threw an error instead, DBOS would end the workflow.
   */
  refuse({ message }: ReplayMismatchError): Promise<never> {
    this.dbos.logger.error(`Workflow "${this.id}" waits for another version of the program. ${message}`);
    return new Promise<never>(() => {});
  }
}

/** Runs a function as if it were called outside every workflow. */
const outside = AsyncLocalStorage.snapshot();

/** True for the error with which DBOS cancels a workflow. */
export function isCancelled(error: unknown): boolean {
  return codeOf(error) === WORKFLOW_CANCELLED;
}

/**
 * Returns a ReplayMismatchError if DBOS reports that a step with another name is stored. Returns undefined for any
 * other error.
 */
function mismatchOf(error: unknown, name: string): ReplayMismatchError | undefined {
  if (codeOf(error) !== UNEXPECTED_STEP) return undefined;
  const { message } = error as Error;
  const [, stored = 'another step'] = /, function (.*) was recorded when /.exec(String(message)) ?? [];
  return new ReplayMismatchError(name, stored);
}

function codeOf(error: unknown): unknown {
  return (Object(error) as { readonly dbosErrorCode?: unknown }).dbosErrorCode;
}

/**
 * The DBOS error codes for a cancelled workflow and for a step with an unexpected name. The SDK does not export them.
 */
const WORKFLOW_CANCELLED = 24;
const UNEXPECTED_STEP = 26;

function elsewhere(name: string, id: string, { workflowID }: DbosStepSdk): DurableSetupError {
  const where = workflowID === undefined ? 'outside every workflow' : `in workflow "${workflowID}"`;
  const place = workflowID === id ? 'inside another step' : where;
  return new DurableSetupError(
    `Step "${name}" of workflow "${id}" began ${place}. ` +
      'Create the step, the lifecycle and the agent in the workflow function, and await the run there.',
  );
}

/**
 * Runs the work of a step, but rejects as soon as the workflow is cancelled. The run then aborts its calls, and DBOS
 * stores no result for the step.
 */
async function untilCancelled<T>(dbos: DbosStepSdk, work: () => Promise<T>): Promise<T> {
  const signal = dbos.stepStatus?.cancelSignal;
  if (signal === undefined) return work();
  let cancel = () => {};
  const cancelled = new Promise<never>((_, reject) => {
    cancel = () => reject(signal.reason);
    signal.addEventListener('abort', cancel, { once: true });
  });
  try {
    return await Promise.race([work(), cancelled]);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
