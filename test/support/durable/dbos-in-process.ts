import { DBOS, type WorkflowHandle } from '@dbos-inc/dbos-sdk';
import { keepingLogger } from '../agent/silent-logger.js';

/** Runs workflow functions with the SDK in the process of the test. */
export interface DbosInProcess {
  /** Starts a workflow. A fork of the workflow calls `body` again. */
  start<T>(id: string, body: () => Promise<T>): Promise<WorkflowHandle<T>>;
  /** Replaces the body of a workflow, as a new version of the program does. The next launch calls it. */
  deploy(id: string, body: () => Promise<unknown>): void;
  /** The lines of the log. */
  readonly lines: readonly string[];
  /** Starts a copy of a workflow that has the stored steps before the given step. Default id: `<id>-fork`. */
  fork<T>(id: string, firstStep: number, copy?: string): Promise<WorkflowHandle<T>>;
  /** The names of the stored steps of a workflow, in order. */
  steps(id: string): Promise<readonly string[]>;
  /** Shuts DBOS down during workflows, and launches it again. The launch starts the workflows again. */
  relaunch(): Promise<void>;
  close(): Promise<void>;
}

/** Launches DBOS in this process. */
export async function launchDbos(systemDatabaseUrl: string): Promise<DbosInProcess> {
  const bodies = new Map<string, () => Promise<unknown>>();
  const logger = keepingLogger();
  const workflow = DBOS.registerWorkflow(async (id: string) => bodies.get(id)?.(), { name: 'body' });
  DBOS.setConfig({
    name: 'in-process',
    systemDatabaseUrl,
    executorID: 'in-process',
    applicationVersion: 'in-process-1',
    logger,
  });
  await DBOS.launch();
  await DBOS.registerQueue('forks', { minPollingIntervalMs: 20 });
  return {
    async start<T>(id: string, body: () => Promise<T>) {
      bodies.set(id, body);
      return (await DBOS.startWorkflow(workflow, { workflowID: id })(id)) as WorkflowHandle<T>;
    },
    deploy: (id, body) => void bodies.set(id, body),
    lines: logger.lines,
    fork: (id, firstStep, copy = `${id}-fork`) =>
      DBOS.forkWorkflow(id, firstStep, { newWorkflowID: copy, queueName: 'forks' }),
    steps: async (id) => ((await DBOS.listWorkflowSteps(id)) ?? []).map(({ name }) => name),
    async relaunch() {
      await DBOS.shutdown();
      await DBOS.launch();
    },
    close: () => DBOS.shutdown({ deregister: true }),
  };
}
