import { fold } from '../../internal/fold.js';
import type { SettingDefinition } from '../extension.js';

const REFERENCE = /\$\{([^{}]{1,200})\}|\{\{([^{}]{1,200})\}\}/g;
const PREFIX = /^\s*(?:settings?|user_config|config|env)\s*[.:]/;

/** A place in a text that asks for the value of a setting. */
interface SettingReference {
  readonly text: string;
  readonly setting: SettingDefinition;
  /** Whether it may be no more than a variable of the environment, which a shell looks up by itself. */
  readonly isVariable: boolean;
}

/**
 * Finds the settings that a text names as `${name}`, `{{name}}`, `${settings.name}`, `${user_config.name}` or their like,
 * by name or by variable, whatever the case and the separators. Values are never put into a text, so whoever finds one of
 * these refuses it.
 */
export type ReferenceFinder = (text: string) => readonly SettingReference[];

/** A finder of references to these settings. */
export function createReferenceFinder(settings: readonly SettingDefinition[]): ReferenceFinder {
  const known = new Map(
    settings.flatMap((setting) =>
      [setting.name, setting.envVar].flatMap((name) => (name === undefined ? [] : [[fold(name), setting] as const])),
    ),
  );
  return (text) =>
    [...text.matchAll(REFERENCE)].flatMap(([whole, inner, otherInner]) => {
      const setting = known.get(fold((inner ?? otherInner ?? '').replace(PREFIX, '')));
      return setting === undefined ? [] : [{ text: whole, setting, isVariable: /^\$\{\w+\}$/.test(whole) }];
    });
}
