/**
 * Test utilities for agents and lifecycles. They work with any test runner.
 *
 * @packageDocumentation
 */
export { type AssertLifecycleOptions, assertLifecycle } from './assert/assert-lifecycle.js';
export type { DurableKit, ReplayKit } from './assert/bench.js';
export { LifecycleBudgetError, type LifecycleFault, LifecycleFaultyError } from './assert/lifecycle-fault.js';
export type { ContractCase } from './contract/contract-case.js';
export { StoreContractError } from './contract/error.js';
export { type RunLogContractOptions, runLogContract } from './contract/run-log/run-log-contract.js';
export { type SessionStoreContractOptions, sessionStoreContract } from './contract/session/session-store-contract.js';
export { type StateStoreContractOptions, stateStoreContract } from './contract/state/state-store-contract.js';
export { type StepContractOptions, type StepProgram, stepContract } from './contract/step/step-contract.js';
export { type HookName, type RecordedLifecycle, type Recorder, recorder } from './recorder.js';
export { ScriptExhaustedError, ScriptedFailureError, ScriptUnfinishedError } from './script/error.js';
export { faultyTool, type ToolFault } from './script/faulty-tool.js';
export { type ScriptedModel, type ScriptedModelOptions, scriptedModel } from './script/scripted-model.js';
export {
  type AnswerOptions,
  calls,
  delays,
  fails,
  hangs,
  responds,
  type ScriptCall,
  type ScriptEntry,
  type ScriptedCall,
  type ScriptedUsage,
  type ScriptStep,
  says,
  streams,
} from './script/step.js';
