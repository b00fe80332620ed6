import type { ResumeDecisions } from '../../agent/run/resume/continuation.js';
import type { RunResult } from '../../agent/run-result.js';
import type { JsonValue } from '../../internal/json.js';
import { callable, required, withMethods } from '../../internal/options/rules.js';
import { validateOption } from '../../internal/options/validate.js';
import { asDecisions, decisionProblem } from '../check-decisions.js';
import { DurableSetupError } from '../error.js';
import { type DecisionOptions, type DecisionRequest, defineStep, type Step } from '../step.js';
import { type DbosStepSdk, loadDbos } from './dbos-sdk.js';

/** Tells the host that a DBOS workflow waits for decisions. */
export interface DbosDecisionRequest extends DecisionRequest {
  /** The topic of the message with the decisions. Unique among all workflows. */
  readonly id: string;
  /** The workflow that receives the message. */
  readonly workflowId: string;
}

/** The steps of one DBOS workflow. */
export interface DbosStep extends Step {
  /**
   * Waits in DBOS until the pending calls of a suspended run have decisions. `notify` gets the topic that the workflow
   * listens to. Another process sends the decisions: `DBOS.send(workflowId, { '<call id>': 'approve' }, id)`. Invalid
   * decisions are refused: `notify` gets the problem and a new id.
   */
  decisions(
    result: Pick<RunResult, 'pending'>,
    options: DecisionOptions<DbosDecisionRequest>,
  ): Promise<ResumeDecisions>;
}

/**
 * Makes the steps of a DBOS workflow. Call it in the workflow function, once for each execution. Steps that begin at the
 * same time run in parallel.
 *
 * `dbos` is the `DBOS` class. Default: the class of the installed `@dbos-inc/dbos-sdk`. Pass the class if a bundler has
 * copied the SDK into your program. Throws DurableSetupError outside of a workflow.
 *
 * @example
 * const support = DBOS.registerWorkflow(
 *   async (question: string) => {
 *     const step = dbosStep();
 *     const agent = new Agent(durable({ step }).options({ model, tools, lifecycle: [approval({ tools: ['pay'] })] }));
 *     let result = await agent.run(question);
 *     while (result.status === 'suspended') {
 *       const resume = await step.decisions(result, { notify: ({ id, pending }) => saveRequest(id, pending) });
 *       result = await agent.run('', { messages: result.history, resume });
 *     }
 *     return result.text;
 *   },
 *   { name: 'support' },
 * );
 */
export function dbosStep(dbos: DbosStepSdk = loadDbos()): DbosStep {
  validateOption('dbos', dbos, SDK);
  const id = dbos.workflowID;
  if (id === undefined || !dbos.isInWorkflow()) throw new DurableSetupError(OUTSIDE);
  const runStep = <T>(name: string, work: () => Promise<T>): Promise<T> => {
    // Outside of its workflow, DBOS would call the function without storing the result.
    if (dbos.workflowID !== id || !dbos.isInWorkflow()) throw elsewhere(name, id, dbos);
    return dbos.runStep(() => untilCancelled(dbos, work), { name });
  };
  const step = defineStep(id, async (name, run) => {
    // A string keeps keys such as `__proto__` through every serializer that a host may configure in DBOS.
    const json = await runStep(name, async () => JSON.stringify(await run()));
    return JSON.parse(json) as JsonValue;
  });
  let waits = 0;
  const decisions: DbosStep['decisions'] = async (result, options) => {
    validateOption('notify', options?.notify, required(callable));
    for (let problem: string | undefined; ; ) {
      waits += 1;
      const topic = `${id}:decisions:${waits}`;
      const request = {
        id: topic,
        workflowId: id,
        pending: result.pending,
        ...(problem !== undefined && { problem }),
      };
      const calls = result.pending.map((call) => call.id).join(' ');
      await runStep(`ask ${calls}`, async () => {
        await options.notify(request);
        return null;
      });
      const given = await dbos.recv(topic, { timeoutSeconds: CENTURY_SECONDS });
      problem = await decisionProblem(given, result);
      if (problem === undefined) return asDecisions(given);
    }
  };
  return Object.assign(step, { decisions });
}

const SDK = { ...required(withMethods('isInWorkflow', 'runStep', 'recv')), expected: 'the `DBOS` class of the SDK' };

/** DBOS has no wait without an end. */
const CENTURY_SECONDS = 100 * 365 * 24 * 3600;

const OUTSIDE =
  '`dbosStep()` was called outside of a DBOS workflow, or in one of its steps. ' +
  'Call it in the function that you pass to `DBOS.registerWorkflow`. ' +
  'If a bundler has copied the SDK into your program, call `dbosStep(DBOS)`.';

function elsewhere(name: string, id: string, { workflowID }: DbosStepSdk): DurableSetupError {
  const place =
    workflowID === id ? 'inside of another step' : `in ${workflowID === undefined ? 'no workflow' : `"${workflowID}"`}`;
  return new DurableSetupError(
    `Step "${name}" of workflow "${id}" began ${place}. ` +
      'Create the step, the lifecycle and the agent in the workflow function, and await the run there.',
  );
}

/** Rejects when the workflow is cancelled, so that the run aborts its calls. DBOS then stores nothing for the step. */
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
