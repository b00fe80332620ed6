import type { Logger } from '../internal/logger.js';
import { freezeData } from '../internal/plain-data.js';
import { ExtensionHealth } from './callbacks/health.js';
import type { Extension, PromptAddition, RegisteredExtension, TagHandler } from './definition.js';

/** A registered extension, with what the registry knows about it. */
export interface Registration {
  readonly extension: RegisteredExtension;
  /** The object passed to `register`, which is the `this` of its callbacks. */
  readonly source: object;
  readonly handlers: readonly TagHandler[];
  /** True if the extension reads or writes state: it declares so, has a `state_value` condition, or has used state. */
  usesState: boolean;
  readonly health: ExtensionHealth;
  /** True once the extension is unregistered: from then on no callback of it is called. */
  removed: boolean;
  /** True once the registration is logged. */
  logged: boolean;
  /** True once the tool names of a `lazy` `toolConfig` are checked. */
  checked: boolean;
}

/** Logs a registration once. A registry without a logger of its own logs when an agent loads it. */
export function logRegistration(registration: Registration, logger: Logger): void {
  if (registration.logged) return;
  registration.logged = true;
  const { id, priority, scope, session } = registration.extension;
  logger.info(`Extension "${id}" is registered.`, { extensionId: id, priority, scope, session });
}

/** Returns true if a tag's name equals a pattern, or begins like a pattern that ends in `*`. */
export function matchesTag(patterns: string | readonly string[], name: string): boolean {
  const list = typeof patterns === 'string' ? [patterns] : patterns;
  return list.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
}

/** Returns true if the extension has a callback, or a condition that can read state. */
export function mayUseState({ extension, usesState }: Registration): boolean {
  const { onInputMessages, onPlainText, onTag, onLlmOutput, promptAdditions } = extension;
  if (usesState || (onInputMessages ?? onPlainText ?? onTag ?? onLlmOutput) !== undefined) return true;
  return promptAdditions.some(({ condition }) => typeof condition === 'function');
}

/**
 * Returns true if runs must extend the lifetime of state that they do not use, because another process may have written
 * state of this extension.
 */
export function mayHaveState(registration: Registration): boolean {
  const { extension, usesState } = registration;
  return usesState || (extension.usesState !== false && mayUseState(registration));
}

function declaresState({ usesState, promptAdditions }: RegisteredExtension): boolean {
  return usesState ?? promptAdditions.some(({ condition }) => isStateCondition(condition));
}

function isStateCondition(condition: PromptAddition['condition']): boolean {
  return typeof condition === 'object' && condition.type === 'state_value';
}

/** Returns true if the extension acts in the session. `undefined` stands for a run without a session. */
export function actsIn({ extension, removed }: Registration, session: string | undefined): boolean {
  if (removed) return false;
  return extension.scope === 'global' || extension.session === undefined || extension.session === session;
}

interface RegistrationSource {
  /** The object passed to `register`. */
  readonly source: object;
  readonly session: string | undefined;
}

/** Returns a registration with a frozen copy of a checked definition: later changes to the original have no effect. */
export function createRegistration(definition: Extension, { source, session }: RegistrationSource): Registration {
  const { priority = 50, scope = 'session', promptAdditions = [], onTag, tags, ...members } = definition;
  const extension: RegisteredExtension = Object.freeze({
    ...members,
    priority,
    scope,
    session,
    promptAdditions: freezeData(promptAdditions),
    onTag: Array.isArray(onTag) ? Object.freeze(onTag.map(copyHandler)) : onTag,
    tags: freezeData(tags),
  });
  return {
    extension,
    source,
    removed: false,
    logged: false,
    checked: false,
    handlers: handlersOf(extension),
    usesState: declaresState(extension),
    health: new ExtensionHealth(extension.id),
  };
}

function handlersOf({ onTag, tags, inCode }: RegisteredExtension): readonly TagHandler[] {
  if (onTag === undefined) return [];
  const handlers: readonly TagHandler[] = typeof onTag === 'function' ? [{ tags: tags ?? [], handle: onTag }] : onTag;
  return handlers.map((handler) => ({ ...handler, inCode: handler.inCode ?? inCode }));
}

function copyHandler({ tags, handle, inCode }: TagHandler): TagHandler {
  return Object.freeze({ tags: freezeData(tags), handle, inCode });
}
