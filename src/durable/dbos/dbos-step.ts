import type { ResumeDecisions } from '../../agent/run/resume/continuation.js';
import type { RunResult } from '../../agent/run-result.js';
import type { JsonValue } from '../../internal/json.js';
import { callable, required, withMethods } from '../../internal/options/rules.js';
import { validateOption } from '../../internal/options/validate.js';
import { asDecisions, decisionProblem } from '../check-decisions.js';
import { DurableSetupError, ReplayMismatchError } from '../error.js';
import { type DecisionOptions, type DecisionRequest, defineStep, type Step, type StepFunction } from '../step.js';
import { type DbosStepSdk, loadDbos } from './dbos-sdk.js';
import { isCancelled, WorkflowSteps } from './workflow-steps.js';

/** The data that your callback `notify` receives when a DBOS workflow waits for decisions on tool calls. */
export interface DbosDecisionRequest extends DecisionRequest {
  /** Send the decisions to the workflow with this topic. Unique among all workflows. */
  readonly id: string;
  /** The id of the workflow that waits for the decisions. */
  readonly workflowId: string;
}

/** The steps of one DBOS workflow, for the option `step` of `durable`. */
export interface DbosStep extends Step {
  /**
   * Waits in DBOS until somebody has decided on the pending tool calls of a suspended run. `notify` receives the topic
   * on which the workflow waits.
   *
   * Another process sends the decisions: `DBOS.send(workflowId, { '<call id>': 'approve' }, id)`. If the decisions are
   * invalid, `notify` is called again, with the problem and a new id.
   */
  decisions(
    result: Pick<RunResult, 'pending'>,
    options: DecisionOptions<DbosDecisionRequest>,
  ): Promise<ResumeDecisions>;
}

/**
 * Creates the steps of a DBOS workflow. Call it in the workflow function, once for each execution. Steps that begin at
 * the same time run in parallel.
 *
 * `dbos` is the `DBOS` class. Default: the class of the installed `@dbos-inc/dbos-sdk`. Pass the class if a bundler has
 * copied the SDK into your program. Throws DurableSetupError outside a workflow.
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
  const steps = new WorkflowSteps(dbos, id);
  const perform: StepFunction = async (name, run) => {
    // A string keeps keys such as `__proto__` through every serializer that a host may set in DBOS.
    const json = await steps.run(name, async () => JSON.stringify(await run()));
    return JSON.parse(json) as JsonValue;
  };
  const options = { unread: () => steps.unread(), refuse: steps.refuse.bind(steps), isCancelled };
  const step = defineStep(id, perform, options);
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
      const ask = async () => {
        await options.notify(request);
        return null;
      };
      await steps.run(`ask ${calls}`, ask).catch((error) => {
        if (error instanceof ReplayMismatchError) return steps.refuse(error);
        throw error;
      });
      const given = await dbos.recv(topic, { timeoutSeconds: CENTURY_SECONDS });
      problem = await decisionProblem(given, result);
      if (problem === undefined) return asDecisions(given);
    }
  };
  return Object.assign(step, { decisions });
}

const SDK = {
  ...required(withMethods('isInWorkflow', 'runStep', 'recv', 'listWorkflowSteps')),
  expected: 'the `DBOS` class of the SDK',
};

/** A century, which stands for no time limit, because DBOS requires a limit for each wait. */
const CENTURY_SECONDS = 100 * 365 * 24 * 3600;

const OUTSIDE =
  '`dbosStep()` was called outside a DBOS workflow, or in one of its steps. ' +
  'Call it in the function that you pass to `DBOS.registerWorkflow`. ' +
  'If a bundler has copied the SDK into your program, call `dbosStep(DBOS)`.';
