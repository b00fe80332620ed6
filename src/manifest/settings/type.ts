import type { SettingValue } from '../../skills/skill.js';
import type { SettingDefinition } from '../extension.js';

function typeOfSetting({ type, default: fallback, enum: choices }: SettingDefinition): string {
  return type ?? typeof (fallback ?? choices?.[0] ?? '');
}

/** Describes the expected value of a setting for error messages. */
export function expectedOf(setting: SettingDefinition): string {
  const kind = `a ${typeOfSetting(setting)}`;
  const choices = setting.enum?.map((choice) => JSON.stringify(choice)).join(', ');
  return choices === undefined ? kind : `${kind}, one of ${choices}`;
}

/** True if the value is valid for the setting. */
export function fitsSetting(setting: SettingDefinition, value: unknown): value is SettingValue {
  if (typeof value !== typeOfSetting(setting)) return false;
  if (typeof value === 'number' && !Number.isFinite(value)) return false;
  // An environment variable cannot contain a NUL character.
  if (typeof value === 'string' && value.includes('\0')) return false;
  return setting.enum?.includes(value as SettingValue) ?? true;
}

/** Parses the value of an environment variable. Undefined if the value is invalid for the setting. */
export function valueOfText(setting: SettingDefinition, text: string): SettingValue | undefined {
  const value = convert(typeOfSetting(setting), text);
  return fitsSetting(setting, value) ? value : undefined;
}

function convert(type: string, text: string): SettingValue | undefined {
  if (type === 'string') return text;
  if (type === 'number') return text.trim() === '' ? undefined : Number(text);
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : undefined;
}
