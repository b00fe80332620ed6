import { freezeData } from '../internal/plain-data.js';
import type { Extension, RegisteredExtension, TagHandler } from './definition.js';

/** An extension in a registry. */
export interface Registration {
  readonly extension: RegisteredExtension;
  /** What was registered: the `this` of its callbacks. */
  readonly source: object;
  readonly handlers: readonly TagHandler[];
  /** Whether it may read or write state. */
  readonly usesState: boolean;
  /** Set as it is unregistered: from then on none of its callbacks is called. */
  removed: boolean;
}

/** Whether a tag's name is one of these, or begins as one that ends in `*`. */
export function matchesTag(patterns: string | readonly string[], name: string): boolean {
  const list = typeof patterns === 'string' ? [patterns] : patterns;
  return list.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
}

/** Whether an extension may read or write state: it has a callback, or a condition that does. */
export function mayUseState({ promptAdditions, ...extension }: RegisteredExtension): boolean {
  const { onInputMessages, onPlainText, onTag, onLlmOutput } = extension;
  if ((onInputMessages ?? onPlainText ?? onTag ?? onLlmOutput) !== undefined) return true;
  return promptAdditions.some(({ condition }) => typeof condition === 'function' || condition?.type === 'state_value');
}

/** Whether an extension acts in a session; `undefined` is a run without one. */
export function actsIn({ extension, removed }: Registration, session: string | undefined): boolean {
  if (removed) return false;
  return extension.scope === 'global' || extension.session === undefined || extension.session === session;
}

/** Where a definition comes from. */
interface RegistrationSource {
  /** What was registered. */
  readonly source: object;
  readonly session: string | undefined;
}

/** Takes a checked definition in: a copy, so that nothing that is done to the original later counts. */
export function createRegistration(definition: Extension, { source, session }: RegistrationSource): Registration {
  const { priority = 50, scope = 'session', promptAdditions = [], onTag, tags, ...members } = definition;
  const extension: RegisteredExtension = Object.freeze({
    ...members,
    ...{ priority, scope, promptAdditions: freezeData(promptAdditions) },
    ...(onTag && { onTag: Array.isArray(onTag) ? Object.freeze(onTag.map(copyHandler)) : onTag }),
    ...(tags && { tags: freezeData(tags) }),
    ...(session !== undefined && { session }),
  });
  return { extension, source, handlers: handlersOf(extension), usesState: mayUseState(extension), removed: false };
}

/** By priority, higher first; then as they were registered. */
export function inCallbackOrder(registrations: readonly Registration[]): Registration[] {
  return [...registrations].sort((a, b) => b.extension.priority - a.extension.priority);
}

function handlersOf({ onTag, tags }: RegisteredExtension): readonly TagHandler[] {
  if (onTag === undefined) return [];
  return typeof onTag === 'function' ? [{ tags: tags ?? [], handle: onTag }] : onTag;
}

function copyHandler({ tags, handle }: TagHandler): TagHandler {
  return Object.freeze({ tags: freezeData(tags), handle });
}
