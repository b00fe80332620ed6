import { KeelsonError } from '../errors.js';

/** No skill goes by that name, or several do. `candidates` lists what may have been meant. */
export class SkillUnknownError extends KeelsonError {
  readonly code = 'ERR_SKILL_UNKNOWN';
  readonly skill: string;
  readonly candidates: readonly string[];

  constructor(skill: string, candidates: readonly string[], isAmbiguous: boolean) {
    const names = candidates.join(', ');
    super(
      isAmbiguous
        ? `Several skills are named "${skill}": say which of ${names}.`
        : `There is no skill "${skill}".${candidates.length === 0 ? ' There are none.' : ` There are ${names}.`}`,
    );
    this.skill = skill;
    this.candidates = candidates;
  }
}

/** A skill was invoked with parameters that it cannot take. `problems` lists everything that is wrong. */
export class SkillParametersError extends KeelsonError {
  readonly code = 'ERR_SKILL_PARAMETERS';
  readonly skill: string;
  readonly problems: readonly string[];

  constructor(skill: string, problems: readonly string[]) {
    super(`Skill "${skill}" cannot be used so: ${problems.join('; ')}.`);
    this.skill = skill;
    this.problems = problems;
  }
}

/** A skill, or a file of it, may not be used or cannot be read. */
export class SkillUnavailableError extends KeelsonError {
  readonly code = 'ERR_SKILL_UNAVAILABLE';
  readonly skill: string;

  constructor(skill: string, problem: string, cause?: unknown) {
    super(`Skill "${skill}" is not available: ${problem}`, cause === undefined ? undefined : { cause });
    this.skill = skill;
  }
}
