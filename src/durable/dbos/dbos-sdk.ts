import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { DurableSetupError } from '../error.js';

/** The members of the `DBOS` class that the adapter uses. */
export interface DbosStepSdk {
  /** The id of the running workflow, or undefined outside workflows. */
  readonly workflowID: string | undefined;
  /** The status of the running step, with a signal for its cancellation. Undefined outside steps. */
  readonly stepStatus: { readonly cancelSignal: AbortSignal } | undefined;
  /** True in the function of a workflow, but false inside one of its steps. */
  isInWorkflow(): boolean;
  /** Runs a step of the current workflow, or returns its stored result. */
  runStep<T>(step: () => Promise<T>, config: { readonly name: string }): Promise<T>;
  /** Returns the stored steps of a workflow, in order. */
  listWorkflowSteps(workflowID: string): Promise<readonly { readonly name: string }[] | undefined>;
  /** The application's logger. */
  readonly logger: Pick<Console, 'error'>;
  /**
   * Waits until another process sends a message with this topic to the current workflow. Resolves with null after the
   * time limit.
   */
  recv<T>(topic: string, options: { readonly timeoutSeconds: number }): Promise<T | null>;
}

const PACKAGE = '@dbos-inc/dbos-sdk';

/**
 * Loads the DBOS SDK, as the same copy that a program gets by importing the package. Uses `require`, because `import()`
 * would make `dbosStep` asynchronous.
 */
export function loadDbos(): DbosStepSdk {
  try {
    return createRequire(import.meta.url ?? pathToFileURL(__filename))(PACKAGE).DBOS;
  } catch (cause) {
    throw new DurableSetupError(
      `\`dbosStep()\` cannot load "${PACKAGE}". Install the package, or pass its \`DBOS\` class: \`dbosStep(DBOS)\`.`,
      { cause },
    );
  }
}
