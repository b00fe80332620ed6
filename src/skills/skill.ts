/** The origin of a skill. A directory inside the workspace, with links followed, has scope `workspace`. */
export type SkillScope = 'user' | 'workspace';

/** The value of a setting or parameter. */
export type SettingValue = string | number | boolean;

/** A parameter of a skill. The prompt uses it as `{{name}}`. */
export interface SkillParameter {
  readonly name: string;
  readonly description?: string | undefined;
  readonly required?: boolean | undefined;
  readonly default?: SettingValue | undefined;
}

/**
 * Valid skill names: no control or invisible characters and no colon, so that a name cannot imitate another entry of a
 * list.
 */
export const SKILL_NAME = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}:]+$/u;

/** The catalogue entry of a skill: everything known before the skill is used. */
export interface Skill {
  /**
   * The unique id: `extension:name`, or only the name if the skill belongs to no extension package. If several skills
   * have one name, the id contains the name of the directory instead.
   */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** The prompt of a skill in a manifest. Undefined for a SKILL.md, which is read when the skill is used. */
  readonly prompt?: string | undefined;
  readonly parameters: readonly SkillParameter[];
  /** The extension package that contains the skill. */
  readonly extension?: string | undefined;
  readonly scope: SkillScope;
  /** The file that defines the skill. */
  readonly source: string;
  readonly license?: string | undefined;
  readonly compatibility?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** The tools that the skill asks for. The library never grants them. */
  readonly allowedTools?: readonly string[] | undefined;
  /** True if only the user may invoke the skill, not the model (`disable-model-invocation`). */
  readonly userOnly?: boolean | undefined;
}

/** The instructions of a skill, and the directory with its files. */
export interface SkillBody {
  readonly prompt: string;
  readonly folder?: string | undefined;
  /** The directory that links in `folder` may lead to: the extension package. Default: `folder`. */
  readonly root?: string | undefined;
}

/** A skill's catalogue entry, and a function to read its instructions. */
export interface SkillEntry {
  readonly skill: Skill;
  /**
   * Reads the instructions again on each call. Rejects with a SkillUnavailableError if the skill is not approved or
   * unreadable.
   */
  open(): Promise<SkillBody>;
}
