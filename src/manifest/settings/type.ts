import type { SettingValue } from '../../skills/skill.js';
import type { SettingDefinition } from '../extension.js';

/** The kind of value that a setting takes. */
function typeOfSetting({ type, default: fallback, enum: choices }: SettingDefinition): string {
  return type ?? typeof (fallback ?? choices?.[0] ?? '');
}

/** What a setting takes, in words. */
export function expectedOf(setting: SettingDefinition): string {
  const kind = typeOfSetting(setting);
  const choices = setting.enum?.map((choice) => JSON.stringify(choice)).join(', ');
  return choices === undefined ? kind : `${kind}, one of ${choices}`;
}

/** Whether a setting may have a value. */
export function fitsSetting(setting: SettingDefinition, value: unknown): value is SettingValue {
  if (typeof value !== typeOfSetting(setting)) return false;
  if (typeof value === 'number' && !Number.isFinite(value)) return false;
  // A NUL cannot be handed to a program.
  if (typeof value === 'string' && value.includes('\0')) return false;
  return setting.enum?.includes(value as SettingValue) ?? true;
}

/** The value that a text from the environment stands for, or undefined where it is none of this setting's. */
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
